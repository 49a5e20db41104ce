//! Languages without a reader of their own: a text is read by its calls with literal arguments.
//!
//! In: a language and source text. Out: [`Found`]. Never: says that a text without known calls was understood.

mod calls;

use super::found::{Act, Built, Doubt, Found, Grade, Value, What};
use crate::policy::tables::Lang;
use crate::text::Span;

/// What the text would do, as far as its calls say.
pub(crate) fn look(lang: Lang, text: &str) -> Found {
    let mut out = Out { found: Found::default(), span: Span::new(0, text.len()) };
    calls::read(lang, text, &mut out);
    out.doubt(Grade::Unread, "a language that is read by its calls only");
    out.found
}

/// Most acts of one text.
const ACTS: usize = 256;

/// What was found so far.
pub(crate) struct Out {
    found: Found,
    span: Span,
}

impl Out {
    fn act(&mut self, what: What, args: &[&str]) {
        if self.found.acts.len() >= ACTS {
            return self.doubt(Grade::Limit, "more acts than are kept");
        }
        let args = args.iter().map(|a| Value::Known((*a).into())).collect();
        let act = Act { what, args, built: Built::Plain, span: self.span };
        if !self.found.acts.contains(&act) {
            self.found.acts.push(act);
        }
    }

    /// Whether some act is already about this text.
    fn mentions(&self, text: &str) -> bool {
        self.found.acts.iter().flat_map(|a| a.args.iter()).any(|v| v.known() == Some(text))
    }

    fn doubt(&mut self, grade: Grade, detail: &str) {
        if self.found.unknown.as_ref().is_none_or(|d| d.grade < grade) {
            self.found.unknown = Some(Doubt { grade, detail: detail.into(), span: self.span });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acts(text: &str) -> Vec<String> {
        let shown = |a: &Act| {
            format!("{:?} {}", a.what, a.args.iter().filter_map(Value::known).collect::<Vec<_>>().join(" "))
        };
        look(Lang::Other, text).acts.iter().map(shown).collect()
    }

    #[test]
    fn calls_with_literals_are_read_in_any_language() {
        assert_eq!(acts("system(\"/bin/sh\")"), ["Shell /bin/sh"]);
        assert_eq!(
            acts("syscall.Exec(\"/bin/sh\", []string{\"/bin/sh\", \"-i\"}, []string{})"),
            ["Shell /bin/sh", "Exec /bin/sh -i"]
        );
        assert_eq!(acts("print(\"hello\")"), Vec::<String>::new());
    }
}
