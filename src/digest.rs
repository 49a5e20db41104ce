//! The SHA-256 digest by which a text is named, in records, stores and chains.
//!
//! In: bytes, or 64 hexadecimal digits. Out: [`Digest`]. Never: takes a shorter one for a digest.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// SHA-256 of a text's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The first byte, to sort by.
    pub fn first(self) -> u8 {
        let [first, ..] = self.0;
        first
    }

    /// Lower-case hexadecimal.
    pub fn hex(&self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut out = [0; 64];
        for (pair, byte) in out.chunks_exact_mut(2).zip(self.0) {
            for (digit, nibble) in pair.iter_mut().zip([byte >> 4, byte & 15]) {
                *digit = DIGITS.get(usize::from(nibble)).copied().unwrap_or_default();
            }
        }
        out
    }

    /// Reads 64 hexadecimal digits, of either case.
    pub fn parse(hex: &[u8]) -> Option<Self> {
        if hex.len() != 64 {
            return None;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|d| u8::try_from(d).ok());
        let mut out = [0; 32];
        for (byte, pair) in out.iter_mut().zip(hex.chunks_exact(2)) {
            let [high, low] = pair else { return None };
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(out))
    }
}

/// What a hash of several parts came to.
impl From<Sha256> for Digest {
    fn from(hash: Sha256) -> Self {
        Self(hash.finalize().into())
    }
}

/// Lower-case hexadecimal.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"abc").to_string(), abc);
        assert_eq!(Digest::parse(abc.to_uppercase().as_bytes()), Some(Digest::of(b"abc")));
        for wrong in ["", "ba78", &abc.replace('b', "g"), &format!("{abc}0"), &abc.replacen('b', "+", 1)] {
            assert_eq!(Digest::parse(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
