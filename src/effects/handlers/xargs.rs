//! xargs(1) and parallel(1): a command whose last words come from a pipe.
//!
//! In: the argument vector and the input. Out: the command's effects with those words in place.
//! Never: forgets that words from elsewhere may be anything.

use std::rc::Rc;

use crate::act::{TagSet, tag};
use crate::canonical::operation::quote;
use crate::canonical::value::{Data, Field, HOLE, Origin, Value};
use crate::effects::arguments::{Parsed, parse};
use crate::effects::call::Call;
use crate::effects::fields::{Borders, joined, tags_of};
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Command;

/// Most words that are taken from the input one by one.
const WORDS: usize = 64;

/// What ends an item of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Words,
    Lines,
    Nulls,
    /// `-d CHARACTER`
    Character(char),
}

/// The words that the input gives.
fn words_of(input: &Data, call: &Call<'_>, ends: Ends) -> Vec<Field> {
    let tags = input.tags.minus(TagSet::of(tag::FROM_STDIN));
    let make = |text: String| Field { text, pattern: None, tags, span: call.span };
    let Some(text) = &input.text else {
        return vec![Field { span: call.span, ..Field::from(Value::unknown(tags)) }];
    };
    let pieces: Vec<&str> = match ends {
        Ends::Lines => text.split(['\n', '\0']).filter(|l| !l.is_empty()).collect(),
        Ends::Words => text.split(['\n', ' ', '\t', '\0']).filter(|w| !w.is_empty()).collect(),
        Ends::Nulls => text.split('\0').filter(|w| !w.is_empty()).collect(),
        Ends::Character(end) => text.split(end).filter(|w| !w.is_empty()).collect(),
    };
    if pieces.len() > WORDS {
        return vec![make(HOLE.to_string())];
    }
    if matches!(ends, Ends::Nulls | Ends::Character(_)) {
        // nothing is special then
        return pieces.into_iter().map(|p| make(p.to_owned())).collect();
    }
    pieces.into_iter().map(|p| make(p.trim_matches(['"', '\'']).to_owned())).collect()
}

fn option_value(parsed: &Parsed, words: &[Field], names: &[&str]) -> Option<String> {
    let end = parsed.places.first().copied().unwrap_or(words.len());
    let mut rest = words.iter().take(end);
    while let Some(word) = rest.next() {
        for name in names {
            if word.text == *name {
                return rest.next().map(|f| f.text.clone());
            }
            if let Some(value) = word.text.strip_prefix(name) {
                return Some(value.trim_start_matches('=').to_owned());
            }
        }
    }
    None
}

impl Walk<'_, '_> {
    /// xargs: the command with the words of the input.
    pub fn xargs(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let parsed = parse(spec, call.arguments());
        let mut input = call.stdin.clone();
        if let Some(path) = option_value(&parsed, call.arguments(), &["--arg-file", "-a"]) {
            let field = Field { text: path, span: call.span, ..Field::default() };
            input = self.read_path(&field, program, call.span);
        }
        let mut replace = option_value(&parsed, call.arguments(), &["--replace", "-I"]);
        if parsed.has_switch(&["-i"]) && replace.is_none() {
            replace = Some("{}".to_owned());
        }
        let mut argv = parsed.operands.clone();
        if argv.is_empty() {
            return Outcome::prints(Data { text: None, ..input });
        }
        let delimiter = option_value(&parsed, call.arguments(), &["--delimiter", "-d"]);
        let delimiter = delimiter.as_deref().and_then(|d| match d {
            "\\n" => Some('\n'),
            "\\0" => Some('\0'),
            "\\t" => Some('\t'),
            other => other.chars().next(),
        });
        let ends = match (parsed.has_switch(&["-0", "--null"]), replace.is_some()) {
            _ if delimiter.is_some() => Ends::Character(delimiter.unwrap_or('\n')),
            (true, _) => Ends::Nulls,
            (false, true) => Ends::Lines,
            (false, false) => Ends::Words,
        };
        let given = words_of(&input, call, ends);
        // names from a file, `-o`: the command has the terminal
        let own = parsed.has_switch(&["-o", "--open-tty"]) || words_from_file(call.arguments(), &parsed);
        let call = &Call { stdin: if own { &Data::inherited() } else { call.stdin }, ..*call };
        if given.is_empty() {
            // GNU xargs runs the command once even without input
            return self.nested(&argv, call);
        }
        match replace.filter(|r| !r.is_empty()) {
            None => {
                argv.extend(given);
                self.nested(&argv, call)
            }
            Some(mark) => {
                let mut all = Outcome::silent();
                for word in given {
                    let words = substituted(&argv, &mark, &word);
                    all.data.append(&self.nested(&words, call).data);
                }
                all
            }
        }
    }

