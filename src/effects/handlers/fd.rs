//! fd(1) with a command: the same as find(1) with `-exec`, in other words.
//!
//! In: the argument vector. Out: find's effects; `None` where fd runs nothing. Never: takes a pattern that everything
//! matches for a narrowing one.

use std::rc::Rc;

use crate::canonical::value::Field;
use crate::effects::call::Call;
use crate::effects::fields::made;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Command;

/// What fd's words say.
#[derive(Default)]
struct Search {
    /// find's tests.
    tests: Vec<Field>,
    operands: Vec<Field>,
    /// `--search-path`, `-C`: where it looks, besides operands.
    places: Vec<Field>,
    commands: Vec<Vec<Field>>,
    glob: bool,
}

/// Placeholders that stand for the found path or a part of it.
const PARTS: [&str; 3] = ["{/}", "{.}", "{/.}"];

impl Search {
    fn read(spec: &'static Command, words: &[Field]) -> Self {
        let takes = |name: &str| spec.values.iter().any(|(names, _)| names.contains(&name));
        let mut search = Self::default();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            if text == "--" {
                search.operands.extend(rest.by_ref().cloned());
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(made(value, word))),
                    None => (long, None),
                };
                search.option(&format!("--{name}"), value, &mut rest, &takes);
            } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                let mut letters = letters.chars();
                while let Some(letter) = letters.next() {
                    let name = format!("-{letter}");
                    if !takes(&name) {
                        search.option(&name, None, &mut rest, &takes);
                        continue;
                    }
                    let value = Some(letters.as_str()).filter(|v| !v.is_empty()).map(|v| made(v, word));
                    search.option(&name, value, &mut rest, &takes);
                    break;
                }
            } else {
                search.operands.push(word.clone());
            }
        }
        search
    }

    /// One option, with its attached value.
    fn option<'w>(
        &mut self,
        name: &str,
        value: Option<Field>,
        rest: &mut impl Iterator<Item = &'w Field>,
        takes: &dyn Fn(&str) -> bool,
    ) {
        if matches!(name, "-x" | "--exec" | "-X" | "--exec-batch") {
            let words = value.into_iter().chain(rest.take_while(|word| word.text != ";").cloned());
            return self.commands.push(words.collect());
        }
        self.glob |= matches!(name, "-g" | "--glob");
        let Some(value) = value.or_else(|| takes(name).then(|| rest.next().cloned()).flatten()) else {
            return;
        };
        let test = |test: &str, value: Field| [made(test, &value), value];
        match name {
            "-e" | "--extension" => {
                let pattern = made(format!("*.{}", value.text), &value);
                self.tests.extend(test("-name", pattern));
            }
            "-t" | "--type"
                if matches!(value.text.as_str(), "l" | "symlink" | "s" | "socket" | "p" | "pipe") =>
            {
                self.tests.extend(test("-type", made("l", &value)));
            }
            "-t" | "--type" if matches!(value.text.as_str(), "e" | "empty") => {
                self.tests.push(made("-empty", &value));
            }
            "-S" | "--size" | "--changed-within" | "--changed-before" | "--newer" | "--older" | "-o"
            | "--owner" => {
                self.tests.extend(test("-size", value));
            }
            "--search-path" | "-C" | "--base-directory" => self.places.push(value),
            _ => {}
        }
    }

    /// find's words.
    fn into_find(mut self, head: &Field) -> Vec<Field> {
        // with --search-path every operand is a pattern
        let pattern = if self.operands.is_empty() { None } else { Some(self.operands.remove(0)) };
        let starts = if self.operands.is_empty() { self.places } else { self.operands };
        let first = starts.first().cloned().unwrap_or_else(|| made(".", head));
        let mut out = vec![made("find", head)];
        out.extend(starts);
        if let Some(pattern) = pattern {
            out.extend(narrowing(&pattern, self.glob));
        }
        out.extend(self.tests);
        for mut command in self.commands {
            let is_placed = command.iter().any(|word| word.text.contains('{'));
            for word in &mut command {
                for part in PARTS {
                    word.text = word.text.replace(part, "{}");
                }
                // the folder around what is found: at most the one in which the search began
                word.text = word.text.replace("{//}", &first.text);
            }
            if !is_placed {
                command.push(made("{}", head));
            }
            out.push(made("-exec", head));
            out.extend(command);
            out.push(made(";", head));
        }
        out
    }
}

/// A pattern as find's test; none where everything matches it.
fn narrowing(pattern: &Field, glob: bool) -> Vec<Field> {
    let text = pattern.text.as_str();
    if text.chars().all(|c| ".*^$+?()|[]".contains(c)) {
        return Vec::new();
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name = if glob {
        text.to_owned()
    } else if text.chars().all(is_plain) {
        format!("*{text}*")
    } else {
        return vec![made("-regex", pattern), pattern.clone()];
    };
    vec![made("-name", pattern), made(name, pattern)]
}

impl Walk<'_, '_> {
    /// fd: `None` where it only lists.
    pub fn fd(&mut self, spec: &'static Command, call: &Call<'_>, program: &Rc<str>) -> Option<Outcome> {
        let search = Search::read(spec, call.arguments());
        if search.commands.is_empty() {
            return None;
        }
        let words = search.into_find(call.argv.first()?);
        Some(self.find(&Call { argv: &words, ..*call }, program))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::text::Span;

    #[test]
    fn fd_is_read_as_the_find_that_does_the_same() {
        let spec = Policy::embedded().command("fd").unwrap();
        for (text, expected) in [
            (". /etc -X rm -rf", "find /etc -exec rm -rf {} ;"),
            ("-e txt . /srv -x gzip -k", "find /srv -name *.txt -exec gzip -k {} ;"),
            ("-Hetxt pat -x cat {} ; -tl", "find -name *pat* -name *.txt -type l -exec cat {} ;"),
            ("-HIx rm", "find -exec rm {} ;"),
            ("--exec=rm", "find -exec rm {} ;"),
            ("-g *.o -j 4 -x rm", "find -name *.o -exec rm {} ;"),
            ("^a.*b$ src -x rm {//}", "find src -regex ^a.*b$ -exec rm src ;"),
            ("-d 1 .* --search-path /x -x mv {} {.}.bak", "find /x -exec mv {} {}.bak ;"),
            ("-x a {} ; -x b", "find -exec a {} ; -exec b {} ;"),
        ] {
            let words: Vec<Field> = text.split(' ').map(|w| Field::known(w, Span::default())).collect();
            let found = Search::read(spec, &words).into_find(&Field::known("fd", Span::default()));
            let found: Vec<&str> = found.iter().map(|word| word.text.as_str()).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
