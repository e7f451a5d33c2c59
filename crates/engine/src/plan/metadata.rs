//! Labels and annotations of desired and of live objects, read in one way.

use model::Value;

use super::input::Live;

/// Something that has labels and annotations.
pub(super) trait Metadata {
    /// The label, if it is set.
    fn label(&self, key: &str) -> Option<&str>;

    /// The annotation, if it is set.
    fn annotation(&self, key: &str) -> Option<&str>;

    /// The parts of an annotation that commas separate, without blanks and repetitions.
    fn annotation_list(&self, key: &str) -> Vec<&str> {
        let mut parts = Vec::new();
        for part in self.annotation(key).unwrap_or_default().split(',') {
            let part = part.trim();
            if !part.is_empty() && !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }
}

impl Metadata for Value {
    fn label(&self, key: &str) -> Option<&str> {
        self.at(&["metadata", "labels", key]).and_then(Value::as_str)
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.at(&["metadata", "annotations", key]).and_then(Value::as_str)
    }
}

impl Metadata for Live {
    fn label(&self, key: &str) -> Option<&str> {
        self.labels.get(key).map(String::as_str)
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.get(key).map(String::as_str)
    }
}
