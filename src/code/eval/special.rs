//! Calls whose meaning needs code: evaluators, attributes by name, processes, prints.
//!
//! In: the call's arguments. Out: what it gives; acts by the way.
//! Never: knows paths or policy.

use std::rc::Rc;

use super::acting::opened;
use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Built, Decoded, Grade, Origin, Reach, Source, What};
use crate::code::meaning::Special;
use crate::code::tree::Id;
use crate::policy::tables::Lang;

/// Modes of the environment's getters that are no lookups.
const NESTING_LIMIT: u8 = 4;

impl Machine<'_, '_> {
    pub(crate) fn special(&mut self, special: Special, this: Option<&V>, args: &Args, id: Id) -> V {
        match special {
            Special::Eval => self.eval_text(args, id),
            Special::Attribute => self.attribute(this, args, id),
            Special::Import => self.import_call(args, id),
            Special::Open => self.open(this, args, id),
            Special::PerlOpen => self.perl_open(args, id),
            Special::RubyOpen => self.ruby_open(args, id),
            Special::Subprocess => self.subprocess(args, id),
            Special::Spawn => self.spawn(args, id),
            Special::System => self.system(args, id),
            Special::Print => self.print(args, id),
            Special::Getenv => self.getenv(args),
            Special::FileWrite => self.file_write(this, args, id),
            Special::Address => self.address(this, args, id),
            Special::Dup => self.dup(args, id),
            Special::Glob => args.items.first().map_or(V::Nothing, |pattern| V::list(vec![pattern.clone()])),
            Special::Request => self.request(args, id),
            Special::Globals => V::Ref(Rc::from("globals()")),
            Special::NodeRemove
            | Special::NodeTimer
            | Special::NodeBuffer
            | Special::NodeRequest
            | Special::NodePipe
            | Special::NodeServer
            | Special::MakeRequire => self.node_special(special, this, args, id),
            Special::PerlMode
            | Special::PerlSocket
            | Special::PerlConnect
            | Special::PerlAccept
            | Special::PerlShift
            | Special::PerlPrint
            | Special::PerlUnpack
            | Special::PerlReverse
            | Special::PerlSplit
            | Special::PerlHex => self.perl_special(special, args, id),
            Special::PhpProcess
            | Special::PhpCopy
            | Special::PhpPut
            | Special::PhpGet
            | Special::PhpStream
            | Special::PhpConnect
            | Special::PhpSocketConnect
            | Special::PhpCurlOption
            | Special::PhpSplit
            | Special::PhpChars
            | Special::PhpReplace
            | Special::PhpArray => self.php_special(special, args, id),
            Special::RubyMode
            | Special::RubyMethod
            | Special::RubyPopen
            | Special::LuaConcat
            | Special::LuaSub
            | Special::RUnlink
            | Special::RFile
            | Special::RCat
            | Special::RParse
            | Special::RGet
            | Special::RPaste
            | Special::RApply => self.other_special(special, this, args, id),
            Special::Apply
            | Special::Execl
            | Special::Execv
            | Special::Fork
            | Special::KillList
            | Special::PutEnv
            | Special::Thread => self.process_special(special, args, id),
            Special::Extract
            | Special::MakePath
            | Special::HomePath
            | Special::HerePath
            | Special::Temporary
            | Special::AwkWrite
            | Special::AwkRead
            | Special::AwkPipe
            | Special::AwkSubstr
            | Special::Visit => self.path_special(special, this, args, id),
            Special::ConnectOptions => self.connect_options(args, id),
        }
    }

    /// Runs shell text.
    pub(crate) fn shell(&mut self, text: V, id: Id) {
        self.reach(Reach::PROCESSES);
        let text = match text {
            V::Ref(_) | V::Function(_) | V::Bound(_) => V::open(Origin::Unknown),
            V::List(seq) => {
                let joined = self.join(&V::text(" "), &V::list(seq.items.clone()));
                joined.unwrap_or_else(|| V::open(Origin::Unknown))
            }
            other => other,
        };
        self.act(What::Shell, vec![text], id);
    }

    pub(crate) fn exec(&mut self, argv: Vec<V>, id: Id) -> V {
        self.reach(Reach::PROCESSES);
        let argv: Vec<V> = argv
            .into_iter()
            .map(|v| if matches!(v, V::Ref(_) | V::Function(_)) { V::open(Origin::Unknown) } else { v })
            .collect();
        let detail = argv.first().map(V::shown).unwrap_or_default();
        self.act(What::Exec, argv, id);
        V::object("process", vec![V::text(&detail)])
    }

