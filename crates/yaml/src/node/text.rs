//! Texts that are held once, however often they are used.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;

use arcstr::ArcStr;
use model::Str;

/// A text that is shared by all who have it: eight bytes for each of them, and none more for an empty one.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text(ArcStr);

impl Text {
    /// The text itself.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Texts to be shared. Manifests say the same words again and again: a tree that is read with what other trees are read
/// with takes a fraction of the memory.
#[derive(Debug, Default)]
pub struct Texts {
    known: HashSet<Text>,
}

/// A longer text is hardly ever there twice.
const MAX_SHARED: usize = 256;

impl Texts {
    /// The text that equals this one.
    pub fn get(&mut self, text: &str) -> Text {
        if text.len() > MAX_SHARED {
            return Text::from(text);
        }
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let new = Text::from(text);
        self.known.insert(new.clone());
        new
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

// A text and what is in it have the same hash and the same order, so that either finds the other.
impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl From<ArcStr> for Text {
    fn from(text: ArcStr) -> Self {
        Text(text)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.into())
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Text::from(text.as_str())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text::from(text.as_str())
    }
}

impl From<&Str> for Text {
    fn from(text: &Str) -> Self {
        Text::from(text.as_str())
    }
}

impl From<Str> for Text {
    fn from(text: Str) -> Self {
        Text::from(text.as_str())
    }
}

impl From<&Text> for Text {
    fn from(text: &Text) -> Self {
        text.clone()
    }
}

impl From<&Text> for Str {
    fn from(text: &Text) -> Self {
        Str::new(text.as_str())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<Text> for str {
    fn eq(&self, other: &Text) -> bool {
        self == other.as_str()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_unless_they_are_long() {
        let mut texts = Texts::default();
        let same = |a: &Text, b: &Text| std::ptr::eq(a.as_str(), b.as_str());
        let (a, b) = (texts.get("spec"), texts.get("spec"));
        assert!(same(&a, &b));
        assert_eq!(a, "spec");
        let long = "x".repeat(MAX_SHARED + 1);
        let (a, b) = (texts.get(&long), texts.get(&long));
        assert_eq!(a, b);
        assert!(!same(&a, &b));
    }
}
