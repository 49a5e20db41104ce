//! Composes transformations: of words, then of a command's words, then of the whole text.
//!
//! In: a base command and a plan. Out: the disguised text, and what its programs must get.
//! Never: depends on a clock or a generator outside: the same plan gives the same text.

use super::foreign::FOREIGN;
use super::fresh::FRESH;
use super::later::LATER;
use super::stage::Stage;
use super::template::{Subject, fill, quote};
use super::texts::TEXTS;
use super::words::{COMMANDS, WORDS};

/// One transformation and its choices.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Word(usize, usize),
    Command(usize, usize),
    Text(usize),
}

/// Transformations in the order in which they are applied.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) salt: usize,
}

/// A disguised command and the argument vectors that its programs get.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) argvs: Vec<Vec<String>>,
}

fn text_rows() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    TEXTS.iter().chain(FOREIGN).chain(FRESH).chain(LATER)
}

fn needs(step: Step) -> &'static str {
    match step {
        Step::Word(i, _) => WORDS[i].3,
        Step::Command(i, _) => COMMANDS[i].3,
        Step::Text(i) => text_rows().nth(i).map_or("", |r| r.2),
    }
}

fn name(step: Step) -> &'static str {
    match step {
        Step::Word(i, _) => WORDS[i].0,
        Step::Command(i, _) => COMMANDS[i].0,
        Step::Text(i) => text_rows().nth(i).map_or("", |r| r.0),
    }
}

fn singles() -> Vec<Step> {
    let words = (0..WORDS.len()).map(|i| Step::Word(i, i));
    let commands = (0..COMMANDS.len()).map(|i| Step::Command(i, 0));
    let texts = (0..text_rows().count()).map(Step::Text);
    words.chain(commands).chain(texts).filter(|s| !asks(needs(*s), "never")).collect()
}

/// Names of all transformations that are not put aside.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    singles().into_iter().map(name)
}

/// Each transformation alone twice, then `count` compositions of two or three.
pub(crate) fn plans(count: usize) -> Vec<Plan> {
    let singles = singles();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 33).unwrap_or(0) % below.max(1)
    };
    let mut plans: Vec<Plan> = Vec::new();
    for round in 0..2 {
        for (i, step) in singles.iter().enumerate() {
            let step = match *step {
                Step::Word(row, _) => Step::Word(row, round),
                other => other,
            };
            plans.push(Plan { steps: vec![step], salt: i + round * 7 });
        }
    }
    for _ in 0..count {
        let mut steps: Vec<Step> = (0..2 + next(2))
            .map(|_| match singles[next(singles.len())] {
                Step::Word(row, _) => Step::Word(row, next(3)),
                Step::Command(row, _) => Step::Command(row, next(3)),
                text @ Step::Text(_) => text,
            })
            .collect();
        steps.sort_by_key(|s| match s {
            Step::Word(..) => 0,
            Step::Command(..) => 1,
            Step::Text(_) => 2,
        });
        plans.push(Plan { steps, salt: next(1000) });
    }
    plans
}

fn asks(needs: &str, what: &str) -> bool {
    needs.split(' ').any(|n| n == what)
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"/.-_+@:,=".contains(&b))
}

/// A word as meant and as written.
#[derive(Clone, Debug)]
struct Word {
    meant: String,
    source: String,
    touched: bool,
}

struct Form {
    before: String,
    stages: Vec<Vec<Word>>,
    folder: String,
    home: String,
    fresh: usize,
}

impl Plan {
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.steps.iter().map(|s| name(*s)).collect()
    }

    /// The text that is judged.
    pub(crate) fn judged(&self, base: &[&[&str]]) -> Option<Case> {
        self.apply(base, "/usr/bin", "/home/dev", None)
    }

    /// The text that is run: every program is the probe.
    pub(crate) fn twin(&self, base: &[&[&str]], stage: &Stage) -> Option<Case> {
        self.apply(base, &stage.programs(), &stage.home(), Some("probe"))
    }

    fn apply(&self, base: &[&[&str]], folder: &str, home: &str, program: Option<&str>) -> Option<Case> {
        let word = |i: usize, text: &str| {
            let meant = match program {
                Some(probe) if i == 0 => probe.to_owned(),
                _ => text.replace("HOME", home),
            };
            let source = if is_plain(&meant) { meant.clone() } else { quote(&meant) };
            Word { meant, source, touched: false }
        };
        let stages =
            base.iter().map(|stage| stage.iter().enumerate().map(|(i, w)| word(i, w)).collect()).collect();
        let mut form = Form {
            before: String::new(),
            stages,
            folder: folder.to_owned(),
            home: home.to_owned(),
            fresh: 0,
        };
        let argvs = form.stages.iter().map(|s| s.iter().skip(1).map(|w| w.meant.clone()).collect()).collect();
        let mut text = None;
        for step in &self.steps {
            form.fresh += 1;
            match step {
                Step::Word(row, choice) => form.word(*row, *choice + self.salt)?,
                Step::Command(row, choice) => form.command(*row, *choice)?,
                Step::Text(row) => {
                    let so_far = text.unwrap_or_else(|| form.text());
                    text = Some(form.whole(*row, &so_far)?);
                }
            }
        }
        Some(Case { text: text.unwrap_or_else(|| form.text()), argvs })
    }
}

