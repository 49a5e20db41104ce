//! SQL, and the commands of the clients sqlite3, psql and mysql that stand in its text.
//!
//! In: statements and client commands. Out: acts: files, programs, extensions, destroyed data.
//! Never: knows a schema.

use super::notes::{Notes, known};
use crate::code::found::{Found, What};
use crate::text::Span;

pub(crate) fn look(text: &str) -> Found {
    let mut notes = Notes::default();
    let mut at = 0_usize;
    let mut words: Vec<Word<'_>> = Vec::new();
    while at < text.len() {
        let line_starts = at == 0 || text.as_bytes().get(at.saturating_sub(1)) == Some(&b'\n');
        let end = line_end(text, at);
        let line = text.get(at..end).unwrap_or("").trim();
        if line_starts && words.is_empty() && client(&mut notes, line, Span::new(at, end)) {
            at = end.saturating_add(1);
            continue;
        }
        at = token(text, at, &mut words, &mut notes);
    }
    statement(&words, &mut notes);
    notes.found
}

/// A word or a text of a statement.
struct Word<'a> {
    text: &'a str,
    /// Lower case, for keywords; empty for texts.
    key: String,
    start: usize,
    end: usize,
}

fn line_end(text: &str, from: usize) -> usize {
    memchr::memchr(b'\n', text.as_bytes().get(from..).unwrap_or(b""))
        .map_or(text.len(), |n| from.saturating_add(n))
}

/// Reads one token; a semicolon closes the statement. Gives the place after it.
#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
fn token<'a>(text: &'a str, at: usize, words: &mut Vec<Word<'a>>, notes: &mut Notes) -> usize {
    let bytes = text.as_bytes();
    let Some(b) = bytes.get(at).copied() else { return text.len() };
    let rest = text.get(at..).unwrap_or("");
    match b {
        b';' => {
            statement(words, notes);
            words.clear();
            at.saturating_add(1)
        }
        b'-' if rest.starts_with("--") => line_end(text, at),
        b'/' if rest.starts_with("/*") => {
            rest.find("*/").map_or(text.len(), |n| at.saturating_add(n).saturating_add(2))
        }
        b'\'' | b'"' | b'`' => {
            let start = at.saturating_add(1);
            let mut end = start;
            while let Some(c) = bytes.get(end) {
                if *c == b {
                    if bytes.get(end.saturating_add(1)) == Some(&b) {
                        end = end.saturating_add(1);
                    } else {
                        break;
                    }
                } else if *c == b'\\'
                    && b == b'\''
                    && bytes.get(end.saturating_add(1)) == Some(&b'\'')
                    && memchr::memchr(b'\'', bytes.get(end.saturating_add(2)..).unwrap_or(b"")).is_some()
                {
                    end = end.saturating_add(1);
                }
                end = end.saturating_add(1);
            }
            let end = boundary(text, end);
            words.push(Word { text: text.get(start..end).unwrap_or(""), key: String::new(), start: at, end });
            end.saturating_add(1)
        }
        b'$' if rest.get(1..).is_some_and(|r| {
            r.bytes().take(32).find(|c| !c.is_ascii_alphanumeric() && *c != b'_') == Some(b'$')
        }) =>
        {
            // $tag$ … $tag$
            let tag_len = rest.get(1..).and_then(|r| r.find('$')).unwrap_or(0).saturating_add(2);
            let tag = rest.get(..tag_len).unwrap_or("$$");
            let inside = rest.get(tag_len..).unwrap_or("");
            let len = memchr::memmem::find(inside.as_bytes(), tag.as_bytes()).unwrap_or(inside.len());
            words.push(Word {
                text: inside.get(..len).unwrap_or(""),
                key: String::new(),
                start: at,
                end: at.saturating_add(len),
            });
            at.saturating_add(tag_len).saturating_add(len).saturating_add(tag_len)
        }
        b'\\' => {
            let end = line_end(text, at);
            client(notes, rest.get(..end.saturating_sub(at)).unwrap_or(""), Span::new(at, end));
            end
        }
        b if b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80 => {
            let len = rest
                .bytes()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.') || *c >= 0x80)
                .count();
            let word = rest.get(..len).unwrap_or("");
            words.push(Word {
                text: word,
                key: word.to_ascii_lowercase(),
                start: at,
                end: at.saturating_add(len),
            });
            at.saturating_add(len)
        }
        b'(' | b')' | b'*' => {
            words.push(Word {
                text: rest.get(..1).unwrap_or(""),
                key: char::from(b).to_string(),
                start: at,
                end: at.saturating_add(1),
            });
            at.saturating_add(1)
        }
        _ => boundary(text, at.saturating_add(1)),
    }
}

