//! `agent-shctl policy check|show|suggest|promote`.
//!
//! In: options. Out: text; exit 1 where the policy is broken or an example does not hold.
//! Never: calls a policy sound whose examples were not judged.

pub mod accept;
pub mod past;
pub mod promote;
pub mod promotion;
pub mod proposal;
pub mod shown;
pub mod suggest;

use std::io::Write;
use std::process::ExitCode;

use crate::cli::context::{Asked, context, policy_in_force};
use crate::policy::Policy;
use crate::policy::tables::Rule;
use crate::verify::Judge;
use crate::world::Machine;

pub fn run(options: &clap::ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    match options.subcommand() {
        Some(("check", options)) => check(options.get_flag("embedded"), out),
        Some(("promote", options)) => promote::run(options, out),
        Some(("suggest", options)) => suggest::run(options, out),
        Some(("show", _)) => {
            write!(out, "{}", crate::policy::show::show(&policy_in_force()?))?;
            Ok(ExitCode::SUCCESS)
        }
        _ => Ok(ExitCode::from(2)),
    }
}

/// Where examples are judged.
pub const CWD: &str = "/home/user/project";
pub const HOME: &str = "/home/user";

/// What is wrong with a rule's examples; one line each.
pub fn examples(judge: &Judge, rule: &Rule) -> Vec<String> {
    let mut wrong = Vec::new();
    let environment =
        [("HOME", HOME), ("PWD", CWD), ("USER", "user"), ("PATH", "/usr/local/bin:/usr/bin:/bin")];
    let environment = environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let asked = Asked {
        cwd: Some(CWD.to_owned()),
        home: Some(HOME.to_owned()),
        workspace: Some(CWD.to_owned()),
        environment: Some(environment),
        ..Asked::default()
    };
    let context = context(asked, &std::collections::HashMap::new());
    let fires =
        |text: &str| judge.verify(text, &context, &Machine).findings.iter().any(|f| *f.rule == *rule.id);
    for text in rule.hits {
        if !fires(text) {
            wrong.push(format!("{}: {} does not match its example: {text}", rule.origin, rule.id));
        }
    }
    for text in rule.misses {
        if fires(text) {
            wrong.push(format!("{}: {} matches what it must not: {text}", rule.origin, rule.id));
        }
    }
    wrong
}

fn check(only_embedded: bool, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    // loading says whether every layer can be read, and whether root's is safe on disk
    let policy = if only_embedded { Policy::embedded() } else { policy_in_force()? };
    let judge = Judge::new(policy);
    let (mut good, mut bad) = (0, 0);
    for rule in judge.policy().rules() {
        let wrong = examples(&judge, rule);
        for line in &wrong {
            writeln!(out, "{line}")?;
        }
        bad += wrong.len();
        good += (rule.hits.len() + rule.misses.len()).saturating_sub(wrong.len());
    }
    let rules = judge.policy().rules().len();
    writeln!(out, "policy {}: {rules} rules, {good} examples hold, {bad} don't", judge.policy().version())?;
    Ok(if bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
