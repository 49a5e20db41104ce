//! What a line of standard error says: that a shell could not read a text, and which; or that a language could not.
//!
//! In: one line. Out: a [`Complaint`] of a shell, or a row of [`LANGUAGES`]. The words are those of the programs' own
//! lists of messages: bash 5.2, dash 0.5.12, busybox 1.35, zsh 5.9, mksh 59c, and the languages' compilers.
//! Never: takes a failure of what was run (a file that is not there) for one of reading.

/// A shell's complaint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complaint<'l> {
    /// The shell's name without its folder.
    pub speaker: &'l str,
    /// The line of its text, where it names one.
    pub line: Option<usize>,
    /// Whether it was reading what `eval` was given.
    pub place: Place,
    pub about: About<'l>,
}

/// Which text a shell read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Text,
    Eval,
}

/// What a shell complains about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About<'l> {
    /// the grammar, and the token that it quotes
    Grammar(Option<&'l str>),
    /// an arithmetic expression or `${…}`, as it was when it was evaluated
    Expression(Option<&'l str>),
    /// the operands of `[` and `test`
    Test,
    /// a here-document without its end
    HereDocument(&'l str),
    /// no program has this name
    Name(&'l str),
    /// the line of the text at which it stopped
    Source(&'l str),
}

/// Shells by the names under which they speak.
pub const SHELLS: &[&str] = &["bash", "sh", "dash", "ash", "zsh", "mksh", "ksh", "rbash"];

/// How a grammar's complaint begins.
const GRAMMAR: &[&str] = &[
    "syntax error",
    "Syntax error",
    "unexpected EOF",
    "unexpected token",
    "unexpected argument",
    "conditional binary operator expected",
    "expected `",
    "parse error",
    "unmatched ",
    "no closing quote",
    "unterminated",
    "closing brace expected",
    "maximum here-document count",
];

/// What stands in a complaint about an expression.
const EXPRESSION: &[&str] = &[
    "(error token is ",
    "arithmetic expression: expecting",
    "arithmetic syntax error",
    "bad math expression",
    "bad substitution",
    "Bad substitution",
    ": unexpected '",
];

const TEST: &[&str] = &[
    "unary operator expected",
    "binary operator expected",
    "unexpected operator",
    ": too many arguments",
    "unknown operand",
    "argument expected",
    "condition expected",
];

impl<'l> Complaint<'l> {
    /// `bash: -c: line 3: …`, `bash: eval: line 3: …`, `sh: 3: …`, `zsh:3: …`, `E: mksh: <stdin>[3]: …`, `ash: …`.
    pub fn read(line: &'l str) -> Option<Self> {
        let line = line.strip_prefix("E: ").or_else(|| line.strip_prefix("W: ")).unwrap_or(line);
        let (name, rest) = line.split_once(':')?;
        let base = name.rsplit('/').next().unwrap_or(name).trim_start_matches('-');
        let mut place = if matches!(base, "(eval)" | "eval") { Place::Eval } else { Place::Text };
        // `bash -c TEXT NAME` speaks as NAME
        let named = line.split_once(": -c: line ").filter(|_| !SHELLS.contains(&base));
        let (base, rest) = named.map_or((base, rest), |(_, rest)| ("bash", rest));
        if !SHELLS.contains(&base) && place == Place::Text {
            return None;
        }
        let (mut number, mut rest) = match rest.split_once(':') {
            // zsh writes no blank, and may put a builtin's name before the line
            Some((digits, behind)) if digits.parse::<usize>().is_ok() => (digits.parse().ok(), behind),
            Some(_) | None => (None, rest),
        };
        rest = rest.trim_start();
        while let Some((piece, behind)) = rest.split_once(": ") {
            let digits = piece.strip_prefix("line ").unwrap_or(piece);
            let digits = digits.strip_prefix("<stdin>[").and_then(|d| d.strip_suffix(']')).unwrap_or(digits);
            match (piece, digits.parse()) {
                (_, Ok(found)) => number = Some(found),
                ("eval", _) => place = Place::Eval,
                ("-c" | "command substitution" | "source" | "warning", _) => {}
                _ => break,
            }
            rest = behind;
        }
        Some(Self { speaker: base, line: number, place, about: about(rest)? })
    }
}

fn about(message: &str) -> Option<About<'_>> {
    if let Some(source) = message.strip_prefix('`').and_then(|m| m.strip_suffix('\'')) {
        return Some(About::Source(source));
    }
    if message.contains("here-document at line") {
        return Some(About::HereDocument(between(message, "(wanted `", "')").unwrap_or("")));
    }
    if let Some(rest) = message.strip_prefix("here document '") {
        return Some(About::HereDocument(rest.split('\'').next().unwrap_or("")));
    }
    let grammar = GRAMMAR.iter().any(|start| message.starts_with(start));
    let expression = EXPRESSION.iter().any(|part| message.contains(part));
    if expression && !(grammar && message.contains(": unexpected '")) {
        return Some(About::Expression(subject(message)));
    }
    if grammar {
        return Some(About::Grammar(token(message)));
    }
    if TEST.iter().any(|part| message.contains(part)) {
        return Some(About::Test);
    }
    let name = message
        .strip_suffix(": command not found")
        .or_else(|| message.strip_suffix(": not found"))
        .or_else(|| message.strip_suffix(": inaccessible or not found"))
        .or_else(|| message.strip_prefix("command not found: "));
    name.map(About::Name)
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after).map_or(rest, |(inner, _)| inner))
}

/// The token that a complaint about the grammar quotes. What is missing is no token of the text.
fn token(message: &str) -> Option<&str> {
    if message.contains("matching `") || message.contains("end of file") || message.contains("unterminated") {
        return None;
    }
    let quoted = between(message, "token `", "'")
        .or_else(|| between(message, "near `", "'"))
        .or_else(|| between(message, "error: \"", "\" unexpected"))
        .or_else(|| between(message, "unexpected \"", "\""))
        .or_else(|| between(message, "unexpected '", "'"))?;
    (!matches!(quoted, "newline" | "\\n" | "" | "EOF")).then_some(quoted)
}

/// The expression that a complaint names, as it was after its own expansion.
fn subject(message: &str) -> Option<&str> {
    let quoted = between(message, "expecting primary: \"", "\"")
        .or_else(|| between(message, "expecting EOF: \"", "\""))
        .or_else(|| between(message, "expecting ')': \"", "\""))
        .or_else(|| between(message, "expecting ':': \"", "\""));
    let before = || {
        let message =
            message.strip_prefix("let: ").or_else(|| message.strip_prefix("((: ")).unwrap_or(message);
        let end = [": syntax error", ": bad substitution", ": unexpected '"]
            .iter()
            .find_map(|end| message.find(end));
        message.get(..end?)
    };
    quoted.or_else(before).map(str::trim).filter(|subject| !matches!(*subject, "" | "syntax error"))
}

/// A language that programs read from an argument, their input or a here-document.
#[derive(Debug)]
pub struct Language {
    /// Programs, the first its own name.
    pub names: &'static [&'static str],
    /// Letters of the options with which they take it; none: the first operand.
    pub letters: &'static str,
    /// One of these is in standard error where the text is meant and not a file; empty: no matter.
    pub places: &'static [&'static str],
    /// How a line begins that says who speaks; empty: no matter.
    pub starts: &'static [&'static str],
    /// One of these stands in a line that says that the text could not be read.
    pub says: &'static [&'static str],
}

