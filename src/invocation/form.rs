//! What a shell's command line asks for, in words that are the same for all shells.
//!
//! In: what the grammars in `bash.rs`, `dash.rs` and `zsh.rs` read. Out: [`CommandLine`].
//! Never: holds the text itself; indices into the argument vector say where it is.

/// Where the commands come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `-c`: the argument at `text` is the command string; `$0`, `$1` … follow it
    Command { text: usize },
    /// the argument at `file` names the script; `$1` … follow it
    Script { file: usize },
    /// standard input; the arguments from `operands` on are `$1` …
    Input { operands: usize },
    /// the real shell prints something and exits without having run or read anything
    Inert(Inert),
    /// shells that could be meant read this line differently, or it asks for two sources at once
    Unclear(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inert {
    Help,
    Version,
    /// an invalid option, or one without its argument
    Usage,
}

/// A shell's command line, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub form: Form,
    /// Where a further short option may be put: before `--`, `-` or the first operand.
    pub options_end: usize,
    /// Letters of the options that are on: `set` letters and `c`, `l`, `s`, `i`, `D`; each once.
    pub letters: String,
    /// Names that are on and have no letter: `posix`, `pipefail`, `norc`, `pretty-print` …
    pub names: Vec<String>,
    /// Index of the value of `--rcfile` or `--init-file`.
    pub rcfile: Option<usize>,
}

/// Whether an option is turned on (`-x`) or off (`+x`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    On,
    Off,
}

impl Turn {
    pub fn of(sign: u8) -> Self {
        if sign == b'+' { Self::Off } else { Self::On }
    }

    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::On => Self::Off,
            Self::Off => Self::On,
        }
    }
}

impl Default for CommandLine {
    fn default() -> Self {
        Self {
            form: Form::Input { operands: 1 },
            options_end: 1,
            letters: String::new(),
            names: Vec::new(),
            rcfile: None,
        }
    }
}

impl CommandLine {
    /// A line that makes the real shell print and exit.
    pub fn inert(why: Inert) -> Self {
        Self { form: Form::Inert(why), ..Self::default() }
    }

    /// A line that must not be handed on.
    pub fn unclear(why: &'static str) -> Self {
        Self { form: Form::Unclear(why), ..Self::default() }
    }

    pub fn has(&self, letter: char) -> bool {
        self.letters.contains(letter)
    }

    pub fn named(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }

    pub fn letter(&mut self, letter: char, turn: Turn) {
        match turn {
            Turn::On if !self.has(letter) => self.letters.push(letter),
            Turn::On => {}
            Turn::Off => self.letters.retain(|known| known != letter),
        }
    }

    pub fn name(&mut self, name: &str, turn: Turn) {
        self.names.retain(|known| known != name);
        if turn == Turn::On {
            self.names.push(name.to_owned());
        }
    }

    /// Whether the real shell only reads the text: `-n`, `-D`, `--pretty-print` (bash manual, "The Set
    /// Builtin": an interactive shell ignores `-n`). Start-up files may run all the same.
    pub fn only_reads(&self) -> bool {
        let command = matches!(self.form, Form::Command { .. });
        // bash runs a command string in spite of --pretty-print (shell.c, ONESHOT comes first)
        let prints = !command && self.named("pretty-print");
        !self.has('i') && (self.has('n') || self.has('D') || prints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_turned_on_and_off() {
        let mut line = CommandLine::default();
        for (letter, turn) in [('e', Turn::On), ('x', Turn::On), ('e', Turn::On), ('x', Turn::Off)] {
            line.letter(letter, turn);
        }
        line.name("posix", Turn::On);
        assert_eq!(line.letters, "e");
        assert!(line.named("posix"));
        line.name("posix", Turn::Off);
        assert!(line.names.is_empty());
    }

    #[test]
    fn an_interactive_shell_does_not_only_read() {
        let mut line = CommandLine::default();
        line.letter('n', Turn::On);
        assert!(line.only_reads());
        line.letter('i', Turn::On);
        assert!(!line.only_reads());
    }
}
