//! From a decision to what the command needs of the kernel.
//!
//! In: a decision, how the real shell is started, the environment. Out: [`Need`].
//! Never: grants a write that the decision did not see; takes a command for known of which a part is not.

use std::collections::HashMap;

use crate::act::{Class, Kind, tag};
use crate::confine::{Bounds, Grant, Need, Network, Signals};
use crate::decision::{Coverage, Decision};
use crate::effects::model::{Effect, Extent, TEMPORARY};
use crate::invocation::Invocation;
use crate::invocation::shell::Flavor;
use crate::invocation::startup::Origin;
use crate::resolution::Course;
use crate::verdict::Verdict;

/// What the real shell does of its own accord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    /// Nothing that the walk does not see.
    Plain,
    /// Runs start-up files of the machine's or the user's first. They are not judged; what the command may
    /// not do they may not do either, but for temporary files.
    StartUp,
    /// A shell that makes files of its own where it likes.
    Own,
}

impl Shell {
    pub(crate) fn of(invocation: &Invocation) -> Self {
        let files = invocation.startup.iter().any(|file| match file.origin {
            Origin::Machine | Origin::User => true,
            Origin::Variable(_) | Origin::Argument => false,
        });
        match invocation.shell.flavor {
            Flavor::Bash | Flavor::Dash if files => Self::StartUp,
            Flavor::Bash | Flavor::Dash => Self::Plain,
            Flavor::Busybox | Flavor::Zsh | Flavor::Other => Self::Own,
        }
    }
}

/// What an allowed command needs. From anything else nothing follows.
pub(crate) fn need<'d, S: std::hash::BuildHasher>(
    (decision, course): (&'d Decision, Course),
    shell: Shell,
    environment: &HashMap<String, String, S>,
) -> Need<'d> {
    match course {
        Course::Resolved(Verdict::Allow) | Course::Approved => {}
        // what runs though nobody allowed it gets no more than anything does
        Course::Resolved(Verdict::Warn | Verdict::Deny) | Course::Unsettled => return Need::default(),
    }
    derived(decision, shell, environment)
        .unwrap_or_else(|| Need { grants: standard(decision), bounds: Bounds::Policy })
}

/// What follows from the effects, if all are known and Landlock can tell them apart.
fn derived<'d, S: std::hash::BuildHasher>(
    decision: &'d Decision,
    shell: Shell,
    environment: &HashMap<String, String, S>,
) -> Option<Need<'d>> {
    let known = decision.coverage == Coverage::Full
        && decision.unknowns.is_empty()
        && decision.calls.extent == Extent::Closed
        && shell != Shell::Own;
    if !known {
        return None;
    }
    let mut found = Found { grants: Vec::new(), network: Network::None, signals: Signals::Own };
    for effect in &decision.effects {
        found.take(effect)?;
    }
    let writes = found.grants.iter().any(|grant| !matches!(grant, Grant::Read(_)));
    for need in &decision.calls.needs {
        found.grant(if *need == TEMPORARY { Grant::Temporary } else { Grant::Place(need) })?;
    }
    if writes || shell == Shell::StartUp {
        found.grant(Grant::Temporary)?;
    }
    let by_proxy = environment.iter().any(|(name, value)| {
        name.len() > 6 && name.to_ascii_lowercase().ends_with("_proxy") && !value.is_empty()
    });
    let network = if by_proxy && found.network != Network::None { Network::Any } else { found.network };
    Some(Need { grants: found.grants, bounds: Bounds::Effects { network, signals: found.signals } })
}

#[derive(Debug)]
struct Found<'d> {
    grants: Vec<Grant<'d>>,
    network: Network,
    signals: Signals,
}

impl<'d> Found<'d> {
    /// `None`: more than is counted.
    fn grant(&mut self, grant: Grant<'d>) -> Option<()> {
        if self.grants.contains(&grant) {
            return Some(());
        }
        // a file that can't be read for want of a rule is one that is hidden anyway
        if self.grants.len() >= GRANTS {
            return matches!(grant, Grant::Read(_)).then_some(());
        }
        self.grants.push(grant);
        Some(())
    }

