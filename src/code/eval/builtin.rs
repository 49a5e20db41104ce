//! Calls that several languages have: starting, applying, paths, awk's files.
//!
//! In: the call's arguments. Out: what it gives; acts by the way.
//! Never: knows paths or policy.

use std::rc::Rc;

use super::acting::{made_with, opened};
use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Built, Origin, Piece, Reach, Source, What};
use crate::code::meaning::Special;
use crate::code::tree::Id;
use crate::policy::tables::Lang;

impl Machine<'_, '_> {
    pub(crate) fn process_special(&mut self, special: Special, args: &Args, id: Id) -> V {
        match special {
            Special::Apply => {
                let rest = Args {
                    items: args
                        .items
                        .iter()
                        .skip(1)
                        .flat_map(|v| if let V::List(s) = v { s.items.clone() } else { vec![v.clone()] })
                        .collect(),
                    named: args.named.clone(),
                    ..Args::default()
                };
                let callee = args.at(0);
                self.apply(&callee, &rest, id)
            }
            Special::Execl => {
                let argv = std::iter::once(args.at(0))
                    .chain(args.items.iter().skip(2).filter(|v| !matches!(v, V::Dict(_))).cloned())
                    .collect();
                self.exec(argv, id)
            }
            Special::Execv => {
                let list = args
                    .items
                    .iter()
                    .skip(1)
                    .find(|v| matches!(v, V::List(_)))
                    .map(opened)
                    .unwrap_or_default();
                let skip = usize::from(self.language.lang == Lang::Python);
                let argv = std::iter::once(args.at(0)).chain(list.into_iter().skip(skip)).collect();
                self.exec(argv, id)
            }
            Special::Fork => {
                self.state.forks = self.state.forks.saturating_add(1);
                self.reach(Reach::PROCESSES);
                self.callbacks(args, &V::Nothing);
                V::open(Origin::Computed)
            }
            Special::KillList => {
                for target in args.items.iter().skip(1).flat_map(opened) {
                    self.act(What::Kill, vec![target, args.at(0)], id);
                }
                V::open(Origin::Computed)
            }
            Special::PutEnv => {
                let (name, value) =
                    match (args.at(0).as_text().and_then(|t| t.split_once('=')), args.items.len()) {
                        (Some((name, value)), 1) => (V::text(name), V::text(value)),
                        _ => (args.at(0), args.at(1)),
                    };
                self.act(What::SetVariable, vec![name, value], id);
                V::Nothing
            }
            _ => {
                self.callbacks(args, &V::open(Origin::Unknown));
                if let Some(target) = args.option("target") {
                    let given = args.option("args").map(|v| opened(&v)).unwrap_or_default();
                    self.apply(&target, &Args::of(given), id);
                }
                V::open(Origin::Unknown)
            }
        }
    }

    pub(crate) fn path_special(&mut self, special: Special, this: Option<&V>, args: &Args, id: Id) -> V {
        match special {
            Special::Extract => {
                let to =
                    args.slot(0, "path").or_else(|| args.option("members")).unwrap_or_else(|| V::text("."));
                self.act(What::Write, vec![to], id);
                V::Nothing
            }
            Special::MakePath => {
                let joined = if args.items.is_empty() { V::text(".") } else { self.path_join(&args.items) };
                V::object("path", vec![joined])
            }
            Special::HomePath => V::object("path", vec![V::text("~")]),
            Special::HerePath => V::object("path", vec![V::text(".")]),
            Special::Temporary => {
                let name = V::Mixed(
                    Rc::from([Piece::Text(Rc::from("/tmp/")), Piece::Open(Source::default())]),
                    Built::Plain,
                );
                let path = V::object("temporary", vec![name]);
                self.callbacks(args, &path);
                path
            }
            Special::AwkWrite => self.awk_file(What::Write, args, id),
            Special::AwkRead => self.awk_file(What::Read, args, id),
            Special::AwkPipe => {
                let command = args.at(0);
                if command.shown().starts_with("/inet") {
                    return self.awk_file(What::Read, args, id);
                }
                let detail = command.shown();
                let printed: Vec<V> = args.items.iter().skip(1).flat_map(super::acting::opened).collect();
                let shell =
                    matches!(detail.trim().rsplit('/').next(), Some("sh" | "bash" | "dash" | "zsh" | "ksh"));
                // what is printed into a shell is its text
                let text = if shell && !printed.is_empty() { self.concat(&printed) } else { command };
                self.shell(text, id);
                V::from(Origin::Command, &detail)
            }
            Special::AwkSubstr => {
                let from =
                    args.at(1).as_number().map_or(V::Nothing, |n| V::Number(n.saturating_sub(1).max(0)));
                let moved = Args::of([&[args.at(0), from], args.items.get(2..).unwrap_or(&[])].concat());
                self.fold(crate::code::meaning::Fold::Substr, None, &moved)
                    .unwrap_or_else(|| V::Open(args.source()))
            }
            _ => {
                self.callbacks(args, &made_with(this, 0));
                V::Open(args.source())
            }
        }
    }
}
