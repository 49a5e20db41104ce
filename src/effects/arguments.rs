//! Reads an argument vector by a program's description.
//!
//! In: a [`Command`] and fields. Out: [`Parsed`]: what each word means. Never: guesses past the description:
//! an option that it does not list is a switch.

use crate::act::{TagSet, tag};
use crate::canonical::value::Field;
use crate::effects::fields::made;
use crate::effects::handlers::mode::mode_tags;
use crate::policy::tables::{Command, Is, Role, Style};

/// One word with its meaning.
#[derive(Clone, Debug)]
pub struct Meant {
    pub roles: &'static [Role],
    pub field: Field,
}

/// An argument vector, read.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The program and its subcommands, outermost first.
    pub specs: Vec<&'static Command>,
    pub tags: TagSet,
    /// Option values and operands with roles.
    pub meant: Vec<Meant>,
    /// Roles without a word, from switches.
    pub bare: Vec<Role>,
    pub operands: Vec<Field>,
    /// Switches as written (for handlers), values not.
    pub switches: Vec<String>,
    /// A dry run, a help text: nothing happens.
    pub inert: Inert,
    /// Index in the argument vector of each operand.
    pub places: Vec<usize>,
}

/// Whether nothing happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inert {
    Yes,
    #[default]
    No,
}

/// A switch or an option with a value.
enum Option_ {
    Flag(&'static [Role]),
    Value(&'static [Role]),
    Optional(&'static [Role]),
}

impl Parsed {
    /// The innermost description.
    pub fn spec(&self) -> Option<&'static Command> {
        self.specs.last().copied()
    }

    /// Whether one of these switches is given.
    pub fn has_switch(&self, names: &[&str]) -> bool {
        self.switches.iter().any(|s| names.contains(&s.as_str()))
    }

    /// Whether some word is code or a command: then the program doesn't wait for its input.
    pub fn carries_code(&self) -> bool {
        let code = |r: &Role| matches!(r.is, Is::Code(_) | Is::CodeFile(_) | Is::Command | Is::ShellText);
        self.meant.iter().any(|m| m.roles.iter().any(code))
    }
}

fn named(list: &'static [(&'static [&'static str], &'static [Role])], name: &str) -> Option<&'static [Role]> {
    list.iter().find(|(names, _)| names.contains(&name)).map(|(_, roles)| *roles)
}

