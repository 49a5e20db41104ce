//! Patterns of places, as policy files write them: `*` and `?` and `[…]` within a component, `**` across
//! components, `{a,b}` for choice.
//!
//! In: a pattern and a path, both without their leading slash. Out: whether they match.
//! Never: reads anything; takes longer than pattern × path.

use super::glob::{self, Extended, Glob};
use crate::policy::sought::is_flat;

/// Cheap test before a path is tried: the bytes up to the first special one of either.
pub(super) fn begins(pattern: &str, path: &str) -> bool {
    let special = |byte| matches!(byte, b'*' | b'?' | b'[' | b'{');
    for (want, have) in pattern.bytes().zip(path.bytes()) {
        if special(want) || special(have) {
            return true;
        }
        if want != have {
            return false;
        }
    }
    true
}

/// Characters that make a component more than a literal.
const SPECIAL: [char; 4] = ['*', '?', '[', '{'];

/// Whether a component is nothing but its text.
pub(super) fn is_literal(part: &str) -> bool {
    !part.bytes().any(|b| matches!(b, b'*' | b'?' | b'[' | b'{'))
}

/// Choices that one component may stand for; more are not looked at (the loader of policies counts them).
const CHOICE_LIMIT: usize = 64;

/// Whether a path matches. A pattern that ends in `/**` matches the folder itself too.
pub fn path(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut text) = (pattern, path);
    // where to go on if the attempt after the last `**` fails
    let mut again: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = strip_stars(pattern) {
            if rest.is_empty() {
                return true;
            }
            pattern = rest;
            again = Some((rest, text));
            continue;
        }
        if text.is_empty() && pattern.is_empty() {
            return true;
        }
        let (want, pattern_rest) = split(pattern);
        let (have, text_rest) = split(text);
        if !pattern.is_empty() && !text.is_empty() && component(want, have) {
            (pattern, text) = (pattern_rest, text_rest);
            continue;
        }
        match again {
            Some((rest, from)) if !from.is_empty() => {
                let (_, next) = split(from);
                again = Some((rest, next));
                (pattern, text) = (rest, next);
            }
            Some(_) | None => return false,
        }
    }
}

/// The pattern after a leading `**`, if there is one.
fn strip_stars(pattern: &str) -> Option<&str> {
    let rest = pattern.strip_prefix("**")?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

fn split(text: &str) -> (&str, &str) {
    text.split_once('/').unwrap_or((text, ""))
}

/// Whether one component of a path matches one of a pattern.
pub fn component(pattern: &str, name: &str) -> bool {
    if is_literal(pattern) {
        return pattern == name;
    }
    if pattern == "*" {
        return true;
    }
    match pattern.split_once('{') {
        None => without_braces(pattern, name),
        Some((before, inner)) => one_of(pattern, (before, inner), name),
    }
}

/// A component with braces. Where what stands before them and their arms are plain text, nothing is built.
fn one_of(pattern: &str, (before, inner): (&str, &str), name: &str) -> bool {
    let built = || choices(pattern).iter().any(|choice| without_braces(choice, name));
    let Some((arms, after)) = inner.split_once('}') else { return built() };
    if !is_literal(before) || !is_literal(arms) || after.contains('{') {
        return built();
    }
    let Some(rest) = name.strip_prefix(before) else { return false };
    arms.split(',')
        .filter_map(|arm| rest.strip_prefix(arm))
        .any(|rest| if is_literal(after) { rest == after } else { without_braces(after, rest) })
}

/// `*` and `?` alone, without a table; goes back to the last star only, so time is pattern × name.
fn wild(pattern: &str, name: &str) -> bool {
    let (mut want, mut have) = (pattern.chars(), name.chars());
    let mut again: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mark = (want.clone(), have.clone());
        match (want.next(), have.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                have = mark.1;
                again = Some((want.clone(), have.clone()));
                continue;
            }
            (Some('?'), Some(_)) => continue,
            (Some(a), Some(b)) if a == b => continue,
            (Some(_) | None, _) => {}
        }
        let Some((after_star, mut from)) = again.take() else { return false };
        if from.next().is_none() {
            return false;
        }
        want = after_star.clone();
        have = from.clone();
        again = Some((after_star, from));
    }
}

/// A component whose braces, if any are left, are plain text.
fn without_braces(pattern: &str, name: &str) -> bool {
    if let Some((head, tail)) = pattern.split_once('*')
        && !head.contains(SPECIAL)
        && !tail.contains(SPECIAL)
    {
        return name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail);
    }
    if !pattern.contains(['[', '\\', '{']) {
        return wild(pattern, name);
    }
    Glob::parse(pattern, Extended::No).matches(name).unwrap_or(true)
}

