//! Where on its path a text was changed first, and how; with `All`, at which hops it would be changed besides.
//!
//! In: a [`Path`] and a text (followed in-process), or what was observed at each hop. Out: [`Location`]s.
//! Never: calls a hop of which nothing is known the same.

use crate::fidelity::hop::{Path, Received};
use crate::fidelity::mechanism::{Divergence, Mechanism, diagnose};
use crate::fidelity::step::StepError;

/// One hop's share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// From 1.
    pub hop: usize,
    pub name: String,
    pub finding: Finding,
}

/// What a hop did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    Same,
    Changed(Divergence),
    /// nothing starts behind it, and why
    Stopped(Mechanism, String),
    Unobserved,
}

/// How far is looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// to the first divergence: `FD = min{i : r_i != a}`
    First,
    /// the intended text is sent into each hop, since an earlier change hides later ones
    All,
}

/// Follows a text along a path.
pub fn follow(path: &Path, text: &[u8], extent: Extent) -> Vec<Location> {
    let mut out = Vec::with_capacity(path.hops.len());
    for (at, hop) in path.hops.iter().enumerate() {
        // up to the first divergence every hop gets the text itself
        let finding = of(text, &hop.deliver(text));
        let changed = finding != Finding::Same;
        out.push(Location { hop: at + 1, name: hop.name.clone(), finding });
        if changed && extent == Extent::First {
            break;
        }
    }
    out
}

/// Finds the first divergence among observations, `None` where a hop left none. Names are the hops'.
pub fn observed(text: &[u8], seen: &[(String, Option<Vec<u8>>)]) -> Vec<Location> {
    let mut out = Vec::with_capacity(seen.len());
    for (at, (name, received)) in seen.iter().enumerate() {
        let finding = match received {
            None => Finding::Unobserved,
            Some(received) if received == text => Finding::Same,
            Some(received) => Finding::Changed(diagnose(text, received)),
        };
        out.push(Location { hop: at + 1, name: name.clone(), finding });
    }
    out
}

/// The first hop that did not hand the text on as it was.
pub fn first(locations: &[Location]) -> Option<&Location> {
    locations.iter().find(|location| location.finding != Finding::Same)
}

fn of(text: &[u8], received: &Received) -> Finding {
    match received {
        Received::Text(received) if received == text => Finding::Same,
        Received::Text(received) => Finding::Changed(diagnose(text, received)),
        Received::Expanded(received) => {
            let found = diagnose(text, received);
            // the receiver's expansion took part: that is the mechanism, whatever it looks like
            let detail = "the receiver expands it";
            Finding::Changed(Divergence { mechanism: Mechanism::ReExpansion, detail, ..found })
        }
        Received::Refused(error) => {
            let mechanism = match error {
                StepError::TooLong { .. } => Mechanism::SizeRefusal,
                StepError::Outside(_)
                | StepError::Malformed(_)
                | StepError::Unknown(_)
                | StepError::Argument(_) => Mechanism::Rejection,
            };
            Finding::Stopped(mechanism, error.to_string())
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::wildcard_enum_match_arm,
    clippy::too_many_lines,
    clippy::needless_for_each,
    clippy::large_stack_arrays,
    clippy::items_after_statements,
    clippy::format_collect
)]
mod tests {
    use super::*;

    fn path(hops: &[&str]) -> Path {
        let hops: String = hops
            .iter()
            .enumerate()
            .map(|(at, steps)| {
                format!("[[hop]]\nname = 'h{at}'\nvia = 'file'\nsend = ['{{text}}']\nreceive = {steps}\n")
            })
            .collect();
        Path::parse(&format!("name = 't'\n{hops}")).unwrap()
    }

    #[test]
    fn the_first_divergence_is_found_and_all_finds_the_hidden_ones() {
        let path = path(&["[]", "['halve-backslashes']", "[]", "['trim-newline']", "['at-most:3']"]);
        let text = b"grep '\\\\a'\n";
        let found = follow(&path, text, Extent::First);
        assert_eq!(found.len(), 2);
        let Finding::Changed(divergence) = &first(&found).unwrap().finding else { panic!("{found:?}") };
        assert_eq!((first(&found).unwrap().hop, divergence.detail), (2, "halve-backslashes"));
        let all = follow(&path, text, Extent::All);
        let changed: Vec<usize> = all.iter().filter(|l| l.finding != Finding::Same).map(|l| l.hop).collect();
        assert_eq!(changed, [2, 4, 5]);
        assert!(matches!(&all[4].finding, Finding::Stopped(Mechanism::SizeRefusal, _)));
    }

    #[test]
    fn a_hop_without_a_record_is_unobserved() {
        let seen = [
            ("a".to_owned(), Some(b"x".to_vec())),
            ("b".to_owned(), None),
            ("c".to_owned(), Some(b"y".to_vec())),
        ];
        let found = observed(b"x", &seen);
        assert_eq!(first(&found).unwrap().finding, Finding::Unobserved);
        assert!(matches!(found[2].finding, Finding::Changed(_)));
    }
}
