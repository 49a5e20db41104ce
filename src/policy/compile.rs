//! Shapes to tables: names become numbers, aliases get entries of their own, commands are sorted.
//!
//! In: the shapes of a layer's files. Out: [`Compiled`], or the first error with its place.
//! Never: depends on the order of files. `build.rs` includes this file too.

mod commands;
mod rules;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::policy::keep;
use crate::policy::shapes::{CommandShape, FileShape, Text};
use crate::policy::source::{PolicyError, Source};
use crate::policy::tables::{Command, PathWeight, Place, Rule, Semantic, Tables};
use crate::policy::words::{Tags, WordError};
use crate::text::escape;

pub use rules::verdict;

/// Compiles the files of a layer: all commands first, then everything that asks for their tags.
#[derive(Debug, Default)]
pub struct Compiler {
    tags: Tags,
    commands: BTreeMap<&'static str, &'static Command>,
    rules: BTreeMap<&'static str, Rule>,
    semantics: Vec<Semantic>,
    paths: Vec<PathWeight>,
    places: Vec<Place>,
    doubts: Vec<PolicyError>,
}

/// A layer's tables, and what is suspicious in them: entries that can never match.
#[derive(Debug)]
pub struct Compiled {
    pub tables: Tables,
    pub doubts: Vec<PolicyError>,
}

impl Compiler {
    /// Starts with the names of tags that earlier layers added.
    pub fn after(known_tags: &[&str]) -> Self {
        Self { tags: Tags::after(known_tags), ..Self::default() }
    }

    /// Adds programs.
    pub fn add_commands(
        &mut self,
        source: &Source<'_>,
        programs: Vec<(Text, CommandShape)>,
    ) -> Result<(), PolicyError> {
        for (name, shape) in programs {
            let (command, names) = commands::program(source, &name, shape, &mut self.tags)?;
            let command: &'static Command = keep::one(command);
            for (span, name) in names {
                if let Some(other) = self.commands.insert(name, command) {
                    let (name, first) = (escape(name), escape(other.origin));
                    let message = format!("`{name}` is described twice, first at {first}");
                    return Err(source.problem(span, message));
                }
            }
        }
        Ok(())
    }

    /// Adds all but commands, overrides and settings.
    pub fn add_rest(&mut self, source: &Source<'_>, file: &FileShape<'_>) -> Result<(), PolicyError> {
        let mut reader = rules::Reader { source, tags: &mut self.tags, doubts: &mut self.doubts };
        for shape in &file.rules {
            let rule = reader.rule(shape.as_ref())?;
            if let Some(other) = self.rules.insert(rule.id, rule) {
                let message =
                    format!("rule `{}` is there twice, first at {}", other.id, escape(other.origin));
                return Err(source.problem(shape.as_ref().id.span(), message));
            }
        }
        for shape in &file.semantics {
            self.semantics.push(reader.semantic(shape)?);
        }
        for shape in &file.paths {
            self.paths.push(reader.path(shape)?);
        }
        for shape in &file.places {
            self.places.push(reader.place(shape.as_ref())?);
        }
        Ok(())
    }

    /// Names of tags beyond the code's, in order of their numbers.
    pub fn tag_names(&self) -> &[String] {
        &self.tags.added
    }

    pub fn finish(self) -> Compiled {
        let tags = self.tags.added.into_iter().map(keep::text).collect();
        let tables = Tables {
            rules: keep::list(self.rules.into_values().collect()),
            semantics: keep::list(self.semantics),
            paths: keep::list(self.paths),
            places: keep::list(self.places),
            commands: keep::list(self.commands.into_iter().collect()),
            tags: keep::list(tags),
        };
        Compiled { tables, doubts: self.doubts }
    }
}

