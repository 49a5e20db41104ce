//! Acts of the tables: which arguments they take, what the call gives.
//!
//! In: an act's shape and a call's arguments. Out: acts; the call's value.
//! Never: chooses the act.

use super::call::Args;
use super::machine::Machine;
use super::value::V;
use crate::code::found::{Origin, Reach, Source, What};
use crate::code::meaning::{Gives, Slot};
use crate::code::tree::Id;

impl Machine<'_, '_> {
    pub(crate) fn act_of(
        &mut self,
        (what, slots, gives): (What, &[Slot], Gives),
        this: Option<&V>,
        args: &Args,
        id: Id,
    ) -> V {
        self.reach(reach_of(what));
        let mut values: Vec<V> = Vec::new();
        for slot in slots {
            match slot {
                Slot::At(n, name) => values.extend(args.slot(usize::from(*n), name)),
                Slot::Rest(n) => values.extend(args.items.iter().skip(usize::from(*n)).flat_map(opened)),
                Slot::This(n) => values.push(made_with(this, usize::from(*n))),
                Slot::Each => {
                    for value in args.items.iter().flat_map(opened) {
                        let value = plain(value);
                        self.act(what, vec![value], id);
                    }
                    self.callbacks(args, &V::open(Origin::Unknown));
                    return V::Nothing;
                }
            }
        }
        let values: Vec<V> = values.into_iter().map(plain).collect();
        let first = values.first().cloned().unwrap_or(V::Nothing);
        self.act(what, values.clone(), id);
        let given = match gives {
            Gives::Nothing => V::open(Origin::Computed),
            Gives::From(origin) => V::from(origin, &first.shown()),
            Gives::Object(class) => V::object(class, values),
            Gives::Same => this.cloned().unwrap_or(first),
        };
        self.callbacks(args, &given);
        given
    }
}

/// What a name that nothing binds can say as an argument: where it comes from is not known.
fn plain(value: V) -> V {
    match value {
        V::Ref(_) | V::Function(_) | V::Bound(_) => {
            V::Open(value.source().worse(Source::of(Origin::Unknown)))
        }
        other => other,
    }
}

pub(crate) fn opened(value: &V) -> Vec<V> {
    match value {
        V::List(seq) => seq
            .items
            .iter()
            .flat_map(|v| if let V::List(s) = v { s.items.clone() } else { vec![v.clone()] })
            .collect(),
        V::Dict(_) | V::Function(_) => Vec::new(),
        other => vec![other.clone()],
    }
}

/// What a method's object was made with.
pub(crate) fn made_with(this: Option<&V>, at: usize) -> V {
    match this {
        Some(V::Object(object)) => object.args.get(at).cloned().unwrap_or(V::Nothing),
        Some(V::Ref(_)) | None => V::open(Origin::Unknown),
        Some(other) if at == 0 => other.clone(),
        Some(_) => V::Nothing,
    }
}

fn reach_of(what: What) -> Reach {
    match what {
        What::Shell
        | What::Exec
        | What::Interactive
        | What::Kill
        | What::Trace
        | What::Power
        | What::Setuid
        | What::Exhaust
        | What::Install => Reach::PROCESSES,
        What::Connect
        | What::Listen
        | What::Fetch
        | What::Send
        | What::Download
        | What::StreamsToNetwork
        | What::Serve => Reach::NETWORK,
        What::Eval | What::Load => Reach::CODE,
        What::LoadNative => Reach::NATIVE,
        What::Delete
        | What::DeleteTree
        | What::Write
        | What::Append
        | What::Read
        | What::List
        | What::Create
        | What::Move
        | What::Copy
        | What::Link
        | What::Chmod
        | What::Chown
        | What::Chdir
        | What::DropData => Reach::FILES,
        What::Environment | What::Print | What::SetVariable | What::Discover | What::Capture => {
            Reach::default()
        }
    }
}
