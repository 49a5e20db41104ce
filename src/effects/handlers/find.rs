//! find(1): starting points, narrowing tests, and the actions that delete, run and write.
//!
//! In: the argument vector. Out: effects on what the tests let through. Never: takes a test that may let
//! everything through for a narrowing one.

use std::rc::Rc;

use crate::act::{Class, ClassSet, Kind, TagSet, tag};
use crate::canonical::value::{Data, Field, HOLE};
use crate::effects::call::Call;
use crate::effects::core::By;
use crate::effects::walk::{Outcome, Walk};

/// What a find call says.
#[derive(Default)]
struct Search {
    starts: Vec<Field>,
    tests: Tests,
    depth_zero: bool,
    /// `-print0`
    nulls: bool,
    /// Each with the alternatives that lead to it: tests that follow it do not narrow it.
    actions: Vec<(Action, Vec<Branch>)>,
}

/// One alternative of the expression.
#[derive(Clone, Default)]
struct Branch {
    /// A name or path that found files have.
    name: Option<String>,
    /// Some names are left out.
    excepted: bool,
    /// Some test narrows what is found (age, size, owner, emptiness …).
    narrowed: bool,
    /// `-prune`: found, but neither entered nor printed.
    pruned: bool,
}

/// The alternatives (`-o`) of the expression, and the brackets that are open.
struct Tests {
    branches: Vec<Branch>,
    /// What held before each open bracket, and where its alternatives begin.
    open: Vec<(Branch, usize)>,
    /// Where the alternatives begin to which the next test applies.
    from: usize,
}

impl Default for Tests {
    fn default() -> Self {
        Self { branches: vec![Branch::default()], open: Vec::new(), from: 0 }
    }
}

impl Tests {
    fn narrow(&mut self, name: Option<&str>) {
        for branch in self.branches.iter_mut().skip(self.from) {
            branch.narrowed = true;
            if let Some(name) = name {
                branch.name = Some(name.to_owned());
            }
        }
    }

    fn prune(&mut self) {
        self.branches.iter_mut().skip(self.from).for_each(|b| b.pruned = true);
    }

    fn here(&self) -> Vec<Branch> {
        self.branches.iter().skip(self.from).cloned().collect()
    }

    fn except(&mut self) {
        self.branches.iter_mut().skip(self.from).for_each(|b| b.excepted = true);
    }

    /// `-o`
    fn or(&mut self) {
        let outer = self.open.last().map(|(b, _)| b.clone()).unwrap_or_default();
        self.from = self.branches.len();
        self.branches.push(outer);
    }

    /// `(`
    fn enter(&mut self) {
        let here = self.branches.last().cloned().unwrap_or_default();
        self.open.push((here, self.from));
        self.from = self.branches.len().saturating_sub(1);
    }

    /// `)`: the next test applies to all that stood in the bracket.
    fn leave(&mut self) {
        if let Some((_, from)) = self.open.pop() {
            self.from = from;
        }
    }
}

/// What is found below one starting point by one alternative.
struct Found {
    field: Field,
    narrowed: bool,
}

enum Action {
    Run(Vec<Field>),
    Delete(Field),
    Write(Field),
}

/// Names of files that hold keys, passwords or what a browser remembers (MITRE T1552.004, T1217).
const KEY_FILES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "authorized_keys",
    ".pem",
    ".ppk",
    ".kdbx",
    ".p12",
    ".pfx",
    ".keytab",
    ".gpg",
    ".netrc",
    ".pgpass",
    ".aws",
    ".gnupg",
    "credentials",
    "logins.json",
    "key4.db",
    "cookies.sqlite",
    "places.sqlite",
    "/Bookmarks",
    "Login Data",
    "/etc/shadow",
];

impl Search {
    /// Whether some alternative names files of that kind.
    fn looks_for_keys(&self) -> bool {
        let names = self.tests.branches.iter().chain(self.actions.iter().flat_map(|(_, b)| b));
        names.filter_map(|b| b.name.as_deref()).any(|n| KEY_FILES.iter().any(|k| n.contains(k)))
    }

    fn act(&mut self, action: Action) {
        let branches = self.tests.here();
        self.actions.push((action, branches));
    }
}

