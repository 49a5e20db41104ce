//! The report: one HTML page that needs nothing but itself.
//!
//! In: records. Out: the page's text, of bounded size. Never: lets what was recorded be anything but text
//! in it: data go in as JSON without `<`, reach the page by textContent, and the page's own policy forbids
//! every script but its own, by hash.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::record::Record;
use super::stats::{Counts, Tally, ranked, ranked_rules};
use super::when;
use crate::text;

const HTML: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// Records kept: those that were refused or undecided, and others.
const REFUSED: usize = 3000;
const OTHERS: usize = 1500;
/// Bytes kept of a text, and of all kept records together.
const TEXT: usize = 400;
const KEPT_BYTES: usize = 3_500_000;
/// Rows of a table.
const ROWS: usize = 25;
const FOLDERS: usize = 12;
/// Bars of the plot.
const BARS: i64 = 120;

/// Collects what the page shows.
#[derive(Debug, Default)]
pub struct Page {
    tally: Tally,
    refused: VecDeque<Record<'static>>,
    others: VecDeque<Record<'static>>,
    /// The slowest judgements, by time and number.
    costly: BTreeMap<(u64, u64), String>,
    count: u64,
}

impl Page {
    pub fn add(&mut self, record: &Record<'_>) {
        self.tally.add(record);
        self.count = self.count.saturating_add(1);
        let calm = record.outcome == "run" && record.verdict == "allow";
        let (kept, most) = if calm { (&mut self.others, OTHERS) } else { (&mut self.refused, REFUSED) };
        if kept.len() == most {
            kept.pop_front();
        }
        // most make room for later ones: no row is made of them
        kept.push_back(owned(record));
        let least = self.costly.keys().next().map_or(0, |(micros, _)| *micros);
        if self.costly.len() < ROWS || record.micros > least {
            self.costly.insert((record.micros, self.count), short(&record.text, TEXT));
            if self.costly.len() > ROWS {
                self.costly.pop_first();
            }
        }
    }

    /// One that could not be read.
    pub fn add_foreign(&mut self) {
        self.tally.foreign = self.tally.foreign.saturating_add(1);
    }

    /// The page.
    pub fn html(self) -> String {
        let tally = &self.tally;
        let (bucket, time) = over_time(&tally.hours);
        let counted = |(name, counts): (&str, Counts)| json!({ "name": text::tame(name), "refused": counts.refused(), "total": counts.total() });
        let rules: Vec<Value> = ranked_rules(&tally.rules)
            .into_iter()
            .filter(|(_, rule)| rule.counts.refused() > 0)
            .take(ROWS)
            .map(|(id, rule)| {
                let examples: Vec<String> = rule.examples.iter().map(|e| short(&e.text, TEXT)).collect();
                json!({ "id": text::tame(id), "refused": rule.counts.refused(), "examples": examples })
            })
            .collect();
        let costly: Vec<Value> = self
            .costly
            .iter()
            .rev()
            .map(|((micros, _), text)| json!({ "micros": micros, "text": text }))
            .collect();
        let data = json!({
            "total": self.count,
            "bucket": bucket,
            "time": time,
            "rules": rules,
            "agents": ranked(&tally.agents).into_iter().take(ROWS).map(counted).collect::<Vec<_>>(),
            "folders": ranked(&tally.folders).into_iter().take(FOLDERS).map(counted).collect::<Vec<_>>(),
            "costly": costly,
            "events": latest_first(&self.refused, &self.others),
        });
        let parts = [
            ("{{STYLE_HASH}}", hash(STYLE)),
            ("{{SCRIPT_HASH}}", hash(SCRIPT)),
            ("{{STYLE}}", STYLE.to_owned()),
            ("{{SPAN}}", span(&self.tally)),
            ("{{TILES}}", tiles(&self.tally)),
            ("{{DATA}}", inert(&data.to_string())),
            ("{{SCRIPT}}", SCRIPT.to_owned()),
        ];
        fill(HTML, &parts)
    }
}

