//! Extended regular expressions, as far as `[[ text =~ pattern ]]` is used to cut a text into pieces.
//!
//! In: a pattern and a text, both known. Out: what the groups matched, the whole first; `None` where there is no
//! match or the pattern holds what isn't read here (alternatives, counts, classes by name).
//! Never: takes more steps than its fuel.

/// Steps of one search.
const FUEL: u32 = 20_000;
/// Longest text and pattern, in characters.
const LONG: usize = 4096;

enum Part {
    One(Set),
    Group(usize, Vec<Item>),
    Start,
    End,
}

struct Item {
    part: Part,
    least: u32,
    most: u32,
}

enum Set {
    Any,
    Literal(char),
    /// ranges, and whether all others are meant
    Class(Vec<(char, char)>, Sense),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sense {
    These,
    Others,
}

impl Set {
    fn holds(&self, c: char) -> bool {
        match self {
            Self::Any => true,
            Self::Literal(l) => *l == c,
            Self::Class(ranges, sense) => {
                ranges.iter().any(|(a, b)| (*a..=*b).contains(&c)) == (*sense == Sense::These)
            }
        }
    }
}

struct Reader<'p> {
    rest: std::iter::Peekable<std::str::Chars<'p>>,
    groups: usize,
}

impl Reader<'_> {
    fn items(&mut self, depth: u8) -> Option<Vec<Item>> {
        let mut out = Vec::new();
        while let Some(c) = self.rest.peek().copied() {
            if c == ')' && depth > 0 {
                break;
            }
            self.rest.next();
            let part = match c {
                '^' => Part::Start,
                '$' => Part::End,
                '.' => Part::One(Set::Any),
                '[' => Part::One(self.class()?),
                '(' if depth < 16 => {
                    self.groups += 1;
                    let number = self.groups;
                    let inner = self.items(depth + 1)?;
                    (self.rest.next()? == ')').then_some(())?;
                    Part::Group(number, inner)
                }
                '\\' => Part::One(Set::Literal(self.rest.next()?)),
                '|' | '{' | '(' | ')' | '*' | '+' | '?' => return None,
                other => Part::One(Set::Literal(other)),
            };
            let (least, most) = match self.rest.peek() {
                Some('*') => (0, u32::MAX),
                Some('+') => (1, u32::MAX),
                Some('?') => (0, 1),
                Some(_) | None => (1, 1),
            };
            if (least, most) != (1, 1) {
                self.rest.next();
                if matches!(part, Part::Start | Part::End | Part::Group(..)) {
                    return None;
                }
            }
            out.push(Item { part, least, most });
        }
        Some(out)
    }

    fn class(&mut self) -> Option<Set> {
        let sense = if self.rest.next_if_eq(&'^').is_some() { Sense::Others } else { Sense::These };
        let mut ranges: Vec<(char, char)> = Vec::new();
        loop {
            let c = self.rest.next()?;
            if c == ']' && !ranges.is_empty() {
                return Some(Set::Class(ranges, sense));
            }
            if c == '[' && matches!(self.rest.peek(), Some(':' | '.' | '=')) {
                return None;
            }
            let mut ahead = self.rest.clone();
            match (ahead.next(), ahead.next()) {
                (Some('-'), Some(last)) if last != ']' => {
                    self.rest.next();
                    self.rest.next();
                    ranges.push((c, last));
                }
                _ => ranges.push((c, c)),
            }
        }
    }
}

struct Search<'t> {
    text: &'t [char],
    groups: Vec<Option<(usize, usize)>>,
    fuel: u32,
}

/// What is left to match: items, and what comes behind the group that holds them.
struct Rest<'i> {
    items: &'i [Item],
    behind: Option<(usize, usize, &'i Rest<'i>)>,
}

impl Search<'_> {
    /// The end of the match that begins at `at`; greedy, as the leftmost parts take the most.
    fn run(&mut self, rest: &Rest<'_>, at: usize) -> Option<usize> {
        self.fuel = self.fuel.checked_sub(1)?;
        let Some((item, tail)) = rest.items.split_first() else {
            return match rest.behind {
                None => Some(at),
                Some((number, from, outer)) => {
                    let old = self.groups.get(number).copied().flatten();
                    if let Some(slot) = self.groups.get_mut(number) {
                        *slot = Some((from, at));
                    }
                    let found = self.run(outer, at);
                    if let (None, Some(slot)) = (found, self.groups.get_mut(number)) {
                        *slot = old;
                    }
                    found
                }
            };
        };
        let next = Rest { items: tail, behind: rest.behind };
        match &item.part {
            Part::Start => (at == 0).then(|| self.run(&next, at)).flatten(),
            Part::End => (at == self.text.len()).then(|| self.run(&next, at)).flatten(),
            Part::Group(number, inner) => {
                self.run(&Rest { items: inner, behind: Some((*number, at, &next)) }, at)
            }
            Part::One(set) => {
                let fits = self.text.iter().skip(at).take_while(|c| set.holds(**c)).count();
                let most = fits.min(usize::try_from(item.most).unwrap_or(usize::MAX));
                let least = usize::try_from(item.least).unwrap_or(usize::MAX);
                (least..=most).rev().find_map(|n| self.run(&next, at + n))
            }
        }
    }
}

/// What `BASH_REMATCH` holds after `[[ text =~ pattern ]]`.
pub fn groups(pattern: &str, text: &str) -> Option<Vec<String>> {
    if pattern.len() > LONG || text.len() > LONG {
        return None;
    }
    let mut reader = Reader { rest: pattern.chars().peekable(), groups: 0 };
    let items = reader.items(0)?;
    let chars: Vec<char> = text.chars().collect();
    let mut search = Search { text: &chars, groups: vec![None; reader.groups + 1], fuel: FUEL };
    let whole = Rest { items: &items, behind: None };
    let (from, to) = (0..=chars.len()).find_map(|from| search.run(&whole, from).map(|to| (from, to)))?;
    if let Some(slot) = search.groups.first_mut() {
        *slot = Some((from, to));
    }
    let cut = |g: &Option<(usize, usize)>| {
        g.map_or_else(String::new, |(a, b)| chars.iter().skip(a).take(b.saturating_sub(a)).collect())
    };
    Some(search.groups.iter().map(cut).collect())
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn groups_are_what_bash_says() {
        let cases: &[(&str, &str, Option<&[&str]>)] = &[
            ("=(.*)$", "zz=of=x", Some(&["=of=x", "of=x"])),
            ("^x(.*)$", "xrm -rf y", Some(&["xrm -rf y", "rm -rf y"])),
            ("^([a-z]+)([0-9]*)", "ab12c", Some(&["ab12", "ab", "12"])),
            ("a.c", "xxabc", Some(&["abc"])),
            ("^b", "abc", None),
            ("(a|b)", "a", None),
            ("[^:]+:(.)", "u:r:x", Some(&["u:r", "r"])),
        ];
        for (pattern, text, want) in cases {
            let want = want.map(|w| w.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
            assert_eq!(groups(pattern, text), want, "{pattern} {text}");
        }
    }
}