fn parse(words: &[Field]) -> Search {
    let mut search = Search::default();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.peek() {
        let text = word.text.as_str();
        if matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O") {
            rest.next();
        } else if text == "-D" {
            rest.next();
            rest.next();
        } else if text.starts_with('-') || matches!(text, "(" | "!" | ")" | ",") {
            break;
        } else if let Some(word) = rest.next() {
            search.starts.push(word.clone());
        }
    }
    let mut negated = false;
    while let Some(word) = rest.next() {
        let mut value = || rest.next().cloned().unwrap_or_default();
        match word.text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let mut argv = Vec::new();
                for part in rest.by_ref() {
                    if part.text == ";"
                        || (part.text == "+" && argv.last().is_some_and(|f: &Field| f.text == "{}"))
                    {
                        break;
                    }
                    argv.push(part.clone());
                }
                let tests = argv.first().is_some_and(|f| {
                    matches!(f.text.as_str(), "grep" | "egrep" | "fgrep" | "rg" | "test" | "[")
                });
                search.act(Action::Run(argv));
                if tests {
                    search.tests.narrow(None);
                }
            }
            "-print0" => search.nulls = true,
            "-delete" => search.act(Action::Delete(word.clone())),
            "-fprint" | "-fprint0" | "-fls" => search.act(Action::Write(value())),
            "-fprintf" => {
                search.act(Action::Write(value()));
                value();
            }
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                let pattern = value().text;
                let all = matches!(pattern.as_str(), "." | "./" | "*.*" | "./*" | "?*" | "*?")
                    || pattern.chars().all(|c| matches!(c, '*' | '/'));
                match (negated, all) {
                    (true, false) => search.tests.except(),
                    (false, false) => search.tests.narrow(Some(&pattern)),
                    (_, true) => {}
                }
            }
            "-regex" | "-iregex" | "-lname" | "-ilname" | "-size" | "-mtime" | "-atime" | "-ctime"
            | "-mmin" | "-amin" | "-cmin" | "-used" | "-user" | "-group" | "-uid" | "-gid" | "-perm"
            | "-links" | "-inum" | "-fstype" | "-newer" | "-anewer" | "-cnewer" | "-samefile"
            | "-newermt" | "-newerat" | "-newerct" | "-context" | "-xtype" => {
                value();
                search.tests.narrow(None);
            }
            "-empty" | "-nouser" | "-nogroup" => search.tests.narrow(None),
            "-prune" => search.tests.prune(),
            "-o" | "-or" | "," => search.tests.or(),
            "(" => search.tests.enter(),
            ")" => search.tests.leave(),
            "-maxdepth" => search.depth_zero |= value().text == "0",
            "-type" => {
                // links, pipes and sockets hold nothing; a directory's removal needs it empty
                if matches!(value().text.as_str(), "l" | "p" | "s") {
                    search.tests.narrow(None);
                }
            }
            "-mindepth" | "-printf" | "-regextype" | "-files0-from" => drop(value()),
            "!" | "-not" => {
                negated = true;
                continue;
            }
            _ => {}
        }
        negated = false;
    }
    search
}

impl Walk<'_, '_> {
    /// find: its actions on what each alternative finds.
    pub fn find(&mut self, call: &Call<'_>, program: &Rc<str>) -> Outcome {
        let mut search = parse(call.arguments());
        if search.starts.is_empty() {
            search.starts.push(Field::known(".", call.span));
        }
        let mut text = String::new();
        let mut tags = TagSet::EMPTY;
        for start in &search.starts {
            let target = self.path_target_for(start, Kind::List);
            tags = tags.union(start.tags);
            // `find . ! -name '*.c'` spares what it names; of a home or a system too little would be left
            let near = ClassSet::of(Class::Workspace).with(Class::Temporary).with(Class::Outside);
            let near = target.classes.has_any(near);
            let wide =
                ClassSet::of(Class::Root).with(Class::HomeRoot).with(Class::OtherHome).with(Class::Home);
            if search.looks_for_keys()
                && target.classes.has_any(wide)
                && !target.classes.has(Class::Workspace)
            {
                let tags = self.state.ambient.with(tag::SEARCHES_KEYS);
                self.core.emit(Kind::Discover, target.clone(), tags, By::new(program, start.span));
            }
            self.core.emit(
                Kind::List,
                target,
                self.state.ambient.with(tag::RECURSIVE),
                By::new(program, start.span),
            );
            for (action, branches) in &search.actions {
                for branch in branches {
                    let found = found_by(branch, start, near, search.depth_zero);
                    match action {
                        Action::Delete(word) => self.delete_found(&found, program, word.span),
                        Action::Run(argv) => self.run_found(argv, &found.field, call),
                        Action::Write(field) => {
                            self.write_path(
                                field,
                                Kind::Write,
                                &Data::unknown(tags),
                                By::new(program, call.span),
                            );
                        }
                    }
                }
            }
            for branch in search.tests.branches.iter().filter(|b| !b.pruned) {
                let found = found_by(branch, start, near, search.depth_zero);
                tags = tags.union(found.field.tags.intersection(TagSet::of(tag::GLOB)));
                text.push_str(&found.field.text);
                text.push(if search.nulls { '\0' } else { '\n' });
            }
        }
        Outcome::prints(Data { text: Some(text), ..Data::unknown(tags) })
    }

