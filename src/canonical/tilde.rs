//! Tilde expansion (POSIX XCU 2.6.1).
//!
//! In: the text after `~`. Out: a folder. Never: looks into the user table (places do, for classes).

use crate::canonical::state::State;
use crate::canonical::value::HOLE;

/// The folder that `~user` stands for; `HOME` as the script has set it for a bare `~`.
pub fn home(state: &State, user: &str) -> String {
    match user {
        "" => state.scalar("HOME").map_or_else(|| state.home.clone(), |v| v.text),
        // the stack's top, where the shell is
        "+" => state.cwd.clone(),
        // its bottom (`~-0`) is the top where nothing was pushed
        zero if is_number(zero)
            && zero.trim_matches(['+', '-', '0']).is_empty()
            && !(zero.starts_with('-') && state.mentions("OLDPWD")) =>
        {
            state.cwd.clone()
        }
        // further down it, if `pushd` or `cd` has been there
        number if is_number(number) && state.mentions("OLDPWD") => HOLE.to_string(),
        number if is_number(number) => format!("~{number}"),
        "-" => state.scalar("OLDPWD").map_or_else(|| "~-".to_owned(), |v| v.text),
        "root" => "/root".to_owned(),
        name => format!("/home/{name}"),
    }
}

fn is_number(user: &str) -> bool {
    let digits = user.strip_prefix(['+', '-']).unwrap_or(user);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}
