//! What a refusal suggests instead is itself allowed, where it is a command.
//!
//! In: the rules' `instead` texts. Out: the commands in them, judged. Never: runs one.

// a test program: what is not there may stop it
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    clippy::format_collect,
    clippy::format_push_string
)]

mod stand;

use std::collections::BTreeSet;

use agent_sh::policy::Policy;
use agent_sh::verdict::Verdict;

/// Words after which a sentence goes on and the command is over.
const PROSE: &[&str] = &[
    "shows", "lists", "says", "gives", "first", "without", "for", "and", "with", "to", "is", "names", "by",
    "where",
];

/// The commands in a text of prose: pieces that begin with a program and go on with an option, a subcommand or
/// a placeholder.
fn commands(text: &str) -> Vec<String> {
    let policy = Policy::embedded();
    let mut text = text.to_owned();
    for mark in [", then ", ", ", "; ", ": ", " or ", " then ", " in ", "("] {
        text = text.replace(mark, "\n");
    }
    let mut out = Vec::new();
    for piece in text.lines() {
        let words: Vec<&str> = piece.trim().trim_end_matches([')', '.']).split(' ').collect();
        let Some(program) = policy.command(words[0]) else { continue };
        let is_placeholder = |word: &str| word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase());
        let goes_on = words.get(1).is_some_and(|word| {
            word.starts_with(['-', '['])
                || is_placeholder(word)
                || program.subcommands.iter().any(|(name, _)| name == word)
        });
        if !goes_on {
            continue;
        }
        let words = words.iter().take_while(|word| !PROSE.contains(word));
        let filled = words.map(|word| match word.split_once('=') {
            Some((option, value)) if is_placeholder(value) => format!("{option}=x.out"),
            _ if is_placeholder(word) => match *word {
                "REMOTE" => "origin".to_owned(),
                "BRANCH" => "topic".to_owned(),
                "HOST" => "localhost".to_owned(),
                "PORT" => "8080".to_owned(),
                "FOLDER" => "build".to_owned(),
                other => other.to_lowercase(),
            },
            _ => (*word).to_owned(),
        });
        out.push(filled.collect::<Vec<_>>().join(" "));
    }
    out
}

#[test]
fn commands_are_found_in_prose() {
    for (text, expected) in [
        (
            "git push --force-with-lease REMOTE BRANCH, with the branch named",
            &["git push --force-with-lease origin topic"][..],
        ),
        ("terraform plan -destroy shows what would go", &["terraform plan -destroy"]),
        ("git stash list, then git stash apply", &["git stash list", "git stash apply"]),
        ("read it first", &[]),
        ("ask the person", &[]),
    ] {
        assert_eq!(commands(text), expected, "{text}");
    }
}

#[test]
fn what_is_suggested_instead_is_allowed() {
    let mut seen = BTreeSet::new();
    let mut held = Vec::new();
    for rule in Policy::embedded().rules() {
        for command in commands(rule.instead) {
            let decision = stand::verify(&command);
            if decision.verdict != Verdict::Allow {
                held.push(format!("{}: `{command}` is {}: {:?}", rule.id, decision.verdict, decision.score));
            }
            seen.insert(command);
        }
    }
    println!("{} commands are suggested: {seen:?}", seen.len());
    assert!(seen.len() >= 12, "{seen:?}");
    assert!(held.is_empty(), "{}", held.join("\n"));
}
