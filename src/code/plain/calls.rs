//! Calls with literal arguments, in any language: `system("…")`, `(term "…")`, `fopen("…", "w")`.
//!
//! In: source text. Out: acts. Never: evaluates: arguments that are no literals are not known.

use super::Out;
use crate::code::found::What;
use crate::policy::tables::Lang;

/// Most tokens that are looked at.
const TOKENS: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    Text(&'a str),
    /// between backticks
    Command(&'a str),
    Mark(char),
}

/// What a name with literal arguments does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// runs shell text, or a program with arguments
    Runs,
    Opens,
    Reads,
    Writes,
    Deletes,
    DeletesTree,
    Connects,
    Listens,
    Downloads,
    Fetches,
    Loads,
    Setuid,
    Prompt,
    Copies,
    Moves,
}

/// Names by their last part, lower case without `_`.
#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
fn does(name: &str) -> Option<Does> {
    let plain: String =
        name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect();
    Some(match plain.as_str() {
        "system"
        | "exec"
        | "popen"
        | "shellexec"
        | "passthru"
        | "procopen"
        | "pcntlexec"
        | "run"
        | "callcommand"
        | "callprocess"
        | "rawsystem"
        | "readprocess"
        | "spawn"
        | "spawnprocess"
        | "spawnsync"
        | "execsync"
        | "execfile"
        | "execfilesync"
        | "execute"
        | "execv"
        | "execve"
        | "execl"
        | "execlp"
        | "execvp"
        | "command"
        | "shellcommand"
        | "asyncshellcommand"
        | "startprocess"
        | "startprocessshellcommand"
        | "term"
        | "ansiterm"
        | "vterm"
        | "makecomint"
        | "shell"
        | "system2"
        | "forkexec"
        | "runcommand"
        | "createprocess"
        | "processbuilder"
        | "shellout"
        | "pipe"
        | "systemf"
        | "iex"
        | "invokeexpression"
        | "systemlist"
        | "termstart"
        | "jobstart"
        | "getoutput"
        | "subprocess"
        | "executeprocess"
        | "termopen"
        | "setvar" => Does::Runs,
        "open" | "fopen" | "openfile" | "file" | "fileopen" | "gzopen" => Does::Opens,
        "readfile" | "read" | "filegetcontents" | "slurp" | "readlines" | "readall" | "readtext"
        | "loadfile" | "insertfile" | "insertfilecontents" | "findfile" | "readfilesync"
        | "createreadstream" | "pgreadfile" | "fgets" | "scan" | "readtable" | "readcsv" | "include"
        | "verbatiminput" | "input" | "fileread" | "readbytes" | "readstring" | "copystream" | "loimport"
        | "dofile" => Does::Reads,
        "writefile" | "writefilesync" | "writelines" | "fileputcontents" | "writetofile" | "writeregion"
        | "saverds" | "sink" | "dump" | "createwritestream" | "spit" | "writetable" | "writecsv"
        | "filewrite" | "fwrite" | "loexport" | "appendfile" | "appendfilesync" => Does::Writes,
        "unlink" | "unlinksync" | "remove" | "removefile" | "deletefile" | "rmsync" | "filedelete" => {
            Does::Deletes
        }
        "rmtree"
        | "removeall"
        | "removedirall"
        | "deletedirectory"
        | "removedirectoryrecursive"
        | "rmrf"
        | "rmdirs" => Does::DeletesTree,
        "connect" | "dial" | "tcpsocket" | "fsockopen" | "socketconnection" | "makenetworkprocess"
        | "tcpclient" | "socket" | "opennetworkstream" | "createconnection" | "pfsockopen"
        | "streamsocketclient" | "inetaton" | "tcpstream" | "socketconnect" | "parseip" | "opentcp" => {
            Does::Connects
        }
        "listen" | "tcpserver" | "serversocket" | "streamsocketserver" | "bind" | "createserver"
        | "socketlisten" | "accept" => Does::Listens,
        "download" | "downloadfile" | "urlretrieve" | "urlcopyfile" => Does::Downloads,
        "urlopen" | "httpget" | "urlretrievesynchronously" | "urlread" => Does::Fetches,
        "dlopen" | "loadlibrary" | "libcall" | "libcallnr" | "loadextension" | "moduleload" | "dynload"
        | "ffiload" => Does::Loads,
        "setuid" | "setreuid" | "setresuid" | "posixsetuid" | "seteuid" => Does::Setuid,
        "eshell" => Does::Prompt,
        "copyfile" | "filecopy" | "copy" | "cp" => Does::Copies,
        "rename" | "renamefile" | "filerename" => Does::Moves,
        _ => return None,
    })
}

/// The last part of a name with dots, colons, arrows.
fn last_part(name: &str) -> &str {
    name.rsplit(['.', ':', '>']).next().unwrap_or(name)
}

