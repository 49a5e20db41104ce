//! Single values of settings: what type, and what they must look like.
//!
//! In: TOML values. Out: numbers and strings, or what a value needs to be.
//! Never: knows layers. `build.rs` includes this file too.

use toml::de::DeValue;

use crate::policy::shapes::Thousandths;
use crate::policy::tables::SemanticClass;
use crate::policy::temper::Level;
use crate::verdict::Permille;

pub fn permille(value: &DeValue<'_>) -> Option<Permille> {
    let float = value.as_float().map(toml::de::DeFloat::as_str);
    let text = float.or_else(|| value.as_integer().map(toml::de::DeInteger::as_str))?;
    Thousandths::parse(text).map(|read| Permille::new(read.0))
}

pub fn list<'v>(key: &str, value: &'v DeValue<'_>) -> Result<Vec<&'v str>, &'static str> {
    let items = value.as_array().ok_or("an array of strings")?;
    let texts = items.iter().map(|item| {
        let text = item.as_ref().as_str().ok_or("an array of strings")?;
        check_item(key, text).map(|()| text)
    });
    texts.collect()
}

fn check_item(key: &str, text: &str) -> Result<(), &'static str> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("strings that aren't empty and hold no control characters");
    }
    if key == "adjudicator.models" {
        return Ok(());
    }
    if key == "adjudicator.endpoints" {
        let is_url = ["http://", "https://"]
            .iter()
            .any(|scheme| text.strip_prefix(scheme).is_some_and(|r| !r.is_empty()));
        return if is_url { Ok(()) } else { Err("URLs that start with `http://` or `https://`") };
    }
    match key {
        "confine.agents" => return raised(text).map(drop).ok_or("`client=level`"),
        "confine.classes" => {
            let known = |(class, _): &(&str, Level)| SemanticClass::ALL.iter().any(|c| c.name() == *class);
            return raised(text)
                .filter(known)
                .map(drop)
                .ok_or("`class=level` with a class of `[[semantic]]`");
        }
        "confine.closed" if text.contains(['/', ' ']) => return Err("names of programs, without folder"),
        "confine.closed" => return Ok(()),
        _ => {}
    }
    let is_absolute = text.starts_with('/');
    let names_files = key.starts_with("shells.") || key.starts_with("adjudicator.") || key == "audit.sockets";
    if names_files && !is_absolute {
        return Err("absolute paths");
    }
    let is_home = text == "~" || text.starts_with("~/");
    let is_workspace = text == "." || text.starts_with("./");
    if is_absolute || is_home || is_workspace {
        Ok(())
    } else {
        Err("paths that start with `/`, `~/` or `./`")
    }
}

/// An entry of `confine.agents` and `confine.classes`: a name and the level that holds for it at least.
pub fn raised(entry: &str) -> Option<(&str, Level)> {
    let (name, level) = entry.split_once('=')?;
    let level = Level::ALL.iter().find(|known| known.name() == level)?;
    (!name.is_empty()).then_some((name, *level))
}

/// Names of syslog facilities (RFC 5424, section 6.2.1).
pub const FACILITIES: [&str; 20] = [
    "kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp",
    "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
];

pub fn check_text(key: &str, text: &str) -> Result<(), &'static str> {
    if text.chars().any(char::is_control) {
        return Err("a string without control characters");
    }
    match key {
        "audit.facility" if !FACILITIES.contains(&text) => Err("the name of a syslog facility"),
        "audit.file" | "adjudicator.ca-file" if !(text.is_empty() || text.starts_with('/')) => {
            Err("an absolute path")
        }
        "shells.default" if !["bash", "sh", "dash", "zsh"].contains(&text) => Err("bash, sh, dash or zsh"),
        _ => Ok(()),
    }
}
