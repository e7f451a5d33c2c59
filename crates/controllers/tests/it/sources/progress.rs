//! What an object shows while it is worked on, and who may ask for work: the same for all sources, shown with OCIRepositories.

use api::source::{OciRepository, OciRepositorySpec};
use api::{Object, ReconcileStatus};
use controllers::sources::OciRepositories;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use testkit::http::Fault;
use testkit::oci::{Artifact, Server};

use super::bed::{Bed, condition};
use super::follow::{answered, shown};

type OciBed = Bed<OciRepositorySpec>;

async fn started() -> OciBed {
    let mut bed = OciBed::start().await;
    bed.run(OciRepositories::new);
    bed
}

fn registry() -> Server {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    registry
}

fn spec(registry: &Server) -> Value {
    json!({"url": format!("oci://{}/team/app", registry.host()), "interval": "1h", "insecure": true})
}

fn observed(object: &OciRepository) -> Option<i64> {
    object
        .status
        .as_ref()
        .and_then(ReconcileStatus::observed_generation)
}

fn is_ready(object: &Object<OciRepositorySpec>) -> bool {
    shown(object, "Ready") == "True/Succeeded" && condition(object, "Reconciling").is_none()
}

/// X3, X7
#[tokio::test]
async fn the_first_run_only_adds_the_finalizer() {
    let registry = registry();
    let bed = started().await;
    let mut followed = bed.follow("app").await;
    bed.create("app", spec(&registry)).await;
    let states = followed.until(is_ready).await;
    let first = states
        .iter()
        .find(|state| state.metadata.finalizers.is_some())
        .unwrap();
    assert_eq!(
        first.metadata.finalizers.as_deref(),
        Some(["finalizers.fluxcd.io".to_owned()].as_slice())
    );
    let status = serde_json::to_value(&first.status).unwrap();
    assert_eq!(
        status,
        json!({"observedGeneration": -1}),
        "nothing else is said yet"
    );
}

/// C3: the time of a condition moves with its status, its reason and its message, and only with these; it is in seconds of UTC
#[tokio::test]
async fn the_time_of_a_condition_tells_when_it_last_changed() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.until("app", is_ready).await;
    let ready = condition(&object, "Ready").unwrap();
    let long_ago = "2020-02-02T20:02:02Z";
    for (token, status, reason, message, moves) in [
        ("same", "True", &*ready.reason, &*ready.message, false),
        ("message", "True", &*ready.reason, "another", true),
        ("reason", "True", "Another", &*ready.message, true),
        ("status", "False", &*ready.reason, &*ready.message, true),
    ] {
        let object = bed.api.get("app").await.unwrap();
        let mut conditions = serde_json::to_value(object.status.unwrap().conditions()).unwrap();
        let mut conditions_now = conditions.as_array_mut().unwrap().iter_mut();
        let old = conditions_now.find(|one| one["type"] == "Ready").unwrap();
        let changed = json!({
            "type": "Ready", "status": status, "reason": reason, "message": message, "lastTransitionTime": long_ago,
            "observedGeneration": 0,
        });
        *old = changed;
        let patch = Patch::Merge(json!({"status": {"conditions": conditions}}));
        let parameters = PatchParams::default();
        bed.api.patch_status("app", &parameters, &patch).await.unwrap();
        let object = bed.requested("app", token).await;
        let now = serde_json::to_value(condition(&object, "Ready").unwrap()).unwrap();
        assert_eq!(now["message"], ready.message, "{token}");
        assert_eq!(
            now["observedGeneration"], 1,
            "{token}: the generation moves always"
        );
        let time = now["lastTransitionTime"].as_str().unwrap();
        assert_eq!(time != long_ago, moves, "{token}");
        assert!(time.len() == long_ago.len() && time.ends_with('Z'), "{time}");
    }
}

/// C1, C3, C7, S1
#[tokio::test]
async fn a_run_shows_progress_until_it_is_ready() {
    let registry = registry();
    let bed = started().await;
    let mut followed = bed.follow("app").await;
    bed.create("app", spec(&registry)).await;
    let states = followed.until(is_ready).await;
    let begun = states
        .iter()
        .find(|state| condition(state, "Ready").is_some())
        .unwrap();
    assert_eq!(shown(begun, "Ready"), "Unknown/Progressing");
    assert_eq!(shown(begun, "Reconciling"), "True/Progressing");
    let mut readies = states.iter().filter_map(|state| condition(state, "Ready"));
    assert!(readies.any(|ready| ready.message == "building artifact"));
    for state in &states {
        let both = condition(state, "Stalled").and(condition(state, "Reconciling"));
        assert!(both.is_none(), "one excludes the other");
        let conditions = state.status.iter().flat_map(|status| status.conditions());
        for condition in conditions {
            assert_eq!(condition.observed_generation, state.metadata.generation);
        }
    }
    assert!(
        states[..states.len() - 1]
            .iter()
            .all(|state| observed(state) == Some(-1))
    );
    assert_eq!(observed(states.last().unwrap()), Some(1));
}

