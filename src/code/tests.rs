//! What the looks must find, language by language, as one line an act.

use super::*;

pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Known(text) => text.to_string(),
        Value::Pieced(pieces) => pieces
            .iter()
            .map(|p| match p {
                Piece::Text(t) => t.to_string(),
                Piece::Open(s) => format!("<{:?}{}{}>", s.origin, if s.detail.is_empty() { "" } else { " " }, s.detail),
            })
            .collect(),
    }
}

pub(crate) fn lines(lang: Lang, text: &str) -> Vec<String> {
    let found = look(lang, text);
    let acts = found.acts.iter().map(|a| format!("{:?} {}", a.what, a.args.iter().map(shown).collect::<Vec<_>>().join(" | ")).trim_end().to_owned());
    acts.chain(found.unknown.iter().map(|d| format!("? {:?} {}", d.grade, d.detail))).collect()
}