/// Puts each part in its place once, in the order in which they stand; what is put in is not looked at.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    for (mark, part) in parts {
        let Some((before, after)) = rest.split_once(mark) else { continue };
        out.push_str(before);
        out.push_str(part);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// JSON that no HTML parser takes for anything but text: `<` opens tags and comments, U+2028 and U+2029
/// end lines of scripts.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn hash(text: &str) -> String {
    format!("sha256-{}", data_encoding::BASE64.encode(&Sha256::digest(text.as_bytes())))
}

fn short(source: &str, most: usize) -> String {
    let kept = text::prefix(source, most);
    let mut out = text::tame(kept);
    if kept.len() < source.len() {
        out.push('…');
    }
    out
}

/// What of a record a row shows.
fn owned(record: &Record<'_>) -> Record<'static> {
    let of = |text: &str, most| Cow::Owned(text::prefix(text, most).to_owned());
    Record {
        time: of(&record.time, 40),
        verdict: of(&record.verdict, 20),
        outcome: of(&record.outcome, 20),
        framework: of(record.agent(), 80),
        cwd: of(&record.cwd, 300),
        text: of(&record.text, 2 * TEXT),
        rules: of(&record.rules, 400),
        score: of(&record.score, 20),
        structure: of(&record.structure, 20),
        semantics: of(&record.semantics, 20),
        paths: of(&record.paths, 20),
        patterns: of(&record.patterns, 20),
        notes: of(&record.notes, 400),
        coverage: of(&record.coverage, 20),
        confinement: of(&record.confinement, 200),
        sha256: of(&record.sha256, 80),
        ..Record::default()
    }
}

fn row(record: &Record<'_>) -> Value {
    let view = |text: &str| short(text, 16);
    json!({
        "time": short(&record.time, 32),
        "verdict": short(&record.verdict, 16),
        "outcome": short(&record.outcome, 16),
        "agent": short(record.agent(), 64),
        "cwd": short(&record.cwd, 200),
        "text": short(&record.text, TEXT),
        "rules": short(&record.rules, 300),
        "score": view(&record.score),
        "views": [view(&record.structure), view(&record.semantics), view(&record.paths), view(&record.patterns)],
        "notes": short(&record.notes, 300),
        "coverage": short(&record.coverage, 16),
        "confinement": short(&record.confinement, 100),
        "sha256": short(&record.sha256, 64),
    })
}

/// All that are kept, the latest first, as many as fit: refused ones before others.
fn latest_first(refused: &VecDeque<Record<'_>>, others: &VecDeque<Record<'_>>) -> Vec<Value> {
    let mut left = KEPT_BYTES;
    let mut kept: Vec<Value> = Vec::new();
    for row in refused.iter().rev().chain(others.iter().rev()).map(row) {
        let size = inert(&row.to_string()).len();
        if size > left {
            break;
        }
        left -= size;
        kept.push(row);
    }
    let time = |row: &Value| row.get("time").and_then(Value::as_str).unwrap_or("").to_owned();
    kept.sort_by_key(|row| std::cmp::Reverse(time(row)));
    kept
}

/// Hours joined into at most [`BARS`] bars; their width in words, and the bars.
fn over_time(hours: &BTreeMap<i64, Counts>) -> (String, Vec<Value>) {
    let (Some(first), Some(last)) = (hours.keys().next(), hours.keys().next_back()) else {
        return ("hour".to_owned(), Vec::new());
    };
    let span = last.saturating_sub(*first).saturating_add(1);
    let width = [1, 2, 6, 12, 24, 168, 720].into_iter().find(|w| span.div_euclid(*w) < BARS).unwrap_or(8760);
    let start = first.div_euclid(width);
    let bars = last.div_euclid(width).saturating_sub(start).clamp(0, 2 * BARS);
    let mut out = Vec::new();
    for bar in 0..=bars {
        let from = start.saturating_add(bar).saturating_mul(width);
        let mut sums = [0_u64; 4];
        for counts in hours.range(from..from.saturating_add(width)).map(|(_, counts)| counts) {
            let parts = [counts.blocked, counts.observed, counts.unmediated, counts.run];
            for (sum, part) in sums.iter_mut().zip(parts) {
                *sum = sum.saturating_add(part);
            }
        }
        let label = when::from_seconds(from.saturating_mul(3600)).unwrap_or_default();
        out.push(json!({ "label": text::prefix(&label, 16).replace('T', " "), "counts": sums }));
    }
    let words = match width {
        1 => "hour".to_owned(),
        24 => "day".to_owned(),
        168 => "week".to_owned(),
        w => format!("{w} hours"),
    };
    (words, out)
}

/// Text for HTML.
fn markup(source: &str) -> String {
    text::tame(source).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn span(tally: &Tally) -> String {
    if tally.counts.total() == 0 {
        return "No records.".to_owned();
    }
    markup(&format!("{} to {}", tally.first, tally.last))
}

fn tiles(tally: &Tally) -> String {
    let mut micros = tally.micros.clone();
    micros.sort_unstable();
    let count = |name: &str| tally.verdicts.get(name).copied().unwrap_or(0).to_string();
    let tiles = [
        ("commands", tally.counts.total().to_string()),
        ("allowed", count("allow")),
        ("undecided", count("warn")),
        ("denied", count("deny")),
        ("blocked", tally.counts.blocked.to_string()),
        ("observed only", tally.counts.observed.to_string()),
        ("µs median", Tally::quantile(&micros, 500).to_string()),
        ("µs P99", Tally::quantile(&micros, 990).to_string()),
        ("unreadable lines", tally.foreign.to_string()),
    ];
    let tile = |(name, value): (&str, String)| {
        format!("<div class=\"tile\"><b>{}</b><span>{}</span></div>", markup(&value), markup(name))
    };
    tiles.map(tile).concat()
}

#[cfg(test)]
#[allow(
    clippy::wildcard_enum_match_arm,
    clippy::too_many_lines,
    clippy::needless_for_each,
    clippy::large_stack_arrays,
    clippy::items_after_statements,
    clippy::format_collect
)]
mod tests {
    use super::*;

