//! Filters that decode and translate: base64 and its kin, xxd, tr, gzip's way back.
//!
//! In: arguments and known input. Out: what is printed, or `None` where it isn't certain. Never: encrypts or
//! decrypts.

use crate::canonical::decode::{self, Choice, Code, Translate};

/// `xxd -r [-p]`.
pub(super) fn undumped(args: &[&str], input: &str) -> Option<String> {
    let letters: String = args.iter().filter_map(|a| a.strip_prefix('-')).collect();
    match (letters.contains('r'), letters.contains('p')) {
        (true, true) => decode::decode(Code::Hex, input),
        (true, false) => decode::undump(input),
        (false, _) => None,
    }
}

/// Whether gzip's options ask for the way back.
pub(super) fn decompresses(args: &[&str]) -> bool {
    args.iter().any(|a| {
        *a == "--decompress"
            || *a == "--uncompress"
            || (a.starts_with('-') && !a.starts_with("--") && a.contains('d'))
    })
}

/// base64, base32, basenc, `openssl base64`.
pub(super) fn coded(program: &str, args: &[&str], input: &str) -> Option<String> {
    let short = |c: char| args.iter().any(|a| a.starts_with('-') && !a.starts_with("--") && a.contains(c));
    let long = |n: &str| args.iter().any(|a| a.len() > 4 && n.starts_with(*a));
    if program == "openssl" {
        let base64 = args.iter().any(|a| matches!(*a, "base64" | "-base64" | "-a"));
        let decrypts = args.contains(&"-d");
        let cipher = args.iter().any(|a| {
            a.starts_with("-aes") || a.starts_with("-des") || a.starts_with("-k") || a.starts_with("-pass")
        });
        return match (base64 && !cipher, decrypts) {
            (true, true) => decode::decode(Code::Base64, input),
            (true, false) => decode::encode(Code::Base64, input),
            (false, _) => None,
        };
    }
    let code = match program {
        "base32" => Code::Base32,
        "basenc" if long("--base16") => Code::Hex,
        "basenc" if long("--base32") => Code::Base32,
        "basenc" if long("--base64url") && args.contains(&"--base64url") => Code::Base64Url,
        _ => Code::Base64,
    };
    if short('d') || short('D') || long("--decode") {
        decode::decode(code, input)
    } else {
        decode::encode(code, input).map(|t| t + "\n")
    }
}

/// tr(1).
pub(super) fn tr(args: &[&str], input: &str) -> Option<String> {
    let mut options = Translate::default();
    let mut sets = Vec::new();
    for arg in args {
        match arg.strip_prefix('-') {
            Some(letters)
                if sets.is_empty() && !letters.is_empty() && letters.chars().all(|c| "dscCt".contains(c)) =>
            {
                for letter in letters.chars() {
                    match letter {
                        'd' => options.delete = Choice::On,
                        's' => options.squeeze = Choice::On,
                        'c' | 'C' => options.complement = Choice::On,
                        _ => {}
                    }
                }
            }
            _ => sets.push(*arg),
        }
    }
    decode::translate(input, options, sets.first()?, sets.get(1).copied())
}
