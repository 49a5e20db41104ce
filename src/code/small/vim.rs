//! Vim's ex commands, as `-c`, `-S` and ex scripts give them.
//!
//! In: commands, one a line or with bars between. Out: acts.
//! Never: follows buffers: a write without a name is a write to the operand.

use super::notes::{Notes, known, open, value};
use crate::code::found::{Found, Grade, Origin, Value, What};
use crate::policy::tables::Lang;
use crate::text::Span;

const DEPTH_LIMIT: u8 = 6;

pub(crate) type Inner = fn(Lang, &str) -> Found;

pub(crate) fn look(text: &str, inner: Inner) -> Found {
    let mut vim = Vim { notes: Notes::default(), inner, depth: 0 };
    let mut at = 0_usize;
    while at < text.len() {
        let line = text.get(at..).unwrap_or("").split('\n').next().unwrap_or("");
        at = vim.block(text, at, line).unwrap_or_else(|| {
            vim.line(line, Span::new(at, at.saturating_add(line.len())));
            at.saturating_add(line.len()).saturating_add(1)
        });
    }
    vim.notes.found
}

struct Vim {
    notes: Notes,
    inner: Inner,
    depth: u8,
}

/// Commands that take the rest of the line, bars too.
const WHOLE_LINE: &[&str] = &[
    "!", "global", "vglobal", "g", "v", "autocmd", "au", "normal", "norm", "python", "py", "python3", "py3",
    "pythonx", "pyx", "lua", "perl", "pe", "ruby", "rub", "tcl", "mz", "terminal", "ter", "term", "r!", "w!",
];

impl Vim {
    /// `python << EOF` … `EOF`: gives the place after it.
    fn block(&mut self, text: &str, at: usize, line: &str) -> Option<usize> {
        let (head, word) = line.split_once("<<")?;
        let lang = language(head.trim_start_matches([':', ' ']).trim())?;
        let word = match word.trim() {
            "" => ".",
            word => word,
        };
        let start = at.saturating_add(line.len()).saturating_add(1);
        let body = text.get(start..)?;
        let mut end = 0_usize;
        for inner in body.split('\n') {
            if inner.trim() == word {
                break;
            }
            end = end.saturating_add(inner.len()).saturating_add(1);
        }
        let code = body.get(..end.min(body.len())).unwrap_or(body);
        let found = (self.inner)(lang, code);
        self.notes.inner(found, Span::new(start, start.saturating_add(code.len())));
        Some(start.saturating_add(end).saturating_add(word.len()).saturating_add(1))
    }

