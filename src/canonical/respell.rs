//! What braces have put together, read again: bash expands them in the text, before it looks for names and tildes.
//!
//! In: the characters and pieces of one word behind brace expansion. Out: its pieces; `None` where a dollar sign
//! has come to stand before a piece that was read without it.
//! Never: reads again what was quoted.

use crate::canonical::brace::Atom;
use crate::syntax::bounds::Limits;
use crate::syntax::grammar::{self, Dialect};
use crate::syntax::tree::{Parameter, Piece, Quoting, Spelling};

/// `$a{rm,x}` is `$arm $ax`, `{~,x}` has a home in it, `{$,x}HOME` a variable.
pub(super) fn pieces(atoms: &[Atom]) -> Option<Vec<Piece>> {
    let mut out: Vec<Piece> = Vec::new();
    let mut run = String::new();
    for atom in atoms {
        match atom {
            Atom::Char(c) => run.push(*c),
            Atom::Whole(piece) => {
                let live = match piece {
                    Piece::Parameter(..) | Piece::Command(..) | Piece::Arithmetic(..) => true,
                    Piece::Bare(_) | Piece::Quoted(..) | Piece::Tilde(_) | Piece::Process(..) => false,
                };
                if live && run.ends_with('$') && is_bare(piece) {
                    return None;
                }
                let last = matches!(piece, Piece::Quoted(..));
                flush(&mut run, &mut out, if last { End::Quote } else { End::Piece })?;
                out.push(piece.clone());
            }
        }
    }
    flush(&mut run, &mut out, End::Word)?;
    Some(out)
}

fn is_bare(piece: &Piece) -> bool {
    match piece {
        Piece::Parameter(_, quoting) | Piece::Command(_, quoting) | Piece::Arithmetic(_, quoting) => {
            *quoting == Quoting::Bare
        }
        Piece::Bare(_) | Piece::Quoted(..) | Piece::Tilde(_) | Piece::Process(..) => false,
    }
}

/// What comes behind a run of characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Word,
    Quote,
    Piece,
}

fn flush(run: &mut String, out: &mut Vec<Piece>, end: End) -> Option<()> {
    let run = std::mem::take(run);
    let mut rest = run.as_str();
    if let Some(Piece::Parameter(parameter, Quoting::Bare)) = out.last_mut()
        && parameter.spelling == Spelling::Open
    {
        rest = lengthen(parameter, rest);
    }
    if out.is_empty()
        && let Some((user, behind)) = tilde(rest, end)
    {
        out.push(Piece::Tilde(user.to_owned()));
        rest = behind;
    }
    if rest.is_empty() {
        return Some(());
    }
    let lone = rest.ends_with('$');
    let read = rest.strip_suffix('$').unwrap_or(rest);
    if read.contains('$') {
        // a tilde is one at the word's beginning alone
        let inside = read.starts_with('~') && !out.is_empty();
        let read = if inside { read.get(1..).unwrap_or("") } else { read };
        if inside {
            out.push(Piece::Bare("~".to_owned()));
        }
        let word = grammar::parse_one_word(read, Dialect::Bash, &Limits::default())?;
        out.extend(word.pieces);
    } else if !read.is_empty() {
        out.push(Piece::Bare(read.to_owned()));
    }
    if lone {
        match out.last_mut() {
            // `$$`
            Some(Piece::Bare(text)) if text.ends_with('$') => return None,
            Some(Piece::Bare(text)) => text.push('$'),
            Some(_) | None => out.push(Piece::Bare("$".to_owned())),
        }
    }
    Some(())
}

/// Gives a name the letters that have come to stand behind it; what is left.
fn lengthen<'r>(parameter: &mut Parameter, rest: &'r str) -> &'r str {
    let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let (more, rest) = rest.split_at_checked(length).unwrap_or(("", rest));
    parameter.name.push_str(more);
    rest
}

/// `~user` at the beginning, up to a slash, a colon, `=~` or the word's end.
fn tilde(run: &str, end: End) -> Option<(&str, &str)> {
    let behind = run.strip_prefix('~')?;
    let length = behind
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'+'))
        .count();
    let (user, rest) = behind.split_at_checked(length)?;
    let segment = rest.split('/').next().unwrap_or(rest);
    // a quote or an expansion up to the slash leaves the tilde as it is
    let plain = !segment.contains('$') && (end == End::Word || segment.len() < rest.len());
    let ends = segment.is_empty() || segment.starts_with(':') || segment == "=~";
    (plain && ends).then_some((user, rest))
}

#[cfg(test)]
mod tests {
    use crate::canonical::brace::{Braces, expand};
    use crate::syntax::bounds::Limits;
    use crate::syntax::grammar::{self, Dialect};
    use crate::syntax::render;
    use crate::syntax::tree::Word;
    use crate::text::Span;

    fn words(text: &str) -> String {
        let word = grammar::parse_one_word(text, Dialect::Bash, &Limits::default()).unwrap_or_default();
        match expand(&word.pieces) {
            Braces::None => "<none>".to_owned(),
            Braces::TooMany => "<too many>".to_owned(),
            Braces::Words(words) => {
                let rendered =
                    words.into_iter().map(|pieces| render::word(&Word { pieces, span: Span::default() }));
                rendered.collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn names_and_tildes_that_braces_put_together_are_read_as_bash_does() {
        for (text, want) in [
            ("$a{rm,x}", "${arm} ${ax}"),
            ("${a}{b,c}", "${a}b ${a}c"),
            ("\"$a\"{b,c}", "\"${a}\"b \"${a}\"c"),
            ("$1{2,3}", "${1}2 ${1}3"),
            ("{$a,x}b", "${ab} xb"),
            ("{~,x}", "{~} x"),
            ("{~,x}/y", "{~}/y x/y"),
            ("~{root,/x}", "{~root} {~}/x"),
            ("x{~,y}", "x~ xy"),
            ("{~,x}=~", "{~}=~ x=~"),
            ("{~,x}:y", "{~}:y x:y"),
            ("{~,x}:\"y\"", "~:\"y\" x:\"y\""),
            ("{~,x}\"y\"", "~\"y\" x\"y\""),
            ("{$,x}HOME", "${HOME} xHOME"),
            ("{$,x}{HOME}", "${HOME} x{HOME}"),
            ("{$,x}\\HOME", "$\\'H'OME x\\'H'OME"),
            ("{$,x}", "$ x"),
            ("$a{,~}/q{$,y", "${a}/q{$,y ${a}~/q{$,y"),
            ("{$,x}$a", "<too many>"),
            ("{$,x}{$,y}", "<too many>"),
        ] {
            assert_eq!(words(text), want, "{text}");
        }
    }
}
