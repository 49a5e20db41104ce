//! The manual says what the program does: options, settings and words of the policy, none too few and, where
//! that can be told, none too many.

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

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fs;

use agent_sh::act::{Class, Kind, UnknownKind, tag};
use agent_sh::policy::fields::FIELDS;
use agent_sh::policy::tables::{Family, Lang, SemanticClass, Tier};

fn page(name: &str) -> String {
    fs::read_to_string(format!("packaging/man/{name}")).unwrap()
}

/// The words of a section of a page, without punctuation at their ends.
fn words(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|line| !line.starts_with(".\\\""))
        .flat_map(|line| line.split([' ', ',', '(', ')', '|', '"', '[', ']']))
        .filter(|word| !word.is_empty())
        .map(|word| word.replace("\\-", "-"))
        .collect()
}

/// What stands between a heading and the next one of its kind.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let start = page.find(&format!("{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let rest = &page[start + heading.len()..];
    let kind = &heading[..4];
    let ends = [format!("\n{kind}"), "\n.Sh ".to_owned()];
    let end = ends.iter().filter_map(|end| rest.find(end.as_str())).min().unwrap_or(rest.len());
    &rest[..end]
}

/// Long options (`.It Fl Fl name`) and letters (`.It Fl c`) that a section's list items describe.
fn described(text: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix(".It ")) {
        let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        for at in 0..words.len() {
            let before = at.checked_sub(1).map(|at| words[at]);
            match (before, words[at], words.get(at + 1)) {
                (_, "Fl", Some(&"Fl")) => {}
                (Some("Fl"), "Fl", Some(name)) => drop(out.insert(format!("--{name}"))),
                (_, "Fl", Some(name)) => drop(out.insert(format!("-{name}"))),
                _ => {}
            }
        }
    }
    out
}

/// Options of each command of the table, by its words; `--help` is everybody's.
fn options(command: &clap::Command, path: &str, out: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut own = BTreeSet::new();
    for argument in command.get_arguments().filter(|argument| path.is_empty() || argument.get_id() != "help")
    {
        own.extend(argument.get_long().map(|name| format!("--{name}")));
        own.extend(argument.get_short().map(|letter| format!("-{letter}")));
    }
    let subcommands: Vec<_> = command.get_subcommands().filter(|sub| sub.get_name() != "help").collect();
    for sub in &subcommands {
        let path = format!("{path} {}", sub.get_name());
        options(sub, path.trim_start(), out);
    }
    // a command with commands of its own may take options too
    if path.is_empty() || subcommands.is_empty() || !own.is_empty() {
        out.insert(path.to_owned(), own);
    }
}

#[test]
fn agent_shctl_s_page_has_the_commands_and_options_of_the_table_and_no_others() {
    let mut table = agent_sh::cli::options::table();
    table.build();
    let mut real = BTreeMap::new();
    options(&table, "", &mut real);

    let page = page("agent-shctl.1");
    let commands = section(&page, ".Sh COMMANDS");
    let mut written = BTreeMap::from([(String::new(), described(section(&page, ".Sh DESCRIPTION")))]);
    for name in commands.lines().filter_map(|line| line.strip_prefix(".Ss ")) {
        written.insert(name.to_owned(), described(section(&page, &format!(".Ss {name}"))));
    }
    assert_eq!(written, real);
}

#[test]
fn the_policy_s_page_has_every_setting_and_no_other() {
    let page = page("agent-sh-policy.5");
    let settings = words(section(&page, ".Sh SETTINGS"));
    for field in FIELDS {
        assert!(settings.contains(field.key), "agent-sh-policy.5 does not say what `{}` is", field.key);
    }
    let keys: BTreeSet<&str> = FIELDS.iter().map(|field| field.key).collect();
    let items = section(&page, ".Sh SETTINGS").lines().filter_map(|line| line.strip_prefix(".It "));
    for word in items.flat_map(words) {
        let is_key = word.contains('.') && word.starts_with(|c: char| c.is_ascii_lowercase());
        assert!(
            !is_key || keys.contains(word.as_str()),
            "agent-sh-policy.5 describes `{word}`, which is none"
        );
    }
}

#[test]
fn every_setting_of_base_toml_is_one_of_the_table() {
    let base = fs::read_to_string("policy/base.toml").unwrap();
    let mut prefix = String::new();
    for line in base.lines().map(|line| line.split('#').next().unwrap_or("").trim()) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            prefix = format!("{name}.");
        } else if let Some((key, _)) = line.split_once('=') {
            let key = format!("{prefix}{}", key.trim());
            let known = |field: &&str| {
                *field == key || field.strip_prefix(&key).is_some_and(|rest| rest.starts_with('.'))
            };
            let is_known = FIELDS.iter().map(|field| field.key).any(|field| known(&field));
            assert!(is_known || key == "schema", "{key}");
        }
    }
}

#[test]
fn the_policy_s_page_has_every_word_of_the_language() {
    let page = page("agent-sh-policy.5");
    let have = |heading: &str, names: &mut dyn Iterator<Item = &'static str>| {
        let words = words(section(&page, heading));
        for name in names {
            assert!(words.contains(name), "agent-sh-policy.5, {heading}: `{name}` is missing");
        }
    };
    have(".Sh KINDS OF EFFECTS", &mut Kind::ALL.iter().map(|kind| kind.name()));
    have(".Sh CLASSES OF TARGETS", &mut Class::ALL.iter().map(|class| class.name()));
    have(".Sh TAGS", &mut tag::NAMES.iter().copied());
    have(".Sh RULES", &mut Family::ALL.iter().map(|family| family.name()));
    have(".Sh RULES", &mut Tier::ALL.iter().map(|tier| tier.name()));
    have(".Sh SCORES AND PLACES", &mut SemanticClass::ALL.iter().map(|class| class.name()));
    have(".Sh COMMANDS", &mut Lang::ALL.iter().map(|(name, _)| *name));
    for unknown in UnknownKind::ALL {
        let key = format!("unknown.{}", unknown.name());
        assert!(page.contains(&key), "agent-sh-policy.5: `{key}` is missing");
    }
}

#[test]
fn the_readme_s_commands_are_options_that_there_are() {
    let readme = fs::read_to_string("README.md").unwrap();
    let mut table = agent_sh::cli::options::table();
    table.build();
    for line in readme.lines().filter(|line| line.starts_with("agent-shctl ")) {
        let line = line.split('#').next().unwrap_or("").replace('\'', " ");
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = &table;
        for word in words.iter().skip(1).take_while(|word| !word.starts_with('-')) {
            // what follows are arguments
            if !command.has_subcommands() {
                break;
            }
            command = command.find_subcommand(word).unwrap_or_else(|| panic!("README: no `{word}`: {line}"));
        }
    }
}