impl Form {
    fn text(&self) -> String {
        let stages: Vec<String> = self
            .stages
            .iter()
            .map(|s| s.iter().map(|w| w.source.as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        format!("{}{}", self.before, stages.join(" | "))
    }

    fn subject(&self, text: &str, stage: &[Word]) -> Subject {
        Subject {
            text: text.to_owned(),
            fresh: format!("k{}", self.fresh),
            folder: self.folder.clone(),
            home: self.home.clone(),
            sources: stage.iter().map(|w| w.source.clone()).collect(),
            meant: stage.iter().map(|w| w.meant.clone()).collect(),
        }
    }

    fn word(&mut self, row: usize, choice: usize) -> Option<()> {
        let (_, before, source, needs) = WORDS[row];
        let at = choice % self.stages.len();
        let stage = self.stages.get(at)?.clone();
        let last = stage.len() - 1;
        let place = if asks(needs, "head") {
            0
        } else if asks(needs, "path") {
            stage.iter().skip(1).position(|w| w.meant.starts_with('/'))? + 1
        } else if asks(needs, "home") {
            stage.iter().skip(1).position(|w| w.meant.starts_with(&self.home))? + 1
        } else {
            [0, last, 1.min(last)][choice % 3]
        };
        let word = stage.get(place)?;
        let refused = word.touched
            || (asks(needs, "plain") && !is_plain(&word.meant))
            || (asks(needs, "nocolon") && word.meant.contains(':'))
            || (asks(needs, "noat") && word.meant.contains('@'))
            || (asks(needs, "short") && word.meant.len() > 12);
        if refused {
            return None;
        }
        let subject = self.subject(&word.meant, &stage);
        let (before, source) = (fill(before, &subject)?, fill(source, &subject)?);
        self.before.push_str(&before);
        let slot = self.stages.get_mut(at)?.get_mut(place)?;
        slot.source = source;
        slot.touched = true;
        Some(())
    }

    fn command(&mut self, row: usize, choice: usize) -> Option<()> {
        let (_, before, source, needs) = COMMANDS[row];
        let at = choice % self.stages.len();
        let stage = self.stages.get(at)?.clone();
        let literal = ["«line»", "«lines»", "«csv»", "«pylist»"]
            .iter()
            .any(|p| source.contains(p) || before.contains(p));
        let refused = (literal && stage.iter().any(|w| w.touched))
            || (asks(needs, "plain") && stage.iter().any(|w| !is_plain(&w.meant)))
            || (asks(needs, "nocolon") && stage.iter().any(|w| w.meant.contains(':')))
            || (asks(needs, "rest") && stage.len() < 2)
            || (asks(needs, "one") && self.stages.len() > 1);
        if refused {
            return None;
        }
        let subject = self.subject("", &stage);
        let (before, source) = (fill(before, &subject)?, fill(source, &subject)?);
        self.before.push_str(&before);
        *self.stages.get_mut(at)? = vec![Word { meant: String::new(), source, touched: true }];
        Some(())
    }

    fn whole(&self, row: usize, text: &str) -> Option<String> {
        let (_, template, needs) = text_rows().nth(row)?;
        let refused = (asks(needs, "line") && text.contains('\n'))
            || (asks(needs, "noback") && text.contains('\\'))
            || (asks(needs, "nosingle") && text.contains('\''))
            || (asks(needs, "nopercent") && text.contains('%'))
            || (asks(needs, "noat") && text.contains('@'));
        if refused || text.len() > 6000 {
            return None;
        }
        fill(
            template,
            &self.subject(text, &[Word { meant: String::new(), source: String::new(), touched: true }]),
        )
    }
}
