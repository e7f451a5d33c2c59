//! Checksums that name their algorithm.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A checksum with the name of its algorithm, printed `sha256:9f86d0…`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    algorithm: Algorithm,
    /// Zeros follow after the length of the algorithm.
    bytes: [u8; MAX_LENGTH],
}

/// How a digest was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// `sha1`: of Git commits.
    Sha1,
    /// `sha256`: of OCI blobs, artifacts and nearly everything else.
    Sha256,
    /// `sha384`.
    Sha384,
    /// `sha512`.
    Sha512,
    /// `blake3`.
    Blake3,
}

/// Why a text or bytes are no digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no `<algorithm>:` in front.
    #[error("digest {0:?} has no algorithm: it must look like sha256:<hex>")]
    NoAlgorithm(String),
    /// The algorithm is none that is known.
    #[error(
        "digest algorithm {0:?} is not supported: it must be one of sha1, sha256, sha384, sha512, blake3"
    )]
    Algorithm(String),
    /// The number of digits or bytes is not that of the algorithm.
    #[error("{algorithm} digest must have {expected} hexadecimal digits, not {found}")]
    Length {
        /// The algorithm.
        algorithm: Algorithm,
        /// The digits it needs.
        expected: usize,
        /// The digits there are.
        found: usize,
    },
    /// One of the digits is none.
    #[error("{0:?} is no lower-case hexadecimal digit of a digest")]
    Digit(char),
}

const MAX_LENGTH: usize = 64;

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::Sha1,
        Algorithm::Sha256,
        Algorithm::Sha384,
        Algorithm::Sha512,
        Algorithm::Blake3,
    ];

    /// The name that stands before the colon.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Sha1 => "sha1",
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha512 => "sha512",
            Algorithm::Blake3 => "blake3",
        }
    }

    /// How many bytes its digests have.
    pub fn length(self) -> usize {
        match self {
            Algorithm::Sha1 => 20,
            Algorithm::Sha256 | Algorithm::Blake3 => 32,
            Algorithm::Sha384 => 48,
            Algorithm::Sha512 => 64,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name);
        found.ok_or_else(|| Error::Algorithm(name.to_owned()))
    }
}

impl Digest {
    /// A digest of the bytes that a hash function gave.
    pub fn new(algorithm: Algorithm, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != algorithm.length() {
            return Err(Error::Length {
                algorithm,
                expected: algorithm.length() * 2,
                found: bytes.len() * 2,
            });
        }
        let mut padded = [0; MAX_LENGTH];
        padded[..bytes.len()].copy_from_slice(bytes);
        Ok(Digest {
            algorithm,
            bytes: padded,
        })
    }

    /// A SHA-256 digest, which always has the right length.
    pub fn sha256(bytes: [u8; 32]) -> Self {
        Digest::new(Algorithm::Sha256, &bytes).expect("32 bytes are a SHA-256 digest")
    }

    /// A digest of the hexadecimal digits that follow the colon.
    pub fn from_hex(algorithm: Algorithm, hex: &str) -> Result<Self, Error> {
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        if let Some(wrong) = hex
            .chars()
            .find(|&found| u8::try_from(found).ok().and_then(digit).is_none())
        {
            return Err(Error::Digit(wrong));
        }
        let expected = algorithm.length() * 2;
        if hex.len() != expected {
            return Err(Error::Length {
                algorithm,
                expected,
                found: hex.len(),
            });
        }
        let mut bytes = [0; MAX_LENGTH];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = pair
                .iter()
                .filter_map(|&found| digit(found))
                .fold(0, |byte, digit| byte << 4 | digit);
        }
        Ok(Digest { algorithm, bytes })
    }

    /// How it was computed.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.algorithm.length()]
    }

    /// The bytes as hexadecimal digits, without the algorithm: a commit's name, a part of a file name.
    pub fn hex(&self) -> String {
        self.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (algorithm, hex) = text
            .split_once(':')
            .ok_or_else(|| Error::NoAlgorithm(text.to_owned()))?;
        Digest::from_hex(algorithm.parse()?, hex)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
