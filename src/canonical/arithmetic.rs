//! Shell arithmetic (bash manual, "Shell Arithmetic"), as far as values are known.
//!
//! In: the text after expansion. Out: the number, or `None` where it is not known. Assignments take effect.
//! Never: overlooks code hidden in a variable's value: names are evaluated recursively by bash, and a
//! subscript in them may hold a substitution, so such values go to the host.

use crate::act::TagSet;
use crate::canonical::expand::Expander;
use crate::canonical::value::{HOLE, Value};
use crate::text::Span;

/// Evaluates an expression; recursion and length are bounded.
pub fn evaluate(x: &mut Expander<'_>, text: &str, span: Span) -> Option<i64> {
    let trimmed = text.trim();
    let digits = trimmed.trim_start_matches(['-', '+']);
    if let (Ok(number), false) = (trimmed.parse::<i64>(), digits.starts_with('0') && digits.len() > 1) {
        return Some(number);
    }
    hidden(x, trimmed, span, 0);
    let value = number_of(x, trimmed, span);
    // what was assigned on a way that isn't followed to its end is no longer known
    if value.is_none() || ["?", "&&", "||"].iter().any(|way| trimmed.contains(way)) {
        let mut budget = NAMES;
        for name in assigned(x, trimmed, 0, &mut budget) {
            x.state.set(&name, Value::unknown(TagSet::EMPTY));
        }
    }
    value
}

/// How many names are looked at for assignments.
const NAMES: u32 = 512;

/// Names that an expression assigns to, or the values of the names in it (bash evaluates those, too).
fn assigned(x: &Expander<'_>, text: &str, depth: usize, budget: &mut u32) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, behind) = rest.split_at_checked(length).unwrap_or(("", rest));
        at += length.max(rest.chars().next().map_or(1, char::len_utf8));
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        if *budget == 0 {
            break;
        }
        *budget -= 1;
        let before = text.get(..at - length).unwrap_or("").trim_end();
        if before.ends_with("++") || before.ends_with("--") || is_assignment(behind) {
            out.push(name.to_owned());
        }
        if depth < 4
            && let Some(value) = x.state.scalar(name).filter(|v| v.text != name)
            && value.text.contains(['=', '+', '-'])
        {
            out.extend(assigned(x, &value.text, depth + 1, budget));
        }
    }
    out
}

/// Whether what stands behind a name assigns to it: `= `, `+=`, `++`, also behind a subscript.
fn is_assignment(behind: &str) -> bool {
    let mut behind = behind.trim_start();
    if behind.starts_with('[') {
        let window =
            behind.char_indices().nth(256).map_or(behind, |(end, _)| behind.get(..end).unwrap_or(behind));
        let Some((subscript, _)) = window.split_once(']') else { return true };
        behind = behind.get(subscript.len() + 1..).unwrap_or("").trim_start();
    }
    let operators = ["+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=", "++", "--"];
    behind.starts_with('=') && !behind.starts_with("==") || operators.iter().any(|o| behind.starts_with(o))
}

fn number_of(x: &mut Expander<'_>, trimmed: &str, span: Span) -> Option<i64> {
    if trimmed.len() > 1024 || trimmed.contains(HOLE) {
        return None;
    }
    let mut parser = Parser { x, text: trimmed, at: 0, depth: 0, span };
    let value = parser.comma()?;
    parser.blank();
    (parser.at == trimmed.len()).then_some(value)
}

/// Hands values of names in the expression to the host where they hold code.
fn hidden(x: &mut Expander<'_>, text: &str, span: Span, depth: usize) {
    if text.contains("$(") || text.contains('`') {
        x.host.hidden(x.state, text, span);
    }
    if depth > 4 {
        return;
    }
    for name in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !x.state.mentions(name) {
            continue;
        }
        if let Some(value) = x.state.scalar(name)
            && value.text != name
            && (value.text.contains('$') || value.text.contains('`') || value.text.contains('['))
        {
            hidden(x, &value.text, span, depth + 1);
        }
    }
}

struct Parser<'p, 'a> {
    x: &'p mut Expander<'a>,
    text: &'p str,
    at: usize,
    depth: u16,
    span: Span,
}

