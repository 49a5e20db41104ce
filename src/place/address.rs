//! Internet addresses in all the forms that programs accept, and whose they are.
//!
//! In: a host as written. Out: the address it spells, and its class.
//! Never: asks a name server.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::act::Class;

/// The address that a host spells, if it is one and not a name: dotted, with one to four parts, each
/// decimal, octal or hexadecimal (`inet_aton(3)`), or IPv6 with or without brackets and zone.
pub fn read(host: &str) -> Option<IpAddr> {
    let inner = host.strip_prefix('[').map_or(host, |rest| rest.strip_suffix(']').unwrap_or(rest));
    if inner.contains(':') {
        let address = inner.split('%').next().unwrap_or(inner);
        return address.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    read_four(inner).map(IpAddr::V4)
}

fn read_four(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<u32> = text.split('.').take(5).map(number).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|part| *part > 255) {
        return None;
    }
    // the last part fills all bytes that are left
    let room = 32 - 8 * u32::try_from(first.len()).ok()?;
    if room < 32 && last >> room != 0 {
        return None;
    }
    let mut shift = 32;
    let mut value = *last;
    for part in first {
        shift -= 8;
        value |= part << shift;
    }
    Some(Ipv4Addr::from(value))
}

fn number(text: &str) -> Option<u32> {
    let digits = |rest: &str, radix| {
        let valid = !rest.is_empty() && rest.chars().all(|c| c.is_digit(radix));
        valid.then(|| u32::from_str_radix(rest, radix).ok()).flatten()
    };
    if let Some(rest) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return digits(rest, 16);
    }
    match text.strip_prefix('0') {
        Some(rest) if !rest.is_empty() => digits(rest, 8),
        Some(_) | None => digits(text, 10),
    }
}

/// Cloud metadata services by address: most providers share the first; ECS and
/// EKS agents; Azure's wire server; Alibaba; Oracle's old one.
const METADATA: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254),
    Ipv4Addr::new(169, 254, 170, 2),
    Ipv4Addr::new(169, 254, 170, 23),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// Whose an address is.
pub fn class(address: IpAddr) -> Class {
    match address {
        IpAddr::V4(four) => class_of_four(four),
        IpAddr::V6(six) => class_of_six(six),
    }
}

fn class_of_four(four: Ipv4Addr) -> Class {
    let [a, b, ..] = four.octets();
    if METADATA.contains(&four) {
        return Class::Metadata;
    }
    match (a, b) {
        // connecting to 0.0.0.0 reaches this machine
        (0 | 127, _) => Class::Loopback,
        (10 | 224..=255, _) | (172, 16..=31) | (192, 168) | (169, 254) | (100, 64..=127) | (198, 18..=19) => {
            Class::PrivateNet
        }
        _ => Class::Internet,
    }
}

fn class_of_six(six: Ipv6Addr) -> Class {
    let parts = six.segments();
    let four = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match parts {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => Class::Loopback,
        // mapped, compatible, translated (RFC 4291, 6052), 6to4 (RFC 3056)
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            class_of_four(four(high, low))
        }
        [0x2002, high, low, ..] => class_of_four(four(high, low)),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254] => Class::Metadata,
        [first, ..] if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfe80 || first & 0xff00 == 0xff00 => {
            Class::PrivateNet
        }
        _ => Class::Internet,
    }
}

/// Services that answer any name with the address in it; `localtest.me` and `lvh.me` answer with this machine.
const ECHOING: &[&str] =
    &[".nip.io", ".sslip.io", ".xip.io", ".traefik.me", ".localtest.me", ".lvh.me", ".vcap.me"];

/// The address in a name such as `app.10-0-0-1.nip.io`.
pub fn embedded(name: &str) -> Option<IpAddr> {
    let service = ECHOING.iter().find(|end| name.ends_with(*end) || end.strip_prefix('.') == Some(name))?;
    let front = name.strip_suffix(service).unwrap_or("");
    let words: Vec<&str> = front.split(['.', '-']).collect();
    let spelled = words.windows(4).rev().find_map(|four| {
        let parts: Option<Vec<u8>> = four.iter().map(|part| part.parse().ok()).collect();
        match parts?.as_slice() {
            [a, b, c, d] => Some(Ipv4Addr::new(*a, *b, *c, *d)),
            _ => None,
        }
    });
    let hexadecimal = words.last().filter(|w| w.len() == 8).and_then(|w| u32::from_str_radix(w, 16).ok());
    let own = matches!(*service, ".localtest.me" | ".lvh.me" | ".vcap.me");
    let found = spelled.or_else(|| hexadecimal.map(Ipv4Addr::from));
    found.or_else(|| own.then_some(Ipv4Addr::LOCALHOST)).map(IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_all_their_forms() {
        let cases = [
            ("127.0.0.1", Some(Class::Loopback)),
            ("127.1", Some(Class::Loopback)),
            ("2130706433", Some(Class::Loopback)),
            ("0x7f.1", Some(Class::Loopback)),
            ("0x7f000001", Some(Class::Loopback)),
            ("0177.0.0.01", Some(Class::Loopback)),
            ("0", Some(Class::Loopback)),
            ("0xA9FEA9FE", Some(Class::Metadata)),
            ("169.254.169.254", Some(Class::Metadata)),
            ("169.254.1.1", Some(Class::PrivateNet)),
            ("10.1.2.3", Some(Class::PrivateNet)),
            ("172.32.0.1", Some(Class::Internet)),
            ("8.8.8.8", Some(Class::Internet)),
            ("[::1]", Some(Class::Loopback)),
            ("::ffff:169.254.169.254", Some(Class::Metadata)),
            ("fe80::1%eth0", Some(Class::PrivateNet)),
            ("2606:4700::1111", Some(Class::Internet)),
            ("256.1.1.1", None),
            ("1.2.3.4.5", None),
            ("09.1.1.1", None),
            ("1.2.3.", None),
            ("example.com", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).map(class), expected, "{text}");
        }
    }

    #[test]
    fn names_that_spell_addresses_are_seen_through() {
        let cases = [
            ("169-254-169-254.nip.io", Some(Class::Metadata)),
            ("app.10.0.0.1.sslip.io", Some(Class::PrivateNet)),
            ("a9fea9fe.nip.io", Some(Class::Metadata)),
            ("x.lvh.me", Some(Class::Loopback)),
            ("nip.io", None),
            ("example.org", None),
        ];
        for (text, expected) in cases {
            assert_eq!(embedded(text).map(class), expected, "{text}");
        }
    }
}
