//! The scorer: `policy/*.toml` as tables of text, and CARE's sum over effects.
//!
//! In: the folder of the policy, a decision's effects, structure and unknowns. Out: views, sum, rules, verdict.
//! Never: reads a view, finding, score or verdict of the decision.

use agent_sh::act::Class;
use agent_sh::decision::Decision;
use agent_sh::effects::model::{Effect, Indicator};
use agent_sh::policy::Policy;
use toml::{Table, Value};

pub(crate) struct Scorer {
    base: Table,
    semantics: Vec<Table>,
    paths: Vec<Table>,
    rules: Vec<Table>,
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// structure, semantics, paths, patterns
    pub(crate) views: [u32; 4],
    pub(crate) score: u32,
    pub(crate) rules: Vec<String>,
    pub(crate) verdict: &'static str,
}

const VERDICTS: [&str; 3] = ["allow", "warn", "deny"];

/// An effect in the policy's words.
struct Plain<'a> {
    kind: &'a str,
    classes: Vec<&'a str>,
    tags: Vec<&'a str>,
    program: &'a str,
    target: &'a str,
}

/// Thousandths of a decimal.
fn thousandths(value: &Value) -> u32 {
    (value.as_float().unwrap_or_else(|| f64::from(u8::try_from(value.as_integer().unwrap()).unwrap()))
        * 1000.0)
        .round() as u32
}

fn tables(value: &Value) -> Vec<Table> {
    match value {
        Value::Array(all) => all.iter().map(|t| t.as_table().unwrap().clone()).collect(),
        one => vec![one.as_table().unwrap().clone()],
    }
}

fn words(pattern: &Table, key: &str) -> Vec<String> {
    match pattern.get(key) {
        None => Vec::new(),
        Some(Value::Array(all)) => all.iter().map(|v| v.as_str().unwrap().to_owned()).collect(),
        Some(text) if key.ends_with("target") => vec![text.as_str().unwrap().to_owned()],
        Some(text) => text.as_str().unwrap().split_whitespace().map(str::to_owned).collect(),
    }
}

/// Braces chosen, then stars: `**` takes anything, `*` anything but a slash, `?` one character. Beside other
/// characters `**` makes a pattern over text, in which `*` takes slashes too and nothing else is special.
fn glob(pattern: &str, text: &str) -> bool {
    if let Some((head, rest)) = pattern.split_once('{')
        && let Some((arms, tail)) = rest.split_once('}')
    {
        return arms.split(',').any(|arm| glob(&format!("{head}{arm}{tail}"), text));
    }
    let flat = pattern.split('/').any(|part| part.contains("**") && part != "**");
    let pattern = if flat { pattern.replace("**", "*") } else { pattern.to_owned() };
    from(&pattern, text, flat)
}

fn from(pattern: &str, text: &str, flat: bool) -> bool {
    let Some(first) = pattern.chars().next() else { return text.is_empty() };
    if let (Some(rest), false) = (pattern.strip_prefix("**/"), flat) {
        return from(rest, text, flat)
            || text.match_indices('/').any(|(at, _)| from(rest, &text[at + 1..], flat));
    }
    if pattern == "**" || (pattern == "/**" && text.is_empty()) {
        return true;
    }
    let rest = &pattern[first.len_utf8()..];
    let next = text.chars().next();
    let tail = next.map_or("", |c| &text[c.len_utf8()..]);
    match first {
        '*' => {
            let most = if flat { text.len() } else { text.find('/').unwrap_or(text.len()) };
            (0..=most).filter(|n| text.is_char_boundary(*n)).any(|n| from(rest, &text[n..], flat))
        }
        '?' if !flat => next.is_some_and(|c| c != '/') && from(rest, tail, flat),
        '[' if !flat => {
            let (set, rest) = rest.split_once(']').unwrap();
            let (set, wanted) = set.strip_prefix(['!', '^']).map_or((set, true), |s| (s, false));
            let set: Vec<char> = set.chars().collect();
            let among =
                |c: char| set.contains(&c) || set.windows(3).any(|w| w[1] == '-' && w[0] <= c && c <= w[2]);
            next.is_some_and(|c| c != '/' && among(c) == wanted) && from(rest, tail, flat)
        }
        c => next == Some(c) && from(rest, tail, flat),
    }
}

