//! Tilde expansion (POSIX XCU 2.6.1).
//!
//! In: the text after `~`. Out: a folder. Never: looks into the user table (places do, for classes).

use crate::canonical::state::State;

/// The folder that `~user` stands for; `HOME` as the script has set it for a bare `~`.
pub fn home(state: &State, user: &str) -> String {
    match user {
        "" => state.scalar("HOME").map_or_else(|| state.home.clone(), |v| v.text),
        "+" => state.cwd.clone(),
        "-" => state.scalar("OLDPWD").map_or_else(|| "~-".to_owned(), |v| v.text),
        "root" => "/root".to_owned(),
        name => format!("/home/{name}"),
    }
}