    fn line(&mut self, line: &str, span: Span) {
        if self.depth >= DEPTH_LIMIT {
            self.notes.doubt(Grade::Limit, "code nested too deeply", span);
            return;
        }
        self.depth = self.depth.saturating_add(1);
        let mut rest = line;
        while !rest.trim().is_empty() {
            let (command, after) = split(rest);
            self.command(command, span);
            rest = after;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn command(&mut self, command: &str, span: Span) {
        let text = range_skipped(command);
        let (word, bang, args) = parts(text);
        if word.is_empty() {
            if bang {
                self.notes.on(What::Shell, args, span);
            }
            return;
        }
        if let Some(lang) = language(word) {
            let found = (self.inner)(lang, args);
            return self.notes.inner(found, span);
        }
        match word {
            "silent" | "sil" | "noautocmd" | "noa" | "keepalt" | "verbose" | "verb" | "confirm"
            | "vertical" | "tab" | "bufdo" | "argdo" | "windo" | "tabdo" | "au" | "autocmd" => {
                let rest =
                    if word.starts_with("au") { args.splitn(3, ' ').nth(2).unwrap_or("") } else { args };
                self.line(rest, span);
            }
            "global" | "g" | "v" | "vglobal" => {
                let mark = args.chars().next().unwrap_or('/');
                let rest = args.get(mark.len_utf8()..).unwrap_or("").split_once(mark).map_or("", |(_, r)| r);
                self.line(rest, span);
            }
            "shell" | "sh" => self.notes.act(What::Interactive, Vec::new(), span),
            "terminal" | "ter" | "term" => {
                if args.trim().is_empty() {
                    self.notes.act(What::Interactive, Vec::new(), span);
                } else {
                    self.notes.on(What::Shell, args, span);
                }
            }
            "write" | "w" | "wr" | "saveas" | "sav" | "update" | "up" | "wq" | "x" | "xit" | "exit"
            | "wall" | "wa" | "xa" | "wqa" => self.write(args, bang, span),
            "read" | "r" | "re" => match args.trim_start().strip_prefix('!') {
                Some(shell) => self.notes.on(What::Shell, shell, span),
                None if bang => self.notes.on(What::Shell, args, span),
                None => self.notes.on(What::Read, args, span),
            },
            "edit" | "e" | "split" | "sp" | "vsplit" | "vs" | "tabedit" | "tabe" | "view" | "vie" => {
                self.notes.on(What::Read, args, span);
            }
            "source" | "so" | "runtime" | "ru" => self.notes.on(What::Load, args, span),
            "pyfile" | "pyf" | "py3file" | "luafile" | "luaf" | "rubyfile" => {
                self.notes.on(What::Load, args, span);
            }
            "make" | "mak" | "grep" | "gr" => {}
            "cd" | "chdir" | "lcd" => self.notes.on(What::Chdir, args, span),
            "execute" | "exe" | "exec" => self.execute(args, span),
            "normal" | "norm" => {
                if let Some((_, rest)) = args.split_once(':') {
                    self.line(rest, span);
                }
            }
            "call" | "cal" | "let" | "echo" | "ec" | "echom" | "eval" | "if" | "return" | "put" | "pu"
            | "for" => self.expression(args, span),
            _ => {}
        }
    }

    fn write(&mut self, args: &str, bang: bool, span: Span) {
        let args = args.trim();
        if let Some(shell) = args.strip_prefix('!').filter(|_| !bang) {
            return self.notes.on(What::Shell, shell, span);
        }
        match args.strip_prefix(">>") {
            Some(file) => self.notes.on(What::Append, file, span),
            None if args.is_empty() => {
                self.notes.act(What::Write, vec![value(vec![open(Origin::Argument, "")])], span);
            }
            None => self.notes.on(What::Write, args, span),
        }
    }

    /// `execute "!" . x`: a known text is a command, another is not known.
    fn execute(&mut self, args: &str, span: Span) {
        let (texts, all_known) = literals(args);
        let command = texts.concat();
        if all_known {
            self.line(&command, span);
        } else if command.trim_start_matches(':').starts_with('!') || command.is_empty() {
            self.notes.act(What::Shell, vec![Value::unknown(Origin::Unknown)], span);
        } else {
            self.notes.act(What::Eval, vec![Value::unknown(Origin::Unknown)], span);
        }
    }

    /// Calls in an expression: `system('…')`, `delete('…')`.
    fn expression(&mut self, args: &str, span: Span) {
        for (name, what) in CALLS {
            let mut rest = args;
            while let Some((before, after)) = rest.split_once(name) {
                let is_call =
                    after.starts_with('(') && !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
                if is_call {
                    let inside = after.get(1..).unwrap_or("");
                    let (texts, _) = literals(inside.split(')').next().unwrap_or(inside));
                    let text = if *what == What::Write { texts.last() } else { texts.first() };
                    match text {
                        Some(text) => self.notes.act(*what, vec![known(text)], span),
                        None => self.notes.act(*what, vec![Value::unknown(Origin::Unknown)], span),
                    }
                }
                rest = after;
            }
        }
    }
}

const CALLS: &[(&str, What)] = &[
    ("system", What::Shell),
    ("systemlist", What::Shell),
    ("job_start", What::Shell),
    ("jobstart", What::Shell),
    ("termopen", What::Shell),
    ("term_start", What::Shell),
    ("libcall", What::LoadNative),
    ("libcallnr", What::LoadNative),
    ("delete", What::Delete),
    ("writefile", What::Write),
    ("readfile", What::Read),
    ("rename", What::Move),
    ("mkdir", What::Create),
    ("ch_open", What::Connect),
    ("sockconnect", What::Connect),
];

fn language(word: &str) -> Option<Lang> {
    match word {
        "python" | "py" | "python3" | "py3" | "pythonx" | "pyx" | "pydo" | "py3do" => Some(Lang::Python),
        "lua" | "luado" => Some(Lang::Lua),
        "perl" | "pe" | "perldo" => Some(Lang::Perl),
        "ruby" | "rub" | "rubydo" => Some(Lang::Ruby),
        "tcl" | "tc" | "tcldo" => Some(Lang::Tcl),
        _ => None,
    }
}

/// A command, and what stands after the bar.
fn split(text: &str) -> (&str, &str) {
    let (word, bang, args) = parts(range_skipped(text));
    let pipes = (word.is_empty() && bang)
        || WHOLE_LINE.contains(&word)
        || (matches!(word, "r" | "read" | "w" | "write") && (bang || args.trim_start().starts_with('!')));
    if pipes {
        return (text, "");
    }
    let bytes = text.as_bytes();
    let (mut quote, mut at) = (None, 0_usize);
    while let Some(b) = bytes.get(at).copied() {
        match (quote, b) {
            (Some(q), b) if q == b => quote = None,
            (Some(b'"') | None, b'\\') => at = at.saturating_add(1),
            (Some(_), _) => {}
            (None, b'\'' | b'"') if matches!(word, "exe" | "execute" | "call" | "let" | "echo") => {
                quote = Some(b);
            }
            (None, b'|') => {
                return (text.get(..at).unwrap_or(""), text.get(at.saturating_add(1)..).unwrap_or(""));
            }
            (None, _) => {}
        }
        at = at.saturating_add(1);
    }
    (text, "")
}

/// Without leading colons, blanks and a range.
fn range_skipped(text: &str) -> &str {
    text.trim_start_matches([':', ' ', '\t'])
        .trim_start_matches(|c: char| {
            c.is_ascii_digit() || matches!(c, '%' | '.' | '$' | ',' | ';' | '+' | '-')
        })
        .trim_start()
}

/// The command's name, whether a bang follows, the rest.
fn parts(text: &str) -> (&str, bool, &str) {
    let len = text
        .bytes()
        .take_while(|b| b.is_ascii_alphabetic() || (*b == b'3' && text.starts_with("py")))
        .count();
    let (word, rest) = (text.get(..len).unwrap_or(""), text.get(len..).unwrap_or(""));
    match rest.strip_prefix('!') {
        Some(args) => (word, true, args),
        None => (word, false, rest.trim_start()),
    }
}

/// The string literals of an expression; whether there is nothing else but dots between them.
fn literals(text: &str) -> (Vec<String>, bool) {
    let mut out = Vec::new();
    let mut only = true;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => {
                let mut lit = String::new();
                while let Some(d) = chars.next() {
                    match d {
                        d if d == c => break,
                        '\\' if c == '"' => lit.extend(chars.next()),
                        d => lit.push(d),
                    }
                }
                out.push(lit);
            }
            '.' | ' ' | '(' | ')' => {}
            _ => only = false,
        }
    }
    let known = only && !out.is_empty();
    (out, known)
}