fn lookup(specs: &[&'static Command], name: &str) -> Option<Option_> {
    for spec in specs.iter().rev() {
        if let Some(roles) = named(spec.values, name) {
            return Some(Option_::Value(roles));
        }
        if let Some(roles) = named(spec.flags, name) {
            return Some(Option_::Flag(roles));
        }
        if let Some(roles) = named(spec.optional, name) {
            return Some(Option_::Optional(roles));
        }
    }
    None
}

/// `getopt_long`'s unique prefixes: `--recur` is `--recursive`.
fn by_prefix(specs: &[&'static Command], name: &str) -> Option<&'static str> {
    if name.len() < 4 {
        return None;
    }
    let mut hit = None;
    for spec in specs {
        let lists = [spec.flags, spec.values, spec.optional];
        for candidate in lists.iter().flat_map(|l| l.iter()).flat_map(|(names, _)| names.iter()) {
            if candidate.starts_with(name) && candidate.starts_with("--") {
                if hit.is_some_and(|h| h != *candidate) {
                    return None;
                }
                hit = Some(*candidate);
            }
        }
    }
    hit
}

/// Reads the words after the program's name.
pub fn parse(spec: &'static Command, words: &[Field]) -> Parsed {
    let mut reader = Reader {
        out: Parsed { specs: vec![spec], ..Parsed::default() },
        words,
        at: 0,
        ended: false,
        given_over: None,
        path: String::new(),
    };
    reader.run();
    reader.out
}

/// Reads an argument vector from left to right.
pub(super) struct Reader<'a> {
    pub(super) out: Parsed,
    pub(super) words: &'a [Field],
    pub(super) at: usize,
    /// after `--`, or after the first operand in POSIX style
    ended: bool,
    /// an option's value began a command (`python -m pip …`, `fd x -exec …`): it and all that follows are that
    /// command; so many operands stand before it
    pub(super) given_over: Option<usize>,
    /// the subcommand so far, words separated by spaces
    pub(super) path: String,
}

impl Reader<'_> {
    fn run(&mut self) {
        let mut first = true;
        while let Some(word) = self.words.get(self.at) {
            self.at += 1;
            let style = self.out.spec().map_or(Style::Gnu, |s| s.style);
            let text = word.text.as_str();
            let dashed = text.len() > 1 && text.starts_with('-') && style != Style::Plain;
            let bundled = style == Style::Bundle && first && !dashed && !text.contains(['/', '.', '=']);
            first = false;
            // vim(1): `+{command}`
            let plus = text.strip_prefix('+').filter(|_| !self.ended);
            if let (Some(given), Some(Option_::Optional(roles))) = (plus, lookup(&self.out.specs, "+")) {
                self.value(roles, made(given, word));
            } else if self.ended || (!dashed && !bundled) {
                self.operand(word.clone(), style);
            } else if text == "--" {
                self.ended = true;
            } else if text.starts_with("--") && style != Style::Words {
                self.long(word);
            } else if style == Style::Words {
                self.whole(word);
            } else {
                self.bundle(word, usize::from(!bundled));
            }
        }
        self.assign_operands();
        self.out.tags = self.out.specs.iter().fold(self.out.tags, |t, s| t.union(s.tags));
    }

    fn operand(&mut self, word: Field, style: Style) {
        if style == Style::Pairs
            && let Some((key, value)) = word.text.split_once('=')
            && let Some(Option_::Value(roles)) = lookup(&self.out.specs, key)
        {
            let field = Field { text: value.to_owned(), pattern: None, ..word };
            return self.value(roles, field);
        }
        if !self.ended
            && self.out.operands.is_empty()
            && (self.subcommand(&word.text) || self.named_first(&word))
        {
            return;
        }
        if style == Style::Posix {
            self.ended = true;
        }
        self.out.places.push(self.at);
        self.out.operands.push(word);
    }

    fn flag(&mut self, name: &str, roles: &'static [Role]) {
        self.out.switches.push(name.to_owned());
        for role in roles {
            match role.is {
                Is::Tag => self.out.tags = self.out.tags.union(role.tags),
                Is::Data => {}
                Is::Effect(_)
                | Is::Code(_)
                | Is::CodeFile(_)
                | Is::Command
                | Is::ShellText
                | Is::Chdir
                | Is::Assignment
                | Is::User
                | Is::SendData
                | Is::SendFile
                | Is::Peer => self.out.bare.push(*role),
            }
        }
    }

    fn value(&mut self, roles: &'static [Role], field: Field) {
        for role in roles {
            if role.is == Is::Tag {
                self.out.tags = self.out.tags.union(role.tags);
            }
        }
        let has = |tag| roles.iter().any(|r| r.is == Is::Tag && r.tags.has(tag));
        if has(tag::SETS_MODE) {
            self.out.tags = self.out.tags.union(mode_tags(&field.text));
        }
        // `--arg NAME VALUE`: the second word is what the role is about
        let field = if has(tag::TWO_VALUES) { self.next_word(&field) } else { field };
        if self.given_over.is_none() && roles.iter().any(|r| r.is == Is::Command) {
            self.given_over = Some(self.out.operands.len());
            self.out.places.push(self.at);
            self.out.operands.push(field.clone());
            self.ended = true;
        }
        self.out.meant.push(Meant { roles, field });
    }

    fn next_word(&mut self, like: &Field) -> Field {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word.unwrap_or_else(|| Field { text: String::new(), ..like.clone() })
    }

    fn is_inert(&self, name: &str) -> bool {
        // alone, these two are the same everywhere
        let everywhere = self.words.len() == 1 || self.out.spec().is_some_and(|s| s.style == Style::Gnu);
        let gnu = everywhere && matches!(name, "--help" | "--version");
        gnu || self.out.specs.iter().any(|s| s.inert.contains(&name))
    }

    fn long(&mut self, word: &Field) {
        let (name, attached) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text.as_str(), None),
        };
        if self.is_inert(name) || self.is_inert(&word.text) {
            self.out.inert = Inert::Yes;
        }
        let full =
            if lookup(&self.out.specs, name).is_some() { None } else { by_prefix(&self.out.specs, name) };
        let name = full.unwrap_or(name);
        match (lookup(&self.out.specs, name), attached) {
            (Some(Option_::Value(roles) | Option_::Optional(roles)), Some(value)) => {
                let field = made(value, word);
                self.value(roles, field);
            }
            (Some(Option_::Value(roles)), None) => {
                let field = self.next_word(word);
                self.value(roles, field);
            }
            (Some(Option_::Flag(roles) | Option_::Optional(roles)), _) => self.flag(name, roles),
            (None, _) => self.out.switches.push(name.to_owned()),
        }
    }

    fn whole(&mut self, word: &Field) {
        let (name, attached) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text.as_str(), None),
        };
        if self.is_inert(name) || self.is_inert(&word.text) {
            self.out.inert = Inert::Yes;
        }
        let single = name.strip_prefix('-').filter(|n| n.starts_with('-'));
        let found = lookup(&self.out.specs, name).or_else(|| single.and_then(|n| lookup(&self.out.specs, n)));
        match (found, attached) {
            (Some(Option_::Value(roles) | Option_::Optional(roles)), Some(value)) => {
                let field = made(value, word);
                self.value(roles, field);
            }
            (Some(Option_::Value(roles)), None) => {
                let field = self.next_word(word);
                self.value(roles, field);
            }
            (Some(Option_::Flag(roles) | Option_::Optional(roles)), _) => self.flag(name, roles),
            (None, _) if self.out.spec().is_some_and(|s| s.style == Style::Words) && name.len() > 2 => {
                // `-Dx=y`, `-Xmx1g`: a letter with its value glued on
                let letter = crate::text::prefix(name, 2);
                match lookup(&self.out.specs, letter) {
                    Some(Option_::Value(roles) | Option_::Optional(roles)) => {
                        let rest = word.text.get(letter.len()..).unwrap_or("").to_owned();
                        self.value(roles, made(rest, word));
                    }
                    Some(Option_::Flag(_)) | None => self.out.switches.push(name.to_owned()),
                }
            }
            (None, _) => self.out.switches.push(name.to_owned()),
        }
    }

    fn bundle(&mut self, word: &Field, skip: usize) {
        let letters = word.text.get(skip..).unwrap_or("");
        if skip == 1 && self.is_inert(&word.text) {
            self.out.inert = Inert::Yes;
            return self.out.switches.push(word.text.clone());
        }
        // some programs have single-dash words (`-vvv` is letters, `-delete` is a word)
        if skip == 1
            && letters.len() > 1
            && let Some(found) = lookup(&self.out.specs, &word.text)
        {
            return match found {
                Option_::Flag(roles) | Option_::Optional(roles) => self.flag(&word.text, roles),
                Option_::Value(roles) => {
                    let field = self.next_word(word);
                    self.value(roles, field);
                }
            };
        }
        for (i, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            if self.is_inert(&name) {
                self.out.inert = Inert::Yes;
            }
            let tail = letters.get(i + letter.len_utf8()..).unwrap_or("");
            match lookup(&self.out.specs, &name) {
                Some(Option_::Value(roles)) => {
                    if skip == 0 || tail.is_empty() {
                        let field = self.next_word(word);
                        self.value(roles, field);
                        if skip == 0 {
                            continue;
                        }
                    } else {
                        let text = tail.to_owned();
                        self.value(roles, made(text, word));
                    }
                    return;
                }
                Some(Option_::Optional(roles)) => {
                    self.flag(&name, roles);
                    if !tail.is_empty() && skip == 1 {
                        let text = tail.to_owned();
                        self.value(roles, made(text, word));
                    }
                    return;
                }
                Some(Option_::Flag(roles)) => self.flag(&name, roles),
                None => self.out.switches.push(name),
            }
        }
    }
}
