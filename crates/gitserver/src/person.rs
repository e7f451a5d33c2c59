//! Who made a commit or tag.

use std::fmt;

/// A name with an email address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The name.
    pub name: String,
    /// The email address.
    pub email: String,
}

impl Person {
    /// A person.
    pub fn new(name: &str, email: &str) -> Self {
        Self {
            name: name.to_string(),
            email: email.to_string(),
        }
    }

    /// The person with a time, as headers hold it.
    pub(crate) fn at(&self, time: i64) -> String {
        format!("{self} {time} +0000")
    }
}

impl Default for Person {
    /// Who makes commits unless a test says otherwise.
    fn default() -> Self {
        Self::new("Ada", "ada@example.com")
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // These characters would end the name or the line.
        let clean = |text: &str| text.replace(['<', '>', '\n'], "");
        write!(f, "{} <{}>", clean(&self.name), clean(&self.email))
    }
}
