//! A way of several channels: rendered from the inside out, and read again from the outside in.
//!
//! In: a text, [`Step`]s from the outermost. Out: one [`Rendering`], or the [`Refusal`] of the hop that can't.
//! Never: gives out a rendering that its own readers did not find the text in.

use crate::fidelity::channel::capsule;
use crate::fidelity::channel::domain::{self, Refusal, Why};
use crate::fidelity::channel::formats;
use crate::fidelity::channel::lines;
use crate::fidelity::channel::local;
use crate::fidelity::channel::name::{Channel, Reach, StdinPolicy, Step};
use crate::fidelity::channel::remote;
use crate::fidelity::channel::rendering::{Form, Input, Order, Rendering, Staged};
use crate::fidelity::channel::typed;
use crate::fidelity::channel::windows;
use crate::fidelity::channel::words;

/// Renders `text` for a way. `place` is an absolute path without special characters, at which files may be laid
/// (`place.N.data`, …); none are made here.
pub fn render(text: &[u8], steps: &[Step], stdin: StdinPolicy, place: &str) -> Result<Rendering, Refusal> {
    let mut files: Vec<Staged> = Vec::new();
    let mut carried = text.to_vec();
    let mut made = None;
    for (at, step) in steps.iter().enumerate().rev() {
        let numbered = |refusal: Refusal| Refusal { hop: at + 1, ..refusal };
        let outer = steps.get(..at).unwrap_or_default();
        let reach =
            if outer.iter().any(|s| leaves(s.channel)) { Reach::OtherFiles } else { Reach::SameFiles };
        let own = format!("{place}.{}", at + 1);
        let order = Order { text: &carried, to: step.to.as_deref(), stdin, reach, place: own.as_bytes() };
        if step.channel == Channel::Memfd && at > 0 {
            let refusal = Refusal::new(step.channel, Why::Descriptor, "use the channel argv or base64 there");
            return Err(numbered(refusal));
        }
        domain::check(step.channel, &order).map_err(numbered)?;
        let rendering = one(step.channel, &order).map_err(numbered)?;
        domain::check_rendered(step.channel, &rendering).map_err(numbered)?;
        files.extend(rendering.files.iter().cloned());
        if at > 0 {
            let refusal = Refusal::new(step.channel, Why::Document, "put it first");
            carried = rendering.shell_text().ok_or_else(|| numbered(refusal))?;
        }
        made = Some(rendering);
    }
    let Some(made) = made else { return Err(Refusal::new(Channel::Argv, Why::Undecoded, "name a channel")) };
    let whole = Rendering { files, ..made };
    if decode(steps, &whole).as_deref() == Some(text) {
        Ok(whole)
    } else {
        let channel = steps.first().map_or(Channel::Argv, |s| s.channel);
        Err(Refusal::new(channel, Why::Undecoded, "please report it"))
    }
}

/// Whether what a channel starts sees other files than we do.
fn leaves(channel: Channel) -> bool {
    match channel {
        Channel::Ssh
        | Channel::Podman
        | Channel::Docker
        | Channel::Kubectl
        | Channel::Dockerfile
        | Channel::Json
        | Channel::Yaml
        | Channel::PowerShell
        | Channel::PowerShellNative
        | Channel::Msys
        | Channel::Cmd => true,
        Channel::Argv
        | Channel::Script
        | Channel::Stub
        | Channel::Memfd
        | Channel::Stdin
        | Channel::Environment
        | Channel::Base64
        | Channel::Su
        | Channel::Sudo
        | Channel::SudoLogin
        | Channel::Tmux
        | Channel::Screen
        | Channel::Pty
        | Channel::Cron
        | Channel::At
        | Channel::Make
        | Channel::Xargs
        | Channel::Find
        | Channel::Parallel => false,
    }
}

fn one(channel: Channel, order: &Order<'_>) -> Result<Rendering, Refusal> {
    match channel {
        Channel::Argv => Ok(local::argument(order)),
        Channel::Script => Ok(local::script(order)),
        Channel::Stub => local::stub(order),
        Channel::Memfd => Ok(local::memory(order)),
        Channel::Stdin => Ok(local::input(order)),
        Channel::Environment => Ok(local::environment(order)),
        Channel::Base64 => Ok(local::base64(order)),
        Channel::Ssh => Ok(remote::ssh(order)),
        Channel::Su => remote::su(order),
        Channel::Sudo => remote::sudo(order),
        Channel::SudoLogin => remote::sudo_login(order),
        Channel::Podman | Channel::Docker | Channel::Kubectl => remote::inside(channel, order),
        Channel::Tmux | Channel::Screen | Channel::Pty => typed::render(channel, order),
        Channel::Cron => lines::cron(order),
        Channel::At => lines::at(order),
        Channel::Make => lines::make(order),
        Channel::Xargs => lines::xargs(order),
        Channel::Find => lines::find(order),
        Channel::Parallel => lines::parallel(order),
        Channel::Dockerfile => formats::dockerfile(order),
        Channel::Json => formats::json(order),
        Channel::Yaml => formats::yaml(order),
        Channel::PowerShell => windows::powershell(order),
        Channel::PowerShellNative => windows::native(order),
        Channel::Msys => windows::msys(order),
        Channel::Cmd => windows::cmd(order),
    }
}