/// What the braces of a component choose from. Nested braces are not read; the text without braces.
fn choices(pattern: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut rest = pattern;
    while let Some((before, inner)) = rest.split_once('{') {
        let Some((arms, after)) = inner.split_once('}') else { break };
        let arms: Vec<&str> = arms.split(',').collect();
        out =
            out.iter().flat_map(|head| arms.iter().map(move |arm| format!("{head}{before}{arm}"))).collect();
        out.truncate(CHOICE_LIMIT);
        rest = after;
    }
    out.iter().map(|head| format!("{head}{rest}")).collect()
}

/// Whether the live glob `text` could stand for a name that the pattern's component means. Two globs are
/// compared as texts: what they have in common is seldom what is meant. A glob that begins with a special
/// character never stands for a name that begins with a dot.
fn component_overlaps(pattern: &str, text: &str) -> bool {
    if !text.contains(['*', '?', '[']) {
        return component(pattern, text);
    }
    choices(pattern).iter().any(|choice| {
        let choice = choice.trim_end_matches('*');
        if choice.contains(SPECIAL) {
            return without_braces(choice, text);
        }
        let hidden = choice.starts_with('.') && text.starts_with(['*', '?', '[']);
        !hidden && Glob::parse(text, Extended::No).matches(choice).unwrap_or(true)
    })
}

/// Whether a path with live globs could be one that the pattern matches. `**` in the pattern takes the rest.
pub(super) fn path_overlaps(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    for want in pattern.split('/') {
        if want == "**" {
            return true;
        }
        match parts.next() {
            Some(have) if component_overlaps(want, have) => {}
            Some(_) | None => return false,
        }
    }
    parts.next().is_none()
}

/// Whether a whole text (path, host, service …) matches a glob of a rule's `target`: `*` within a
/// component, `**` across, braces for choice; a `**` next to other characters makes the pattern one over
/// text, slashes included (`http://x**`, `**=yes`).
pub fn target(pattern: &str, text: &str) -> bool {
    if !may_match(pattern, text) {
        return false;
    }
    if is_flat(pattern) {
        return choices(pattern).iter().any(|choice| flat(choice, text));
    }
    match (pattern.strip_prefix('/'), text.strip_prefix('/')) {
        (Some(pattern), Some(text)) => path(pattern, text),
        (None, None) => path(pattern, text),
        // a pattern without a leading slash means any place only if it says so
        (None, Some(text)) => pattern.starts_with("**") && path(pattern, text),
        (Some(_), None) => false,
    }
}

/// A necessary condition, for the many patterns that are asked of each effect: the text begins and ends as
/// the pattern's literal ends say. Slashes at those ends are left out, since `a/**` means `a` too.
fn may_match(pattern: &str, text: &str) -> bool {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
    let Some(first) = pattern.find(special) else {
        return pattern.trim_end_matches('/') == text.trim_end_matches('/');
    };
    let head = pattern.get(..first).unwrap_or("").trim_end_matches('/');
    let tail = pattern.rsplit(|c: char| special(c) || c == '/').next().unwrap_or("");
    text.starts_with(head) && text.trim_end_matches('/').ends_with(tail)
}

