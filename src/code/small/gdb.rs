//! Gdb's commands, as `-ex` and command files give them.
//!
//! In: commands, one a line. Out: acts.
//! Never: knows the program that is debugged.

use super::notes::{Notes, known};
use super::vim::Inner;
use crate::code::found::{Found, Origin, Value, What};
use crate::policy::tables::Lang;
use crate::text::Span;

#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
pub(crate) fn look(text: &str, inner: Inner) -> Found {
    let mut notes = Notes::default();
    let mut lines = text.split('\n');
    let mut at = 0_usize;
    while let Some(line) = lines.next() {
        let span = Span::new(at, at.saturating_add(line.len()));
        at = at.saturating_add(line.len()).saturating_add(1);
        let line = line.trim();
        let len = line.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
        let (word, args) = (line.get(..len).unwrap_or(""), line.get(len..).unwrap_or("").trim());
        match word {
            "" if line.starts_with('!') => notes.on(What::Shell, line.trim_start_matches('!'), span),
            "shell" | "she" if args.is_empty() => notes.act(What::Interactive, Vec::new(), span),
            "shell" | "she" => notes.on(What::Shell, args, span),
            "make" => notes.on(What::Shell, line, span),
            "python" | "py" | "python-interactive" | "pi" => {
                let mut code = args.to_owned();
                if args.is_empty() {
                    if word == "python-interactive" || word == "pi" {
                        notes.act(What::Interactive, Vec::new(), span);
                    }
                    for inner_line in lines.by_ref() {
                        at = at.saturating_add(inner_line.len()).saturating_add(1);
                        if inner_line.trim() == "end" {
                            break;
                        }
                        code.push_str(inner_line);
                        code.push('\n');
                    }
                }
                notes.inner(inner(Lang::Python, &code), span);
            }
            "source" | "so" => notes.on(What::Load, args, span),
            "dump" | "append" => {
                let file = args
                    .split_whitespace()
                    .nth(
                        if args.starts_with("binary") || args.starts_with("srec") || args.starts_with("ihex")
                        {
                            2
                        } else {
                            1
                        },
                    )
                    .unwrap_or("");
                notes.on(if word == "dump" { What::Write } else { What::Append }, file, span);
            }
            "generate-core-file" | "gcore" => {
                notes.on(What::Write, args, span);
                notes.act(What::Trace, Vec::new(), span);
            }
            "attach" | "at" => notes.on(What::Trace, args, span),
            "target" => match args.split_once(' ').map(|(_, a)| a.trim()) {
                Some(a) if a.starts_with('|') => notes.on(What::Shell, a.trim_start_matches('|'), span),
                Some(a) => {
                    let (host, port) = a.rsplit_once(':').unwrap_or((a, ""));
                    notes.act(What::Connect, vec![known(host), known(port)], span);
                }
                None => {}
            },
            "pipe" => notes.on(What::Shell, args.split_once('|').map_or("", |(_, c)| c), span),
            "cd" => notes.on(What::Chdir, args, span),
            "save" => notes.on(What::Write, args.split_whitespace().last().unwrap_or(""), span),
            "set" if args.starts_with("logging file") => {
                notes.on(What::Write, args.trim_start_matches("logging file"), span);
            }
            "call" | "print" | "p" | "printf" | "eval" | "compile" => calls(&mut notes, args, span),
            _ => {}
        }
    }
    notes.found
}

/// Functions of the debugged program that are called: `call (int)system("…")`.
fn calls(notes: &mut Notes, args: &str, span: Span) {
    for (name, what) in [
        ("system", What::Shell),
        ("popen", What::Shell),
        ("execl", What::Exec),
        ("execve", What::Exec),
        ("unlink", What::Delete),
        ("remove", What::Delete),
        ("dlopen", What::LoadNative),
        ("setuid", What::Setuid),
    ] {
        let Some((before, after)) = args.split_once(name) else { continue };
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '_') || !after.trim_start().starts_with('(')
        {
            continue;
        }
        let text = after.split_once('"').and_then(|(_, r)| r.split_once('"')).map(|(t, _)| t);
        notes.act(what, vec![text.map_or_else(|| Value::unknown(Origin::Unknown), known)], span);
    }
}

#[cfg(test)]
mod tests {
    use crate::code::tests::lines;
    use crate::policy::tables::Lang;

    #[test]
    fn commands_that_act_are_found() {
        let cases: &[(&str, &[&str])] = &[
            ("!uptime", &["Shell uptime"]),
            ("shell", &["Interactive"]),
            ("break main\nrun\nbt", &[]),
            ("python\nimport os\nos.system('id')\nend\nquit", &["Shell id"]),
            ("python print(1)", &[]),
            ("dump value /tmp/x \"DATA\"", &["Write /tmp/x"]),
            ("call (int)system(\"id\")", &["Shell id"]),
            ("target remote localhost:1234", &["Connect localhost | 1234"]),
            ("target remote | ssh h gdbserver -", &["Shell ssh h gdbserver -"]),
        ];
        for (script, acts) in cases {
            assert_eq!(lines(Lang::Gdb, script), *acts, "{script}");
        }
    }
}