    /// `start-stop-daemon -x PROGRAM … -- ARGUMENTS`.
    pub fn daemon(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let words = call.arguments();
        let parsed = parse(spec, words);
        let names = ["--startas", "--exec", "-x", "-a"];
        let end = words.iter().position(|f| f.text == "--").unwrap_or(words.len());
        let own = words.get(..end).unwrap_or(words);
        let value = own.iter().enumerate().find_map(|(i, f)| {
            let long = f
                .text
                .split_once('=')
                .filter(|(n, _)| names.contains(n))
                .map(|(_, v)| Field { text: v.to_owned(), ..f.clone() });
            let bundled =
                f.text.starts_with('-') && !f.text.starts_with("--") && f.text.ends_with(['x', 'a']);
            long.or_else(|| (names.contains(&&*f.text) || bundled).then(|| own.get(i + 1).cloned()).flatten())
        });
        if let Some(value) = value
            && !parsed.has_switch(&["-K", "--stop"])
        {
            let mut argv = vec![value];
            argv.extend(words.get(end + 1..).unwrap_or(&[]).iter().cloned());
            let mut child = self.fork();
            child.call(&Call { argv: &argv, stdin: call.stdin, environment: &[], span: call.span });
        }
        self.carry_out(spec, call, program, parsed)
    }

    /// zsh's `zargs ARGUMENTS -- COMMAND`.
    pub fn zargs(&mut self, call: &Call<'_>) -> Outcome {
        let mut parts = call.arguments().split(|f| f.text == "--");
        let mut given: Vec<Field> = parts.next().unwrap_or(&[]).to_vec();
        let mut argv: Vec<Field> = parts.next().unwrap_or(&[]).to_vec();
        if given.is_empty() {
            // `zargs -- ARGUMENTS -- COMMAND`
            given = std::mem::take(&mut argv);
            argv = parts.next().unwrap_or(&[]).to_vec();
        }
        argv.extend(given);
        self.nested(&argv, call)
    }

    /// A command in a child, with nothing on its input.
    fn nested(&mut self, argv: &[Field], call: &Call<'_>) -> Outcome {
        let empty = Data::empty();
        let stdin = if call.stdin.origin == Origin::Inherited { call.stdin.clone() } else { empty };
        let call = Call { argv, stdin: &stdin, environment: call.environment, span: call.span };
        self.in_child(|child| {
            child.forget_names();
            child.call(&call)
        })
    }

    /// `parallel COMMAND ::: ARGUMENTS`, or with arguments from the input; the command is shell text.
    pub fn parallel(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let parsed = parse(spec, call.arguments());
        let mut command: Vec<Field> = Vec::new();
        let mut given: Vec<Field> = Vec::new();
        let mut listed = false;
        for word in &parsed.operands {
            match word.text.as_str() {
                ":::" | ":::+" | "::::" | "--" => listed = true,
                _ if listed => given.push(word.clone()),
                _ => command.push(word.clone()),
            }
        }
        if !listed {
            given = words_of(call.stdin, call, Ends::Lines);
        }
        let tags = tags_of(command.iter().chain(&given));
        let text = joined(&command, Borders::Lost).text;
        let mut all = Outcome::silent();
        for word in given.iter().take(WORDS) {
            let line = if text.is_empty() {
                word.text.clone()
            } else if text.contains("{}") {
                text.replace("{}", &quote(&word.text))
            } else {
                format!("{text} {}", quote(&word.text))
            };
            let field = Field { text: line, pattern: None, tags, span: call.span };
            let mut child = self.fork();
            all.data.append(&child.opaque_or_text(&field, program).data);
        }
        all
    }
}

/// `-a FILE`: standard input is left to the command.
fn words_from_file(words: &[Field], parsed: &Parsed) -> bool {
    option_value(parsed, words, &["--arg-file", "-a"]).is_some()
}

fn substituted(argv: &[Field], mark: &str, word: &Field) -> Vec<Field> {
    argv.iter()
        .map(|part| {
            if part.text.contains(mark) {
                let tags = part.tags.union(word.tags);
                Field { text: part.text.replace(mark, &word.text), pattern: None, tags, span: part.span }
            } else {
                part.clone()
            }
        })
        .collect()
}
