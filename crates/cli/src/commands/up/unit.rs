//! A source, a Kustomization or a release: what its status says of it.

use model::inventory::Inventory;
use model::object_key::split_api_version;
use model::{ObjectKey, Value, convert};

/// How something is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// On its way.
    Waiting,
    /// As it shall be.
    Ready,
    /// It will not get there by itself.
    Failed,
}

impl State {
    pub(super) fn word(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Ready => "ready",
            State::Failed => "failed",
        }
    }
}

/// What keeps a unit that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// It is being worked on.
    Own,
    /// Another unit has to be ready first.
    Other,
}

/// One unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) key: ObjectKey,
    pub(super) state: State,
    pub(super) wait: Wait,
    /// The reason of the state, for programs.
    pub(super) reason: String,
    /// What it waits for, or why it has failed.
    pub(super) detail: String,
    /// What it has fetched or applied last.
    pub(super) revision: String,
    /// What it has tried to apply last.
    pub(super) attempted: String,
    /// Where it takes what it applies or packs from.
    pub(super) source: Option<ObjectKey>,
    /// The revision of its source that it has got to, by all names that this has.
    reached: Vec<String>,
    /// The HelmChart that is made for a release.
    pub(super) made: Option<ObjectKey>,
    /// What it has in this cluster, each with its `apiVersion`.
    pub(super) objects: Vec<(ObjectKey, String)>,
    /// The last request that it has answered.
    pub(super) handled: String,
}

impl Unit {
    /// What an object says of itself.
    pub(super) fn of(object: &Value) -> Self {
        let status = |field: &str| object.str_at(&["status", field]).to_owned();
        let (state, wait, reason, detail) = state(object);
        Unit {
            key: ObjectKey::of(object),
            state,
            wait,
            reason,
            detail,
            revision: revision(object).to_owned(),
            attempted: status("lastAttemptedRevision"),
            source: source(object),
            reached: reached(object),
            made: made(object),
            objects: objects(object),
            handled: status("lastHandledReconcileAt"),
        }
    }

    /// Whether it has got to a revision of its source. A release knows that of a registry by its digest alone.
    pub(super) fn has_reached(&self, revision: &str) -> bool {
        let digest = revision.rsplit_once('@').map_or(revision, |(_, digest)| digest);
        let mut reached = self.reached.iter();
        reached.any(|reached| reached == revision || reached == digest)
    }
}

/// What a unit has fetched, packed or applied last.
fn revision(object: &Value) -> &str {
    let released = object.list_at(&["status", "history"]).first();
    let released = released.map(|newest| newest.str_at(&["chartVersion"]));
    let applied = object.str_at(&["status", "lastAppliedRevision"]);
    match (object.str_at(&["kind"]), applied) {
        ("HelmRelease", _) => released.unwrap_or_default(),
        (_, "") => object.str_at(&["status", "artifact", "revision"]),
        (_, applied) => applied,
    }
}