    fn page(records: &[Record<'_>]) -> String {
        let mut page = Page::default();
        records.iter().for_each(|record| page.add(record));
        page.html()
    }

    fn hostile(text: &str) -> Record<'_> {
        Record {
            time: "2026-11-30T12:00:00.000000Z".into(),
            verdict: text.into(),
            outcome: "blocked".into(),
            rules: text.into(),
            text: text.into(),
            cwd: text.into(),
            parent: text.into(),
            notes: text.into(),
            ..Record::default()
        }
    }

    #[test]
    fn what_was_recorded_opens_no_tag_and_ends_no_script() {
        let clean = page(&[hostile("x")]);
        let tags = |page: &str| page.matches('<').count();
        for text in [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "{{SCRIPT}}",
            "\u{2028}alert(1)",
            "<img src=x onerror=alert(1)>",
        ] {
            let page = page(&[hostile(text)]);
            assert_eq!(tags(&page), tags(&clean), "{text}");
            assert_eq!(page.matches("</script>").count(), 2);
            assert!(!page.contains('\u{2028}'));
        }
    }

    #[test]
    fn the_page_needs_nothing_from_elsewhere() {
        let page = page(&[hostile("x")]);
        assert!(
            !page.contains("http:")
                || page.matches("http:").count() == page.matches("http://www.w3.org/2000/svg").count()
        );
        assert!(!page.contains("https:") && !page.contains("{{"));
    }

    #[test]
    fn the_page_stays_small_however_much_was_recorded() {
        let text = "<\"".repeat(400);
        let record = hostile(&text);
        let mut page = Page::default();
        (0..5000).for_each(|_| page.add(&record));
        let length = page.html().len();
        assert!(length < 5_000_000, "{length}");
    }

    #[test]
    fn a_long_time_becomes_few_bars() {
        let mut hours = BTreeMap::new();
        hours.insert(0, Counts { run: 1, ..Counts::default() });
        hours.insert(10_000, Counts { blocked: 2, ..Counts::default() });
        let (width, bars) = over_time(&hours);
        assert_eq!((width.as_str(), bars.len()), ("week", 60));
        assert_eq!(bars[59]["counts"][0], 2);
        assert_eq!(over_time(&BTreeMap::new()).1, Vec::<Value>::new());
    }
}
