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

static PYTHON: Language =
    Language { lang: Lang::Python, words: &[python::WORDS, python_values::WORDS], modules: python::MODULES };
static AWK: Language = Language { lang: Lang::Awk, words: &[awk::WORDS], modules: &[] };
static NODE: Language = Language { lang: Lang::Node, words: &[node::WORDS], modules: node::MODULES };
static PERL: Language = Language { lang: Lang::Perl, words: &[perl::WORDS], modules: perl::MODULES };
static RUBY: Language = Language { lang: Lang::Ruby, words: &[ruby::WORDS], modules: ruby::MODULES };
static PHP: Language = Language { lang: Lang::Php, words: &[php::WORDS], modules: php::MODULES };
static LUA: Language = Language { lang: Lang::Lua, words: &[lua::WORDS], modules: lua::MODULES };
static R: Language = Language { lang: Lang::R, words: &[r::WORDS], modules: r::MODULES };

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