/// The text that arrives at the innermost receiver, by our readers of every hop.
pub fn decode(steps: &[Step], rendering: &Rendering) -> Option<Vec<u8>> {
    let (first, inner) = steps.split_first()?;
    let mut text = decode_one(first, rendering)?;
    for step in inner {
        text = decode_one(step, &read(&text, &rendering.files)?)?;
    }
    Some(text)
}

/// Shell text of a rendering, read as a POSIX shell reads it.
fn read(text: &[u8], files: &[Staged]) -> Option<Rendering> {
    if capsule::open(text, &[]).is_some() {
        let form = Form::Text(text.to_vec());
        return Some(Rendering { form, ..Rendering::of_words(Vec::new(), Input::Inherit) });
    }
    let line = words::read(text)?;
    let input = match (line.feeder.as_deref(), line.null_input) {
        (None, false) => Input::Inherit,
        (None, true) => Input::Null,
        (Some([printf, format, bytes]), false) if printf == b"printf" && format == b"%s" => {
            Input::Bytes(bytes.clone())
        }
        (Some([printf, format, bytes]), false) if printf == b"printf" && format == b"%s\\0" => {
            Input::Bytes([bytes.as_slice(), b"\0"].concat())
        }
        (Some(_), _) => return None,
    };
    let mut list = line.words;
    let mut environment = Vec::new();
    if list.first().is_some_and(|w| w == b"env") {
        list.remove(0);
        while let Some(at) = list.first().and_then(|w| w.iter().position(|b| *b == b'=')) {
            let word = list.remove(0);
            let (name, value) = word.split_at_checked(at)?;
            environment.push((name.to_vec(), value.get(1..)?.to_vec()));
        }
    }
    Some(Rendering { environment, files: files.to_vec(), ..Rendering::of_words(list, input) })
}

