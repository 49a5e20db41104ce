//! The shapes of policy files, as serde reads them.
//!
//! In: TOML. Out: shapes with the places of their strings, for [`crate::policy::compile`].
//! Never: knows what a word means; never lets an unknown key pass. `build.rs` includes this file too.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::value::Datetime;

use crate::policy::source::{PolicyError, Source};

pub type Text = Spanned<String>;
pub type Texts = Vec<Text>;
/// Names → roles.
pub type RoleMap = BTreeMap<Text, Text>;

/// Declares a command's table, once with subcommands and once without: they don't nest, a subcommand
/// of a subcommand has two words.
macro_rules! command_shape {
    ($(#[$doc:meta])* $name:ident { $($more:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            pub names: Texts,
            pub style: Option<Text>,
            pub handler: Option<Text>,
            pub flags: RoleMap,
            pub values: RoleMap,
            pub optional: RoleMap,
            pub operands: Option<Spanned<OneOrMany>>,
            pub effects: Option<Text>,
            pub alone: Option<Text>,
            pub stdin: Option<Text>,
            pub output: Option<Text>,
            pub tags: Option<Text>,
            pub inert: Texts,
            pub environment: RoleMap,
            pub needs: Texts,
            $($more)*
        }
    };
}

command_shape! {
    /// A subcommand.
    SubcommandShape {}
}

command_shape! {
    /// A program.
    CommandShape {
        pub sub: BTreeMap<Text, Spanned<SubcommandShape>>,
    }
}