fn reached(object: &Value) -> Vec<String> {
    let fields: &[&str] = match object.str_at(&["kind"]) {
        "HelmRelease" => &["lastAttemptedRevision", "lastAttemptedRevisionDigest"],
        "HelmChart" => &["observedSourceArtifactRevision"],
        _ => &["lastAppliedRevision"],
    };
    let texts = fields.iter().map(|field| object.str_at(&["status", field]));
    texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// The HelmChart that is made for a release whose spec describes one.
fn made(object: &Value) -> Option<ObjectKey> {
    object.at(&["spec", "chart", "spec"])?;
    let (namespace, name) = object.str_at(&["status", "helmChart"]).split_once('/')?;
    Some(ObjectKey {
        group: api::source::GROUP.into(),
        kind: "HelmChart".into(),
        namespace: namespace.into(),
        name: name.into(),
    })
}

fn state(object: &Value) -> (State, Wait, String, String) {
    let told = |state, wait, reason: &str, detail: &str| (state, wait, reason.to_owned(), detail.to_owned());
    let condition = |kind: &str| {
        let mut all = object.list_at(&["status", "conditions"]).iter();
        all.find(|condition| condition.str_at(&["type"]) == kind)
    };
    let is_true = |kind: &str| condition(kind).is_some_and(|found| found.str_at(&["status"]) == "True");
    if object.at(&["metadata", "deletionTimestamp"]).is_some() {
        return told(State::Waiting, Wait::Own, "", "being deleted");
    }
    if object.at(&["spec", "suspend"]).and_then(Value::as_bool) == Some(true) {
        return told(State::Ready, Wait::Own, "", "suspended");
    }
    // What is said of an earlier specification says nothing of this one.
    let generation = object.at(&["metadata", "generation"]);
    let judged = ["Ready", "Stalled"].map(|kind| condition(kind)?.at(&["observedGeneration"]));
    if judged
        .into_iter()
        .flatten()
        .any(|judged| Some(judged) != generation)
    {
        return told(State::Waiting, Wait::Own, "", "not looked at yet");
    }
    if let Some(stalled) = condition("Stalled").filter(|_| is_true("Stalled")) {
        let (reason, message) = (stalled.str_at(&["reason"]), stalled.str_at(&["message"]));
        return told(State::Failed, Wait::Own, reason, message);
    }
    let Some(ready) = condition("Ready") else {
        let kind = object.str_at(&["kind"]);
        return match kind {
            // Repositories of charts in registries have no status.
            "HelmRepository" if object.str_at(&["spec", "type"]) == "oci" => {
                told(State::Ready, Wait::Own, "", "")
            }
            _ => told(State::Waiting, Wait::Own, "", "not looked at yet"),
        };
    };
    let (reason, message) = (ready.str_at(&["reason"]), ready.str_at(&["message"]));
    let is_observed = object.at(&["status", "observedGeneration"]) == generation;
    match ready.str_at(&["status"]) {
        "True" if is_observed && !is_true("Reconciling") => told(State::Ready, Wait::Own, reason, ""),
        "False" if reason == "DependencyNotReady" => told(State::Waiting, Wait::Other, reason, message),
        // The source has nothing yet.
        "False"
            if matches!(
                reason,
                "SourceNotReady" | "NoSourceArtifact" | "SourceUnavailable"
            ) =>
        {
            told(State::Waiting, Wait::Other, reason, message)
        }
        "False" if reason == "ArtifactFailed" && message.contains("retrying in") => {
            told(State::Waiting, Wait::Other, reason, message)
        }
        "False" if is_remedied(object) => told(State::Waiting, Wait::Own, reason, message),
        "False" => told(State::Failed, Wait::Own, reason, message),
        _ => {
            let message = condition("Reconciling").map_or(message, |found| found.str_at(&["message"]));
            told(State::Waiting, Wait::Own, reason, message)
        }
    }
}

/// Whether a release that has failed is being rolled back or uninstalled, or is tried again.
fn is_remedied(object: &Value) -> bool {
    let mut conditions = object.list_at(&["status", "conditions"]).iter();
    let reconciling = conditions.find(|condition| condition.str_at(&["type"]) == "Reconciling");
    let Some(reconciling) = reconciling.filter(|_| object.str_at(&["kind"]) == "HelmRelease") else {
        return false;
    };
    match reconciling.str_at(&["reason"]) {
        "Progressing" => {
            let message = reconciling.str_at(&["message"]);
            message.starts_with("Running 'rollback'") || message.starts_with("Running 'uninstall'")
        }
        "ProgressingWithRetry" => {
            let action = object.str_at(&["status", "lastAttemptedReleaseAction"]);
            let number = |path: &[&str]| object.at(path).and_then(Value::as_i64).unwrap_or_default();
            let retries = number(&["spec", action, "remediation", "retries"]);
            let failures = number(&["status", &format!("{action}Failures")]);
            !action.is_empty() && failures > 0 && (retries < 0 || failures <= retries)
        }
        _ => false,
    }
}

fn source(object: &Value) -> Option<ObjectKey> {
    if let Some(made) = made(object) {
        return Some(made);
    }
    let named = object
        .at(&["spec", "sourceRef"])
        .or_else(|| object.at(&["spec", "chartRef"]))?;
    let namespace = match named.str_at(&["namespace"]) {
        "" => object.str_at(&["metadata", "namespace"]),
        namespace => namespace,
    };
    let group = match named.str_at(&["apiVersion"]) {
        "" => api::source::GROUP,
        version => split_api_version(version).0,
    };
    Some(ObjectKey {
        group: group.into(),
        kind: named.str_at(&["kind"]).into(),
        namespace: namespace.into(),
        name: named.str_at(&["name"]).into(),
    })
}

/// What is in its inventory, where that is about this cluster.
fn objects(object: &Value) -> Vec<(ObjectKey, String)> {
    if object.at(&["spec", "kubeConfig"]).is_some() {
        return Vec::new();
    }
    let inventory = object.at(&["status", "inventory"]);
    let inventory: Option<Inventory> = inventory.and_then(|inventory| convert::to_serde(inventory).ok());
    let entries = inventory.unwrap_or_default().entries.into_iter();
    let with_version = entries.map(|entry| {
        let key = entry.id.0;
        let version = match key.group.as_str() {
            "" => entry.version,
            group => format!("{group}/{}", entry.version),
        };
        (key, version)
    });
    with_version.collect()
}

/// A revision as it is shown: the branch or tag, and the beginning of the commit or digest.
pub(super) fn short(revision: &str) -> String {
    let Some((name, digest)) = revision.split_once("@") else {
        return revision.chars().take(24).collect();
    };
    let digest = digest.split_once(':').map_or(digest, |(_, digits)| digits);
    let digest: String = digest.chars().take(8).collect();
    format!("{name}@{digest}")
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn kustomization(status: Value) -> Value {
        value!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": "app", "namespace": "flux-system", "generation": 2},
            "spec": {"sourceRef": {"kind": "GitRepository", "name": "app"}},
            "status": status,
        })
    }

    fn ready(status: &str, reason: &str, message: &str) -> Value {
        kustomization(value!({
            "observedGeneration": 2,
            "lastAppliedRevision": "main@sha1:0123456789abcdef",
            "conditions": [{"type": "Ready", "status": status, "reason": reason, "message": message}],
            "inventory": {"entries": [{"id": "shop_web_apps_Deployment", "v": "v1"}]},
        }))
    }

    #[test]
    fn a_status_tells_how_a_unit_is() {
        for (object, state, wait) in [
            (kustomization(value!({})), State::Waiting, Wait::Own),
            (
                ready("True", "ReconciliationSucceeded", ""),
                State::Ready,
                Wait::Own,
            ),
            (
                ready("Unknown", "Progressing", "running"),
                State::Waiting,
                Wait::Own,
            ),
            (ready("False", "BuildFailed", "no"), State::Failed, Wait::Own),
            (
                ready("False", "DependencyNotReady", "x"),
                State::Waiting,
                Wait::Other,
            ),
            (
                ready(
                    "False",
                    "ArtifactFailed",
                    "Source artifact not found, retrying in 30s",
                ),
                State::Waiting,
                Wait::Other,
            ),
            (
                ready("False", "ArtifactFailed", "kustomization path not found"),
                State::Failed,
                Wait::Own,
            ),
        ] {
            let unit = Unit::of(&object);
            assert_eq!((unit.state, unit.wait), (state, wait), "{object:?}");
        }
    }

    #[test]
    fn what_was_asked_for_anew_is_not_ready_before_it_was_looked_at() {
        let mut object = ready("True", "ReconciliationSucceeded", "");
        object.set_at(&["metadata", "generation"], 3);
        assert_eq!(Unit::of(&object).state, State::Waiting);
        let mut object = ready("False", "BuildFailed", "no");
        object.set_at(&["metadata", "generation"], 3);
        let condition =
            value!([{"type": "Ready", "status": "False", "reason": "BuildFailed", "observedGeneration": 2}]);
        object.set_at(&["status", "conditions"], condition);
        assert_eq!(Unit::of(&object).state, State::Waiting);
    }

    #[test]
    fn a_kustomization_names_its_source_and_its_objects() {
        let unit = Unit::of(&ready("True", "ReconciliationSucceeded", ""));
        let source = unit.source.clone().unwrap();
        assert_eq!(source.to_string(), "GitRepository/flux-system/app");
        assert_eq!(unit.objects[0].0.to_string(), "Deployment/shop/web");
        assert_eq!(unit.objects[0].1, "apps/v1");
        assert_eq!(short(&unit.revision), "main@01234567");
        assert!(unit.has_reached("main@sha1:0123456789abcdef") && !unit.has_reached("main@sha1:0"));
    }

    fn release(status: Value) -> Value {
        value!({
            "apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
            "metadata": {"name": "web", "namespace": "shop", "generation": 1},
            "spec": {
                "chart": {"spec": {"chart": "./app"}},
                "upgrade": {"remediation": {"retries": 1}},
            },
            "status": status,
        })
    }

    #[test]
    fn a_release_names_its_chart_and_what_it_has_got_to() {
        let unit = Unit::of(&release(value!({
            "helmChart": "shop/shop-web", "lastAttemptedRevision": "2.0.0",
            "lastAttemptedRevisionDigest": "sha256:abc",
            "history": [{"chartVersion": "1.0.0"}, {"chartVersion": "0.9.0"}],
        })));
        assert_eq!(unit.source.unwrap().to_string(), "HelmChart/shop/shop-web");
        assert_eq!(
            (unit.revision.as_str(), unit.attempted.as_str()),
            ("1.0.0", "2.0.0")
        );
        let unit = Unit::of(&release(
            value!({"lastAttemptedRevision": "2.0.0", "lastAttemptedRevisionDigest": "sha256:abc"}),
        ));
        assert!(unit.has_reached("2.0.0") && unit.has_reached("2.0.0@sha256:abc"));
        assert!(!unit.has_reached("2.0.0@sha256:def") && !unit.has_reached("1.0.0"));
    }

    #[test]
    fn a_release_that_is_rolled_back_or_tried_again_has_not_failed_yet() {
        let failed = |failures: i64, reason: &str, message: &str| {
            Unit::of(&release(value!({
                "observedGeneration": 1, "lastAttemptedReleaseAction": "upgrade", "upgradeFailures": failures,
                "conditions": [
                    {"type": "Ready", "status": "False", "reason": "UpgradeFailed", "message": "no"},
                    {"type": "Reconciling", "status": "True", "reason": reason, "message": message},
                ],
            })))
        };
        for (failures, reason, message, state) in [
            (
                1,
                "Progressing",
                "Running 'rollback' action with timeout of 5m0s",
                State::Waiting,
            ),
            (1, "Progressing", "Fulfilling prerequisites", State::Failed),
            (
                1,
                "Progressing",
                "Running 'upgrade' action with timeout of 5m0s",
                State::Failed,
            ),
            (1, "ProgressingWithRetry", "no", State::Waiting),
            (2, "ProgressingWithRetry", "no", State::Failed),
        ] {
            assert_eq!(
                failed(failures, reason, message).state,
                state,
                "{failures} {reason} {message}"
            );
        }
    }
}