#[cfg(test)]
mod tests {
    use crate::code::tests::lines;
    use crate::policy::tables::Lang;

    #[test]
    fn commands_that_act_are_found() {
        let cases: &[(&str, &[&str])] = &[
            (":!ls | wc", &["Shell ls | wc"]),
            (":set shell=/bin/sh | shell", &["Interactive"]),
            (":%s/a/b/g | wq", &["Write <Argument>"]),
            ("w !tee /etc/x", &["Shell tee /etc/x"]),
            ("w! out.txt", &["Write out.txt"]),
            (":py3 import os; os.remove('a')", &["Delete a"]),
            ("lua os.execute('id')", &["Shell id"]),
            ("exe '!' . 'id'", &["Shell id"]),
            ("call system('id') | call writefile(['x'], 'y')", &["Shell id", "Write y"]),
            ("silent! !id", &["Shell id"]),
            ("terminal", &["Interactive"]),
            ("set number | syntax on | colorscheme x", &[]),
            ("g/foo/w !sh", &["Shell sh"]),
            ("python3 << EOF\nimport os\nos.system('id')\nEOF\nq", &["Shell id"]),
        ];
        for (script, acts) in cases {
            assert_eq!(lines(Lang::Vim, script), *acts, "{script}");
        }
    }
}
