//! Whether a HelmRelease still means the release it made: otherwise that one goes first.

use super::History;

/// What a HelmRelease means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Where records are kept.
    pub storage_namespace: &'a str,
    /// Where it is installed.
    pub namespace: &'a str,
    /// The name of the release, shortened.
    pub name: &'a str,
    /// The name of the chart.
    pub chart_name: &'a str,
    /// Whether a release may go on with a chart of another name, as `chartNameChangeStrategy: InPlaceUpdate` allows.
    pub keeps_name_changes: bool,
}

/// What is different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum TargetChange {
    StorageNamespace,
    ReleaseNamespace,
    ReleaseName,
    ChartName,
}

impl TargetChange {
    /// What is different, in Flux's words.
    pub fn text(self) -> &'static str {
        match self {
            TargetChange::StorageNamespace => "storage namespace",
            TargetChange::ReleaseNamespace => "release namespace",
            TargetChange::ReleaseName => "release name",
            TargetChange::ChartName => "chart name",
        }
    }
}

/// What is different, if the release that was made has to be uninstalled. `storage_namespace` is that of the status.
pub fn target_change(
    target: &Target<'_>,
    storage_namespace: &str,
    history: &History,
) -> Option<TargetChange> {
    let latest = history.latest()?;
    if storage_namespace.is_empty() {
        return None;
    }
    if target.storage_namespace != storage_namespace {
        Some(TargetChange::StorageNamespace)
    } else if target.namespace != latest.namespace {
        Some(TargetChange::ReleaseNamespace)
    } else if target.name != latest.name {
        Some(TargetChange::ReleaseName)
    } else if target.chart_name != latest.chart_name && !target.keeps_name_changes {
        Some(TargetChange::ChartName)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Snapshot;

    #[test]
    fn another_target_is_seen() {
        let history = History::new(vec![Snapshot {
            name: "web".into(),
            namespace: "shop".into(),
            chart_name: "app".into(),
            ..Snapshot::default()
        }]);
        let same = Target {
            storage_namespace: "store",
            namespace: "shop",
            name: "web",
            chart_name: "app",
            keeps_name_changes: false,
        };
        let check = |target: Target<'_>| target_change(&target, "store", &history).map(TargetChange::text);
        assert_eq!(check(same), None);
        let storage_namespace = "other";
        assert_eq!(
            check(Target {
                storage_namespace,
                ..same
            }),
            Some("storage namespace")
        );
        let namespace = "other";
        assert_eq!(check(Target { namespace, ..same }), Some("release namespace"));
        assert_eq!(
            check(Target {
                name: "other",
                ..same
            }),
            Some("release name")
        );
        let renamed = Target {
            chart_name: "other",
            ..same
        };
        assert_eq!(check(renamed), Some("chart name"));
        let kept = Target {
            keeps_name_changes: true,
            ..renamed
        };
        assert_eq!(check(kept), None);
        assert_eq!(target_change(&renamed, "", &history), None);
        assert_eq!(target_change(&renamed, "store", &History::default()), None);
    }
}
