//! The objects that a repository is made of.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use sha1::{Digest, Sha1};

/// The SHA-1 name of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub [u8; 20]);

impl Id {
    /// What stands for "no object" where a branch is created or deleted.
    pub const ZERO: Self = Self([0; 20]);

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 40 hexadecimal digits.
#[derive(Debug, thiserror::Error)]
#[error("not an object id: {0:?}")]
pub struct NotAnId(String);

impl FromStr for Id {
    type Err = NotAnId;

    fn from_str(text: &str) -> Result<Self, NotAnId> {
        let wrong = || NotAnId(text.chars().take(60).collect());
        if text.len() != 40 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut id = Self::ZERO;
        for (byte, at) in id.0.iter_mut().zip((0..40).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| wrong())?;
        }
        Ok(id)
    }
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A commit.
    Commit,
    /// A directory.
    Tree,
    /// A file's content.
    Blob,
    /// An annotated tag.
    Tag,
}

impl Kind {
    /// Its name, as it stands in object headers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }
}

/// An object. Its id follows from its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: Kind,
    /// Its content, without the header.
    pub data: Bytes,
}

impl Object {
    /// An object with the given content.
    pub fn new(kind: Kind, data: impl Into<Bytes>) -> Self {
        Self {
            kind,
            data: data.into(),
        }
    }

    /// Its name.
    pub fn id(&self) -> Id {
        let mut hash = Sha1::new();
        hash.update(format!("{} {}\0", self.kind.name(), self.data.len()));
        hash.update(&self.data);
        Id(hash.finalize().into())
    }

    /// The value of the first header line of that name, of a commit or tag.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// The header lines of a commit or tag; lines that continue another one are left out.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let head = self.text().split("\n\n").next().unwrap_or_default();
        head.lines()
            .filter(|line| !line.starts_with(' '))
            .filter_map(|line| line.split_once(' '))
    }

    /// The message of a commit or tag.
    pub fn message(&self) -> &str {
        self.text()
            .split_once("\n\n")
            .map(|(_, message)| message)
            .unwrap_or_default()
    }

    /// The ids of a commit's parents.
    pub(crate) fn parents(&self) -> Vec<Id> {
        self.headers()
            .filter(|(key, _)| *key == "parent")
            .filter_map(|(_, id)| id.parse().ok())
            .collect()
    }

    /// An id that a header line of a commit or tag holds.
    pub(crate) fn link(&self, name: &str) -> Option<Id> {
        self.header(name)?.parse().ok()
    }

    /// When a commit was made, in seconds.
    pub(crate) fn commit_time(&self) -> i64 {
        let seconds = self
            .header("committer")
            .and_then(|line| line.rsplit(' ').nth(1)?.parse().ok());
        seconds.unwrap_or_default()
    }

    fn text(&self) -> &str {
        match std::str::from_utf8(&self.data) {
            Ok(text) => text,
            // A message may be in another encoding; the headers before it are ASCII.
            Err(error) => std::str::from_utf8(&self.data[..error.valid_up_to()]).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        // From `git hash-object`.
        let empty = Object::new(Kind::Blob, "");
        assert_eq!(empty.id().to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        let hello = Object::new(Kind::Blob, "hello\n");
        assert_eq!(hello.id().to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(
            Object::new(Kind::Tree, "").id().to_string(),
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        );
    }

    #[test]
    fn an_id_is_forty_digits() {
        let text = "ce013625030ba8dba906f756967f9e9ca394464a";
        assert_eq!(text.parse::<Id>().unwrap().to_string(), text);
        for wrong in [
            "",
            "ce01",
            "+e013625030ba8dba906f756967f9e9ca394464a",
            &"é".repeat(20),
        ] {
            assert!(wrong.parse::<Id>().is_err(), "{wrong}");
        }
    }
}
