//! What became of a release.

use std::fmt;

/// The status of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Status {
    Unknown,
    Deployed,
    Uninstalled,
    Superseded,
    Failed,
    Uninstalling,
    PendingInstall,
    PendingUpgrade,
    PendingRollback,
    /// What no version of Helm writes, or nothing at all.
    Other(String),
}

impl Status {
    /// Those that have a name.
    pub const ALL: [Status; 9] = [
        Status::Unknown,
        Status::Deployed,
        Status::Uninstalled,
        Status::Superseded,
        Status::Failed,
        Status::Uninstalling,
        Status::PendingInstall,
        Status::PendingUpgrade,
        Status::PendingRollback,
    ];

    /// The status of a name.
    pub fn parse(name: &str) -> Status {
        let known = Status::ALL.into_iter().find(|status| status.as_str() == name);
        known.unwrap_or_else(|| Status::Other(name.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        match self {
            Status::Unknown => "unknown",
            Status::Deployed => "deployed",
            Status::Uninstalled => "uninstalled",
            Status::Superseded => "superseded",
            Status::Failed => "failed",
            Status::Uninstalling => "uninstalling",
            Status::PendingInstall => "pending-install",
            Status::PendingUpgrade => "pending-upgrade",
            Status::PendingRollback => "pending-rollback",
            Status::Other(name) => name,
        }
    }

    /// Whether something is being done with the release, or was when it was last heard of.
    pub fn is_pending(&self) -> bool {
        matches!(
            self,
            Status::PendingInstall | Status::PendingUpgrade | Status::PendingRollback
        )
    }

    /// Whether the newest release of a name cannot stay like this once nobody works on it any more.
    ///
    /// **Deviation**: for Flux these are the pending ones alone. With a release that is `uninstalling` or `superseded` and
    /// has none after it, it can do nothing but fail again and again.
    pub fn is_left_behind(&self) -> bool {
        !matches!(self, Status::Deployed | Status::Failed | Status::Uninstalled)
    }
}

impl Default for Status {
    fn default() -> Self {
        Status::Other(String::new())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for status in Status::ALL {
            assert_eq!(Status::parse(status.as_str()), status);
        }
        assert_eq!(Status::parse("weird").as_str(), "weird");
        assert_eq!(Status::parse(""), Status::default());
    }
}