fn boundary(text: &str, from: usize) -> usize {
    let mut at = from.min(text.len());
    while !text.is_char_boundary(at) {
        at = at.saturating_add(1);
    }
    at
}

fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['\'', '"'])
}

/// A client's own command; false if the line is none.
fn client(notes: &mut Notes, line: &str, span: Span) -> bool {
    let (head, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let output = |notes: &mut Notes| match rest.strip_prefix('|') {
        Some(command) => notes.on(What::Shell, command, span),
        None => notes.on(What::Write, unquoted(rest), span),
    };
    let file = rest.rsplit(char::is_whitespace).next().unwrap_or("");
    match head {
        ".shell" | ".system" | ".sh" | ".sy" | ".she" | ".shel" | ".sys" => notes.on(What::Shell, rest, span),
        ".read" | ".rea" => match rest.strip_prefix('|') {
            Some(command) => notes.on(What::Shell, unquoted(command), span),
            None => notes.on(What::Load, unquoted(rest), span),
        },
        ".output" | ".once" | ".out" | ".log" | ".tee" => output(notes),
        ".load" => notes.on(What::LoadNative, rest.split(char::is_whitespace).next().unwrap_or(""), span),
        ".save" | ".backup" | ".clone" | ".open" | ".archive" => notes.on(What::Write, unquoted(file), span),
        ".import" => match unquoted(rest).strip_prefix('|') {
            Some(command) => notes.on(What::Shell, command, span),
            None => notes.on(
                What::Read,
                unquoted(rest.split(char::is_whitespace).find(|w| !w.starts_with('-')).unwrap_or("")),
                span,
            ),
        },
        ".restore" => notes.on(What::Read, unquoted(file), span),
        "system" | "\\!" => notes.on(What::Shell, rest, span),
        "source" | "\\." | "\\i" | "\\ir" | "\\include" | "\\include_relative" => {
            notes.on(What::Load, unquoted(rest.trim_end_matches(';')), span);
        }
        "tee" | "\\T" => notes.on(What::Append, unquoted(rest.trim_end_matches(';')), span),
        "pager" | "\\P" => notes.on(What::Shell, rest.trim_end_matches(';'), span),
        "\\o" | "\\out" | "\\w" | "\\write" | "\\g" | "\\gx" => output(notes),
        "\\cd" => notes.on(What::Chdir, rest, span),
        "\\e" | "\\edit" | "\\ef" | "\\ev" | ".excel" => notes.act(What::Interactive, Vec::new(), span),
        "\\lo_export" => notes.on(What::Write, unquoted(file), span),
        "\\lo_import" => {
            notes.on(What::Read, unquoted(rest.split(char::is_whitespace).next().unwrap_or("")), span);
        }
        "\\setenv" => {
            notes.act(What::SetVariable, rest.splitn(2, char::is_whitespace).map(known).collect(), span);
        }
        "\\copy" => {
            let text = format!("copy {rest}");
            let inner = look(&text);
            notes.inner(inner, span);
        }
        _ if head.starts_with("\\!") => notes.on(What::Shell, line.get(2..).unwrap_or(""), span),
        _ if head.starts_with('.')
            && head.bytes().skip(1).all(|b| b.is_ascii_alphabetic())
            && head.len() > 1 => {}
        _ => return false,
    }
    true
}

/// What one statement does besides asking.
#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
fn statement(words: &[Word<'_>], notes: &mut Notes) {
    let Some(first) = words.first() else { return };
    let span = Span::new(first.start, words.last().map_or(first.end, |w| w.end));
    let at = |n: usize| words.get(n).map_or("", |w| w.key.as_str());
    for (n, word) in words.iter().enumerate() {
        let next = words.get(n.saturating_add(1));
        let text_after = |skip: usize| {
            words
                .iter()
                .skip(n.saturating_add(skip))
                .find(|w| w.key.is_empty() && !w.text.is_empty())
                .map_or("", |w| w.text)
        };
        let called = next.is_some_and(|w| w.text == "(");
        match word.key.as_str() {
            "outfile" | "dumpfile" => notes.on(What::Write, text_after(1), span),
            "infile" => notes.on(What::Read, text_after(1), span),
            "program" if words.iter().any(|w| w.key == "copy") => notes.on(What::Shell, text_after(1), span),
            "to" | "from" if at(0) == "copy" && next.is_some_and(|w| w.key.is_empty()) => {
                notes.on(if word.key == "to" { What::Write } else { What::Read }, text_after(1), span);
            }
            "load_extension" if called => notes.on(What::LoadNative, text_after(1), span),
            "load_file"
            | "readfile"
            | "pg_read_file"
            | "pg_read_binary_file"
            | "lo_import"
            | "read_csv"
            | "read_text"
            | "read_blob"
                if called =>
            {
                notes.on(What::Read, text_after(1), span);
            }
            "pg_ls_dir" if called => notes.on(What::List, text_after(1), span),
            "writefile" if called => notes.on(What::Write, text_after(1), span),
            "lo_export" if called => notes.on(What::Write, text_after(1), span),
            "xp_cmdshell" | "sys_exec" | "sys_eval" | "do_system" | "shellfs" => {
                notes.on(What::Shell, text_after(1), span);
            }
            "edit" if called => notes.act(What::Interactive, Vec::new(), span),
            "language"
                if at(0) == "create"
                    && next.is_some_and(|w| {
                        ["c", "plpythonu", "plpython3u", "plperlu", "plsh", "pltclu"]
                            .contains(&w.text.to_ascii_lowercase().as_str())
                    }) =>
            {
                notes.on(What::LoadNative, text_after(0), span);
            }
            "database" if at(0) == "attach" => notes.on(What::Write, text_after(1), span),
            _ => {}
        }
    }
    if at(0) == "attach" && at(1) != "database" {
        notes.on(What::Write, words.get(1).map_or("", |w| w.text), span);
    }
    let destroys = match at(0) {
        // a table that this very text has made
        "drop" if notes.made.iter().any(|m| words.iter().any(|w| w.text.eq_ignore_ascii_case(m))) => false,
        "drop" => matches!(
            at(1),
            "database"
                | "schema"
                | "table"
                | "tablespace"
                | "owned"
                | "user"
                | "role"
                | "view"
                | "materialized"
                | "index"
        ),
        "truncate" => true,
        "delete" | "update" => !words.iter().any(|w| w.key == "where" || w.key == "limit"),
        "alter" => words.iter().any(|w| w.key == "drop"),
        _ => false,
    };
    if at(0) == "create" && words.iter().take(4).any(|w| w.key == "table") {
        let name = words.iter().skip_while(|w| w.key != "table").skip(1);
        let name = { name }.find(|w| !matches!(w.key.as_str(), "if" | "not" | "exists"));
        notes.made.extend(name.map(|w| w.text.to_owned()));
    }
    if destroys {
        let said: Vec<&str> = words.iter().take(12).map(|w| w.text).collect();
        notes.act(What::DropData, vec![known(&said.join(" ").to_ascii_lowercase())], span);
    }
}

#[cfg(test)]
mod tests {
    use crate::code::tests::lines;
    use crate::policy::tables::Lang;

    #[test]
    fn clients_and_statements_that_act_are_found() {
        let cases: &[(&str, &[&str])] = &[
            ("SELECT 'drop table x' AS t; -- DROP TABLE y\n/* truncate z */", &[]),
            (".shell uptime", &["Shell uptime"]),
            (".tables\n.system ls\nselect 1;", &["Shell ls"]),
            ("\\! id", &["Shell id"]),
            ("select 1 \\! id", &["Shell id"]),
            (
                "COPY t TO PROGRAM 'gzip > x'; copy t from '/data/a.csv' csv;",
                &["Shell gzip > x", "Read /data/a.csv"],
            ),
            ("\\copy t to 'out.csv' csv", &["Write out.csv"]),
            (
                "select * into outfile '/tmp/o' from t; select load_extension('x.so')",
                &["Write /tmp/o", "LoadNative x.so"],
            ),
            (
                "DELETE FROM users; delete from users where id=1; TRUNCATE orders CASCADE",
                &["DropData delete from users", "DropData truncate orders cascade"],
            ),
            ("DROP DATABASE app", &["DropData drop database app"]),
            ("system ls -l", &["Shell ls -l"]),
            ("select system from t where source = 'a'", &[]),
            ("create table a (b int); insert into a values (1);", &[]),
            (
                "ATTACH DATABASE '/tmp/a.php' AS l; select writefile('x', 'y')",
                &["Write /tmp/a.php", "Write x"],
            ),
        ];
        for (script, acts) in cases {
            assert_eq!(lines(Lang::Sql, script), *acts, "{script}");
        }
    }
}
