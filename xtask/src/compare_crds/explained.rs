//! The differences that are meant, each with its reason.

use model::Value;

use super::Difference;

/// Where a difference is, and why.
struct Explained {
    /// The plural name of the kind, or `*` for any.
    kind: &'static str,
    /// The version, or `*` for any.
    version: &'static str,
    /// The place; everything below it is meant too.
    path: &'static str,
    /// What the difference begins with.
    what: &'static str,
    reason: &'static str,
}

const KEPT: &str =
    "an older version had it: every version keeps the fields of all, because there is no conversion";
const STATUS: &str = "only the status of an older version had it, and controllers write the status anew";
const STATELESS: &str = "the kind has no status in the current version, and no controller writes one";
const NO_EFFECT: &str = "it has no effect now, so there is nothing to fill in";
const REQUIRED: &str = "that version requires it, so that it is never filled in";
const SAME: &str = "the controller does the same where it is not filled in";
const READ: &str = "it is filled in anyway when the object is read in the current version";

/// What is said of a field that only ours has, and of one that only upstream's has.
const OURS: &str = "upstream has no such field";
const THEIRS: &str = "ours has no such field";

#[rustfmt::skip]
const EXPLAINED: &[Explained] = &[
    meant("buckets", "v1", "spec.accessFrom", OURS, KEPT),
    meant("gitrepositories", "v1", "spec.accessFrom", OURS, KEPT),
    meant("gitrepositories", "v1", "spec.gitImplementation", OURS, KEPT),
    meant("helmcharts", "v1", "spec.accessFrom", OURS, KEPT),
    meant("helmcharts", "v1", "spec.valuesFile", OURS, KEPT),
    meant("helmreleases", "v2", "spec.chart.spec.valuesFile", OURS, KEPT),
    meant("helmreleases", "v2", "spec.postRenderers[].kustomize.patchesJson6902", OURS, KEPT),
    meant("helmreleases", "v2", "spec.postRenderers[].kustomize.patchesStrategicMerge", OURS, KEPT),
    meant("kustomizations", "v1", "spec.patchesJson6902", OURS, KEPT),
    meant("kustomizations", "v1", "spec.patchesStrategicMerge", OURS, KEPT),
    meant("kustomizations", "v1", "spec.validation", OURS, KEPT),

    meant("*", "v1beta1", "status.artifact.checksum", THEIRS, STATUS),
    meant("gitrepositories", "v1beta1", "status.includedArtifacts[].checksum", THEIRS, STATUS),
    meant("gitrepositories", "v1beta1", "status.url", THEIRS, STATUS),
    meant("gitrepositories", "v1beta2", "status.url", THEIRS, STATUS),
    meant("gitrepositories", "v1beta2", "status.contentConfigChecksum", THEIRS, STATUS),
    meant("ocirepositories", "v1beta2", "status.contentConfigChecksum", THEIRS, STATUS),
    meant("helmreleases", "v2beta1", "status.lastAppliedRevision", THEIRS, STATUS),
    meant("helmreleases", "v2beta2", "status.lastAppliedRevision", THEIRS, STATUS),
    meant("helmreleases", "v2beta1", "status.lastAttemptedReleaseAction", "enum: only ours", STATUS),
    meant("kustomizations", "v1beta1", "status.snapshot", THEIRS, STATUS),
    meant("imagepolicies", "v1beta1", "status.latestImage", THEIRS, STATUS),
    meant("receivers", "v1beta1", "status.url", THEIRS, STATUS),
    meant("receivers", "v1beta2", "status.url", THEIRS, STATUS),
    meant("alerts", "v1beta1", "status", THEIRS, STATELESS),
    meant("alerts", "v1beta2", "status", THEIRS, STATELESS),
    meant("providers", "v1beta1", "status", THEIRS, STATELESS),
    meant("providers", "v1beta2", "status", THEIRS, STATELESS),

    meant("gitrepositories", "v1beta1", "spec.gitImplementation", "default", NO_EFFECT),
    meant("gitrepositories", "v1beta2", "spec.gitImplementation", "default", NO_EFFECT),
    meant("gitrepositories", "v1beta1", "spec.verify.mode", "default", REQUIRED),
    meant("gitrepositories", "v1beta2", "spec.verify.mode", "default", REQUIRED),
    meant("helmrepositories", "v1beta1", "spec.timeout", "default", SAME),
    meant("imagerepositories", "v1beta1", "spec.exclusionList", "default", READ),
    meant("receivers", "v1beta2", "spec.interval", "default", READ),
];

const fn meant(
    kind: &'static str,
    version: &'static str,
    path: &'static str,
    what: &'static str,
    reason: &'static str,
) -> Explained {
    Explained {
        kind,
        version,
        path,
        what,
        reason,
    }
}

impl Explained {
    fn matches(&self, difference: &Difference) -> bool {
        let is = |wanted: &str, found: &str| wanted == "*" || wanted == found;
        let below = difference.path.strip_prefix(self.path);
        is(self.kind, kind(&difference.definition))
            && is(self.version, &difference.version)
            && below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '{']))
            && difference.what.starts_with(self.what)
    }
}

/// Why the difference is meant, if it is.
pub(super) fn reason(difference: &Difference) -> Option<&'static str> {
    EXPLAINED
        .iter()
        .find(|explained| explained.matches(difference))
        .map(|explained| explained.reason)
}

/// Explanations of versions that were compared and do not differ there.
pub(super) fn unused(differences: &[Difference], upstream: &[Value]) -> Vec<String> {
    let compared = |explained: &&Explained| {
        upstream.iter().any(|definition| {
            let versions = definition.list_at(&["spec", "versions"]);
            kind(definition.str_at(&["metadata", "name"])) == explained.kind
                && versions
                    .iter()
                    .any(|version| version.str_at(&["name"]) == explained.version)
        })
    };
    let unused = EXPLAINED
        .iter()
        .filter(compared)
        .filter(|explained| !differences.iter().any(|difference| explained.matches(difference)));
    unused
        .map(|explained| format!("{} {} {}", explained.kind, explained.version, explained.path))
        .collect()
}

/// The first part of the name of a definition: `gitrepositories`.
fn kind(definition: &str) -> &str {
    definition.split_once('.').map_or(definition, |(kind, _)| kind)
}
