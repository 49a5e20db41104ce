//! The tree as one short line, for expected values in tests.
//!
//! In: a tree. Out: text in which structure shows: simple commands in `[ ]`, quoted text in `' '`.
//! Never: used outside tests.

use crate::syntax::tree::*;

pub(crate) fn script(script: &Script) -> String {
    let mut out = String::new();
    for (i, item) in script.items.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out += &pipeline(&item.first);
        for (join, next) in &item.rest {
            out += if *join == Join::And { " && " } else { " || " };
            out += &pipeline(next);
        }
        if item.ends == End::Background {
            out += " &";
        }
    }
    out
}

fn pipeline(p: &Pipeline) -> String {
    let commands: Vec<String> = p.commands.iter().map(command).collect();
    format!("{}{}", if p.status == Status::Negated { "! " } else { "" }, commands.join(" | "))
}

fn command(c: &Command) -> String {
    match c {
        Command::Simple(s) => {
            let mut parts: Vec<String> = s.assignments.iter().map(assignment).collect();
            parts.extend(s.words.iter().map(word));
            parts.extend(s.declared.iter().map(assignment));
            parts.extend(s.redirects.iter().map(redirect));
            format!("[{}]", parts.join(" "))
        }
        Command::Compound(c, redirects) => {
            let mut out = compound(c);
            for r in redirects {
                out += " ";
                out += &redirect(r);
            }
            out
        }
        Command::Function(f) => format!("function {} {}", f.name, command(&f.body)),
    }
}

fn list(words: &[Word]) -> String {
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn compound(c: &Compound) -> String {
    match c {
        Compound::Brace(s) => format!("{{ {} }}", script(s)),
        Compound::Subshell(s) => format!("( {} )", script(s)),
        Compound::For { name, words, body, .. } => {
            format!(
                "for {name} in {} do {} done",
                words.as_ref().map_or("-".into(), |w| list(w)),
                script(body)
            )
        }
        Compound::Select { name, words, body } => {
            format!(
                "select {name} in {} do {} done",
                words.as_ref().map_or("-".into(), |w| list(w)),
                script(body)
            )
        }
        Compound::ForArithmetic { init, test, step, body } => {
            format!("for (({};{};{})) do {} done", word(init), word(test), word(step), script(body))
        }
        Compound::While { test, body } => format!("while {} do {} done", script(test), script(body)),
        Compound::Until { test, body } => format!("until {} do {} done", script(test), script(body)),
        Compound::If { arms, otherwise } => {
            let arms: Vec<String> =
                arms.iter().map(|(t, b)| format!("if {} then {}", script(t), script(b))).collect();
            let otherwise = otherwise.as_ref().map_or(String::new(), |o| format!(" else {}", script(o)));
            format!("{}{otherwise} fi", arms.join(" el"))
        }
        Compound::Case { subject, arms } => {
            let arms: Vec<String> = arms
                .iter()
                .map(|a| {
                    let patterns: Vec<String> = a.patterns.iter().map(word).collect();
                    let after = match a.after {
                        AfterArm::Stop => ";;",
                        AfterArm::FallThrough => ";&",
                        AfterArm::TestNext => ";;&",
                    };
                    format!("{}) {} {after}", patterns.join("|"), script(&a.body))
                })
                .collect();
            format!("case {} in {} esac", word(subject), arms.join(" "))
        }
        Compound::Conditional(c) => format!("[[ {} ]]", condition(c)),
        Compound::Arithmetic(w) => format!("(({}))", word(w)),
        Compound::Coprocess { name, body } => {
            format!("coproc {} {}", name.as_deref().unwrap_or("-"), command(body))
        }
    }
}

fn condition(c: &Condition) -> String {
    match c {
        Condition::And(a, b) => format!("({} && {})", condition(a), condition(b)),
        Condition::Or(a, b) => format!("({} || {})", condition(a), condition(b)),
        Condition::Not(a) => format!("! {}", condition(a)),
        Condition::Unary(op, w) => format!("{op} {}", word(w)),
        Condition::Binary(op, a, b) => format!("{} {op} {}", word(a), word(b)),
    }
}

fn assignment(a: &Assignment) -> String {
    let index = a.index.as_ref().map_or(String::new(), |i| format!("[{}]", word(i)));
    let operator = if a.operator == Assign::Set { "=" } else { "+=" };
    let value = match &a.value {
        AssignValue::Scalar(w) => word(w),
        AssignValue::Array(elements) => {
            let elements: Vec<String> = elements
                .iter()
                .map(|(i, w)| match i {
                    Some(i) => format!("[{}]={}", word(i), word(w)),
                    None => word(w),
                })
                .collect();
            format!("({})", elements.join(" "))
        }
    };
    format!("{}{index}{operator}{value}", a.name)
}

fn redirect(r: &Redirect) -> String {
    let descriptor = match &r.descriptor {
        None => String::new(),
        Some(Descriptor::Number(n)) => n.to_string(),
        Some(Descriptor::Variable(v)) => format!("{{{v}}}"),
    };
    let (operator, target) = match &r.action {
        RedirectAction::Read(w) => ("<", w),
        RedirectAction::Write(w) => (">", w),
        RedirectAction::Clobber(w) => (">|", w),
        RedirectAction::Append(w) => (">>", w),
        RedirectAction::ReadWrite(w) => ("<>", w),
        RedirectAction::WriteBoth(w) => ("&>", w),
        RedirectAction::AppendBoth(w) => ("&>>", w),
        RedirectAction::DuplicateIn(w) => ("<&", w),
        RedirectAction::DuplicateOut(w) => (">&", w),
        RedirectAction::HereDocument(w) => ("<<", w),
        RedirectAction::HereString(w) => ("<<<", w),
    };
    format!("{descriptor}{operator}{}", word(target))
}

pub(crate) fn word(w: &Word) -> String {
    w.pieces.iter().map(piece).collect()
}

fn mark(q: Quoting) -> &'static str {
    if q == Quoting::Double { "\"" } else { "" }
}

