//! Tilde prefixes: `~`, `~user`, `~+`, `~-` (POSIX XCU 2.6.1, bash manual).
//!
//! In: the prefix's name and the shell's variables. Out: the folder, and how sure that is.
//! Never: reads the environment itself: the variables may have been set in the judged text.

use crate::world::World;

/// What the shell's variables hold where the tilde stands; `None`: unset.
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables<'a> {
    pub home: Option<&'a str>,
    pub pwd: Option<&'a str>,
    pub oldpwd: Option<&'a str>,
    /// The calling user's name; empty where unknown.
    pub user: &'a str,
    /// The calling user's own home, whatever `HOME` says.
    pub own: &'a str,
}

/// What a tilde prefix stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tilde {
    Known(String),
    /// The user is not in the user table here; the folder that such a user has by custom. The shell
    /// would take the prefix literally if the user is not there at all.
    Presumed(String),
    /// No tilde prefix: stays as it is.
    Literal,
}

/// Expands a tilde prefix, given without the tilde.
pub fn expand(name: &str, variables: &Variables, world: &dyn World) -> Tilde {
    let known = |value: Option<&str>| value.map_or(Tilde::Literal, |v| Tilde::Known(v.to_owned()));
    match name {
        // bash asks the user table where HOME is unset
        "" => known(variables.home.or(Some(variables.own).filter(|own| !own.is_empty()))),
        "+" => known(variables.pwd),
        "-" => known(variables.oldpwd),
        "root" => Tilde::Known(world.home_of("root").unwrap_or_else(|| "/root".to_owned())),
        user if user == variables.user && !variables.own.is_empty() => Tilde::Known(variables.own.to_owned()),
        user if is_user_name(user) => {
            world.home_of(user).map_or_else(|| Tilde::Presumed(format!("/home/{user}")), Tilde::Known)
        }
        _ => Tilde::Literal,
    }
}

/// Names that user tables allow (`useradd(8)`); also keeps `~+1` and quoted oddities out.
fn is_user_name(name: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
    name.starts_with(first) && name.chars().all(rest)
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn tildes_expand_as_in_bash() {
        let tree = Tree::default().user("bob", "/srv/bob");
        let variables =
            Variables { home: Some("/h"), pwd: Some("/w"), oldpwd: None, user: "ann", own: "/home/ann" };
        let known = |text: &str| Tilde::Known(text.to_owned());
        let cases = [
            ("", known("/h")),
            ("+", known("/w")),
            ("-", Tilde::Literal),
            ("ann", known("/home/ann")),
            ("bob", known("/srv/bob")),
            ("root", known("/root")),
            ("eve", Tilde::Presumed("/home/eve".to_owned())),
            ("1", Tilde::Literal),
            ("+3", Tilde::Literal),
        ];
        for (name, expected) in cases {
            assert_eq!(expand(name, &variables, &tree), expected, "{name}");
        }
        let unset = Variables { home: None, ..variables };
        assert_eq!(expand("", &unset, &tree), known("/home/ann"));
    }
}