    /// `None`: an effect from which no ruleset follows.
    fn take(&mut self, effect: &'d Effect) -> Option<()> {
        let path = &*effect.target.resolved;
        match effect.kind {
            // modes and owners are none of Landlock's business
            Kind::List | Kind::Discover | Kind::Disclose | Kind::Chmod | Kind::Chown => Some(()),
            Kind::Read => {
                if is_placed(effect) {
                    self.grant(Grant::Read(path))
                } else {
                    Some(())
                }
            }
            Kind::Write | Kind::Append | Kind::Create | Kind::Delete | Kind::Move | Kind::Link => {
                if effect.target.classes.has(Class::Null) {
                    return Some(());
                }
                self.grant(is_placed(effect).then(|| written(effect, path))?)
            }
            Kind::Signal => {
                self.signals = Signals::Any;
                Some(())
            }
            Kind::Fetch | Kind::Send | Kind::Connect => {
                self.reach(ports(path, &effect.program));
                Some(())
            }
            Kind::Listen => {
                self.network = Network::Any;
                Some(())
            }
            Kind::LinkTo if effect.tags.has(tag::SYMBOLIC) => Some(()),
            Kind::LinkTo => self.grant(is_placed(effect).then_some(Grant::Linked(path))?),
            Kind::Execute
            | Kind::Code
            | Kind::Shell
            | Kind::Mount
            | Kind::Format
            | Kind::Service
            | Kind::Power
            | Kind::Kernel
            | Kind::Account
            | Kind::Privilege
            | Kind::Install
            | Kind::Uninstall
            | Kind::Guard
            | Kind::Discard
            | Kind::Overwrite
            | Kind::Remote
            | Kind::Publish
            | Kind::Schedule
            | Kind::Inject
            | Kind::Exhaust
            | Kind::Evade
            | Kind::Container
            | Kind::Trace
            | Kind::Capture
            | Kind::Unknown => None,
        }
    }

    fn reach(&mut self, ports: Option<Vec<u16>>) {
        let Some(more) = ports else {
            self.network = Network::Any;
            return;
        };
        match &mut self.network {
            Network::Any => {}
            Network::None => self.network = Network::Ports(more),
            Network::Ports(known) => {
                let new = more.into_iter().filter(|port| !known.contains(port)).collect::<Vec<_>>();
                known.extend(new);
            }
        }
    }
}

/// How a program changes its target: in its place, or by way of the folder around it.
fn written<'d>(effect: &Effect, path: &'d str) -> Grant<'d> {
    let recursive = effect.tags.has(tag::RECURSIVE);
    match (effect.kind, &*effect.program) {
        (Kind::Delete, "rm" | "rmdir" | "unlink" | "find") => Grant::Remove(path),
        (Kind::Delete | Kind::Move, _) => Grant::Replace(path),
        (
            Kind::Write | Kind::Append | Kind::Create,
            ">" | "shell" | "tee" | "dd" | "touch" | "truncate" | "mkdir",
        ) => Grant::Write(path),
        (Kind::Write, "cp") if !recursive => Grant::Write(path),
        _ => Grant::Put(path),
    }
}

/// The ports of a URL or `host:port`; with those that a redirection between http and https leads to, and
/// the name service's, which long answers come from. `None` where they can't be told.
fn ports(target: &str, program: &str) -> Option<Vec<u16>> {
    let (scheme, rest) = target.split_once("://").unwrap_or(("", target));
    let web = match scheme {
        "http" | "https" => true,
        "" => matches!(program, "curl" | "wget"),
        _ => return None,
    };
    let authority =
        rest.split(['/', '?', '#']).next().filter(|part| !part.is_empty() && !part.contains('…'))?;
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let port = match host.rsplit_once(':') {
        Some((_, port)) if !port.ends_with(']') => Some(port.parse::<u16>().ok()?),
        Some(_) | None => None,
    };
    let mut ports = vec![53];
    if web {
        ports.extend([80, 443]);
    }
    match port {
        Some(port) if !ports.contains(&port) => ports.push(port),
        None if !web => return None,
        Some(_) | None => {}
    }
    Some(ports)
}

/// Whether it is known where the target is.
fn is_placed(effect: &Effect) -> bool {
    let path = &effect.target.resolved;
    path.starts_with('/') && !path.contains('…')
}

/// What the allowed effects need beyond the confinement's level. An effect with an unknown place grants
/// nothing: the kernel then holds the standard level.
fn standard(decision: &Decision) -> Vec<Grant<'_>> {
    let mut grants = Vec::new();
    for effect in &decision.effects {
        let grant = grant_for(effect, &effect.target.resolved, is_placed(effect)).or_else(|| below(effect));
        if let Some(grant) = grant
            && !grants.contains(&grant)
            && grants.len() < GRANTS
        {
            grants.push(grant);
        }
    }
    grants.extend(decision.calls.wants.iter().take(GRANTS).map(|want| Grant::Cache(want)));
    grants
}

