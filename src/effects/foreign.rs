//! Code in other languages: what the code floor found becomes effects, shell text in it is judged in turn.
//!
//! In: source text of a known language. Out: effects. Never: lets a part that could not be read pass unsaid.

use std::rc::Rc;

use crate::act::{Kind, TagSet, UnknownKind, tag};
use crate::canonical::parameter::is_secret_name;
use crate::canonical::value::{Data, Field, HOLE};
use crate::code::{Grade, Origin, Piece, Value, What};
use crate::effects::core::By;
use crate::effects::fields::made;
use crate::effects::files::provenance;
use crate::effects::model::Target;
use crate::effects::walk::{Outcome, Walk};
use crate::policy::tables::Lang;

impl Walk<'_, '_> {
    /// Source text of another language.
    pub fn foreign(&mut self, lang: Lang, text: &str, like: &Field) -> Outcome {
        if lang == Lang::Jq {
            return self.query(text, like);
        }
        let anchor = self.core.at(like.span);
        if self.core.budget.depth == 0 || self.core.budget.text < text.len() {
            self.core.doubt(UnknownKind::Limit, "nested code", like.span);
            return Outcome::prints(Data::unknown(TagSet::of(tag::FROM_UNKNOWN)));
        }
        self.core.budget.depth -= 1;
        self.core.budget.text -= text.len();
        let saved = self.core.anchor.replace(anchor);
        let found = crate::code::look(lang, text);
        let mut data = Data::unknown(TagSet::EMPTY);
        self.in_child(|child| {
            for act in &found.acts {
                child.act(act, lang, like, &mut data);
            }
            for module in &found.modules {
                child.imported(module, like.span);
            }
        });
        self.filtered_files(lang, text, &found, like);
        if let Some(doubt) = &found.unknown {
            self.code_doubt(doubt, lang, like);
        }
        self.core.anchor = saved;
        self.core.budget.depth += 1;
        let once = lang != Lang::Awk || runs_once(text);
        if let (Some((text, built)), true, true, None) =
            (&found.printed, once, found.acts.is_empty(), &found.unknown)
        {
            data.text = Some(text.to_string());
            data.tags = data.tags.with(tag::FROM_LITERAL);
            if *built == crate::code::Built::Decoded {
                data.tags = data.tags.with(tag::FROM_DECODED);
            }
        }
        if let ([only], None) = (found.acts.as_slice(), &found.unknown)
            && let (What::Print, [Value::Known(text)]) = (only.what, only.args.as_slice())
        {
            // all that it does is print a known text
            data = Data { text: Some(format!("{}\n", text.trim_end_matches('\n'))), ..data };
        }
        Outcome::prints(data)
    }

