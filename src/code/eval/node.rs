//! Calls of node that need code.
//!
//! In: the call's arguments. Out: what it gives; acts by the way.
//! Never: knows paths or policy.

use std::rc::Rc;

use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Origin, Reach, What};
use crate::code::meaning::{Fold, Special};
use crate::code::tree::Id;

impl Machine<'_, '_> {
    pub(crate) fn node_special(&mut self, special: Special, this: Option<&V>, args: &Args, id: Id) -> V {
        match special {
            Special::NodeRemove => {
                let recursive =
                    args.option("recursive").is_some_and(|v| matches!(&v, V::Ref(n) if **n == *"true"));
                let plain =
                    args.items.iter().all(|v| !matches!(v, V::Dict(_))) && matches!(args.items.len(), 1..=2);
                let by_name = plain
                    && matches!(self.tree.node(id), crate::code::tree::Node::Call(_))
                    && args.items.len() == 1;
                let what = if recursive || by_name { What::DeleteTree } else { What::Delete };
                let path = args.at(0);
                self.reach(Reach::FILES);
                self.act(
                    what,
                    vec![if matches!(path, V::Ref(_)) { V::open(Origin::Unknown) } else { path }],
                    id,
                );
                self.callbacks(args, &V::Nothing);
                V::Nothing
            }
            Special::NodeTimer => match args.at(0) {
                V::Function(_) => {
                    self.callbacks(args, &V::open(Origin::Unknown));
                    V::Nothing
                }
                V::Ref(_) => V::Nothing,
                other => self.special(Special::Eval, None, &Args::of(vec![other]), id),
            },
            Special::NodeBuffer => self.buffer(args),
            Special::NodeRequest => self.node_request(args, id),
            Special::NodePipe => {
                let to = args.at(0);
                let network = [this.cloned().unwrap_or(V::Nothing), to.clone()]
                    .iter()
                    .any(|v| v.source().origin == Origin::Network);
                let process = [this.cloned().unwrap_or(V::Nothing), to.clone()]
                    .iter()
                    .any(|v| v.source().origin == Origin::Command);
                if network && process {
                    self.act(What::StreamsToNetwork, Vec::new(), id);
                } else if network && to.source().origin == Origin::Network {
                    let from = this.cloned().unwrap_or(V::Nothing);
                    self.act(What::Send, vec![to.clone(), from], id);
                } else if network && let V::Object(file) = &to {
                    let (path, data) = (
                        file.args.first().cloned().unwrap_or(V::Nothing),
                        this.cloned().unwrap_or(V::Nothing),
                    );
                    self.give(&path, &data);
                }
                to
            }
            Special::NodeServer => {
                self.reach(Reach::NETWORK);
                let socket = V::object("socket", Vec::new());
                self.callbacks(args, &socket);
                V::object("server", Vec::new())
            }
            _ => V::Ref(Rc::from("require")),
        }
    }

    fn buffer(&mut self, args: &Args) -> V {
        let of = args.at(0);
        match (&of, args.at(1).as_text()) {
            (V::List(_), _) => self.fold(Fold::Bytes, None, args).unwrap_or(of),
            (_, Some(encoding)) => self.codec(&of, encoding).unwrap_or(of),
            _ => of,
        }
    }

    /// fetch(url, {method, body}), http.request(options, callback), `axios({url, data})`.
    fn node_request(&mut self, args: &Args, id: Id) -> V {
        self.reach(Reach::NETWORK);
        let url = match args.at(0) {
            V::Dict(_) => args
                .option("url")
                .or_else(|| args.option("hostname"))
                .or_else(|| args.option("host"))
                .unwrap_or_else(|| V::open(Origin::Unknown)),
            other => other,
        };
        let body = args
            .option("body")
            .or_else(|| args.option("data"))
            .or_else(|| args.option("json"))
            .or_else(|| {
                args.items.get(1).filter(|v| !matches!(v, V::Function(_) | V::Dict(_) | V::Nothing)).cloned()
            });
        let detail = url.shown();
        let sends = args
            .option("method")
            .is_some_and(|m| matches!(m.as_text(), Some("POST" | "PUT" | "PATCH" | "post" | "put")));
        match body {
            Some(body) => self.act(What::Send, vec![url.clone(), body], id),
            None if sends => self.act(What::Send, vec![url.clone()], id),
            None => self.act(What::Fetch, vec![url.clone()], id),
        }
        let given = V::from(Origin::Network, &detail);
        self.callbacks(args, &given);
        V::object("response", vec![given, url])
    }
}