/// Whether a text that is no path (`https://…`, `KEY=VALUE`) matches a pattern whose `*` and `**` stand for
/// anything. Goes back to the last star only, so time is pattern × text.
fn flat(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut again: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), text.get(t)) {
            (Some(b'*'), _) => {
                again = Some((p, t));
                p += 1;
            }
            (Some(want), Some(have)) if want == have => (p, t) = (p + 1, t + 1),
            _ => match again {
                Some((star, from)) => {
                    again = Some((star, from + 1));
                    (p, t) = (star + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or(&[]).iter().all(|c| *c == b'*')
}

/// Whether a path's component holds a glob that the shell has not expanded.
pub(super) fn is_live(path: &str) -> bool {
    path.contains(['*', '?', '[']) && glob::is_pattern(path, Extended::No)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::sought::{Marks, Sought};

    #[test]
    fn the_short_ways_answer_as_the_long_ones() {
        let names =
            ["", "a", "ab", "abc", "x.tar.gz", "é", "aXbXc", "id_rsa", "id_rsa.pub", "aab", "*", "a*b"];
        for pattern in ["*a*", "?b*", "a?c", "**", "*?", "?", "a*b*c", "*.*.*", "*b", "é?", "?*a"] {
            for name in names {
                let long = Glob::parse(pattern, Extended::No).matches(name).unwrap_or(true);
                assert_eq!(wild(pattern, name), long, "{pattern} {name}");
            }
        }
        for pattern in ["{a,ab}", "id_{rsa,dsa}*", "{a,aa}b", "x.{tar,zip}.*", "a{,b}", "{a,b}*c", "{a}{b}"] {
            for name in names {
                let long = choices(pattern).iter().any(|c| without_braces(c, name));
                assert_eq!(component(pattern, name), long, "{pattern} {name}");
            }
        }
    }

    #[test]
    fn paths_match_patterns() {
        let cases = [
            ("etc/shadow", "etc/shadow", true),
            ("etc/shadow", "etc/shadow/x", false),
            ("etc/**", "etc", true),
            ("etc/**", "etc/a/b", true),
            ("etc/**", "etcetera", false),
            ("**/.env", ".env", true),
            ("**/.env", "a/b/.env", true),
            ("**/.env", "a/.env/b", false),
            ("**/.git/hooks/**", "home/u/p/.git/hooks/pre-commit", true),
            ("**/a/**/b", "a/a/x/y/b", true),
            ("**/a/b", "a/a/b", true),
            (".ssh/id_*", ".ssh/id_rsa", true),
            (".ssh/id_*", ".ssh/x/id_rsa", false),
            ("dev/sd[a-z]*", "dev/sda1", true),
            ("dev/{sd,vd}?", "dev/vda", true),
            ("home/*/.bashrc", "home/u/.bashrc", true),
            ("*", "", false),
            ("", "", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(path(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn choices_told_apart_match_what_they_match_together() {
        let texts = [
            "",
            "/",
            "a",
            "/a",
            "/a/b",
            "/etc/shadow",
            "/etc/shadow-",
            "/etc/ssh/sshd_config",
            "x=y",
            "/h/u/.ssh",
            "/h/u/.ssh/id_rsa",
            "**",
            "/h/{a,b}",
            "fa()",
            "remove()",
            "os.remove()x",
            "/a/",
            "a//b",
            "/tmp/x.sh",
        ];
        let policy = crate::policy::Policy::embedded();
        let whens = policy.rules().iter().flat_map(|rule| rule.when);
        let shipped = whens.flat_map(|when| when.targets.iter().chain(when.not_targets)).map(|s| s.glob);
        let own = [
            "/{a,etc}/{b,sh*}",
            "/*/{ssh,shadow}*",
            "**/{.ssh,.aws}/**",
            "**remove({})**",
            "/{a,}",
            "{a,x}=*",
            "**{a,y}",
            "/tmp/{*.sh,[a-z]}",
            "/h/*/{.ssh,x}/id_{r?a,dsa}",
            "**{,y}",
            "/a/{,b}",
        ];
        for pattern in own.into_iter().chain(shipped) {
            let apart = Sought::choices(pattern);
            for text in texts {
                let fits = |s: &Sought| Marks::of(text).has_all(s.needs) && target(s.glob, text);
                assert_eq!(target(pattern, text), apart.iter().any(fits), "{pattern} {text}");
            }
        }
    }

    #[test]
    fn targets_that_are_no_paths_match_as_text() {
        let cases = [
            ("**http:/**", "/home/u/p/registry=http:/x.y/z", true),
            ("git+http://**", "git+http://x.y/a/b.git", true),
            ("git+http://**", "git+https://x.y/a/b.git", false),
            ("**scripts.{preinstall,install}=**", "/home/u/p/scripts.install=node x.js", true),
            ("**scripts.{preinstall,install}=**", "/home/u/p/scripts.build=vite", false),
            ("**/x", "/a/b/x", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(target(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn live_globs_overlap_with_what_they_could_mean() {
        let cases = [
            ("etc/shadow", "etc/sh?dow", true),
            ("etc/shadow", "etc/*release", false),
            ("etc/shadow", "etc/s*", true),
            (".ssh/id_*", ".s*/id_rsa", true),
            (".ssh/id_*", "*/id_rsa", false),
            (".ssh/id_*", ".ssh/*", true),
            (".ssh/**", ".s[s]h/a/b", true),
            ("{.aws,.azure}/x", ".a*/x", true),
        ];
        for (pattern, text, expected) in cases {
            assert_eq!(path_overlaps(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_end_soon() {
        let text = "a/".repeat(2000);
        assert!(!path(&format!("{}b", "**/a/".repeat(100)), &text));
    }
}
