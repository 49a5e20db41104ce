//! git's global options and settings that carry code; its subcommands are data.
//!
//! In: the argument vector. Out: effects of `-c`, `config`, aliases, then of the subcommand.
//! Never: takes a setting that runs something for a mere preference.

use std::rc::Rc;

use crate::act::tag;
use crate::canonical::value::Field;
use crate::effects::arguments::parse;
use crate::effects::call::Call;
use crate::effects::fields::{Borders, joined, made};
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::{Command, Role};

/// A git command line behind the program's name.
#[derive(Default)]
struct Line<'w> {
    /// The subcommand and its words.
    words: &'w [Field],
    /// Aliases that `-c` has defined.
    aliases: Vec<(String, Field)>,
    /// Options in front of the subcommand that stay.
    globals: Vec<Field>,
}

/// Whether a setting's name matches a described one: `*` stands for one part or more, case is ignored.
fn setting_matches(pattern: &str, key: &str) -> bool {
    let (pattern, key) = (pattern.to_ascii_lowercase(), key.to_ascii_lowercase());
    match pattern.split_once('*') {
        None => pattern == key,
        Some((head, tail)) => {
            key.len() >= head.len() + tail.len() && key.starts_with(head) && key.ends_with(tail)
        }
    }
}

impl Walk<'_, '_> {
    fn setting_roles(&self, key: &str) -> Option<&'static [Role]> {
        let spec = self.core.policy.command("git-config-settings")?;
        spec.values
            .iter()
            .find(|(names, _)| names.iter().any(|n| setting_matches(n, key)))
            .map(|(_, roles)| *roles)
    }

    /// One `key=value` that git would obey.
    fn git_setting(&mut self, spec: &'static Command, pair: &Field, call: &Call<'_>, program: &Rc<str>) {
        let Some((key, value)) = pair.text.split_once('=') else { return };
        if value.is_empty() {
            return;
        }
        let key_lower = key.to_ascii_lowercase();
        let Some(roles) = self.setting_roles(key) else { return };
        // an alias without `!` is a git command line
        let text = if key_lower.starts_with("alias.") && !value.starts_with('!') {
            format!("git {value}")
        } else {
            value.trim_start_matches('!').to_owned()
        };
        let field = made(text, pair);
        self.apply_roles(roles, &field, (spec, call, program));
    }

    /// git: global options, then the subcommand.
    pub fn git(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let mut words = call.arguments();
        let saved = self.state.cwd.clone();
        let mut line = Line::default();
        loop {
            match words {
                [dash, pair, rest @ ..] if dash.text == "-c" => {
                    if let Some((key, value)) = pair.text.split_once('=') {
                        if let Some(name) = key.to_ascii_lowercase().strip_prefix("alias.") {
                            line.aliases
                                .push((name.to_owned(), Field { text: value.to_owned(), ..pair.clone() }));
                        } else {
                            self.git_setting(spec, pair, call, program);
                        }
                    }
                    words = rest;
                }
                [dash, folder, rest @ ..] if dash.text == "-C" => {
                    self.state.cwd = self.resolved(folder);
                    words = rest;
                }
                [dash, value, rest @ ..]
                    if matches!(
                        dash.text.as_str(),
                        "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env"
                    ) && !dash.text.contains('=') =>
                {
                    line.globals.extend([dash.clone(), value.clone()]);
                    words = rest;
                }
                [dash, rest @ ..] if dash.text.starts_with('-') => {
                    line.globals.push(dash.clone());
                    words = rest;
                }
                _ => break,
            }
        }
        line.words = words;
        let outcome = self.git_command(spec, &line, call, program);
        self.state.cwd = saved;
        outcome
    }

    fn git_command(
        &mut self,
        spec: &'static Command,
        line: &Line<'_>,
        call: &Call<'_>,
        program: &Rc<str>,
    ) -> Outcome {
        let words = line.words;
        let name = words.first().map(|f| f.text.to_ascii_lowercase()).unwrap_or_default();
        if let Some((_, text)) = line.aliases.iter().find(|(n, _)| *n == name) {
            let rest = joined(words.get(1..).unwrap_or(&[]), Borders::Kept).text;
            let line = match text.text.strip_prefix('!') {
                Some(shell) => format!("{shell} {rest}"),
                None => format!("git {} {rest}", text.text),
            };
            let mut child = self.fork();
            return child.opaque_or_text(&Field { text: line, ..text.clone() }, program);
        }
        if name == "config" {
            self.git_config(spec, words.get(1..).unwrap_or(&[]), call, program);
        }
        if name == "clone" {
            for pair in words.windows(2) {
                if let [dash, pair] = pair
                    && matches!(dash.text.as_str(), "-c" | "--config")
                {
                    self.git_setting(spec, pair, call, program);
                }
            }
        }
        let mut all: Vec<Field> = line.globals.clone();
        all.extend_from_slice(words);
        let parsed = parse(spec, &all);
        self.carry_out(spec, call, program, parsed)
    }

    /// `git config [set] KEY VALUE`: what it stores runs later.
    fn git_config(&mut self, spec: &'static Command, words: &[Field], call: &Call<'_>, program: &Rc<str>) {
        let reads = [
            "--get",
            "--get-all",
            "--get-regexp",
            "-l",
            "--list",
            "--unset",
            "--unset-all",
            "get",
            "list",
            "unset",
        ];
        if words.iter().any(|f| reads.contains(&f.text.as_str())) {
            return;
        }
        let plain: Vec<&Field> =
            words.iter().filter(|f| !f.text.starts_with('-') && f.text != "set").collect();
        if let [.., key, value] = plain.as_slice() {
            let pair = made(format!("{}={}", key.text, value.text), value);
            let tags = self.state.ambient.with(tag::GRANTS);
            self.under(tags, |walk| walk.git_setting(spec, &pair, call, program));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_match_without_case_and_with_parts_in_between() {
        assert!(setting_matches("core.pager", "core.PAGER"));
        assert!(setting_matches("diff.*.command", "diff.x.y.command"));
        assert!(!setting_matches("diff.*.command", "diff.command.x"));
    }
}