pub(super) fn read(lang: Lang, text: &str, out: &mut Out) {
    let mut state = Seen::default();
    unquoted(text, &mut state, out);
    lines(lang, text, &mut state, out);
    let tokens = tokens(lang, text);
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(name) => {
                let whole: String = name.replace(['.', ':'], "");
                let Some(what) = does(&whole).or_else(|| does(last_part(name))) else { continue };
                let args = arguments(tokens.get(i.saturating_add(1)..).unwrap_or(&[]));
                call(what, &args, &mut state, out);
            }
            Token::Command(text) if !text.is_empty() => {
                state.runs = true;
                out.act(What::Shell, &[text]);
            }
            Token::Text(text) if is_path(text) && !out.mentions(text) => out.act(What::Read, &[text]),
            Token::Command(_) | Token::Text(_) | Token::Mark(_) => {}
        }
    }
    if state.network && (state.runs || state.prompts) {
        out.act(What::StreamsToNetwork, &[]);
    }
}

/// Calls whose argument stands without quotes: macros of m4, TeX, `CMake`. The mark, and what closes it.
const UNQUOTED: &[(&str, char, Does)] = &[
    ("esyscmd(", ')', Does::Runs),
    ("syscmd(", ')', Does::Runs),
    ("\\write18{", '}', Does::Runs),
    ("\\input{|", '}', Does::Runs),
    ("\\input|", '\n', Does::Runs),
    ("execute_process(COMMAND ", ')', Does::Runs),
    ("exec_program(", ')', Does::Runs),
    ("\\input{", '}', Does::Reads),
    ("\\include{", '}', Does::Reads),
    ("\\verbatiminput{", '}', Does::Reads),
    ("\\lstinputlisting{", '}', Does::Reads),
    ("\\inputminted{", '}', Does::Reads),
    ("undivert(", ')', Does::Reads),
    ("include(", ')', Does::Reads),
];

fn unquoted(text: &str, seen: &mut Seen, out: &mut Out) {
    for (mark, close, does) in UNQUOTED {
        for (at, _) in text.match_indices(mark).take(16) {
            let inside =
                text.get(at.saturating_add(mark.len())..).and_then(|r| r.split(*close).next()).unwrap_or("");
            let inside = inside.trim().trim_matches(['"', '\'', '`', '[', ']']);
            if *does == Does::Runs && !inside.is_empty() {
                seen.runs = true;
                out.act(What::Shell, &[inside]);
            } else if is_path(inside) {
                out.act(What::Read, &[inside]);
            }
        }
    }
}

/// Command lines of prompts: `!cmd`, `get REMOTE LOCAL`, `put LOCAL`.
fn lines(lang: Lang, text: &str, seen: &mut Seen, out: &mut Out) {
    if lang != Lang::Other {
        return;
    }
    for command in crate::code::mention::shells_in(text) {
        seen.runs = true;
        out.act(What::Shell, &[&command]);
    }
    for path in text
        .split([' ', '\t', '\n', ',', '(', ')', ';', '='])
        .filter(|w| is_path(w) && w.matches('/').count() > 1)
        .take(32)
    {
        out.act(What::Read, &[path.trim_matches(['"', '\''])]);
    }
    for line in text.lines().take(400) {
        let line = line.trim().trim_start_matches('~');
        if let Some(command) = line
            .strip_prefix('!')
            .filter(|r| r.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | ' ' | '.')))
        {
            seen.runs = true;
            out.act(What::Shell, &[command.trim()]);
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        match words.as_slice() {
            ["!"] => out.act(What::Interactive, &[]),
            ["put" | "mput" | "reput" | "send", path, ..] => out.act(What::Read, &[path]),
            ["get" | "reget" | "recv", _, path, ..] => out.act(What::Write, &[path]),
            _ => {}
        }
    }
}

/// What a text has called so far.
#[derive(Default)]
struct Seen {
    network: bool,
    runs: bool,
    prompts: bool,
}

/// The literals of a call: up to its closing bracket, or to the end of the statement.
fn arguments<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut out = Vec::new();
    let mut depth = 0_i32;
    for token in tokens.iter().take(48) {
        match token {
            Token::Mark('(' | '[' | '{') => depth = depth.saturating_add(1),
            Token::Mark(')' | ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth <= 0 {
                    break;
                }
            }
            Token::Mark(';' | '\n') if depth <= 0 => break,
            Token::Mark(_) => {}
            Token::Text(_) | Token::Command(_) | Token::Name(_) => out.push(*token),
        }
    }
    out
}

fn is_path(text: &str) -> bool {
    text.len() > 1
        && text.len() < 512
        && text.starts_with(['/', '~'])
        && !text.starts_with("//")
        && !text.contains(['\n', ' ', '*'])
}

