//! One version.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::grammar;

/// The longest text that is read as a version.
const MAX_LENGTH: usize = 256;

/// A semantic version, with the text it was read from.
///
/// Two versions are equal, and sorted, by their numbers and pre-release only: build metadata and spelling do not count.
#[derive(Clone, Debug)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: String,
    metadata: String,
    original: String,
}

/// Why a text is no version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It does not look like one.
    #[error("invalid semantic version")]
    Invalid,
    /// There is no text.
    #[error("version string empty")]
    Empty,
    /// It is longer than anyone writes.
    #[error("version string is too long (max {MAX_LENGTH} bytes)")]
    TooLong,
    /// A number has something else in it.
    #[error("invalid characters in version")]
    Characters,
    /// A number begins with 0.
    #[error("version segment starts with 0")]
    LeadingZero,
    /// A number does not fit into 64 bits.
    #[error("version segment is no number of 64 bits")]
    Number,
    /// What follows the `-` is not dot-separated words.
    #[error("invalid prerelease string")]
    Prerelease,
    /// What follows the `+` is not dot-separated words.
    #[error("invalid metadata string")]
    Metadata,
}

impl Version {
    /// Reads a version leniently: `v` in front, missing minor and patch numbers and leading zeros are fine.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_LENGTH {
            return Err(Error::TooLong);
        }
        let parts = grammar::version(text, grammar::Numbers::Digits).ok_or(Error::Invalid)?;
        if parts.length != text.len() {
            return Err(Error::Invalid);
        }
        let version = Version {
            major: number(parts.major)?,
            minor: parts.minor.map_or(Ok(0), number)?,
            patch: parts.patch.map_or(Ok(0), number)?,
            prerelease: parts.prerelease.unwrap_or_default().to_owned(),
            metadata: parts.metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        };
        if !version.prerelease.is_empty() {
            check_prerelease(&version.prerelease)?;
        }
        Ok(version)
    }

    /// Reads a version exactly as the specification has it: three numbers without leading zeros, and no `v`.
    pub fn parse_strict(text: &str) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(Error::Empty);
        }
        if text.len() > MAX_LENGTH {
            return Err(Error::TooLong);
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(Error::Invalid);
        };
        let (rest, metadata) = split_off(rest, '+');
        if let Some(metadata) = metadata {
            check_metadata(metadata)?;
        }
        let (patch, prerelease) = split_off(rest, '-');
        if let Some(prerelease) = prerelease {
            check_prerelease(prerelease)?;
        }
        for part in [major, minor, patch] {
            if !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(Error::Characters);
            }
            if part.len() > 1 && part.starts_with('0') {
                return Err(Error::LeadingZero);
            }
        }
        Ok(Version {
            major: number(major)?,
            minor: number(minor)?,
            patch: number(patch)?,
            prerelease: prerelease.unwrap_or_default().to_owned(),
            metadata: metadata.unwrap_or_default().to_owned(),
            original: text.to_owned(),
        })
    }

    /// The first number.
    pub fn major(&self) -> u64 {
        self.major
    }

    /// The second number.
    pub fn minor(&self) -> u64 {
        self.minor
    }

    /// The third number.
    pub fn patch(&self) -> u64 {
        self.patch
    }

    /// What stands after the `-`, or nothing.
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// What stands after the `+`, or nothing.
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// The text it was read from.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// The same version with other build metadata; none if the text is empty. A leading `v` stays.
    pub fn with_metadata(&self, metadata: &str) -> Result<Self, Error> {
        if !metadata.is_empty() {
            check_metadata(metadata)?;
        }
        let mut version = self.clone();
        metadata.clone_into(&mut version.metadata);
        let prefix = if self.original.starts_with('v') { "v" } else { "" };
        version.original = format!("{prefix}{version}");
        Ok(version)
    }
}

/// Written in full and without a leading `v`, whatever the original looked like.
impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Version::parse(text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = (self.major, self.minor, self.patch);
        numbers
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(
                || match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
                    (true, true) => Ordering::Equal,
                    (true, false) => Ordering::Greater,
                    (false, true) => Ordering::Less,
                    (false, false) => compare_prereleases(&self.prerelease, &other.prerelease),
                },
            )
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.major, self.minor, self.patch).hash(state);
        // Equal pre-releases are spelled alike: their numbers have no leading zeros.
        self.prerelease.hash(state);
    }
}

/// Compares word by word: numbers as numbers and below words, and a missing word below everything.
fn compare_prereleases(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.split('.'), b.split('.'));
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order.is_ne() {
            return order;
        }
    }
}

fn number(digits: &str) -> Result<u64, Error> {
    digits.parse().map_err(|_| Error::Number)
}

fn split_off(text: &str, at: char) -> (&str, Option<&str>) {
    match text.split_once(at) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

fn check_prerelease(text: &str) -> Result<(), Error> {
    for word in text.split('.') {
        if word.is_empty() || !word.bytes().all(grammar::is_word) {
            return Err(Error::Prerelease);
        }
        if word.len() > 1 && word.starts_with('0') && word.bytes().all(|b| b.is_ascii_digit()) {
            return Err(Error::LeadingZero);
        }
    }
    Ok(())
}

fn check_metadata(text: &str) -> Result<(), Error> {
    let fine = |word: &str| !word.is_empty() && word.bytes().all(grammar::is_word);
    if text.split('.').all(fine) {
        Ok(())
    } else {
        Err(Error::Metadata)
    }
}
