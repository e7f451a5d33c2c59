//! The label that tells which unit an object belongs to.

use std::borrow::Cow;

use model::Value;
use sha2::{Digest as _, Sha256};

use super::input::Live;
use super::metadata::Metadata;

/// How long the value of a label may be.
const LONGEST: usize = 63;

/// The label that tells which unit an object belongs to, with its value: the unit's id.
///
/// An id that cannot be the value of a label, since it is longer than 63 bytes or has a slash in it, stands as its first
/// characters with all others as dashes, and sixteen digits of its SHA-256: `apps/web` as `apps-web-3b4e3efd29cd131b`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    label: String,
    value: String,
}

impl Instance {
    /// The label of that name for a unit.
    pub fn new(label: &str, unit: &str) -> Self {
        Instance {
            label: label.to_owned(),
            value: label_value(unit).into_owned(),
        }
    }

    /// The value that the label has.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Puts the label on an object.
    pub fn mark(&self, object: &mut Value) {
        object.set_at(&["metadata", "labels", &self.label], self.value.as_str());
    }

    /// Why the object is another unit's. One without the label may be ours from before there was one.
    pub fn not_ours(&self, live: &Live) -> Option<String> {
        let found = live.label(&self.label).filter(|found| !found.is_empty())?;
        (found != self.value).then(|| format!("it belongs to another unit: {} is {found}", self.label))
    }
}

fn label_value(id: &str) -> Cow<'_, str> {
    if is_label_value(id) {
        return Cow::Borrowed(id);
    }
    let digest = Sha256::digest(id);
    let digits: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let start: String = id
        .chars()
        .map(|c| if is_inner(c) { c } else { '-' })
        .take(LONGEST - 1 - digits.len())
        .collect();
    let start = start.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    match start.is_empty() {
        true => Cow::Owned(digits),
        false => Cow::Owned(format!("{start}-{digits}")),
    }
}

fn is_inner(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

fn is_label_value(text: &str) -> bool {
    let ends = [text.chars().next(), text.chars().next_back()];
    text.len() <= LONGEST
        && text.chars().all(is_inner)
        && ends.into_iter().flatten().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_whose_id_cannot_be_a_label_gets_one_of_its_own_that_can() {
        let value = |id: &str| Instance::new("unit", id).value().to_owned();
        assert_eq!(value("web"), "web");
        assert_eq!(value("apps/web"), "apps-web-3b4e3efd29cd131b");
        let long = "a".repeat(64);
        for id in [
            "apps/web",
            "apps web",
            "/",
            "",
            "äöü",
            "-web",
            long.as_str(),
            "a/../../..",
        ] {
            let value = value(id);
            assert!(is_label_value(&value), "{id:?} is {value:?}");
        }
        assert_ne!(value("apps/web"), value("apps-web"));
        assert_ne!(value(&long), value(&format!("{long}a")));
    }
}