/// What one allowed effect needs.
fn grant_for<'d>(effect: &'d Effect, path: &'d str, placed: bool) -> Option<Grant<'d>> {
    match effect.kind {
        Kind::Install | Kind::Uninstall | Kind::Service | Kind::Account | Kind::Mount | Kind::Format => {
            Some(Grant::System)
        }
        // only who may write there can: a user's `apt-get update` fails as it does without us
        Kind::Fetch if effect.tags.has(tag::PACKAGE_LIST) => Some(Grant::System),
        Kind::Privilege => Some(Grant::Elevation),
        Kind::Read => placed.then_some(Grant::Read(path)),
        Kind::Write | Kind::Append if effect.tags.has(tag::IN_PLACE) => {
            placed.then_some(Grant::Replace(path))
        }
        Kind::Write | Kind::Append | Kind::Create | Kind::Chmod | Kind::Chown => {
            placed.then_some(Grant::Write(path))
        }
        Kind::Delete | Kind::Move | Kind::Link => placed.then_some(Grant::Replace(path)),
        Kind::LinkTo if effect.tags.has(tag::SYMBOLIC) => None,
        Kind::LinkTo => placed.then_some(Grant::Linked(path)),
        Kind::List
        | Kind::Execute
        | Kind::Code
        | Kind::Shell
        | Kind::Fetch
        | Kind::Send
        | Kind::Connect
        | Kind::Listen
        | Kind::Signal
        | Kind::Power
        | Kind::Kernel
        | Kind::Guard
        | Kind::Discard
        | Kind::Overwrite
        | Kind::Remote
        | Kind::Publish
        | Kind::Schedule
        | Kind::Inject
        | Kind::Disclose
        | Kind::Exhaust
        | Kind::Evade
        | Kind::Discover
        | Kind::Container
        | Kind::Trace
        | Kind::Capture
        | Kind::Unknown => None,
    }
}

/// What is written somewhere below a known folder, under names that only come up as it runs (`find … -exec`).
fn below(effect: &Effect) -> Option<Grant<'_>> {
    let writes = matches!(
        effect.kind,
        Kind::Write | Kind::Append | Kind::Create | Kind::Delete | Kind::Move | Kind::Link
    );
    let path = &*effect.target.resolved;
    let known = path.split(['…', '*', '?', '[']).next().filter(|known| known.starts_with('/'))?;
    let (folder, _) = known.rsplit_once('/')?;
    // a folder of the root itself is too much for a name that isn't known
    (writes && !is_placed(effect) && folder.matches('/').count() > 1).then_some(Grant::Below(folder))
}

