//! The parts of a shell pattern, and reading them from its text.
//!
//! In: a pattern whose quoted characters are escaped by backslashes. Out: [`Token`]s.
//! Never: fails: what is no valid bracket expression or group is plain characters, as in bash.

/// Whether `@( ?( *( +( !(` are read as bash's extended patterns (`shopt -s extglob`; always in `[[`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extended {
    Yes,
    No,
}

#[derive(Clone, Debug)]
pub(super) enum Token {
    Char(char),
    /// `?`
    One,
    /// `*`
    Many,
    Bracket(Bracket),
    Group(Repeat, Vec<Vec<Token>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repeat {
    Once,
    Optional,
    Any,
    Some,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    In,
    NotIn,
}

#[derive(Clone, Debug)]
pub(super) struct Bracket {
    sense: Sense,
    members: Vec<Member>,
}

#[derive(Clone, Copy, Debug)]
enum Member {
    Range(char, char),
    Class(fn(char) -> bool),
}

/// Groups nest this deep at most; deeper ones are read as plain characters.
const DEPTH_LIMIT: u8 = 6;
/// `!(…)` multiplies the time by the text's length, so it nests less.
const NOT_LIMIT: u8 = 2;
/// Characters of a bracket expression; a longer one is plain characters.
const BRACKET_LIMIT: usize = 512;
/// Characters of a pattern with groups; in a longer one groups are plain characters.
const LENGTH_LIMIT: usize = 2048;

impl Bracket {
    pub(super) fn has(&self, c: char) -> bool {
        let inside = self.members.iter().any(|m| match m {
            Member::Range(low, high) => (*low..=*high).contains(&c),
            Member::Class(test) => test(c),
        });
        inside == (self.sense == Sense::In)
    }
}

/// The tokens of a pattern.
pub(super) fn read(pattern: &str, extended: Extended) -> Vec<Token> {
    let chars: Vec<char> = pattern.chars().collect();
    let extended = if chars.len() > LENGTH_LIMIT { Extended::No } else { extended };
    let mut reader = Reader { chars: &chars, at: 0, extended, groups: 0, nots: 0 };
    reader.sequence(&[]).unwrap_or_default()
}

struct Reader<'a> {
    chars: &'a [char],
    at: usize,
    extended: Extended,
    groups: u8,
    nots: u8,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Tokens up to one of `until` (left unread); `None` if the text ends first although `until` is asked.
    fn sequence(&mut self, until: &[char]) -> Option<Vec<Token>> {
        let mut out = Vec::new();
        while let Some(c) = self.peek(0) {
            if until.contains(&c) {
                return Some(out);
            }
            self.at += 1;
            if let Some(group) = self.group(c) {
                out.push(group);
                continue;
            }
            match c {
                '\\' => {
                    out.push(Token::Char(self.peek(0).unwrap_or('\\')));
                    self.at += 1;
                }
                '?' => out.push(Token::One),
                '*' if matches!(out.last(), Some(Token::Many)) => {}
                '*' => out.push(Token::Many),
                '[' => out.push(self.bracket().map_or(Token::Char('['), Token::Bracket)),
                c => out.push(Token::Char(c)),
            }
        }
        until.is_empty().then_some(out)
    }

    /// A group after its letter, or `None` with nothing read.
    fn group(&mut self, letter: char) -> Option<Token> {
        let repeat = match letter {
            '@' => Repeat::Once,
            '?' => Repeat::Optional,
            '*' => Repeat::Any,
            '+' => Repeat::Some,
            '!' => Repeat::Not,
            _ => return None,
        };
        let not = u8::from(repeat == Repeat::Not);
        let deep = self.groups >= DEPTH_LIMIT || self.nots + not > NOT_LIMIT;
        if self.extended == Extended::No || self.peek(0) != Some('(') || deep || !self.closes() {
            return None;
        }
        let start = self.at;
        self.groups += 1;
        self.nots += not;
        let mut arms = Vec::new();
        let read = loop {
            self.at += 1;
            let Some(arm) = self.sequence(&['|', ')']) else { break None };
            arms.push(arm);
            if self.peek(0) == Some(')') {
                self.at += 1;
                break Some(Token::Group(repeat, arms));
            }
        };
        self.groups -= 1;
        self.nots -= not;
        if read.is_none() {
            self.at = start;
        }
        read
    }

    /// Whether a `)` follows at all: keeps unclosed groups from being read again and again.
    fn closes(&self) -> bool {
        self.chars.get(self.at..).is_some_and(|rest| rest.contains(&')'))
    }

    /// The rest of a bracket expression after `[`, or `None` with nothing read: then `[` is a character.
    fn bracket(&mut self) -> Option<Bracket> {
        let start = self.at;
        let sense = if matches!(self.peek(0), Some('!' | '^')) {
            self.at += 1;
            Sense::NotIn
        } else {
            Sense::In
        };
        let mut members = Vec::new();
        let mut first = true;
        while let Some(c) = self.peek(0).filter(|_| self.at < start + BRACKET_LIMIT) {
            if c == ']' && !first {
                self.at += 1;
                return Some(Bracket { sense, members });
            }
            first = false;
            match self.class() {
                Some(member) => members.push(member),
                None => members.push(self.range(c)),
            }
        }
        self.at = start;
        None
    }

    /// `[:alpha:]`, `[=a=]`, `[.x.]`
    fn class(&mut self) -> Option<Member> {
        let (Some('['), Some(kind @ (':' | '=' | '.'))) = (self.peek(0), self.peek(1)) else { return None };
        let rest = self.chars.get(self.at + 2..)?;
        // the longest name is xdigit
        let length = rest.windows(2).take(8).position(|w| w == [kind, ']'])?;
        let name: String = rest.iter().take(length).collect();
        let member = if kind == ':' {
            Member::Class(class_test(&name)?)
        } else {
            let c = name.chars().next().filter(|_| length == 1)?;
            Member::Range(c, c)
        };
        self.at += 2 + length + 2;
        Some(member)
    }

    fn range(&mut self, first: char) -> Member {
        let low = self.escaped(first);
        if self.peek(0) == Some('-') && self.peek(1).is_some_and(|c| c != ']') {
            self.at += 1;
            let high = self.peek(0).map_or(low, |c| self.escaped(c));
            return Member::Range(low, high);
        }
        Member::Range(low, low)
    }

    /// Takes one character, or the one after a backslash.
    fn escaped(&mut self, c: char) -> char {
        self.at += 1;
        if c != '\\' {
            return c;
        }
        let next = self.peek(0).unwrap_or('\\');
        self.at += 1;
        next
    }
}

fn class_test(name: &str) -> Option<fn(char) -> bool> {
    Some(match name {
        "alpha" => char::is_alphabetic,
        "digit" => |c| c.is_ascii_digit(),
        "alnum" => char::is_alphanumeric,
        "upper" => char::is_uppercase,
        "lower" => char::is_lowercase,
        "space" => char::is_whitespace,
        "blank" => |c| c == ' ' || c == '\t',
        "punct" => |c| c.is_ascii_punctuation(),
        "cntrl" => char::is_control,
        "xdigit" => |c| c.is_ascii_hexdigit(),
        "print" => |c| !c.is_control(),
        "graph" => |c| !c.is_control() && !c.is_whitespace(),
        "word" => |c| c == '_' || c.is_alphanumeric(),
        "ascii" => |c| c.is_ascii(),
        _ => return None,
    })
}
