//! The words of each language, as data.
//!
//! In: nothing. Out: [`Language`]s.
//! Never: code.

mod awk;
mod lua;
mod node;
mod perl;
mod php;
mod python;
mod python_values;
mod r;
mod ruby;

use super::found::What;
use super::meaning::{Gives, Language, Means, Slot};
use crate::policy::tables::Lang;

const fn act(what: What, slots: &'static [Slot], gives: Gives) -> Means {
    Means::Act(what, slots, gives)
}

/// The lengths of words by their first bytes, made by the compiler.
const fn lengths(tables: &[&[(&str, Means)]]) -> [u64; 256] {
    let mut out = [0_u64; 256];
    let mut table = tables;
    while let [words, more @ ..] = table {
        let mut rest = *words;
        while let [(name, _), others @ ..] = rest {
            if let [first, ..] = name.as_bytes() {
                let (before, _) = out.split_at_mut(*first as usize + 1);
                if let [.., slot] = before {
                    *slot |= 1 << (name.len() % 64);
                }
            }
            rest = others;
        }
        table = more;
    }
    out
}

macro_rules! language {
    ($name:ident, $lang:ident, [$($words:expr),+], $modules:expr) => {
        static $name: Language =
            Language { lang: Lang::$lang, words: &[$($words),+], lengths: &lengths(&[$($words),+]), modules: $modules };
    };
}

language!(PYTHON, Python, [python::WORDS, python_values::WORDS], python::MODULES);
language!(AWK, Awk, [awk::WORDS], &[]);
language!(NODE, Node, [node::WORDS], node::MODULES);
language!(PERL, Perl, [perl::WORDS], perl::MODULES);
language!(RUBY, Ruby, [ruby::WORDS], ruby::MODULES);
language!(PHP, Php, [php::WORDS], php::MODULES);
language!(LUA, Lua, [lua::WORDS], lua::MODULES);
language!(R, R, [r::WORDS], r::MODULES);

/// The words of a language that the common parser reads.
pub(crate) fn language(lang: Lang) -> Option<&'static Language> {
    match lang {
        Lang::Python => Some(&PYTHON),
        Lang::Awk => Some(&AWK),
        Lang::Node => Some(&NODE),
        Lang::Perl => Some(&PERL),
        Lang::Ruby => Some(&RUBY),
        Lang::Php => Some(&PHP),
        Lang::Lua => Some(&LUA),
        Lang::R => Some(&R),
        Lang::Shell
        | Lang::Sed
        | Lang::Tcl
        | Lang::Vim
        | Lang::Sql
        | Lang::Make
        | Lang::Jq
        | Lang::Gdb
        | Lang::Expect
        | Lang::Emacs
        | Lang::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted() {
        for (_, lang) in Lang::ALL {
            for table in language(*lang).map_or(&[][..], |l| l.words) {
                let unsorted: Vec<_> =
                    table.windows(2).filter(|w| w[0].0 >= w[1].0).map(|w| w[1].0).collect();
                assert_eq!(unsorted, Vec::<&str>::new());
            }
        }
    }
}
