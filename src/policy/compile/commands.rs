//! Programs and their subcommands.
//!
//! In: a program's shape. Out: its table, and the names under which it is known.
//! Never: copies a program's options into its subcommands; who looks an option up asks the subcommand
//! first and then the program. `build.rs` includes this file too.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::act::TagSet;
use crate::policy::keep;
use crate::policy::shapes::{CommandShape, OneOrMany, RoleMap, SubcommandShape, Text, Texts};
use crate::policy::source::{PolicyError, Source};
use crate::policy::tables::{Command, Is, Operands, Output, Role, Style};
use crate::policy::words::{self, Tags};
use toml::Spanned;

use super::{named, read};

const STYLES: [(&str, Style); 6] = [
    ("gnu", Style::Gnu),
    ("posix", Style::Posix),
    ("words", Style::Words),
    ("pairs", Style::Pairs),
    ("bundle", Style::Bundle),
    ("plain", Style::Plain),
];

const OUTPUTS: [(&str, Output); 8] = [
    ("plain", Output::Plain),
    ("through", Output::Through),
    ("fetched", Output::Fetched),
    ("decoded", Output::Decoded),
    ("arguments", Output::Arguments),
    ("system", Output::System),
    ("environment", Output::Environment),
    ("unknown", Output::Unknown),
];

/// Operands that nothing is said about.
const DATA: &[Role] = &[Role { is: Is::Data, tags: TagSet::EMPTY }];

