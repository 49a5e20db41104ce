//! Names: what a name, a member or an import stands for.
//!
//! In: names as written. Out: values; the names of builtins and modules' members in full.
//! Never: acts, except by a doubt where a name is chosen at run time.

use std::rc::Rc;

use super::machine::Machine;
use super::value::V;
use crate::code::found::{Grade, Origin, Reach};
use crate::code::meaning::Means;
use crate::code::tree::Id;
use crate::policy::tables::Lang;

/// Longest name that is followed.
const NAME_LIMIT: usize = 200;

impl Machine<'_, '_> {
    /// What the language's tables say about a name.
    pub(crate) fn means(&self, name: &str) -> Option<Means> {
        let first = name.as_bytes().first().and_then(|b| self.language.lengths.get(usize::from(*b)));
        if first.copied().unwrap_or(0) & (1 << (name.len() % 64)) == 0 {
            return None;
        }
        self.language.words.iter().find_map(|table| {
            table.binary_search_by(|(n, _)| (*n).cmp(name)).ok().and_then(|i| table.get(i)).map(|(_, m)| *m)
        })
    }

    pub(crate) fn name(&mut self, name: &str) -> V {
        let plain = Self::plain_name(name);
        if let Some(value) = self.state.vars.get(&*plain) {
            return value.clone();
        }
        if matches!(name, "None" | "null" | "nil" | "undefined" | "undef" | "NULL") {
            return V::Nothing;
        }
        self.reference(&plain)
    }

    /// A name that no variable has.
    pub(crate) fn reference(&mut self, name: &str) -> V {
        if name.len() > NAME_LIMIT {
            return V::open(Origin::Unknown);
        }
        match self.means(name) {
            Some(Means::Is(other)) => match self.means(other) {
                Some(Means::From(origin @ (Origin::Environment | Origin::Argument | Origin::Stdin))) => {
                    V::open(origin)
                }
                _ => V::Ref(Rc::from(other)),
            },
            // a value itself, or a function that gives one: both are what they give
            Some(Means::From(origin @ (Origin::Environment | Origin::Argument | Origin::Stdin))) => {
                V::open(origin)
            }
            Some(Means::From(origin)) if name.starts_with('$') => V::open(origin),
            Some(Means::Constant(text)) => V::text(text),
            _ => self.starred(name),
        }
    }

    /// A name that `from m import *` may have brought.
    fn starred(&mut self, name: &str) -> V {
        if self.means(name).is_none()
            && let Some(V::List(modules)) = self.state.vars.get("*")
        {
            let full = modules
                .items
                .iter()
                .filter_map(V::as_text)
                .map(|m| format!("{m}.{name}"))
                .find(|full| self.means(full).is_some());
            if let Some(full) = full {
                return self.reference(&full);
            }
        }
        V::Ref(Rc::from(name))
    }

    pub(crate) fn import(&mut self, module: &str, member: &str, alias: &str) -> V {
        let module = module.strip_prefix("node:").unwrap_or(module);
        self.module_reach(module);
        if member == "*" {
            let mut modules = match self.state.vars.get("*") {
                Some(V::List(seq)) => seq.items.clone(),
                _ => Vec::new(),
            };
            modules.push(V::text(module));
            self.state.vars.insert(Rc::from("*"), V::list(modules));
            return V::Nothing;
        }
        let root = module.split('.').next().unwrap_or("");
        let full = match member {
            "" if alias == root => root.to_owned(),
            "" => module.to_owned(),
            _ => format!("{module}.{member}"),
        };
        let value = self.reference(&full);
        // an import of the same name says no more than the name
        if matches!(&value, V::Ref(r) if **r == *alias) {
            self.state.vars.remove(alias);
        } else {
            self.state.vars.insert(Rc::from(alias), value);
        }
        V::Nothing
    }

    pub(crate) fn module_reach(&mut self, module: &str) {
        let root = module.split(['.', ':', '/']).next().unwrap_or("");
        let reach = self.language.modules.iter().find(|(m, _)| *m == root || *m == module).map(|(_, r)| *r);
        if let Some(reach) = reach {
            self.reach(reach);
        }
    }

