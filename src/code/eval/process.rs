//! Calls that start programs: with or without a shell, by options and shapes of arguments.
//!
//! In: the call's arguments. Out: acts; an object that stands for the process.
//! Never: reads shell text itself.

use super::acting::opened;
use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Origin, Reach, What};
use crate::code::tree::Id;
use crate::policy::tables::Lang;

/// Programs that run what they get on standard input.
const SHELLS: &[&str] = &["ash", "bash", "dash", "fish", "ksh", "sh", "zsh"];

fn is_true(value: Option<&V>) -> bool {
    match value {
        Some(V::Ref(name)) => matches!(&**name, "True" | "true" | "TRUE"),
        Some(V::Number(n)) => *n != 0,
        Some(V::Text(text, _)) => !text.is_empty(),
        Some(_) | None => false,
    }
}

impl Machine<'_, '_> {
    /// python's subprocess functions.
    pub(crate) fn subprocess(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::PROCESSES);
        let what = args
            .items
            .first()
            .cloned()
            .or_else(|| args.option("args"))
            .or_else(|| args.option("cmd"))
            .unwrap_or(V::Nothing);
        let shell = args.named.iter().find(|(n, _)| &**n == "shell").map(|(_, v)| v);
        let input = args.named.iter().find(|(n, _)| &**n == "input").map(|(_, v)| v.clone());
        let executable = args.named.iter().find(|(n, _)| &**n == "executable").map(|(_, v)| v.clone());
        // with `shell=True` it is the shell that reads the text
        let reads = |v: &V| is_true(shell) && v.as_text().is_some_and(is_shell);
        if let Some(program) = executable.filter(|v| !reads(v)) {
            self.act(What::Exec, vec![program], id);
        }
        let tied = args.named.iter().any(|(n, v)| {
            matches!(&**n, "stdin" | "stdout" | "stderr") && v.source().origin == Origin::Network
        });
        if tied {
            self.act(What::StreamsToNetwork, Vec::new(), id);
        }
        self.start(what, is_true(shell), input, id)
    }

    fn start(&mut self, what: V, shell: bool, input: Option<V>, id: Id) -> V {
        let detail = what.shown();
        match &what {
            V::Any(seq) => {
                for one in &seq.items {
                    self.start(one.clone(), shell, input.clone(), id);
                }
            }
            V::List(seq) if !shell => {
                let argv: Vec<V> = seq.items.iter().flat_map(opened).collect();
                self.argv(argv, input, id);
            }
            V::List(seq) => self.shell(seq.items.first().cloned().unwrap_or(V::Nothing), id),
            V::Object(_) => self.act(What::Exec, vec![what.clone()], id),
            // a text without a shell is a program's name; its words are judged as if a shell read them
            _ => match (input, what.as_text()) {
                (Some(input), Some(name)) if is_shell(name) => self.shell(input, id),
                _ => self.shell(what.clone(), id),
            },
        }
        V::object("process", vec![V::text(&detail)])
    }

    fn argv(&mut self, argv: Vec<V>, input: Option<V>, id: Id) {
        let alone = argv.iter().skip(1).all(|a| a.as_text().is_some_and(|t| t == "-s" || t == "-"));
        match (input, argv.first().and_then(V::as_text)) {
            (Some(input), Some(name)) if is_shell(name) && alone => self.shell(input, id),
            _ => {
                let argv = argv
                    .into_iter()
                    .map(|v| {
                        if matches!(v, V::Ref(_) | V::Function(_) | V::Bound(_)) {
                            V::open(Origin::Unknown)
                        } else {
                            v
                        }
                    })
                    .collect();
                self.act(What::Exec, argv, id);
            }
        }
    }

    /// Program, list of arguments, options: node's spawn and execFile, php's `pcntl_exec`.
    pub(crate) fn spawn(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::PROCESSES);
        let program = args.at(0);
        let shell = args.option("shell");
        let uses_shell = is_true(shell.as_ref());
        let rest: Vec<V> =
            args.items.iter().skip(1).find(|v| matches!(v, V::List(_))).map(opened).unwrap_or_default();
        let unknown_rest = args
            .items
            .get(1)
            .filter(|v| matches!(v, V::Open(_) | V::Ref(_) | V::Any(_)))
            .map(|v| V::Open(v.source()));
        let argv: Vec<V> = std::iter::once(program.clone()).chain(rest).chain(unknown_rest).collect();
        if uses_shell {
            let joined = self.join(&V::text(" "), &V::list(argv)).unwrap_or(V::Nothing);
            self.shell(joined, id);
        } else if matches!(program, V::List(_)) {
            self.argv(opened(&program), None, id);
        } else {
            self.argv(argv, args.option("input"), id);
        }
        let tied = args.items.iter().skip(1).any(|v| v.source().origin == Origin::Network)
            || args.option("stdio").is_some_and(|v| v.source().origin == Origin::Network);
        if tied {
            self.act(What::StreamsToNetwork, Vec::new(), id);
        }
        let process = V::object("process", vec![V::text(&program.shown())]);
        let output = V::from(Origin::Command, &program.shown());
        self.callbacks(args, &output);
        process
    }

    /// One argument is shell text, several are an argument vector: system and exec of perl, ruby.
    pub(crate) fn system(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::PROCESSES);
        let mut items: Vec<V> = args
            .items
            .iter()
            .filter(|v| !matches!(v, V::Dict(_) | V::Function(_)))
            .flat_map(|v| if let V::List(s) = v { s.items.clone() } else { vec![v.clone()] })
            .collect();
        let maps =
            args.items.iter().filter(|v| matches!(v, V::Dict(_))).chain(args.named.iter().map(|(_, v)| v));
        let tied = self.language.lang == Lang::Ruby
            && maps.into_iter().any(|v| v.source().origin == Origin::Network);
        if tied {
            self.act(What::StreamsToNetwork, Vec::new(), id);
        }
        if items.is_empty() && !args.items.is_empty() && matches!(args.at(0), V::Function(_)) {
            self.callbacks(args, &V::Nothing);
        }
        let detail = items.first().map(V::shown).unwrap_or_default();
        match items.len() {
            0 => {
                let it = self.name("$_");
                self.shell(it, id);
            }
            1 => self.shell(items.pop().unwrap_or(V::Nothing), id),
            _ => self.argv(items, None, id),
        }
        let given = V::from(Origin::Command, &detail);
        self.callbacks(args, &given);
        given
    }
}

fn is_shell(program: &str) -> bool {
    let name = program.trim().rsplit('/').next().unwrap_or("");
    SHELLS.binary_search(&name).is_ok()
}
