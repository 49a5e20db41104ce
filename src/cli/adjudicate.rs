//! `agent-shctl adjudicate`: a corpus through judge, skips and models: agreement, latency, cost.
//!
//! In: lines as of `judge`, with labels. Out: a JSON object for each line and one of sums. Never: keeps an
//! answer, or lets anything run.

use std::collections::HashMap;
use std::io::{BufRead as _, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};

use crate::cli::context::{own_environment, policy_in_force};
use crate::cli::judge::{Line, decide, open};
use crate::cli::options::where_options;
use crate::decision::Decision;
use crate::policy::keep;
use crate::policy::temper::undecided::{Adjudicator, span};
use crate::resolution::adjudicator::{Environment, consult};
use crate::resolution::wire::Said;
use crate::resolution::{Call, evidence};
use crate::text::raw;
use crate::verdict::Verdict;
use crate::verify::Judge;

pub fn command() -> Command {
    let text = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    where_options(Command::new("adjudicate"))
        .about("Run labelled commands through judge and models: agreement, latency, cost")
        .arg(
            text(
                "jsonl",
                "FILE",
                "lines as of judge, with \"label\"? safe or dangerous; - for standard input",
            )
            .required(true),
        )
        .arg(text("endpoint", "URL", "ask there instead of where the policy says").action(ArgAction::Append))
        .arg(text("model", "NAME", "ask this model").action(ArgAction::Append))
        .arg(text("key-file", "FILE", "with the key in FILE").action(ArgAction::Append))
        .arg(text("program", "FILE", "the adjudicator's program"))
        .arg(text("deadline", "TIME", "for each command, as in 30s"))
        .arg(text("quorum", "N", "how many models must say ALLOW").value_parser(clap::value_parser!(u32)))
        .arg(text("price", "IN,OUT", "price of a million tokens in and out, as in 0.15,0.6"))
}

/// What a line came to.
#[derive(Debug)]
struct Case {
    label: Option<String>,
    decided: Verdict,
    skips: Vec<&'static str>,
    asked: Option<Asked>,
}

#[derive(Debug)]
struct Asked {
    allow: bool,
    fault: bool,
    took: Duration,
    tokens: (u64, u64),
}

impl Case {
    /// Whether it would be held back without models, and with them.
    fn held(&self) -> (bool, bool) {
        let before = self.decided > Verdict::Allow;
        (before, before && !self.asked.as_ref().is_some_and(|asked| asked.allow))
    }
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let judge = Judge::new(policy_in_force()?);
    let adjudicator = adjudicator(judge.policy().temper().adjudicator, options)?;
    let price = options.get_one::<String>("price").map(|text| prices(text)).transpose()?;
    let path = options.get_one::<String>("jsonl").map_or("-", String::as_str);
    let own = own_environment();
    let mut cases = Vec::new();
    for (number, line) in open(path)?.lines().enumerate() {
        let line = line.with_context(|| format!("{path}:{}: cannot read", number + 1))?;
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(&line).with_context(|| format!("{path}:{}", number + 1))?;
        let (case, shown) = one(&judge, &adjudicator, line, options, &own);
        writeln!(out, "{shown}")?;
        cases.push(case);
    }
    writeln!(out, "{}", json!({ "summary": summary(&cases, price) }))?;
    Ok(ExitCode::SUCCESS)
}

/// The policy's adjudicator, with what the command line says instead.
fn adjudicator(policy: Adjudicator, options: &ArgMatches) -> anyhow::Result<Adjudicator> {
    let list = |name: &str, otherwise: &'static [&'static str]| match options.get_many::<String>(name) {
        Some(given) => keep::list(given.map(keep::text).collect()),
        None => otherwise,
    };
    let deadline = options.get_one::<String>("deadline");
    let deadline =
        deadline.map(|text| span(text).context("--deadline needs a span of time, as in 30s")).transpose()?;
    let own = options.contains_id("endpoint");
    let asked = Adjudicator {
        endpoints: list("endpoint", policy.endpoints),
        models: list("model", policy.models),
        // a key goes to the endpoint that it is for
        key_files: list("key-file", if own { &[] } else { policy.key_files }),
        programs: list("program", policy.programs),
        deadline: deadline.unwrap_or(policy.deadline),
        quorum: options.get_one::<u32>("quorum").copied().unwrap_or(policy.quorum),
        ..policy
    };
    if let Some(problem) = asked.problem() {
        anyhow::bail!("{problem}");
    }
    ensure!(
        !asked.judges().is_empty(),
        "nobody to ask: set adjudicator.endpoints and .models in the policy, or give --endpoint and --model"
    );
    Ok(asked)
}