    fn delete_found(&mut self, found: &Found, program: &Rc<str>, span: crate::text::Span) {
        let field = &found.field;
        let target = self.path_target_for(field, Kind::Delete);
        let mut tags =
            self.state.ambient.union(field.tags).union(self.path_tags(&target, field, Kind::Delete));
        if !found.narrowed {
            tags = tags.with(tag::RECURSIVE).with(tag::GLOB_ALL);
        }
        tags = tags.union(self.work_tags(&target, Kind::Delete)).minus(TagSet::of(tag::UNKNOWN_TARGET));
        self.core.emit(Kind::Delete, target, tags, By::new(program, span));
    }

    /// `-exec COMMAND {} ;`
    fn run_found(&mut self, argv: &[Field], field: &Field, call: &Call<'_>) {
        let words: Vec<Field> = argv
            .iter()
            .map(|word| {
                if word.text == "{}" {
                    Field { span: word.span, ..field.clone() }
                } else {
                    Field { text: word.text.replace("{}", &field.text), ..word.clone() }
                }
            })
            .collect();
        let call = Call { argv: &words, stdin: call.stdin, environment: &[], span: call.span };
        self.in_child(|child| child.call(&call));
    }
}

/// A field that stands for what is found under one starting point.
fn found_by(branch: &Branch, start: &Field, near: bool, depth_zero: bool) -> Found {
    let narrowed = branch.narrowed || (branch.excepted && near);
    let base = start.text.trim_end_matches('/');
    let text = match &branch.name {
        _ if depth_zero => start.text.clone(),
        Some(name) if name.contains('/') => name.replace('*', &HOLE.to_string()),
        Some(name) => format!("{base}/{HOLE}/{name}"),
        None if narrowed => format!("{base}/{HOLE}"),
        None => start.text.clone(),
    };
    let mut tags = start.tags;
    if narrowed {
        tags = tags.with(tag::GLOB);
    } else if !depth_zero {
        tags = tags.with(tag::GLOB_ALL);
    }
    Found { field: Field { text, pattern: None, tags, span: start.span }, narrowed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    /// What the last action of a find in a project finds.
    fn finds(text: &str) -> Vec<String> {
        let words: Vec<Field> = text.split(' ').map(|w| Field::known(w, Span::default())).collect();
        let search = parse(&words);
        let start = Field::known(".", Span::default());
        let (_, branches) = search.actions.last().unwrap();
        branches
            .iter()
            .map(|b| found_by(b, &start, true, search.depth_zero).field.text.replace(HOLE, "_"))
            .collect()
    }

    #[test]
    fn tests_narrow_what_follows_them_only() {
        for (text, expected) in [
            (". -name *.o -delete", vec!["./_/*.o"]),
            (". -delete -name *.o", vec!["."]),
            (". -name a -o -true -delete", vec!["."]),
            (". ( -name a -o -name b ) -delete", vec!["./_/a", "./_/b"]),
            (". ( -type f -o -type l ) -mtime +5 -delete", vec!["./_", "./_"]),
            (". ! -name a -delete", vec!["./_"]),
            (". -exec grep -q x {} ; -delete", vec!["./_"]),
            (". -exec rm {} ; -delete", vec!["."]),
        ] {
            assert_eq!(finds(text), expected, "{text}");
        }
    }
}