    pub(crate) fn member(&mut self, of: V, name: &str, id: Id) -> V {
        match &of {
            V::Ref(object) => self.member_of_name(object, name, id),
            V::Any(seq) => V::any(seq.items.iter().map(|o| self.member(o.clone(), name, id)).collect()),
            V::Dict(seq) => {
                super::operator::lookup(&seq.items, &V::text(name)).unwrap_or_else(|| V::bound(of, name))
            }
            V::Open(source) if source.origin == Origin::Environment && self.language.lang == Lang::Node => {
                V::from(Origin::Variable, name)
            }
            V::Object(object) if object.class == "temporary" && matches!(name, "name" | "path") => of,
            V::Object(object) if object.class == "path" => self.path_member(&of, name),
            V::Open(_)
            | V::Nothing
            | V::Text(..)
            | V::Bytes(..)
            | V::Number(_)
            | V::List(_)
            | V::Mixed(..)
            | V::Bound(_)
            | V::Function(_)
            | V::Object(_) => self.telltale(of, name, id),
        }
    }

    /// Ways to get at everything through any object.
    fn telltale(&mut self, of: V, name: &str, id: Id) -> V {
        match (name, self.language.lang) {
            ("__globals__" | "__builtins__", Lang::Python) => V::Ref(Rc::from("__globals__")),
            ("__subclasses__", Lang::Python) => {
                let span = self.span(id);
                self.doubt(Grade::Hidden, "walks over all classes to reach what it does not name", span);
                V::open(Origin::Unknown)
            }
            ("constructor", Lang::Node)
                if matches!(&of, V::Bound(b) if &*b.1 == "constructor") || matches!(of, V::Function(_)) =>
            {
                V::Ref(Rc::from("Function"))
            }
            _ => V::bound(of, name),
        }
    }

    fn member_of_name(&mut self, object: &str, name: &str, id: Id) -> V {
        let lang = self.language.lang;
        match (object, name, lang) {
            (_, "__dict__", Lang::Python) => return V::Ref(Rc::from(object)),
            ("builtins" | "__builtins__" | "builtins.__dict__", _, Lang::Python)
            | ("globalThis" | "global" | "window", _, Lang::Node)
            | ("Kernel" | "Object", _, Lang::Ruby)
            | ("_G" | "_ENV", _, Lang::Lua) => return self.name(name),
            (_, "__globals__", Lang::Python) => return V::Ref(Rc::from("__globals__")),
            ("module" | "process.mainModule" | "require.main", "constructor", Lang::Node) => {
                return V::Ref(Rc::from("Module"));
            }
            (_, "constructor", Lang::Node) => return V::bound(V::Ref(Rc::from(object)), name),
            (_, "__subclasses__", Lang::Python) => return self.telltale(V::Nothing, name, id),
            ("globals()", _, Lang::Python) => return self.name(name),
            _ => {}
        }
        if object.len().saturating_add(name.len()) > NAME_LIMIT {
            return V::open(Origin::Unknown);
        }
        let full = if lang == Lang::R { name.to_owned() } else { format!("{object}.{name}") };
        if let Some(value) = self.state.vars.get(full.as_str()) {
            return value.clone();
        }
        self.reference(&full)
    }

    /// A name is chosen at run time: how bad that is depends on whose member it is.
    pub(crate) fn chosen(&mut self, object: &str, name: &V, id: Id) {
        let root = object.split('.').next().unwrap_or("");
        let is_module = self
            .language
            .modules
            .iter()
            .any(|(m, r)| *m == root && r.has(Reach::PROCESSES.with(Reach::CODE).with(Reach::NATIVE)));
        if is_module
            || matches!(
                object,
                "globals()" | "builtins" | "__builtins__" | "sys.modules" | "globalThis" | "global" | "_G"
            )
        {
            let span = self.span(id);
            let grade = if name.source().origin > Origin::Unknown
                || name.level() > crate::code::found::Built::Plain
            {
                Grade::Hidden
            } else {
                Grade::Chosen
            };
            self.doubt(grade, "a member is chosen at run time", span);
        }
    }

    fn path_member(&mut self, of: &V, name: &str) -> V {
        let text = match of {
            V::Object(o) => o.args.first().cloned().unwrap_or(V::Nothing),
            _ => V::Nothing,
        };
        match (name, text.as_text()) {
            ("parent", Some(path)) => {
                let cut = path
                    .trim_end_matches('/')
                    .rsplit_once('/')
                    .map_or(".", |(head, _)| if head.is_empty() { "/" } else { head });
                V::object("path", vec![V::text(cut)])
            }
            ("name", Some(path)) => V::text(path.rsplit('/').next().unwrap_or("")),
            ("parent", None) => {
                let joined = self.concat(&[text, V::text("/..")]);
                V::object("path", vec![joined])
            }
            _ => V::bound(of.clone(), name),
        }
    }
}