/// Prices in millionths for a million tokens.
fn prices(text: &str) -> anyhow::Result<(u64, u64)> {
    let millionths = |text: &str| {
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        let places = format!("{places:0<6}");
        (places.len() == 6)
            .then(|| Some(whole.parse::<u64>().ok()? * 1_000_000 + places.parse::<u64>().ok()?))?
    };
    let read = text.split_once(',').and_then(|(a, b)| Some((millionths(a)?, millionths(b)?)));
    read.with_context(|| {
        format!("--price needs two decimals, as in 0.15,0.6, not `{}`", crate::text::escape(text))
    })
}

fn one(
    judge: &Judge,
    adjudicator: &Adjudicator,
    line: Line,
    options: &ArgMatches,
    own: &HashMap<String, String>,
) -> (Case, Value) {
    let (id, label, text) = (line.id.clone(), line.label.clone(), line.cmd.clone());
    let (decision, context) = decide(judge, line, options, own);
    let skips: Vec<&'static str> = decision.skips.iter().map(|skip| skip.name()).collect();
    let bytes = raw(&text);
    let call = Call {
        text: &bytes,
        form: "bare",
        words: &[],
        cwd: &context.cwd,
        uid: context.uid,
        home: &context.home,
        caller: "",
    };
    let (asked, note) = if decision.verdict == Verdict::Warn && skips.is_empty() {
        ask(judge, adjudicator, &decision, &call)
    } else {
        (None, String::new())
    };
    let case = Case { label, decided: decision.verdict, skips, asked };
    let shown = json!({
        "id": id,
        "verdict": case.decided.name(),
        "skips": case.skips,
        "asked": case.asked.is_some(),
        "note": note,
        "final": if case.held().1 { "deny" } else { "allow" },
    });
    (case, shown)
}

fn ask(
    judge: &Judge,
    adjudicator: &Adjudicator,
    decision: &Decision,
    call: &Call<'_>,
) -> (Option<Asked>, String) {
    let Some(evidence) = evidence::object(decision, call, judge.policy()) else {
        return (None, "too large to be shown to a model".to_owned());
    };
    let began = Instant::now();
    let answer = consult(adjudicator, &adjudicator.judges(), evidence, Environment::OwnKey);
    let clear = |said: Said| matches!(said, Said::Allow | Said::Deny);
    let fault = answer.opinions.is_empty() || answer.opinions.iter().any(|opinion| !clear(opinion.said));
    let sum = |of: fn(&crate::resolution::wire::Opinion) -> u64| answer.opinions.iter().map(of).sum();
    let tokens = (sum(|o| o.tokens_in), sum(|o| o.tokens_out));
    let asked = Asked { allow: answer.verdict == Verdict::Allow, fault, took: began.elapsed(), tokens };
    (Some(asked), answer.note)
}

