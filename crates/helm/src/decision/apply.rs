//! Whether the server or the client merges a release into the cluster.

use crate::record::Record;

/// `serverSideApply` of upgrades and rollbacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerSideApply {
    /// As the release before: those that Helm 3 made stay with the client.
    #[default]
    Auto,
    /// The server does.
    Enabled,
    /// The client does.
    Disabled,
}

impl ServerSideApply {
    /// The choice of a name; nothing is as good as `auto`.
    pub fn parse(name: &str) -> Option<ServerSideApply> {
        match name {
            "" | "auto" => Some(ServerSideApply::Auto),
            "enabled" => Some(ServerSideApply::Enabled),
            "disabled" => Some(ServerSideApply::Disabled),
            _ => None,
        }
    }
}

/// Whether the server merges. For an upgrade `before` is the newest release, for a rollback the one that is brought back.
///
/// Where the server merges, conflicts are always forced, and objects are never replaced: `force` is of use with the client only.
pub fn applies_server_side(choice: ServerSideApply, before: &Record) -> bool {
    match choice {
        ServerSideApply::Auto => before.is_server_side(),
        ServerSideApply::Enabled => true,
        ServerSideApply::Disabled => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_go_on_as_they_began() {
        let made = |method: &str| Record {
            apply_method: method.to_owned(),
            ..Record::default()
        };
        let auto = ServerSideApply::parse("").unwrap();
        assert!(applies_server_side(auto, &made("ssa")));
        assert!(!applies_server_side(auto, &made("csa")));
        assert!(!applies_server_side(auto, &made("")));
        let enabled = ServerSideApply::parse("enabled").unwrap();
        assert!(applies_server_side(enabled, &made("")));
        let disabled = ServerSideApply::parse("disabled").unwrap();
        assert!(!applies_server_side(disabled, &made("ssa")));
        assert_eq!(ServerSideApply::parse("true"), None);
    }
}