type Options = &'static [(&'static [&'static str], &'static [Role])];
type Names = Vec<(Range<usize>, &'static str)>;
type Subcommands = BTreeMap<Text, Spanned<SubcommandShape>>;

struct Reader<'a, 's> {
    source: &'a Source<'s>,
    tags: &'a mut Tags,
    style: Style,
    /// Options of this (sub)command so far.
    seen: Vec<&'static str>,
}

/// A program's table, and its names with the places where they stand.
pub(super) fn program(
    source: &Source<'_>,
    name: &Text,
    shape: CommandShape,
    tags: &mut Tags,
) -> Result<(Command, Names), PolicyError> {
    let (own, subs) = shape.split();
    let mut reader = Reader { source, tags, style: Style::Gnu, seen: Vec::new() };
    let names = reader.names(name, &own.names, |name| {
        !name.is_empty() && !name.contains('/') && !name.contains(char::is_whitespace)
    })?;
    let mut command = reader.command(name, &own)?;
    command.subcommands = reader.subcommands(subs)?;
    Ok((command, names))
}

impl Reader<'_, '_> {
    fn command(&mut self, name: &Text, shape: &SubcommandShape) -> Result<Command, PolicyError> {
        if let Some(style) = &shape.style {
            self.style = named(self.source, style, "style", STYLES.into_iter())?;
        }
        self.seen.clear();
        let output = match &shape.output {
            Some(output) => named(self.source, output, "output", OUTPUTS.into_iter())?,
            None => Output::Plain,
        };
        let tags = match &shape.tags {
            Some(tags) => read(self.source, tags, |text| words::tag_set(text, self.tags))?,
            None => TagSet::EMPTY,
        };
        Ok(Command {
            name: keep::text(name.as_ref()),
            style: self.style,
            handler: keep::text(shape.handler.as_ref().map_or("", |handler| handler.as_ref())),
            flags: self.options(&shape.flags)?,
            values: self.options(&shape.values)?,
            optional: self.options(&shape.optional)?,
            operands: self.operands(shape.operands.as_ref())?,
            effects: self.roles(shape.effects.as_ref())?,
            alone: self.roles(shape.alone.as_ref())?,
            stdin: self.roles(shape.stdin.as_ref())?,
            output,
            tags,
            subcommands: &[],
            inert: keep::list(
                shape
                    .inert
                    .iter()
                    .flat_map(|text| text.as_ref().split_whitespace())
                    .map(keep::text)
                    .collect(),
            ),
            environment: self.environment(&shape.environment)?,
            needs: keep::list(shape.needs.iter().map(|path| keep::text(path.as_ref())).collect()),
            origin: keep::text(self.source.origin(name.span().start)),
        })
    }

    fn subcommands(
        &mut self,
        subs: Subcommands,
    ) -> Result<&'static [(&'static str, &'static Command)], PolicyError> {
        let style = self.style;
        let mut all: BTreeMap<&'static str, &'static Command> = BTreeMap::new();
        for (name, shape) in subs {
            self.style = style;
            let shape = shape.into_inner();
            let names = self.names(&name, &shape.names, |name| {
                name.split_whitespace().collect::<Vec<_>>().join(" ") == name && !name.is_empty()
            })?;
            let command = keep::one(self.command(&name, &shape)?);
            for (span, name) in names {
                if all.insert(name, command).is_some() {
                    return Err(self.source.problem(
                        span,
                        format!("subcommand `{}` is there twice", crate::text::escape(name)),
                    ));
                }
            }
        }
        Ok(keep::list(all.into_iter().collect()))
    }

    fn names(
        &self,
        name: &Text,
        others: &Texts,
        well_formed: fn(&str) -> bool,
    ) -> Result<Names, PolicyError> {
        let all = std::iter::once(name).chain(others).map(|text| {
            if well_formed(text.as_ref()) {
                Ok((text.span(), keep::text(text.as_ref())))
            } else {
                let what = "a program's name is one word without a slash, a subcommand's words are separated by single spaces";
                Err(self.source.problem(text.span(), what))
            }
        });
        all.collect()
    }

    fn options(&mut self, map: &RoleMap) -> Result<Options, PolicyError> {
        let mut all = Vec::new();
        for (names, roles) in map {
            let mut list = Vec::new();
            for name in names.as_ref().split_whitespace() {
                if matches!(self.style, Style::Gnu | Style::Posix) && !name.starts_with(['-', '+']) {
                    let message =
                        format!("option `{}` does not start with a dash", crate::text::escape(name));
                    return Err(self.source.problem(names.span(), message));
                }
                if self.seen.contains(&name) {
                    let message = format!("option `{}` is listed twice", crate::text::escape(name));
                    return Err(self.source.problem(names.span(), message));
                }
                let name = keep::text(name);
                self.seen.push(name);
                list.push(name);
            }
            if list.is_empty() {
                return Err(self.source.problem(names.span(), "no option is named"));
            }
            all.push((keep::list(list), self.roles(Some(roles))?));
        }
        Ok(keep::list(all))
    }

    fn environment(
        &mut self,
        map: &RoleMap,
    ) -> Result<&'static [(&'static str, &'static [Role])], PolicyError> {
        let all: Result<Vec<_>, PolicyError> = map
            .iter()
            .map(|(name, roles)| Ok((keep::text(name.as_ref()), self.roles(Some(roles))?)))
            .collect();
        all.map(keep::list)
    }

    fn roles(&mut self, text: Option<&Text>) -> Result<&'static [Role], PolicyError> {
        match text {
            Some(text) => read(self.source, text, |text| words::roles(text, self.tags)).map(keep::list),
            None => Ok(&[]),
        }
    }

    fn operands(&mut self, shape: Option<&Spanned<OneOrMany>>) -> Result<Operands, PolicyError> {
        let mut operands = Operands { first: &[], rest: DATA, last: &[] };
        let Some(shape) = shape else { return Ok(operands) };
        match shape.as_ref() {
            OneOrMany::One(text) => {
                operands.rest = self.roles(Some(&Spanned::new(shape.span(), text.clone())))?;
            }
            OneOrMany::Many(entries) => {
                let (mut first, mut last, mut rest) = (Vec::new(), Vec::new(), None);
                for entry in entries {
                    let text = entry.as_ref();
                    if let Some(text) = text.strip_suffix("...") {
                        let roles = self.roles(Some(&Spanned::new(entry.span(), text.to_owned())))?;
                        if rest.replace(roles).is_some() {
                            return Err(self.source.problem(shape.span(), "only one entry may end in `...`"));
                        }
                    } else {
                        let roles = self.roles(Some(entry))?;
                        if rest.is_some() { last.push(roles) } else { first.push(roles) }
                    }
                }
                operands =
                    Operands { first: keep::list(first), rest: rest.unwrap_or(DATA), last: keep::list(last) };
            }
        }
        Ok(operands)
    }
}
