//! `agent-shctl watch`: the commands that wait for a person, on a terminal, as they come.
//!
//! In: the store, keys. Out: a screen; grants and refusals. Never: lets run what was not shown whole.

use std::io::{Read as _, Write};
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{ArgMatches, Command};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};

use crate::cli::approve::{once, shown};
use crate::cli::pending::since;
use crate::cli::person::{Desk, decides, desk, ensure_counts, now, user_option};
use crate::resolution::approval::Question;
use crate::resolution::code::Key;
use crate::text::escape;

/// Milliseconds between two looks at the store.
const STEP: u16 = 400;
/// Columns of a line; terminals cut or wrap it.
const WIDTH: usize = 100;
/// Lines of evidence on the screen.
const LINES: usize = 40;

pub fn command() -> Command {
    Command::new("watch")
        .about("Show the commands that wait for a person as they come, and let them run or refuse them")
        .arg(user_option())
}

/// What is on the screen.
#[derive(Debug, Default)]
struct Screen {
    questions: Vec<Question>,
    /// Key of the question that keys act on: it stays, whatever comes and goes around it.
    chosen: String,
    /// Key of the question whose evidence is shown.
    opened: String,
    /// The last thing that was done.
    news: String,
}

/// What a key means.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    Nothing,
    Quit,
    Allow(Question),
    Refuse(Question),
}

impl Screen {
    fn update(&mut self, questions: Vec<Question>) {
        let was_empty = self.questions.is_empty();
        self.questions = questions;
        if self.question().is_none() {
            // a key that is pressed as the choice goes away must not hit its neighbour
            let first = self.questions.first().filter(|_| was_empty);
            self.chosen = first.map_or_else(String::new, |q| q.key.clone());
        }
    }

    fn place(&self) -> usize {
        self.questions.iter().position(|q| q.key == self.chosen).unwrap_or(0)
    }

    fn question(&self) -> Option<&Question> {
        self.questions.iter().find(|q| q.key == self.chosen)
    }

    fn choose(&mut self, place: usize) {
        if let Some(question) = self.questions.get(place) {
            self.chosen.clone_from(&question.key);
        }
    }

    fn press(&mut self, key: u8) -> Wish {
        match key {
            b'q' | 3 | 4 => return Wish::Quit,
            b'j' | b'B' | b'k' | b'A' if self.chosen.is_empty() => self.choose(0),
            b'j' | b'B' => self.choose(self.place() + 1),
            b'k' | b'A' => self.choose(self.place().saturating_sub(1)),
            b'e' | b'\r' | b'\n' => {
                let closes = self.opened == self.chosen;
                self.opened = if closes { String::new() } else { self.chosen.clone() };
            }
            b'a' => match self.question().cloned() {
                Some(question) if self.is_seen(&question) => return Wish::Allow(question),
                Some(_) => "it is longer than its line: look at it with e first".clone_into(&mut self.news),
                None => {}
            },
            b'r' => return self.question().cloned().map_or(Wish::Nothing, Wish::Refuse),
            _ => {}
        }
        Wish::Nothing
    }

    /// Whether all of the command is on the screen.
    fn is_seen(&self, question: &Question) -> bool {
        let fits = escape(&question.text).chars().count() <= WIDTH && question.arguments.is_empty();
        fits || self.opened == question.key && shown(question).len() <= LINES
    }

    fn lines(&self, now: u64) -> Vec<String> {
        let mut out = vec![format!(
            "{} waiting    e evidence   a allow once   r refuse   j k move   q quit",
            self.questions.len()
        )];
        for question in &self.questions {
            let mark = if question.key == self.chosen { '>' } else { ' ' };
            let code = Key::parse(&question.key).map_or_else(String::new, |key| key.code().to_string());
            let text: String = escape(&question.text).chars().take(WIDTH).collect();
            let age = since(now.saturating_sub(question.asked));
            out.push(format!("{mark} {code} {age:>4} {}", escape(&question.cwd)));
            out.push(format!("    {text}"));
            if question.key == self.opened {
                let all = shown(question);
                let more = all.len().saturating_sub(LINES);
                out.extend(all.into_iter().take(LINES).map(|line| format!("      {line}")));
                if more > 0 {
                    out.push(format!("      {more} lines more: look at it with agent-shctl approve {code}"));
                }
            }
        }
        out.push(String::new());
        out.push(self.news.clone());
        out
    }
}

/// Keys one by one and unseen, until it is dropped.
struct Keys(Termios);

impl Keys {
    fn take() -> nix::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG);
        if let Some(least) = raw.control_chars.get_mut(SpecialCharacterIndices::VMIN as usize) {
            *least = 0;
        }
        tcsetattr(std::io::stdin(), SetArg::TCSANOW, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.0);
    }
}