fn decode_one(step: &Step, rendering: &Rendering) -> Option<Vec<u8>> {
    let to = step.to.as_deref().unwrap_or_default();
    let order =
        Order { text: b"", to: Some(to), stdin: StdinPolicy::Null, reach: Reach::SameFiles, place: b"" };
    let document = match &rendering.form {
        Form::Document(bytes) => Some(bytes.as_slice()),
        Form::Words(_) | Form::Text(_) => None,
    };
    match step.channel {
        Channel::Argv
        | Channel::Script
        | Channel::Stub
        | Channel::Memfd
        | Channel::Stdin
        | Channel::Environment
        | Channel::Base64 => local::decode(step.channel, rendering),
        Channel::Ssh
        | Channel::Su
        | Channel::Sudo
        | Channel::SudoLogin
        | Channel::Podman
        | Channel::Docker
        | Channel::Kubectl => remote::decode(step.channel, rendering, &remote::target(&order)),
        Channel::Tmux | Channel::Screen | Channel::Pty => typed::decode(step.channel, rendering),
        Channel::Cron | Channel::At | Channel::Make | Channel::Xargs | Channel::Find | Channel::Parallel => {
            lines::decode(step.channel, rendering)
        }
        Channel::Dockerfile | Channel::Json | Channel::Yaml => formats::decode(step.channel, document?),
        Channel::PowerShell | Channel::PowerShellNative | Channel::Msys | Channel::Cmd => {
            windows::decode(step.channel, document?)
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
    use proptest::prelude::*;

    use super::*;
    use crate::fidelity::channel::domain::{Bytes, Lines, Stdin, domain};

    fn steps(names: &str) -> Vec<Step> {
        let step = |name: &str| {
            let channel = Channel::named(name).unwrap();
            let to = match channel {
                Channel::Cron => Some(&b"* * * * *"[..]),
                Channel::At => Some(&b"now"[..]),
                _ if channel.target().is_empty() => None,
                _ => Some(&b"there"[..]),
            };
            Step { channel, to: to.map(<[u8]>::to_vec) }
        };
        names.split(',').map(step).collect()
    }

    fn hostile() -> impl Strategy<Value = Vec<u8>> {
        let bits = prop::sample::select(
            &[
                "'",
                "\"",
                "\\",
                "\\\\",
                "$",
                "$(x)",
                "`",
                "!",
                "%",
                "\\%",
                "{}",
                "{} +",
                ";",
                "\n",
                "\r\n",
                "\t",
                " ",
                "#",
                "-c",
                "--",
                "\u{1}",
                "\u{7f}",
                "\u{1b}[0m",
                "é",
                "EOF\n",
                "</dev/null",
                "|",
                "$$",
                "@",
                "a",
                "\u{2028}",
            ][..],
        );
        prop_oneof![
            prop::collection::vec(bits, 0..24).prop_map(|v| v.concat().into_bytes()),
            prop::collection::vec(1..=255u8, 0..200),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn every_rendering_is_read_again_or_refused(text in hostile(), keep in any::<bool>()) {
            let stdin = if keep { StdinPolicy::Keep } else { StdinPolicy::Null };
            for channel in Channel::ALL {
                let way = steps(channel.name());
                match render(&text, &way, stdin, "/tmp/agent-sh-x/1") {
                    Ok(rendering) => prop_assert_eq!(decode(&way, &rendering).unwrap(), text.clone(), "{}", channel),
                    Err(refusal) => prop_assert!(refusal.why != Why::Undecoded, "{}", refusal),
                }
            }
        }

        #[test]
        fn ways_of_several_hops_too(text in hostile()) {
            for names in [
                "ssh,su", "ssh,sudo,podman,base64", "make,env", "cron,sudo", "json,ssh,base64", "yaml,base64", "su,stub",
                "tmux,ssh,argv", "xargs,find,make", "docker,xargs,stdin", "dockerfile,su,base64", "ssh,cron", "at,ssh",
            ] {
                let way = steps(names);
                match render(&text, &way, StdinPolicy::Null, "/tmp/agent-sh-x/1") {
                    Ok(rendering) => prop_assert_eq!(decode(&way, &rendering).unwrap(), text.clone(), "{}", names),
                    Err(refusal) => prop_assert!(refusal.why != Why::Undecoded, "{}: {}", names, refusal),
                }
            }
        }
    }

    #[test]
    fn outside_of_its_domain_every_channel_refuses_and_says_what_to_do() {
        let huge = vec![b'a'; (64 << 20) + 1];
        let mut tried = 0;
        for channel in Channel::ALL {
            let domain = domain(channel);
            let mut outside = vec![(&b"a\0b"[..], StdinPolicy::Null, Why::Nul)];
            let size = huge.get(..=domain.size).unwrap();
            outside.push((size, StdinPolicy::Null, Why::Size(size.len(), domain.size)));
            if domain.bytes == Bytes::Unicode {
                outside.push((b"caf\xe9", StdinPolicy::Null, Why::NotUnicode));
            }
            if domain.lines == Lines::One {
                outside.push((b"a\nb", StdinPolicy::Null, Why::Lines));
                outside.push((b"a\rb", StdinPolicy::Null, Why::Lines));
            }
            if domain.stdin == Stdin::OnlyNull {
                outside.push((b"cat", StdinPolicy::Keep, Why::Stdin));
            }
            for (text, stdin, why) in outside {
                let refusal = render(text, &steps(channel.name()), stdin, "/tmp/x").unwrap_err();
                assert_eq!((refusal.hop, refusal.why), (1, why), "{channel}");
                let said = refusal.to_string();
                assert!(!refusal.instead.is_empty() && said.contains(channel.name()), "{said}");
                tried += 1;
            }
        }
        assert!(tried > 60, "{tried}");
    }

    #[test]
    fn a_hop_that_can_not_is_named_before_anything_starts() {
        let refused = |names: &str, text: &[u8], stdin| {
            let refusal = render(text, &steps(names), stdin, "/tmp/x").unwrap_err();
            (refusal.hop, refusal.why)
        };
        assert_eq!(refused("ssh,stub", b"a", StdinPolicy::Null), (2, Why::OtherFiles));
        assert_eq!(refused("su,memfd", b"a", StdinPolicy::Null), (2, Why::Descriptor));
        assert_eq!(refused("ssh,json", b"a", StdinPolicy::Null), (2, Why::Document));
        assert_eq!(refused("sudo,base64", b"a", StdinPolicy::Keep), (2, Why::Stdin));
        assert!(matches!(refused("argv,argv", &[b'\''; 40_000], StdinPolicy::Null), (1, Why::Size(..))));
    }
}