/// C5, C6, and that a generation that failed is not taken for done
#[tokio::test]
async fn the_observed_generation_waits_for_a_success() {
    let registry = registry();
    registry.fail(Fault::status(403).forever());
    let bed = started().await;
    let mut followed = bed.follow("app").await;
    bed.create("app", spec(&registry)).await;
    let states = followed
        .until(|state| shown(state, "Reconciling") == "True/ProgressingWithRetry")
        .await;
    let failed = states.last().unwrap();
    assert_eq!(shown(failed, "Ready"), "False/OCIArtifactPullFailed");
    assert_eq!(observed(failed), Some(-1));
    let again = followed
        .until(|state| shown(state, "Reconciling") == "True/Progressing")
        .await;
    assert!(again.iter().all(|state| observed(state) == Some(-1)));
    registry.heal();
    let states = followed.until(is_ready).await;
    assert_eq!(observed(states.last().unwrap()), Some(1));
}

/// `reconcile.fluxcd.io/requestedAt`: answered at the end of a run, not at its beginning, also of one that fails
#[tokio::test]
async fn a_request_is_answered_at_the_end_also_of_a_failure() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    bed.until("app", is_ready).await;
    let mut followed = bed.follow("app").await;
    bed.ask("app", "well").await;
    let states = followed.until(|state| answered(state, "well")).await;
    let (last, before) = states.split_last().unwrap();
    assert!(is_ready(last), "the work is done");
    assert!(
        before
            .iter()
            .any(|state| shown(state, "Reconciling") == "True/Progressing"),
        "who asked sees that it began"
    );
    assert!(
        states
            .iter()
            .all(|state| shown(state, "Ready") == "True/Succeeded"),
        "a steady Ready does not flap"
    );
    registry.fail(Fault::status(403).forever());
    bed.ask("app", "badly").await;
    let states = followed.until(|state| answered(state, "badly")).await;
    let failed = states.last().unwrap();
    assert_eq!(shown(failed, "Ready"), "False/OCIArtifactPullFailed");
    assert_eq!(observed(failed), Some(1), "the generation was done before");
}

/// D8
#[tokio::test]
async fn labels_and_statuses_ask_for_nothing() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    bed.until("app", is_ready).await;
    let asked = registry.requests().len();
    bed.patch("app", json!({"metadata": {"labels": {"a": "b"}}}))
        .await;
    let status = Patch::Merge(json!({"status": {"url": "http://elsewhere/"}}));
    let parameters = PatchParams::default();
    bed.api.patch_status("app", &parameters, &status).await.unwrap();
    bed.requested("app", "now").await;
    assert_eq!(
        registry.requests().len(),
        asked + 1,
        "only the request was followed"
    );
}

/// C10: others who write without pause keep no status from being written
#[tokio::test(flavor = "multi_thread")]
async fn a_status_is_written_though_others_never_stop_writing() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    bed.until("app", is_ready).await;
    let others: Vec<_> = (0..3)
        .map(|number| {
            let api = bed.api.clone();
            tokio::spawn(async move {
                for beat in 0u64.. {
                    let patch =
                        json!({"metadata": {"annotations": {format!("beat-{number}"): beat.to_string()}}});
                    let patch = Patch::Merge(&patch);
                    // A server that is overtaken too often says so. One that is gone is asked no more: nothing would be waited for, and the
                    // runtime could not end.
                    let patched = api.patch("app", &PatchParams::default(), &patch).await;
                    if !matches!(patched, Ok(_) | Err(kube::Error::Api(_))) {
                        break;
                    }
                }
            })
        })
        .collect();
    for token in ["one", "two", "three"] {
        let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", token)]));
        let object = bed.requested("app", token).await;
        let artifact = object.status.unwrap().artifact.unwrap();
        assert_eq!(artifact.revision.to_string(), format!("latest@{digest}"));
    }
    others.iter().for_each(|other| other.abort());
}

/// C10: what others say of an object is kept, also if they say it during a run, and what is ours is known as ours
#[tokio::test]
async fn what_others_write_to_a_status_is_kept() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.until("app", is_ready).await;
    let managers = object.metadata.managed_fields.clone().unwrap();
    let ours = managers
        .iter()
        .filter(|entry| entry.subresource.as_deref() == Some("status"));
    let ours: Vec<&str> = ours.filter_map(|entry| entry.manager.as_deref()).collect();
    assert_eq!(ours, ["source-controller"]);
    // The registry holds the run back while somebody else writes.
    registry.fail(Fault::delay(std::time::Duration::from_secs(2)));
    registry.push("team/app", "latest", &Artifact::files(&[("b", "2")]));
    bed.ask("app", "now").await;
    let running = bed
        .until("app", |state| shown(state, "Reconciling") == "True/Progressing")
        .await;
    let mut conditions = running.status.unwrap().conditions().to_vec();
    let mut foreign = conditions.last().cloned().unwrap();
    foreign.kind = "Audited".into();
    conditions.push(foreign);
    let status = Patch::Merge(json!({"status": {"conditions": conditions}}));
    let parameters = PatchParams::default();
    bed.api.patch_status("app", &parameters, &status).await.unwrap();
    let object = bed
        .until("app", |state| is_ready(state) && answered(state, "now"))
        .await;
    assert_eq!(shown(&object, "Audited"), "True/Succeeded");
}