/// Binary operators by rising precedence.
const LEVELS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Parser<'_, '_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn blank(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.blank();
        let hit = self.rest().starts_with(token);
        if hit {
            self.at += token.len();
        }
        hit
    }

    fn comma(&mut self) -> Option<i64> {
        let mut value = self.assignment()?;
        while self.eat(",") {
            value = self.assignment()?;
        }
        Some(value)
    }

    fn name(&mut self) -> Option<String> {
        self.blank();
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = rest.get(..end)?.to_owned();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        self.at += end;
        Some(name)
    }

    fn assignment(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 48 {
            return None;
        }
        let start = self.at;
        if let Some(name) = self.name() {
            for operator in ["=", "+=", "-=", "*="] {
                if self.eat(operator) && !(operator == "=" && self.rest().starts_with('=')) {
                    let right = self.assignment()?;
                    let old = if operator == "=" { 0 } else { self.value(&name, 0)? };
                    let new = match operator {
                        "+=" => old.checked_add(right)?,
                        "-=" => old.checked_sub(right)?,
                        "*=" => old.checked_mul(right)?,
                        _ => right,
                    };
                    self.x.state.set(&name, Value::known(new.to_string()));
                    self.depth -= 1;
                    return Some(new);
                }
            }
        }
        self.at = start;
        let value = self.ternary();
        self.depth -= 1;
        value
    }

    fn ternary(&mut self) -> Option<i64> {
        let test = self.binary(0)?;
        if !self.eat("?") {
            return Some(test);
        }
        let yes = self.assignment()?;
        if !self.eat(":") {
            return None;
        }
        let no = self.assignment()?;
        Some(if test != 0 { yes } else { no })
    }

    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.power() };
        let mut left = self.binary(level + 1)?;
        loop {
            self.blank();
            let rest = self.rest();
            let found = operators.iter().copied().find(|o| {
                rest.starts_with(o)
                    && !(o.len() == 1 && rest.get(1..2) == Some("=") && *o != "<" && *o != ">")
                    && !(matches!(*o, "|" | "&" | "<" | ">" | "*") && rest.get(1..2) == Some(o))
            });
            let Some(operator) = found else { return Some(left) };
            self.at += operator.len();
            let right = self.binary(level + 1)?;
            left = apply(operator, left, right)?;
        }
    }

    fn power(&mut self) -> Option<i64> {
        let base = self.unary()?;
        if self.eat("**") {
            self.depth += 1;
            if self.depth > 48 {
                return None;
            }
            let exponent = self.power()?;
            self.depth -= 1;
            return base.checked_pow(u32::try_from(exponent).ok()?);
        }
        Some(base)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 48 {
            return None;
        }
        self.blank();
        let value = if self.eat("++") || self.eat("--") {
            None
        } else if self.eat("!") {
            self.unary().map(|v| i64::from(v == 0))
        } else if self.eat("~") {
            self.unary().map(|v| !v)
        } else if self.eat("-") {
            self.unary().and_then(i64::checked_neg)
        } else if self.eat("+") {
            self.unary()
        } else {
            self.primary()
        };
        self.depth -= 1;
        value
    }

    fn primary(&mut self) -> Option<i64> {
        if self.eat("(") {
            let value = self.comma()?;
            return self.eat(")").then_some(value);
        }
        if let Some(name) = self.name() {
            if self.rest().starts_with('[') {
                return None;
            }
            let value = self.value(&name, 0)?;
            let step = if self.eat("++") { 1 } else { -i64::from(self.eat("--")) };
            if step != 0 {
                self.x.state.set(&name, Value::known(value.checked_add(step)?.to_string()));
            }
            return Some(value);
        }
        self.number()
    }

    fn number(&mut self) -> Option<i64> {
        self.blank();
        let rest = self.rest();
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '#' || c == '_')).unwrap_or(rest.len());
        let text = rest.get(..end)?.to_owned();
        self.at += end;
        parse_number(&text)
    }

    /// A name's value, names in it followed a few times.
    fn value(&mut self, name: &str, depth: usize) -> Option<i64> {
        if self.x.state.is_varying(name) {
            return None;
        }
        let Some(value) = self.x.state.scalar(name) else { return Some(0) };
        let text = value.text.trim().to_owned();
        if text.is_empty() {
            return Some(0);
        }
        if let Some(number) = parse_number(&text) {
            return Some(number);
        }
        let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && depth < 8 {
            return self.value(&text, depth + 1);
        }
        if text.contains("$(") || text.contains('`') {
            self.x.host.hidden(self.x.state, &text, self.span);
        }
        None
    }
}

fn parse_number(text: &str) -> Option<i64> {
    if let Some((base, digits)) = text.split_once('#') {
        let base = base.parse::<u32>().ok().filter(|b| (2..=36).contains(b))?;
        return i64::from_str_radix(digits, base).ok();
    }
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return i64::from_str_radix(hex, 16).ok();
    }
    if text.len() > 1 && text.starts_with('0') {
        return i64::from_str_radix(text, 8).ok();
    }
    text.parse().ok()
}

fn apply(operator: &str, a: i64, b: i64) -> Option<i64> {
    let truth = |t: bool| Some(i64::from(t));
    match operator {
        "||" => truth(a != 0 || b != 0),
        "&&" => truth(a != 0 && b != 0),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "&" => Some(a & b),
        "==" => truth(a == b),
        "!=" => truth(a != b),
        "<=" => truth(a <= b),
        ">=" => truth(a >= b),
        "<" => truth(a < b),
        ">" => truth(a > b),
        "<<" => a.checked_shl(u32::try_from(b).ok()?),
        ">>" => a.checked_shr(u32::try_from(b).ok()?),
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        _ => None,
    }
}