const fn language(names: &'static [&'static str], letters: &'static str) -> Language {
    Language { names, letters, places: &[], starts: &[], says: &[] }
}

/// All languages that are known, shells apart.
pub const LANGUAGES: &[Language] = &[
    Language {
        places: &["File \"<string>\"", "File \"<stdin>\"", "File \"<unknown>\""],
        says: &["SyntaxError: ", "IndentationError: ", "TabError: "],
        ..language(&["python", "python2", "python3", "pypy3"], "c")
    },
    Language {
        places: &["[eval]", "[stdin]"],
        says: &["SyntaxError: "],
        ..language(&["node", "nodejs"], "ep")
    },
    Language {
        places: &[" -e line ", " at - line ", "Execution of -"],
        says: &[
            "syntax error at -",
            "Can't find string terminator",
            "Missing right ",
            "Unmatched ",
            " not terminated at ",
            "Unterminated ",
            "aborted due to compilation errors",
            "had compilation errors",
            "found where operator expected",
            "Unrecognized character",
            "in regex; marked by",
            "Bareword \"",
        ],
        ..language(&["perl"], "eE")
    },
    Language {
        starts: &["-e:", "-:"],
        says: &["syntax error", "unterminated", "unexpected", "unmatched", "unknown regexp option"],
        ..language(&["ruby"], "e")
    },
    Language { says: &["PHP Parse error", "Parse error: "], ..language(&["php"], "r") },
    Language {
        starts: &["lua"],
        says: &["unexpected symbol near", "unfinished ", "expected near", "expected (to close"],
        ..language(&["lua", "lua5.4", "luajit"], "e")
    },
    Language {
        starts: &["awk: ", "mawk: ", "gawk: ", "nawk: "],
        says: &[
            "syntax error",
            "runaway ",
            "unexpected ",
            "Unexpected ",
            "missing ",
            "unterminated ",
            "non-terminated ",
            "backslash not last",
            "bailing out",
            "illegal statement",
            "illegal reference",
            "not defined",
            "extra '",
        ],
        ..language(&["awk", "gawk", "mawk", "nawk"], "")
    },
    Language {
        starts: &["sed: "],
        says: &[
            "-e expression #",
            "unmatched '",
            "unsupported command",
            "bad option in substitution",
            "unterminated ",
            "unescaped newline inside",
        ],
        ..language(&["sed", "gsed"], "e")
    },
    Language {
        says: &[
            "jq: error: syntax error",
            "compile error",
            "is not defined at <top-level>",
            "is not defined at <stdin>",
        ],
        ..language(&["jq", "gojq", "yq"], "")
    },
    Language {
        starts: &["grep: ", "egrep: ", "rg: ", "pcregrep: "],
        says: &[
            "Unmatched ",
            "nmatched closing parenthesis",
            "Invalid regular expression",
            "Invalid preceding",
            "Invalid range end",
            "Invalid back reference",
            "Invalid content of",
            "Invalid character class",
            "Trailing backslash",
            "character class syntax",
            "missing closing parenthesis",
            "missing terminating ]",
            "quantifier does not follow",
            "\\ at end of pattern",
            "regex parse error",
            "unrecognized character",
        ],
        ..language(&["grep", "egrep", "rg", "zgrep"], "e")
    },
    Language {
        starts: &["find: "],
        says: &[
            "paths must precede expression",
            "missing argument to `-exec",
            "missing argument to `-ok",
            "invalid expression",
            "expected an expression",
        ],
        ..language(&["find"], "")
    },
    Language { starts: &["xargs: "], says: &["unmatched "], ..language(&["xargs"], "") },
    Language {
        starts: &["env: "],
        says: &["no terminating quote", "invalid sequence", "only ${VARNAME} expansion"],
        ..language(&["env"], "S")
    },
    Language {
        starts: &["Error: ", "Parse error"],
        says: &["near \"", "incomplete input", "unrecognized token"],
        ..language(&["sqlite3"], "")
    },
    Language {
        says: &["ERROR:  syntax error", "ERROR:  unterminated", "ERROR 1064 "],
        ..language(&["psql", "mysql", "mariadb"], "ce")
    },
    Language {
        says: &["missing \"", "missing close-brace", "missing close-bracket", "extra characters after close"],
        ..language(&["tclsh", "expect"], "c")
    },
    Language { starts: &["(standard_in) "], says: &["syntax error", "parse error"], ..language(&["bc"], "") },
    Language {
        starts: &["<stdin>:", "/dev/stdin:", "-:"],
        says: &["*** missing separator", "*** unterminated", "*** missing 'endif'", "*** recipe commences"],
        ..language(&["make", "gmake"], "")
    },
];