/// Each grant is a rule of the kernel's ruleset and costs a few microseconds.
const GRANTS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::model::{Calls, Target};

    fn decision(effects: &[(Kind, &str, &str)]) -> Decision {
        let effect = |(kind, program, path): &(Kind, &str, &str)| Effect {
            kind: *kind,
            target: Target { resolved: (*path).into(), ..Target::default() },
            tags: crate::act::TagSet::EMPTY,
            program: (*program).into(),
            span: crate::text::Span::default(),
        };
        Decision { effects: effects.iter().map(effect).collect(), calls: Calls::NONE, ..Decision::default() }
    }

    fn of(decision: &Decision) -> Need<'_> {
        need((decision, Course::Resolved(Verdict::Allow)), Shell::Plain, &HashMap::<String, String>::new())
    }

    #[test]
    fn a_reader_gets_nothing_to_write_and_no_one_to_reach() {
        let decision = decision(&[(Kind::Read, "cat", "/srv/a"), (Kind::List, "ls", "/srv")]);
        let bounds = Bounds::Effects { network: Network::None, signals: Signals::Own };
        assert_eq!(of(&decision), Need { grants: vec![Grant::Read("/srv/a")], bounds });
    }

    #[test]
    fn what_is_not_known_gives_the_policy_s_ruleset() {
        let known = decision(&[(Kind::Read, "cat", "/srv/a")]);
        assert_ne!(of(&known).bounds, Bounds::Policy);
        let open = Decision { calls: Calls::default(), ..known.clone() };
        let partial = Decision { coverage: Coverage::Partial, ..known.clone() };
        let odd = decision(&[(Kind::Execute, "x", "/srv/x")]);
        let elsewhere = decision(&[(Kind::Write, "tee", "/srv/…/x")]);
        let many: Vec<String> = (0..40).map(|n| format!("/srv/{n}")).collect();
        let many: Vec<_> = many.iter().map(|path| (Kind::Write, ">", path.as_str())).collect();
        for decision in [&open, &partial, &odd, &elsewhere, &decision(&many)] {
            assert_eq!(of(decision).bounds, Bounds::Policy, "{decision:?}");
        }
        let zsh = need((&known, Course::Approved), Shell::Own, &HashMap::<String, String>::new());
        assert_eq!(zsh.bounds, Bounds::Policy);
        let unsettled = need((&known, Course::Unsettled), Shell::Plain, &HashMap::<String, String>::new());
        assert_eq!(unsettled, Need::default());
    }

    #[test]
    fn a_package_manager_s_index_lies_in_the_system() {
        let index = decision(&[(Kind::Fetch, "apt-get", "")]);
        let mut index = Decision { calls: Calls::default(), ..index };
        assert!(!of(&index).grants.contains(&Grant::System));
        index.effects.iter_mut().for_each(|effect| effect.tags = crate::act::TagSet::of(tag::PACKAGE_LIST));
        assert!(of(&index).grants.contains(&Grant::System));
    }

    #[test]
    fn writers_get_their_targets() {
        for (effect, grant) in [
            ((Kind::Write, ">", "/srv/a"), Grant::Write("/srv/a")),
            ((Kind::Write, "sed", "/srv/a"), Grant::Put("/srv/a")),
            ((Kind::Write, "cp", "/srv/a"), Grant::Write("/srv/a")),
            ((Kind::Delete, "rm", "/srv/a"), Grant::Remove("/srv/a")),
            ((Kind::Delete, "mv", "/srv/a"), Grant::Replace("/srv/a")),
        ] {
            assert_eq!(of(&decision(&[effect])).grants, [grant, Grant::Temporary]);
        }
    }

    #[test]
    fn names_that_come_up_later_lie_below_a_folder() {
        let decision =
            |path| Decision { coverage: Coverage::Partial, ..decision(&[(Kind::Write, "sed", path)]) };
        for (path, expected) in [
            ("/srv/data/…/*.txt", vec![Grant::Below("/srv/data")]),
            ("/srv/data/x…", vec![Grant::Below("/srv/data")]),
            ("/srv/…", Vec::new()),
            ("/…", Vec::new()),
            ("…/x", Vec::new()),
        ] {
            assert_eq!(of(&decision(path)).grants, expected, "{path}");
        }
    }

    #[test]
    fn a_second_name_needs_the_file_and_one_by_name_nothing() {
        let mut decision = decision(&[(Kind::LinkTo, "ln", "/srv/a/x"), (Kind::Link, "ln", "/srv/b/x")]);
        assert_eq!(
            of(&decision).grants,
            [Grant::Linked("/srv/a/x"), Grant::Put("/srv/b/x"), Grant::Temporary]
        );
        for effect in &mut decision.effects {
            effect.tags = crate::act::TagSet::of(tag::SYMBOLIC);
        }
        assert_eq!(of(&decision).grants, [Grant::Put("/srv/b/x"), Grant::Temporary]);
    }

    #[test]
    fn ports_are_read_from_urls_and_hosts() {
        for (target, program, expected) in [
            ("https://a.b/c?d", "curl", Some(vec![53, 80, 443])),
            ("http://u:p@a.b:8080/c", "wget", Some(vec![53, 80, 443, 8080])),
            ("a.b/x", "curl", Some(vec![53, 80, 443])),
            ("http://[::1]/", "curl", Some(vec![53, 80, 443])),
            ("http://[::1]:81/", "curl", Some(vec![53, 80, 443, 81])),
            ("127.0.0.1:99", "shell", Some(vec![53, 99])),
            ("host", "shell", None),
            ("ftp://a.b", "curl", None),
            ("http://…/", "curl", None),
            ("http://a.b:…/", "curl", None),
            ("", "curl", None),
        ] {
            assert_eq!(ports(target, program), expected, "{target}");
        }
    }

    #[test]
    fn with_a_proxy_the_port_is_not_the_url_s() {
        let decision = decision(&[(Kind::Fetch, "curl", "https://a.b/")]);
        let proxy = HashMap::from([("https_proxy".to_owned(), "http://p:3128".to_owned())]);
        let bounds = need((&decision, Course::Approved), Shell::Plain, &proxy).bounds;
        assert_eq!(bounds, Bounds::Effects { network: Network::Any, signals: Signals::Own });
    }
}