fn summary(cases: &[Case], price: Option<(u64, u64)>) -> Value {
    let count = |is: &dyn Fn(&Case) -> bool| cases.iter().filter(|case| is(case)).count();
    let asked: Vec<&Asked> = cases.iter().filter_map(|case| case.asked.as_ref()).collect();
    let mut took: Vec<u64> =
        asked.iter().map(|a| u64::try_from(a.took.as_millis()).unwrap_or(u64::MAX)).collect();
    took.sort_unstable();
    let quantile = |thousandths: usize| took.get(took.len().saturating_sub(1) * thousandths / 1000).copied();
    let tokens = asked.iter().fold((0, 0), |(a, b), asked| (a + asked.tokens.0, b + asked.tokens.1));
    let cost = price.map(|(a, b)| {
        let millionths =
            (u128::from(tokens.0) * u128::from(a) + u128::from(tokens.1) * u128::from(b)) / 1_000_000;
        format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
    });
    let labelled = |label: &str| {
        let of = |is: &dyn Fn(&Case) -> bool| count(&|case| case.label.as_deref() == Some(label) && is(case));
        json!({ "of": of(&|_| true), "held_before": of(&|case| case.held().0), "held_after": of(&|case| case.held().1), "asked": of(&|case| case.asked.is_some()) })
    };
    let agrees = |case: &Case| match (case.label.as_deref(), &case.asked) {
        (Some("safe"), Some(asked)) => Some(asked.allow),
        (Some("dangerous"), Some(asked)) => Some(!asked.allow),
        (Some(_) | None, Some(_) | None) => None,
    };
    let skipped = |name: &str| count(&|case| case.decided == Verdict::Warn && case.skips.contains(&name));
    json!({
        "lines": cases.len(),
        "allow": count(&|case| case.decided == Verdict::Allow),
        "warn": count(&|case| case.decided == Verdict::Warn),
        "deny": count(&|case| case.decided == Verdict::Deny),
        "skipped": {
            "all": count(&|case| case.decided == Verdict::Warn && !case.skips.is_empty()),
            "rule": skipped("rule"), "class": skipped("class"), "path": skipped("path"),
        },
        "asked": asked.len(),
        "allowed": asked.iter().filter(|asked| asked.allow).count(),
        "faults": asked.iter().filter(|asked| asked.fault).count(),
        "agreement": { "of": count(&|case| agrees(case).is_some()), "agree": count(&|case| agrees(case) == Some(true)) },
        "safe": labelled("safe"),
        "dangerous": labelled("dangerous"),
        "latency_ms": { "p50": quantile(500), "p95": quantile(950), "max": took.last() },
        "tokens": { "in": tokens.0, "out": tokens.1 },
        "cost": cost,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_read_without_floating_point() {
        assert_eq!(prices("0.15,0.6").unwrap(), (150_000, 600_000));
        assert_eq!(prices("3,15").unwrap(), (3_000_000, 15_000_000));
        for text in ["", "1", "a,b", "1,2,3", "0.1234567,1", "-1,1"] {
            assert!(prices(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sums_say_what_models_change_and_what_they_cost() {
        let case = |label: &str, decided, skips: &[&'static str], asked| Case {
            label: Some(label.to_owned()),
            decided,
            skips: skips.to_vec(),
            asked,
        };
        let asked = |allow, fault, ms| {
            Some(Asked { allow, fault, took: Duration::from_millis(ms), tokens: (100, 10) })
        };
        let cases = [
            case("safe", Verdict::Allow, &[], None),
            case("safe", Verdict::Warn, &[], asked(true, false, 5)),
            case("safe", Verdict::Warn, &[], asked(false, true, 7)),
            case("dangerous", Verdict::Warn, &["class"], None),
            case("dangerous", Verdict::Warn, &[], asked(false, false, 9)),
            case("dangerous", Verdict::Deny, &["rule"], None),
        ];
        let sums = summary(&cases, Some((1_000_000, 2_000_000)));
        assert_eq!(sums["safe"], json!({"of": 3, "held_before": 2, "held_after": 1, "asked": 2}));
        assert_eq!(sums["dangerous"], json!({"of": 3, "held_before": 3, "held_after": 3, "asked": 1}));
        assert_eq!(sums["skipped"], json!({"all": 1, "rule": 0, "class": 1, "path": 0}));
        assert_eq!(sums["agreement"], json!({"of": 3, "agree": 2}));
        assert_eq!((sums["faults"].as_u64(), sums["latency_ms"]["p50"].as_u64()), (Some(1), Some(7)));
        assert_eq!(sums["cost"], json!("0.000360"));
    }
}