/// Reads a string's words; an error gets its place in the file.
fn read<T>(
    source: &Source<'_>,
    text: &Text,
    reader: impl FnOnce(&str) -> Result<T, WordError>,
) -> Result<T, PolicyError> {
    reader(text.as_ref())
        .map_err(|error| source.problem_in(text.span(), text.as_ref(), error.range, error.message))
}

/// The value that a word names.
fn named<T: Copy>(
    source: &Source<'_>,
    text: &Text,
    what: &str,
    known: impl Iterator<Item = (&'static str, T)>,
) -> Result<T, PolicyError> {
    let known: Vec<_> = known.collect();
    let found = known.iter().find(|(name, _)| name == text.as_ref()).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let names = known.iter().map(|(name, _)| *name);
        let list = names.clone().collect::<Vec<_>>().join(", ");
        let all: Range<usize> = 0..text.as_ref().len();
        let error = crate::policy::words::unknown(what, text.as_ref(), all, names);
        source.problem(text.span(), format!("{} (known: {list})", error.message))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::{Class, ClassSet, Kind, TagSet, tag};
    use crate::policy::shapes::read_file;
    use crate::policy::sought::Sought;
    use crate::policy::tables::{Family, Is, Lifted, Output, Style, Tier};
    use crate::verdict::{Permille, Verdict};

    fn compile(text: &str) -> Result<Compiled, PolicyError> {
        let source = Source::new("f", "f", text);
        let mut file = read_file(&source)?;
        let mut compiler = Compiler::default();
        compiler.add_commands(&source, std::mem::take(&mut file.commands))?;
        compiler.add_rest(&source, &file)?;
        Ok(compiler.finish())
    }

    fn problem(text: &str) -> String {
        compile(text).err().unwrap().to_string().lines().next().unwrap().to_owned()
    }

    fn command(tables: &Tables, name: &str) -> &'static Command {
        tables.commands.iter().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn a_program_becomes_a_table() {
        let tables = compile(
            "[command.cp]\nnames = [\"gcp\", \"acp\"]\noperands = [\"read\", \"data\", \"read:force...\", \"write\"]\nflags = { \"-r -R\" = \"+recursive\" }\nvalues = { \"-t\" = \"write\" }\ntags = \"copies\"\nstdin = \"\"\noutput = \"through\"\n[command.cp.sub.\"a b\"]\nnames = [\"c\"]\n[command.ls]\nstyle = \"plain\"\n",
        )
        .unwrap()
        .tables;
        assert_eq!(
            tables.commands.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            ["acp", "cp", "gcp", "ls"]
        );
        let cp = command(&tables, "gcp");
        assert_eq!((cp.name, cp.style, cp.output, cp.origin), ("cp", Style::Gnu, Output::Through, "f:1"));
        assert_eq!((cp.operands.first.len(), cp.operands.last.len()), (2, 1));
        assert_eq!(cp.operands.rest[0].is, Is::Effect(Kind::Read));
        assert_eq!(cp.operands.rest[0].tags, TagSet::of(tag::FORCE));
        assert_eq!(cp.flags[0].0, ["-r", "-R"]);
        assert_eq!(tables.tags, ["copies"]);
        assert_eq!(cp.subcommands.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["a b", "c"]);
        let ls = command(&tables, "ls");
        assert_eq!((ls.style, ls.operands.rest[0].is), (Style::Plain, Is::Data));
    }

    #[test]
    fn a_rule_becomes_a_table() {
        let compiled = compile(
            "[[rule]]\nid = \"a.b\"\nfamily = \"destructive\"\nsource = { tier = \"mitre\", ref = \"T1485\" }\nconfidence = 0.95\nwhen = { effect = \"delete write\", under = \"system config\", with = \"recursive\", program = \"rm mv\", target = \"/etc/*\" }\nverdict = \"deny\"\nfinal = true\nreason = \"r\"\n",
        )
        .unwrap();
        assert!(compiled.doubts.is_empty());
        let rule = &compiled.tables.rules[0];
        assert_eq!(
            (rule.id, rule.family, rule.tier, rule.reference),
            ("a.b", Family::Destructive, Tier::Mitre, "T1485")
        );
        assert_eq!(
            (rule.confidence, rule.verdict, rule.lifted),
            (Permille::new(950), Verdict::Deny, Lifted::Never)
        );
        assert_eq!(rule.origin, "f:2");
        let when = &rule.when[0];
        assert_eq!(when.kinds, Kind::Delete.bit() | Kind::Write.bit());
        assert_eq!(when.under, ClassSet::of(Class::System).with(Class::Config));
        assert_eq!((when.programs, when.targets), (&["rm", "mv"][..], &[Sought::new("/etc/*")][..]));
    }

    #[test]
    fn wrong_words_are_errors_with_their_place() {
        let rule = |when: &str| {
            problem(&format!(
                "[[rule]]\nid = \"a.b\"\nfamily = \"destructive\"\nsource = {{ tier = \"manual\" }}\nconfidence = 1\nreason = \"r\"\nwhen = {when}\n"
            ))
        };
        for (text, expected) in [
            ("[command.rm]\nstyle = \"gun\"\n", "f:2:9: unknown style `gun`; did you mean `gnu`"),
            (
                "[command.rm]\noperands = \"read delet\"\n",
                "f:2:18: unknown role `delet`; did you mean `delete`",
            ),
            (
                "[command.rm]\noperands = [\"read...\", \"write...\"]\n",
                "f:2:12: only one entry may end in `...`",
            ),
            ("[command.rm]\nflags = { \"-r r\" = \"\" }\n", "f:2:11: option `r` does not start with a dash"),
            ("[command.rm]\nflags = { \"-r -r\" = \"\" }\n", "f:2:11: option `-r` is listed twice"),
            ("[command.rm]\nflags = { \" \" = \"\" }\n", "f:2:11: no option is named"),
            (
                "[command.rm]\nnames = [\"mv\"]\n[command.mv]\n",
                "f:2:10: `mv` is described twice, first at f:3",
            ),
            ("[command.\"a/b\"]\n", "f:1:10: a program's name is one word without a slash"),
            (
                "[[place]]\nclass = \"secrets\"\npatterns = []\n",
                "f:2:9: unknown class `secrets`; did you mean `secret`",
            ),
            (
                "[[place]]\nclass = \"secret\"\npatterns = [\"etc/x\"]\n",
                "f:3:13: a place starts with `/`, `~`, `./` or `**/`",
            ),
        ] {
            let shown = problem(text);
            assert!(shown.starts_with(expected), "{shown}");
        }
        for (when, expected) in [
            ("{ effect = \"delte\" }", "f:7:20: unknown effect `delte`; did you mean `delete`"),
            ("{}", "f:7:8: a pattern that asks for nothing matches everything"),
            ("[]", "f:7:8: no pattern, so this can never match"),
            (
                "{ under = \"home\", not-under = \"home root\" }",
                "f:7:8: `under` and `not-under` exclude each other",
            ),
            ("{ with = \"force\", without = \"force\" }", "f:7:8: `with` and `without` exclude each other"),
            (
                "{ program = \"rm\", not-program = \"rm\" }",
                "f:7:8: `program` and `not-program` exclude each other",
            ),
        ] {
            assert!(rule(when).starts_with(expected), "{}", rule(when));
        }
    }

    #[test]
    fn tags_that_nothing_sets_are_doubts() {
        let text = "[command.x]\ntags = \"stops\"\n[[semantic]]\nwhen = { with = \"stops stopps\" }\nclass = \"unknown\"\nscore = 0.1\n";
        let compiled = compile(text).unwrap();
        assert_eq!(compiled.doubts.len(), 1);
        assert!(compiled.doubts[0].to_string().starts_with("f:4:24: nothing sets the tag `stopps`"));
        assert_eq!(compiled.tables.tags, ["stops", "stopps"]);
    }
}