/// Whether one pattern fits one effect.
fn fits(pattern: &Table, effect: &Plain<'_>) -> bool {
    let has = |list: &[&str], key: &str| words(pattern, key).iter().any(|w| list.contains(&w.as_str()));
    let asks = |key: &str| pattern.contains_key(key);
    let targets = |key: &str| words(pattern, key).iter().any(|g| glob(g, effect.target));
    (!asks("effect") || has(&[effect.kind], "effect"))
        && (!asks("under") || has(&effect.classes, "under"))
        && !has(&effect.classes, "not-under")
        && words(pattern, "with").iter().all(|w| effect.tags.contains(&w.as_str()))
        && (!asks("any") || has(&effect.tags, "any"))
        && !has(&effect.tags, "without")
        && (!asks("program") || has(&[effect.program], "program"))
        && !has(&[effect.program], "not-program")
        && (!asks("target") || targets("target"))
        && !targets("not-target")
}

impl Scorer {
    pub(crate) fn read(folder: &std::path::Path) -> Self {
        let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap().parse::<Table>().unwrap();
        let list = |name: &str, key: &str| tables(&read(&folder.join(name))[key]);
        let files = std::fs::read_dir(folder.join("rules")).unwrap().map(|e| e.unwrap().path());
        Self {
            base: read(&folder.join("base.toml")),
            semantics: list("semantics.toml", "semantic"),
            paths: list("paths.toml", "path"),
            rules: files.flat_map(|path| tables(&read(&path)["rule"])).collect(),
        }
    }

    pub(crate) fn judge(&self, decision: &Decision, policy: &Policy) -> Answer {
        let mut answer = Answer::default();
        let mut by_itself = 0;
        answer.views[0] = match decision.structure.highest {
            Indicator::None => 0,
            Indicator::Pipe => 50,
            Indicator::Substitution => 300,
            Indicator::NestedSubstitution => 600,
            Indicator::Evaluation => 900,
            Indicator::PipeToInterpreter => 1000,
        };
        let plain = |e: &Effect| -> (Vec<&'static str>, Vec<&'static str>) {
            (
                e.target.classes.iter().map(Class::name).collect(),
                e.tags.iter().map(|t| policy.tag_name(t)).collect(),
            )
        };
        for e in &decision.effects {
            let (classes, tags) = plain(e);
            let effect =
                Plain { kind: e.kind.name(), classes, tags, program: &e.program, target: &e.target.resolved };
            for (view, entries) in [(1, &self.semantics), (2, &self.paths)] {
                let scores = entries.iter().filter(|t| tables(&t["when"]).iter().any(|p| fits(p, &effect)));
                answer.views[view] =
                    answer.views[view].max(scores.map(|t| thousandths(&t["score"])).max().unwrap_or(0));
            }
            for rule in self.rules.iter().filter(|r| tables(&r["when"]).iter().any(|p| fits(p, &effect))) {
                let tier = thousandths(&self.base["tiers"][rule["source"]["tier"].as_str().unwrap()]);
                answer.views[3] = answer.views[3].max((tier * thousandths(&rule["confidence"]) + 500) / 1000);
                by_itself = by_itself.max(rule.get("verdict").map_or(0, place));
                answer.rules.push(rule["id"].as_str().unwrap().to_owned());
            }
        }
        answer.rules.sort();
        answer.rules.dedup();
        for unknown in &decision.unknowns {
            let entry = &self.base["unknown"][unknown.what.name()];
            let mut entries = vec![entry];
            if unknown.what.name() == "description" {
                let here = |e: &&Effect| e.kind.name() == "unknown" && e.span == unknown.span;
                let programs = decision.effects.iter().filter(here).map(|e| plain(e).1);
                entries = programs.map(|tags| &entry[lives(&tags)]).collect();
                entries.resize(entries.len().max(1), &entry["system"]);
            }
            for entry in entries {
                answer.views[1] = answer.views[1].max(thousandths(&entry["score"]));
                by_itself = by_itself.max(entry.get("verdict").map_or(0, place));
            }
        }
        let weights =
            ["structure", "semantics", "paths", "patterns"].map(|v| thousandths(&self.base["weights"][v]));
        answer.score = ((0..4).map(|i| weights[i] * answer.views[i]).sum::<u32>() + 500) / 1000;
        let thresholds = &self.base["thresholds"][self.base["mode"].as_str().unwrap()];
        let reached =
            ["warn", "deny"].iter().filter(|v| answer.score >= thousandths(&thresholds[**v])).count();
        answer.verdict = VERDICTS[by_itself.max(reached)];
        answer
    }
}

/// Where a program without description lives.
fn lives(tags: &[&str]) -> &'static str {
    let places = [
        ("program-fetched", "downloaded"),
        ("program-in-temporary", "temporary"),
        ("program-in-workspace", "workspace"),
        ("program-in-home", "home"),
        ("no-such-program", "missing"),
    ];
    places.iter().find(|(tag, _)| tags.contains(tag)).map_or("system", |(_, place)| place)
}

fn place(verdict: &Value) -> usize {
    VERDICTS.iter().position(|v| Some(*v) == verdict.as_str()).unwrap()
}