impl Language {
    /// The language that a program of this name reads.
    pub fn of(program: &str) -> Option<&'static Self> {
        // python3.11
        let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let known = |name: &str| LANGUAGES.iter().find(|language| language.names.contains(&name));
        known(program).or_else(|| known(plain).filter(|language| language.names.contains(&"python")))
    }

    /// Whether a line says that the language could not be read.
    pub fn complains(&self, line: &str, stderr: &str) -> bool {
        let begins =
            self.starts.is_empty() || self.starts.iter().any(|start| line.trim_start().starts_with(start));
        let placed = self.places.is_empty() || self.places.iter().any(|place| stderr.contains(place));
        begins && placed && self.says.iter().any(|said| line.contains(said))
    }
}

/// The word that a language takes for a name it does not know: what is left where quotes were lost.
pub fn unknown_name(line: &str) -> Option<&str> {
    between(line, "NameError: name '", "'")
        .or_else(|| line.strip_prefix("ReferenceError: ")?.strip_suffix(" is not defined"))
        .or_else(|| between(line, "Bareword \"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_s_own_words_are_read() {
        use About::{Expression, Grammar, HereDocument, Name, Source, Test};
        for (line, speaker, number, about) in [
            ("bash: -c: line 2: syntax error: unexpected end of file", "bash", Some(2), Grammar(None)),
            ("bash: -c: line 1: syntax error near unexpected token `}'", "bash", Some(1), Grammar(Some("}"))),
            (
                "bash: -c: line 1: unexpected EOF while looking for matching `\"'",
                "bash",
                Some(1),
                Grammar(None),
            ),
            ("bash: -c: line 1: `echo )'", "bash", Some(1), Source("echo )")),
            (
                "bash: line 1: 1 +: syntax error: operand expected (error token is \"+\")",
                "bash",
                Some(1),
                Expression(Some("1 +")),
            ),
            ("/bin/bash: line 4: ${a!b}: bad substitution", "bash", Some(4), Expression(Some("${a!b}"))),
            (
                "bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `E')",
                "bash",
                Some(2),
                HereDocument("E"),
            ),
            ("bash: line 1: [: =: unary operator expected", "bash", Some(1), Test),
            ("sh: 1: Syntax error: Unterminated quoted string", "sh", Some(1), Grammar(None)),
            ("sh: 1: Syntax error: \")\" unexpected (expecting \"fi\")", "sh", Some(1), Grammar(Some(")"))),
            (
                "dash: 1: arithmetic expression: expecting primary: \"0 +\"",
                "dash",
                Some(1),
                Expression(Some("0 +")),
            ),
            ("sh: 1: Bad substitution", "sh", Some(1), Expression(None)),
            ("sh: 3: nosuch: not found", "sh", Some(3), Name("nosuch")),
            ("sh: syntax error: unexpected \"done\"", "sh", None, Grammar(Some("done"))),
            ("ash: arithmetic syntax error", "ash", None, Expression(None)),
            ("zsh:1: parse error near `done'", "zsh", Some(1), Grammar(Some("done"))),
            ("zsh:1: unmatched \"", "zsh", Some(1), Grammar(None)),
            ("zsh:2: command not found: nosuch", "zsh", Some(2), Name("nosuch")),
            ("E: mksh: no closing quote", "mksh", None, Grammar(None)),
            ("E: mksh: syntax error: unexpected ')'", "mksh", None, Grammar(Some(")"))),
            ("W: mksh: 1 +: unexpected 'end of expression'", "mksh", None, Expression(Some("1 +"))),
        ] {
            let read = Complaint::read(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((read.speaker, read.line, read.about), (speaker, number, about), "{line}");
        }
        assert_eq!(Complaint::read("bash: eval: line 1: syntax error near `('").unwrap().place, Place::Eval);
        for line in
            ["cat: x: No such file or directory", "bash: line 1: cd: /x: No such file or directory", "x"]
        {
            assert_eq!(Complaint::read(line), None, "{line}");
        }
    }

    #[test]
    fn a_language_s_failure_to_run_is_not_one_to_read() {
        for (program, line, reads) in [
            ("python3.11", "SyntaxError: invalid syntax", true),
            ("python3", "ModuleNotFoundError: No module named 'x'", false),
            ("sed", "sed: -e expression #1, char 3: unterminated `s' command", true),
            ("sed", "sed: can't read x: No such file or directory", false),
            ("jq", "jq: 1 compile error", true),
            ("jq", "jq: parse error: Invalid numeric literal at line 1, column 2", false),
            ("jq", "jq: error (at <stdin>:1): Cannot index string with string \"x\"", false),
            ("grep", "grep: Unmatched ( or \\(", true),
            ("grep", "grep: invalid option -- 'k'", false),
            ("find", "find: unknown predicate `--x'", false),
        ] {
            let stderr = format!("  File \"<string>\", line 1\n{line}");
            assert_eq!(Language::of(program).unwrap().complains(line, &stderr), reads, "{line}");
        }
        assert_eq!(unknown_name("NameError: name 'hello' is not defined"), Some("hello"));
    }
}
