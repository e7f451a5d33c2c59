//! A line of a controller's log: which are shown, and how.

use std::fmt;

use serde_json::Value;

/// A line, as JSON.
pub(super) struct Entry<'v>(pub(super) &'v Value);

impl Entry<'_> {
    fn text(&self, field: &str) -> &str {
        self.0[field].as_str().unwrap_or_default()
    }

    fn kind(&self) -> &str {
        match self.text("reconciler kind") {
            "" => self.text("controllerKind"),
            kind => kind,
        }
    }
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.text("ts"), self.text("level"), self.kind())?;
        match self.text("name") {
            "" => {}
            name => write!(f, "/{name}.{}", self.text("namespace"))?,
        }
        write!(f, " - {} {}", self.text("msg"), self.text("error"))
    }
}

/// Which lines are shown: all of which everything holds that is said here.
pub(super) struct Wanted {
    pub(super) level: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) name: Option<String>,
    pub(super) namespace: Option<String>,
}

impl Wanted {
    pub(super) fn wants(&self, entry: &Entry<'_>) -> bool {
        let is = |wanted: &Option<String>, fields: &[&str]| match wanted {
            None => true,
            Some(wanted) => fields
                .iter()
                .any(|field| entry.text(field).eq_ignore_ascii_case(wanted)),
        };
        is(&self.level, &["level"])
            && is(&self.kind, &["reconciler kind", "controllerKind"])
            && is(&self.name, &["name"])
            && is(&self.namespace, &["namespace"])
    }
}