impl CommandShape {
    /// The program's own part, as if it were a subcommand, and its subcommands.
    pub fn split(self) -> (SubcommandShape, BTreeMap<Text, Spanned<SubcommandShape>>) {
        let own = SubcommandShape {
            names: self.names,
            style: self.style,
            handler: self.handler,
            flags: self.flags,
            values: self.values,
            optional: self.optional,
            operands: self.operands,
            effects: self.effects,
            alone: self.alone,
            stdin: self.stdin,
            output: self.output,
            tags: self.tags,
            inert: self.inert,
            environment: self.environment,
            needs: self.needs,
        };
        (own, self.sub)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleShape {
    pub id: Text,
    pub family: Text,
    pub source: SourceShape,
    pub confidence: Thousandths,
    pub when: Spanned<WhenShape>,
    pub verdict: Option<Text>,
    #[serde(default, rename = "final")]
    pub last: bool,
    pub reason: Text,
    #[serde(default)]
    pub instead: String,
    #[serde(default)]
    pub hits: Vec<String>,
    #[serde(default)]
    pub misses: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceShape {
    pub tier: Text,
    #[serde(default, rename = "ref")]
    pub reference: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct PatternShape {
    pub effect: Option<Text>,
    pub under: Option<Text>,
    pub not_under: Option<Text>,
    pub with: Option<Text>,
    pub any: Option<Text>,
    pub without: Option<Text>,
    pub program: Option<Spanned<OneOrMany>>,
    pub not_program: Option<Spanned<OneOrMany>>,
    pub target: Option<Spanned<OneOrMany>>,
    pub not_target: Option<Spanned<OneOrMany>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SemanticShape {
    pub when: Spanned<PatternShape>,
    pub class: Text,
    pub score: Thousandths,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathShape {
    pub when: Spanned<PatternShape>,
    pub score: Thousandths,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceShape {
    pub class: Text,
    pub patterns: Texts,
    #[serde(default)]
    pub except: Texts,
}

/// Root's change of a rule of an earlier layer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverrideShape {
    pub rule: Text,
    pub verdict: Option<Text>,
    pub enabled: Option<bool>,
    pub reason: Text,
    /// The last day on which it holds.
    pub until: Option<Spanned<Datetime>>,
}

/// Root's written permission for a rule, an effect and a place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExceptionShape {
    pub rule: Spanned<OneOrMany>,
    pub effect: Text,
    pub under: Option<Spanned<OneOrMany>>,
    pub target: Option<Spanned<OneOrMany>>,
    pub agent: Option<Text>,
    pub reason: Text,
    /// The last day on which it holds.
    pub until: Option<Spanned<Datetime>>,
}

/// A string, or an array of strings.
#[derive(Debug)]
pub enum OneOrMany {
    One(String),
    Many(Texts),
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = OneOrMany;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of strings")
            }
            fn visit_str<E>(self, text: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany::One(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<OneOrMany, A::Error> {
                let mut all = Vec::new();
                while let Some(text) = seq.next_element()? {
                    all.push(text);
                }
                Ok(OneOrMany::Many(all))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A pattern, or an array of patterns of which any must match.
#[derive(Debug)]
pub struct WhenShape(pub Vec<Spanned<PatternShape>>);

impl<'de> Deserialize<'de> for WhenShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = WhenShape;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table or an array of tables")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WhenShape, A::Error> {
                let one = PatternShape::deserialize(MapAccessDeserializer::new(map))?;
                Ok(WhenShape(vec![Spanned::new(0..0, one)]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<WhenShape, A::Error> {
                let mut all = Vec::new();
                while let Some(pattern) = seq.next_element()? {
                    all.push(pattern);
                }
                Ok(WhenShape(all))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A decimal from 0 to 1 with at most three places, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thousandths(pub u16);

impl Thousandths {
    /// Reads the decimal as it is written, without floating point.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, places) = text.split_once('.').unwrap_or((text, ""));
        if places.len() > 3 || !places.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let places = format!("{places:0<3}").parse::<u16>().ok()?;
        match (whole, places) {
            ("0", _) => Some(Self(places)),
            ("1", 0) => Some(Self(1000)),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Thousandths {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Thousandths;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal from 0 to 1 with at most three places")
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Thousandths, E> {
                let read = Thousandths::parse(&value.to_string());
                read.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Float(value), &self))
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Thousandths, E> {
                let read = Thousandths::parse(&value.to_string());
                read.ok_or_else(|| E::invalid_value(serde::de::Unexpected::Signed(value), &self))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A key or value that still has to be read.
pub type Entry<'a> = (Spanned<toml::de::DeString<'a>>, Spanned<DeValue<'a>>);

/// The parts of a file.
#[derive(Debug, Default)]
pub struct FileShape<'a> {
    pub rules: Vec<Spanned<RuleShape>>,
    pub semantics: Vec<Spanned<SemanticShape>>,
    pub paths: Vec<Spanned<PathShape>>,
    pub places: Vec<Spanned<PlaceShape>>,
    pub overrides: Vec<Spanned<OverrideShape>>,
    pub exceptions: Vec<Spanned<ExceptionShape>>,
    pub commands: Vec<(Text, CommandShape)>,
    /// Everything else: settings of the temper.
    pub settings: Vec<Entry<'a>>,
}

/// Reads a file that may hold rules, semantics, paths, places, commands (below `command`), overrides,
/// exceptions and settings.
pub fn read_file<'a>(source: &Source<'a>) -> Result<FileShape<'a>, PolicyError> {
    let mut file = FileShape::default();
    for (key, value) in table(source)? {
        match key.as_ref().as_ref() {
            "rule" => file.rules = deserialize(source, &key.span(), value)?,
            "semantic" => file.semantics = deserialize(source, &key.span(), value)?,
            "path" => file.paths = deserialize(source, &key.span(), value)?,
            "place" => file.places = deserialize(source, &key.span(), value)?,
            "exception" => file.exceptions = deserialize(source, &key.span(), value)?,
            "override" => file.overrides = deserialize(source, &key.span(), value)?,
            "command" => {
                let all: BTreeMap<Text, CommandShape> = deserialize(source, &key.span(), value)?;
                file.commands = all.into_iter().collect();
            }
            _ => file.settings.push((key, value)),
        }
    }
    Ok(file)
}

/// Reads a file of `commands/`: every table is a program.
pub fn read_commands(source: &Source<'_>) -> Result<Vec<(Text, CommandShape)>, PolicyError> {
    let programs = table(source)?.into_iter().map(|(key, value)| {
        let name = Spanned::new(key.span(), key.as_ref().to_string());
        let shape = deserialize(source, &key.span(), value)?;
        Ok((name, shape))
    });
    programs.collect()
}

fn table<'a>(source: &Source<'a>) -> Result<DeTable<'a>, PolicyError> {
    let table = DeTable::parse(source.text).map_err(|error| toml_problem(source, 0..0, &error))?;
    Ok(table.into_inner())
}

fn deserialize<'a, T: Deserialize<'a>>(
    source: &Source<'_>,
    key: &Range<usize>,
    value: Spanned<DeValue<'a>>,
) -> Result<T, PolicyError> {
    T::deserialize(ValueDeserializer::from(value)).map_err(|error| toml_problem(source, key.clone(), &error))
}

fn toml_problem(source: &Source<'_>, fallback: Range<usize>, error: &toml::de::Error) -> PolicyError {
    source.problem(error.span().unwrap_or(fallback), crate::text::escape(error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let source = Source::new("f", "f", text);
        read_file(&source).err().unwrap().to_string().lines().next().unwrap().to_owned()
    }

    #[test]
    fn decimals_are_read_exactly() {
        for (text, value) in [
            ("0", Some(0)),
            ("1", Some(1000)),
            ("1.0", Some(1000)),
            ("0.15", Some(150)),
            ("0.007", Some(7)),
            ("0.0005", None),
            ("1.001", None),
            ("2", None),
            ("-0.1", None),
            ("nan", None),
            ("inf", None),
            ("1e3", None),
            ("", None),
        ] {
            assert_eq!(Thousandths::parse(text).map(|t| t.0), value, "{text}");
        }
    }

    #[test]
    fn unknown_keys_and_wrong_types_are_errors_with_their_place() {
        assert!(
            problem("[[place]]\nclass = \"secret\"\npattern = []\n")
                .starts_with("f:3:1: unknown field `pattern`")
        );
        assert!(
            problem("[[place]]\nclass = 3\npatterns = []\n").starts_with("f:2:9: invalid type: integer `3`")
        );
        assert!(problem("[command.rm]\noperand = \"x\"\n").starts_with("f:2:1: unknown field `operand`"));
        assert!(problem("[command.git.sub.a.sub.b]\n").starts_with("f:1:20: unknown field `sub`"));
        assert!(problem("place = 3\n").starts_with("f:1:9: invalid type: integer `3`"));
        assert!(problem("[[place]\n").starts_with("f:1:9: "), "{}", problem("[[place]\n"));
        assert!(problem("a = 1\na = 2\n").starts_with("f:2:1: duplicate key"));
    }

    #[test]
    fn places_of_strings_are_kept() {
        let text = "[command.rm]\nflags = { \"-r -R\" = \"+recursive\" }\n[[rule]]\nid = \"a.b\"\nfamily = \"x\"\nsource = { tier = \"manual\" }\nconfidence = 0.5\nwhen = [{ effect = \"read\" }, { under = \"secret\" }]\nreason = \"r\"\n";
        let source = Source::new("f", "f", text);
        let file = read_file(&source).unwrap();
        let (names, roles) = file.commands[0].1.flags.iter().next().unwrap();
        assert_eq!(
            (text.get(names.span()), text.get(roles.span())),
            (Some("\"-r -R\""), Some("\"+recursive\""))
        );
        let rule = file.rules[0].as_ref();
        assert_eq!(source.origin(rule.id.span().start), "f:4");
        assert_eq!(rule.when.as_ref().0.len(), 2);
        assert_eq!(rule.confidence, Thousandths(500));
    }
}