pub fn run(options: &ArgMatches, out: &mut dyn Write) -> anyhow::Result<ExitCode> {
    decides()?;
    let desk = desk(options)?;
    ensure_counts(&desk)?;
    let own = nix::unistd::geteuid().as_raw() == desk.uid;
    // so that agent-sh waits though it has no terminal itself
    let watching =
        if own { desk.store.watch().context("the questions' folder can't be written")? } else { None };
    let keys = Keys::take().context("the terminal can't be set")?;
    let mut screen = Screen::default();
    let mut before = Vec::new();
    loop {
        screen.update(desk.store.questions(now(), desk.lifetime()));
        let lines = screen.lines(now());
        if lines != before {
            write!(out, "\x1b[H\x1b[2J{}\r\n", lines.join("\r\n"))?;
            out.flush()?;
            before = lines;
        }
        match screen.press(key()?) {
            Wish::Nothing => {}
            Wish::Quit => break,
            wish @ (Wish::Allow(_) | Wish::Refuse(_)) => screen.news = answer(&desk, wish),
        }
    }
    drop((keys, watching));
    Ok(ExitCode::SUCCESS)
}

/// The next key; 0 if none came, 4 at the end of input.
fn key() -> anyhow::Result<u8> {
    let input = std::io::stdin();
    let mut ready = [PollFd::new(input.as_fd(), PollFlags::POLLIN)];
    match poll(&mut ready, PollTimeout::from(STEP)) {
        Ok(0) | Err(nix::errno::Errno::EINTR) => Ok(0),
        Err(error) => Err(error.into()),
        Ok(_) => {
            let mut byte = [0];
            // one byte at a time, past the library's buffer, which poll knows nothing of
            let count = std::fs::File::from(input.as_fd().try_clone_to_owned()?).read(&mut byte)?;
            Ok(if count == 0 { 4 } else { u8::from_be_bytes(byte) })
        }
    }
}

fn answer(desk: &Desk, wish: Wish) -> String {
    let code = |q: &Question| Key::parse(&q.key).map_or_else(String::new, |key| key.code().to_string());
    match wish {
        Wish::Allow(question) => match desk.store.grant(&once(&question, desk.lifetime())) {
            Ok(()) => format!("{} may run once", code(&question)),
            Err(error) => format!("{} can't be approved: {error}", code(&question)),
        },
        Wish::Refuse(question) => {
            desk.store.forget(&question.key);
            format!("{} is refused", code(&question))
        }
        Wish::Nothing | Wish::Quit => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(n: u8, text: &str) -> Question {
        Question {
            key: format!("{n:02x}").repeat(32),
            text: text.to_owned(),
            arguments: Vec::new(),
            cwd: "/w".to_owned(),
            directory: None,
            caller: "/bin/a".to_owned(),
            verdict: "warn".to_owned(),
            evidence: vec!["WARN".to_owned()],
            asked: 10,
        }
    }

    #[test]
    fn the_choice_stays_with_its_question() {
        let (a, b, c) = (question(1, "a"), question(2, "b"), question(3, "c"));
        let mut screen = Screen::default();
        screen.update(vec![a.clone(), b.clone()]);
        assert_eq!(screen.press(b'a'), Wish::Allow(a.clone()));
        screen.press(b'j');
        screen.update(vec![c.clone(), a.clone(), b.clone()]);
        assert_eq!(screen.press(b'r'), Wish::Refuse(b));
        screen.update(vec![c.clone(), a]);
        assert_eq!(screen.press(b'a'), Wish::Nothing);
        screen.press(b'k');
        assert_eq!(screen.press(b'a'), Wish::Allow(c));
        screen.update(Vec::new());
        assert_eq!((screen.press(b'a'), screen.press(b'q')), (Wish::Nothing, Wish::Quit));
    }

    #[test]
    fn what_does_not_fit_is_looked_at_before_it_is_allowed() {
        let long = question(1, &format!("echo {}", "x".repeat(200)));
        let mut screen = Screen::default();
        screen.update(vec![long.clone()]);
        assert_eq!(screen.press(b'a'), Wish::Nothing);
        screen.press(b'e');
        assert!(screen.lines(10).iter().any(|line| line.contains(&"x".repeat(200))));
        assert_eq!(screen.press(b'a'), Wish::Allow(long));
        let endless = question(1, &"x\n".repeat(100));
        screen.update(vec![endless]);
        assert_eq!(screen.press(b'a'), Wish::Nothing);
    }

    #[test]
    fn the_screen_holds_no_byte_of_the_command_as_it_is() {
        let mut screen = Screen::default();
        screen.update(vec![question(1, "\x1b]0;x\x07\u{202e}")]);
        screen.press(b'e');
        assert!(screen.lines(99).iter().all(|line| !line.contains(['\x1b', '\x07', '\u{202e}'])));
    }
}