    /// A known text is looked into as code; an unknown one is an act.
    fn eval_text(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::CODE);
        let code = match args.items.last().filter(|_| self.language.lang == Lang::Node) {
            Some(last) => last.clone(),
            None => args.at(0),
        };
        match &code {
            V::Function(function) => self.invoke(*function, &Args::default()),
            V::Any(seq) => {
                for choice in &seq.items {
                    self.eval_text(&Args::of(vec![choice.clone()]), id);
                }
                V::open(Origin::Unknown)
            }
            _ => match code.as_text() {
                Some(text) if self.state.nested < NESTING_LIMIT => {
                    let text = super::decode::utf8(text);
                    self.nested(&text, code.level(), id)
                }
                _ => {
                    let given = match &code {
                        V::Ref(_) | V::Bound(_) => V::Open(code.source().worse(Source::of(Origin::Unknown))),
                        other => other.clone(),
                    };
                    self.act(What::Eval, vec![given], id);
                    V::Open(code.source())
                }
            },
        }
    }

    /// Evaluates a text as code of the same language, with the variables of here.
    fn nested(&mut self, text: &str, level: Built, id: Id) -> V {
        let mut state = std::mem::take(&mut self.state);
        // functions are nodes of this tree: the other one must not see them, nor this one the other's
        let (functions, plain) = state.vars.drain().partition(|(_, v)| super::holds_function(v));
        state.vars = plain;
        let outer = state.outer;
        let nested = state.nested;
        let built = state.built;
        let span = outer.unwrap_or_else(|| self.tree.span(id));
        let inner = super::State {
            outer: Some(span),
            nested: nested.saturating_add(1),
            built: built.max(level),
            ..state
        };
        let (value, mut state) = super::run_nested(self.language, text, inner);
        state.vars.retain(|_, v| !super::holds_function(v));
        let functions: std::collections::HashMap<Rc<str>, V> = functions;
        state.vars.extend(functions);
        state.outer = outer;
        state.nested = nested;
        state.built = built;
        self.state = state;
        value
    }

    fn attribute(&mut self, this: Option<&V>, args: &Args, id: Id) -> V {
        let is_send = this.is_some() || (self.language.lang == Lang::Ruby);
        let (object, name, rest) = match (this, is_send) {
            (Some(of), _) => (of.clone(), args.at(0), 1),
            (None, true) => (V::Ref(Rc::from("Kernel")), args.at(0), 1),
            (None, false) => (args.at(0), args.at(1), 2),
        };
        let found = match (&object, name.as_text()) {
            (_, Some(text)) => {
                if name.level() > Built::Plain {
                    self.state.hiding = self.state.hiding.saturating_add(1);
                }
                self.member(object.clone(), text, id)
            }
            (V::Ref(of), None) => {
                if let V::Any(seq) = &name {
                    V::any(
                        seq.items
                            .iter()
                            .filter_map(V::as_text)
                            .map(|t| self.member(object.clone(), t, id))
                            .collect(),
                    )
                } else {
                    let of = Rc::clone(of);
                    self.chosen(&of, &name, id);
                    V::open(Origin::Unknown)
                }
            }
            _ => V::Open(object.source()),
        };
        if is_send {
            let rest = Args {
                items: args.items.iter().skip(rest).cloned().collect(),
                named: args.named.clone(),
                ..Args::default()
            };
            return self.apply(&found, &rest, id);
        }
        found
    }

    fn import_call(&mut self, args: &Args, id: Id) -> V {
        let name = args.items.first().cloned().or_else(|| args.option("name")).unwrap_or(V::Nothing);
        match &name {
            V::Any(seq) => {
                let values =
                    seq.items.iter().map(|one| self.import_call(&Args::of(vec![one.clone()]), id)).collect();
                V::any(values)
            }
            _ => {
                if let Some(text) = name.as_text() {
                    let module = text.strip_prefix("node:").unwrap_or(text).to_owned();
                    self.module_reach(&module);
                    if module.starts_with(['/', '.', '~']) {
                        self.act(What::Load, vec![V::text(&module)], id);
                    }
                    self.reference(&module)
                } else {
                    let source = name.source();
                    if source.origin > Origin::Listing || source.decoded == Decoded::Yes {
                        let span = self.span(id);
                        self.doubt(Grade::Chosen, "a module is chosen at run time", span);
                    }
                    V::Open(Source { origin: Origin::Unknown.max(source.origin), ..source })
                }
            }
        }
    }

    /// Notes what is printed, as long as all of it is known.
    fn note_printed(&mut self, args: &Args, id: Id) {
        // awk's printf stands as `print` in the tree
        let formats = self.language.lang == Lang::Awk
            && args.items.iter().any(|v| v.as_text().is_some_and(|t| t.contains('%')));
        let plain = args.named.is_empty() && self.maybe == 0 && !formats && !self.callee_is(id, "printf");
        let texts: Vec<V> = args.items.iter().flat_map(opened).map(|v| super::fold::readable(&v)).collect();
        let known: Option<Vec<&str>> = texts.iter().map(V::as_text).collect();
        let (Some(known), true) = (known, plain) else {
            self.state.shown.unsure = true;
            return;
        };
        let (between, end) = match self.language.lang {
            Lang::Python if self.callee_is(id, "print") => (" ", "\n"),
            Lang::Node if !self.member_called_is(id, "write") => (" ", "\n"),
            Lang::Awk => (" ", "\n"),
            Lang::Ruby if self.callee_is(id, "puts") => ("\n", "\n"),
            Lang::Perl if self.callee_is(id, "say") => ("", "\n"),
            Lang::Lua => ("\t", "\n"),
            _ => ("", ""),
        };
        let line = format!("{}{end}", known.join(between));
        let built = texts.iter().map(V::level).max().unwrap_or_default();
        if self.spend(line.len()) {
            self.state.shown.text.push_str(&line);
            self.state.shown.built = self.state.shown.built.max(built);
        } else {
            self.state.shown.unsure = true;
        }
    }

    /// Whether a call calls a method of this name.
    fn member_called_is(&self, id: Id, name: &str) -> bool {
        use crate::code::tree::Node;
        let Node::Call(kids) = self.tree.node(id) else { return false };
        let callee = self.tree.kids(*kids).first().map(|c| self.tree.node(*c));
        matches!(callee, Some(Node::Member(_, n)) if *n == name)
    }

    fn print(&mut self, args: &Args, id: Id) -> V {
        self.note_printed(args, id);
        let all = args.all();
        for value in all.iter().flat_map(opened) {
            let source = value.source();
            match source.origin {
                Origin::Environment => self.act(What::Environment, Vec::new(), id),
                Origin::Variable => self.act(What::Print, vec![value], id),
                Origin::Computed
                | Origin::Unknown
                | Origin::System
                | Origin::Listing
                | Origin::Argument
                | Origin::Command
                | Origin::Stdin
                | Origin::File
                | Origin::Network => {}
            }
        }
        self.callbacks(args, &V::Nothing);
        V::Nothing
    }

    fn getenv(&mut self, args: &Args) -> V {
        let Some(name) = args.items.first() else { return V::open(Origin::Environment) };
        let value =
            name.as_text().map_or_else(|| V::open(Origin::Variable), |n| V::from(Origin::Variable, n));
        match args.items.get(1) {
            Some(default) => V::any(vec![value, default.clone()]),
            None => value,
        }
    }

    fn address(&mut self, this: Option<&V>, args: &Args, id: Id) -> V {
        let (host, port) = match args.at(0) {
            V::List(seq) => (
                seq.items.first().cloned().unwrap_or(V::Nothing),
                seq.items.get(1).cloned().unwrap_or(V::Nothing),
            ),
            other => (other, args.at(1)),
        };
        if let (V::Text(t, _), true) = (&host, matches!(port, V::Nothing))
            && t.starts_with('/')
        {
            return V::Nothing;
        }
        self.reach(Reach::NETWORK);
        self.act(What::Connect, vec![host, port], id);
        this.cloned().unwrap_or_else(|| V::object("socket", Vec::new()))
    }

    /// dup2(socket, 0): the connection becomes standard input or output.
    fn dup(&mut self, args: &Args, id: Id) -> V {
        if args.items.first().is_some_and(|v| v.source().origin == Origin::Network) {
            self.act(What::StreamsToNetwork, Vec::new(), id);
        }
        V::open(Origin::Computed)
    }

    fn request(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::NETWORK);
        let url = args.items.first().cloned().or_else(|| args.option("url")).unwrap_or(V::Nothing);
        let detail = url.shown();
        let data: Vec<V> = args
            .items
            .iter()
            .skip(1)
            .cloned()
            .chain(
                args.named
                    .iter()
                    .filter(|(n, _)| {
                        matches!(&**n, "data" | "json" | "files" | "content" | "body" | "params")
                    })
                    .map(|(_, v)| v.clone()),
            )
            .collect();
        let sent = data.into_iter().find(|v| !matches!(v, V::Nothing | V::Number(_) | V::Function(_)));
        match sent {
            Some(sent) => self.act(What::Send, vec![url, sent], id),
            None => self.act(What::Fetch, vec![url], id),
        }
        let given = V::from(Origin::Network, &detail);
        self.callbacks(args, &given);
        given
    }

    fn connect_options(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::NETWORK);
        let pick = |names: &[&str]| {
            names.iter().find_map(|n| args.option(n).or_else(|| flat_option(&args.items, n)))
        };
        let host = pick(&["host", "hostname", "PeerAddr", "PeerHost"]).or_else(|| {
            args.items.iter().find(|v| matches!(v, V::Text(..) | V::Mixed(..) | V::Open(_))).cloned()
        });
        let number = args.items.iter().find(|v| matches!(v, V::Number(_))).cloned();
        let second = args
            .items
            .get(1)
            .filter(|v| matches!(v, V::Text(..) | V::Mixed(..) | V::Open(_)) && args.items.len() <= 3)
            .cloned();
        let port = pick(&["port", "PeerPort"]).or(number).or(second).unwrap_or(V::Nothing);
        let listens = pick(&["Listen", "LocalPort"]);
        let what = if listens.is_some() { What::Listen } else { What::Connect };
        self.act(what, vec![host.unwrap_or(V::Nothing), port], id);
        let made = V::object("socket", Vec::new());
        self.callbacks(args, &made);
        made
    }
}

/// `Name => value` in a flat list (perl).
fn flat_option(items: &[V], name: &str) -> Option<V> {
    let at = items.iter().position(|v| v.as_text() == Some(name))?;
    items.get(at.saturating_add(1)).cloned()
}