    /// `sed -n 'w FILE'`, `awk '{print > "FILE"}'`: the file holds the input, or what was made of it.
    fn filtered_files(&mut self, lang: Lang, text: &str, found: &crate::code::Found, like: &Field) {
        if !matches!(lang, Lang::Sed | Lang::Awk) {
            return;
        }
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).take(12).collect();
        let whole = found.acts.len() == 1
            && (plain.starts_with('w') || plain.starts_with("{print>") || plain.starts_with("{print$0>"));
        for act in &found.acts {
            let (What::Write | What::Append, [Value::Known(path)]) = (act.what, act.args.as_slice()) else {
                continue;
            };
            let place = self.resolved(&made(&**path, like));
            let data = if whole {
                self.stdin.clone()
            } else {
                Data::unknown(self.stdin.tags.with(tag::FROM_UNKNOWN))
            };
            self.state.note_written(&place, data, crate::canonical::state::Reach::File);
        }
    }

    /// A jq program: it starts and writes nothing, but may print the environment.
    fn query(&mut self, text: &str, like: &Field) -> Outcome {
        if let Some(said) =
            text.trim().strip_prefix('"').and_then(|_| serde_json::from_str::<String>(text.trim()).ok())
        {
            return Outcome::prints(Data::known(format!("{said}\n")));
        }
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '$' | '.'));
        if !words.any(|w| matches!(w, "env" | "$ENV")) {
            return Outcome::prints(Data::unknown(TagSet::EMPTY));
        }
        let tags = TagSet::of(tag::FROM_ENVIRONMENT);
        self.plain_act(Kind::Disclose, &made("", like), tags, &Rc::from("jq"));
        Outcome::prints(Data::unknown(tags))
    }

    fn code_doubt(&mut self, doubt: &crate::code::Doubt, lang: Lang, like: &Field) {
        self.core.doubt(UnknownKind::Code, &doubt.detail, like.span);
        let tags = match doubt.grade {
            Grade::Unread | Grade::Limit => return,
            Grade::Chosen => TagSet::of(tag::OPAQUE),
            Grade::Hidden => TagSet::of(tag::OPAQUE).with(tag::OBFUSCATED),
        };
        let tags = self.state.ambient.union(tags);
        self.core.emit(Kind::Code, Target::default(), tags, By::new(&Rc::from(lang_name(lang)), like.span));
    }

    /// A value of the code as a field: unknown parts are holes, origins are tags.
    pub(super) fn code_field(&mut self, value: &Value, like: &Field) -> Field {
        let mut field = Field { text: String::new(), pattern: None, tags: TagSet::EMPTY, span: like.span };
        match value {
            Value::Known(text) => field.text.push_str(text),
            Value::Pieced(pieces) => {
                for piece in pieces.iter() {
                    match piece {
                        Piece::Text(text) => field.text.push_str(text),
                        Piece::Open(source) => self.open_piece(source, &mut field),
                    }
                }
            }
        }
        if field.text == "~" || field.text.starts_with("~/") {
            let home = crate::canonical::tilde::home(&self.state, "");
            field.text = format!("{home}{}", field.text.get(1..).unwrap_or(""));
        }
        field
    }

    /// `@ARGV`, `sys.argv[1:]`: all arguments of the program, each a word.
    pub(super) fn all_arguments(&self, value: &Value, lang: Lang, like: &Field) -> Option<Vec<Field>> {
        let Value::Pieced(pieces) = value else { return None };
        let [Piece::Open(source)] = &**pieces else { return None };
        let own = usize::from(!matches!(lang, Lang::Perl | Lang::Ruby));
        let all = source.origin == Origin::Argument && source.detail.is_empty();
        (all && self.state.positional.len() > own).then(|| {
            let words = self.state.positional.iter().skip(own);
            words.map(|v| Field { span: like.span, ..Field::from(v.clone()) }).collect()
        })
    }

    fn open_piece(&mut self, source: &crate::code::Source, field: &mut Field) {
        let mut tags = TagSet::EMPTY;
        let mut known = None;
        match source.origin {
            Origin::Computed | Origin::Unknown => {}
            Origin::System => tags = tags.with(tag::FROM_SYSTEM),
            Origin::Listing => {
                let inner = Field { text: source.detail.to_string(), ..field.clone() };
                let target = self.path_target(&inner);
                field.text.push_str(target.resolved.trim_end_matches('/'));
                field.text.push('/');
                tags = tags.with(tag::GLOB_ALL);
            }
            Origin::Argument => {
                let number = source.detail.parse::<usize>().ok();
                known = number.and_then(|n| self.state.positional.get(n).cloned()).map(|v| v.text);
            }
            Origin::Variable => {
                if is_secret_name(&source.detail) {
                    tags = tags.with(tag::FROM_SECRET_VARIABLE);
                }
                known = self.state.scalar(&source.detail).map(|v| v.text);
            }
            Origin::Command => tags = tags.with(tag::FROM_UNKNOWN),
            Origin::Stdin => {
                tags = tags.union(self.stdin.tags);
                known = self.stdin.whole().map(str::to_owned);
            }
            Origin::File => {
                let inner = Field::known(&*source.detail, field.span);
                let target = self.path_target(&inner);
                tags = tags.union(provenance(target.classes));
                if let Some(written) = self.state.written_at(&target.resolved) {
                    tags = tags.union(written.data.tags);
                }
            }
            Origin::Environment => tags = tags.with(tag::FROM_ENVIRONMENT),
            Origin::Network => tags = tags.with(tag::FROM_NETWORK),
        }
        if source.decoded == crate::code::Decoded::Yes {
            tags = tags.with(tag::FROM_DECODED);
        }
        match known {
            Some(text) => field.text.push_str(&text),
            None => field.text.push(HOLE),
        }
        field.tags = field.tags.union(tags);
    }
}

/// Whether an awk program is BEGIN blocks only: others run for each line.
fn runs_once(text: &str) -> bool {
    let mut rest = text.trim();
    while let Some(body) = rest.strip_prefix("BEGIN") {
        let mut depth = 0_i32;
        let mut quoted = false;
        let mut escaped = false;
        let end = body.char_indices().find_map(|(i, c)| {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = !quoted,
                '{' if !quoted => depth = depth.saturating_add(1),
                '}' if !quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            (c == '}' && !quoted && depth == 0).then_some(i.saturating_add(1))
        });
        let Some(end) = end else { return false };
        rest = body.get(end..).unwrap_or("").trim();
    }
    rest.is_empty()
}

/// The language's policy name, as the program of its effects.
pub(super) fn lang_name(lang: Lang) -> &'static str {
    Lang::ALL.iter().find(|(_, l)| *l == lang).map_or("other", |(name, _)| name)
}