fn piece(p: &Piece) -> String {
    match p {
        Piece::Bare(t) => t.clone(),
        Piece::Quoted(t, QuoteForm::Single) => format!("'{t}'"),
        Piece::Quoted(t, QuoteForm::Double) => format!("\"{t}\""),
        Piece::Quoted(t, QuoteForm::AnsiC) => format!("$'{t}'"),
        Piece::Quoted(t, QuoteForm::Backslash) => format!("\\'{t}'"),
        Piece::Tilde(user) => format!("{{~{user}}}"),
        Piece::Parameter(p, q) => format!("{}{}{}", mark(*q), parameter(p), mark(*q)),
        Piece::Command(s, q) => format!("{0}$( {1} ){0}", mark(*q), substituted(s)),
        Piece::Arithmetic(w, q) => format!("{0}$(({1})){0}", mark(*q), word(w)),
        Piece::Process(Direction::In, s) => format!("<( {} )", substituted(s)),
        Piece::Process(Direction::Out, s) => format!(">( {} )", substituted(s)),
    }
}

fn substituted(s: &Substituted) -> String {
    match &s.broken {
        Some(text) => format!("{} BROKEN {text}", script(&s.script)),
        None => script(&s.script),
    }
}

fn parameter(p: &Parameter) -> String {
    let index = p.index.as_ref().map_or(String::new(), |i| format!("[{}]", word(i)));
    let reference = if p.reference == Reference::Indirect { "!" } else { "" };
    let colon = |c: &Colon| if *c == Colon::Yes { ":" } else { "" };
    let double = |e: &Extent, c: &str| if *e == Extent::Longest { c.repeat(2) } else { c.to_owned() };
    let operation = match &p.operation {
        Operation::None => String::new(),
        Operation::Length => return format!("${{#{}{index}}}", p.name),
        Operation::Default(c, w) => format!("{}-{}", colon(c), word(w)),
        Operation::AssignDefault(c, w) => format!("{}={}", colon(c), word(w)),
        Operation::Error(c, w) => format!("{}?{}", colon(c), word(w)),
        Operation::Alternative(c, w) => format!("{}+{}", colon(c), word(w)),
        Operation::RemovePrefix(e, w) => double(e, "#") + &word(w),
        Operation::RemoveSuffix(e, w) => double(e, "%") + &word(w),
        Operation::Replace(at, p, r) => {
            let at = match at {
                ReplaceAt::First => "/",
                ReplaceAt::All => "//",
                ReplaceAt::Start => "/#",
                ReplaceAt::End => "/%",
            };
            format!("{at}{}{}", word(p), r.as_ref().map_or(String::new(), |r| format!("/{}", word(r))))
        }
        Operation::Substring(o, l) => {
            format!(":{}{}", word(o), l.as_ref().map_or(String::new(), |l| format!(":{}", word(l))))
        }
        Operation::Case(change, w) => {
            let change = match change {
                CaseChange::UpperFirst => "^",
                CaseChange::UpperAll => "^^",
                CaseChange::LowerFirst => ",",
                CaseChange::LowerAll => ",,",
                CaseChange::Toggle => "~",
            };
            change.to_owned() + &w.as_ref().map_or(String::new(), word)
        }
        Operation::Transform(c) => format!("@{c}"),
        Operation::Names => "@names".to_owned(),
    };
    format!("${{{reference}{}{index}{operation}}}", p.name)
}