#[expect(clippy::too_many_lines, reason = "one arm for each form of the grammar")]
fn call(what: Does, args: &[Token<'_>], seen: &mut Seen, out: &mut Out) {
    let texts: Vec<&str> = args
        .iter()
        .filter_map(|t| match t {
            Token::Text(text) | Token::Command(text) => Some(*text),
            Token::Name(_) | Token::Mark(_) => None,
        })
        .collect();
    let path = texts.iter().copied().find(|t| is_path(t) || t.starts_with("./"));
    let mode = |t: &&str| t.len() <= 3 && t.starts_with(['w', 'a', 'x', '>', 'r']) && !t.starts_with("r\0");
    let writes = texts.iter().copied().filter(mode).any(|m| m.contains(['w', 'a', 'x', '>', '+']))
        || args.iter().any(|t| matches!(t, Token::Name(n) if n.contains("WRONLY") || n.contains("RDWR") || n.contains("write")));
    match (what, path) {
        (Does::Runs, _) => {
            seen.runs = true;
            match texts.as_slice() {
                [] => {}
                [line] => out.act(What::Shell, &[line]),
                [program, rest @ ..] if !program.contains(' ') => {
                    let mut words = vec![*program];
                    words.extend(rest.iter().filter(|t| **t != *program));
                    out.act(What::Exec, &words);
                }
                [first, ..] => out.act(What::Shell, &[first]),
            }
        }
        (Does::Opens, Some(path)) => out.act(if writes { What::Write } else { What::Read }, &[path]),
        (Does::Opens, None) => {
            // perl's and ruby's `open("|cmd")`
            if let Some(text) = texts.iter().find(|t| t.starts_with('|') && t.len() > 1) {
                seen.runs = true;
                out.act(What::Shell, &[text.trim_start_matches('|')]);
            }
        }
        (Does::Reads, Some(path)) => out.act(What::Read, &[path]),
        (Does::Writes, Some(path)) => out.act(What::Write, &[path]),
        (Does::Deletes, Some(path)) => out.act(What::Delete, &[path]),
        (Does::DeletesTree, Some(path)) => out.act(What::DeleteTree, &[path]),
        (Does::Copies, Some(_)) if texts.len() >= 2 => out.act(What::Copy, texts.get(..2).unwrap_or(&[])),
        (Does::Moves, Some(_)) if texts.len() >= 2 => out.act(What::Move, texts.get(..2).unwrap_or(&[])),
        (Does::Connects, _) => {
            seen.network = true;
            out.act(What::Connect, &[texts.iter().copied().find(|t| t.contains(['.', ':'])).unwrap_or("")]);
        }
        (Does::Listens, _) if !args.is_empty() => {
            seen.network = true;
            out.act(What::Listen, &[texts.first().copied().unwrap_or("")]);
        }
        (Does::Downloads, Some(path)) if texts.len() >= 2 => {
            out.act(What::Download, &[texts.first().copied().unwrap_or(""), path]);
        }
        (Does::Fetches | Does::Downloads, _) => {
            if let Some(url) = texts.iter().find(|t| t.contains("://")) {
                out.act(What::Fetch, &[url]);
            }
        }
        (Does::Loads, _) => {
            if let Some(path) = texts.first() {
                out.act(What::LoadNative, &[path]);
            }
        }
        (Does::Setuid, _) => out.act(What::Setuid, &["0"]),
        (Does::Prompt, _) => out.act(What::Interactive, &[]),
        (
            Does::Reads
            | Does::Writes
            | Does::Deletes
            | Does::DeletesTree
            | Does::Copies
            | Does::Moves
            | Does::Listens,
            _,
        ) => {}
    }
}

/// Names, literals, marks. Escapes in literals stay as written.
fn tokens(lang: Lang, text: &str) -> Vec<Token<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if out.len() >= TOKENS {
            break;
        }
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        if matches!(c, '"' | '\'' | '`') {
            // lisp quotes symbols with an apostrophe; an apostrophe that does not close is a mark
            if let Some(end) = close(after, c).filter(|_| !(c == '\'' && lang == Lang::Emacs)) {
                let inside = after.get(..end).unwrap_or("");
                out.push(if c == '`' { Token::Command(inside) } else { Token::Text(inside) });
                rest = after.get(end.saturating_add(1)..).unwrap_or("");
                continue;
            }
            out.push(Token::Mark(c));
            rest = after;
        } else if c.is_alphabetic() || c == '_' {
            let lisp = lang == Lang::Emacs;
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':') || lisp && c == '-'))
                .unwrap_or(rest.len());
            out.push(Token::Name(rest.get(..end).unwrap_or("").trim_end_matches(['.', ':'])));
            rest = rest.get(end..).unwrap_or("");
        } else {
            if !c.is_whitespace() || c == '\n' {
                out.push(Token::Mark(c));
            }
            rest = after;
        }
    }
    out
}

/// Where the literal closes.
fn close(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' if quote == '\'' => return None,
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}
