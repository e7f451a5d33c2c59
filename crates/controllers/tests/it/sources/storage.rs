//! What becomes of artifacts that the store lost, damaged, or serves from elsewhere: the same for all sources.

use api::source::OciRepositorySpec;
use controllers::sources::OciRepositories;
use k8s_openapi::api::core::v1::Event;
use kube::Api;
use kube::api::{DeleteParams, ListParams};
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

/// S1: a file that is not what it was is removed, told of, and made anew
#[tokio::test]
async fn an_artifact_that_was_damaged_is_told_of() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    let file = bed.store.root().join(&artifact.path);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "something else").unwrap();
    let mut followed = bed.follow("app").await;
    bed.ask("app", "now").await;
    let states = followed.until(|state| answered(state, "now")).await;
    let building = states
        .iter()
        .find(|state| shown(state, "Ready") == "Unknown/Progressing");
    let building = building.expect("Ready is unknown while it is made anew");
    let message = condition(building, "Ready").unwrap().message;
    assert_eq!(message, "building artifact: disappeared from storage");
    let status = building.status.as_ref().unwrap();
    assert!(status.artifact.is_none() && status.url.is_none());
    assert!(condition(building, "ArtifactInStorage").is_none());
    let again = states.last().unwrap().status.clone().unwrap().artifact.unwrap();
    assert_eq!(again.digest, artifact.digest);
    bed.store.read(&again).unwrap();
    let wanted = artifact.digest.unwrap();
    let message = format!("failed to verify integrity of artifact: computed digest doesn't match '{wanted}'");
    bed.until_told("app", "Warning", "ArtifactVerificationFailed", &message)
        .await;
}

/// S1: that a file was damaged is told also where nothing can be made of it anew, and the reason for that too
#[tokio::test]
async fn damage_is_told_of_though_the_source_is_gone() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    let file = bed.store.root().join(&artifact.path);
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "something else").unwrap();
    registry.fail(Fault::status(403).forever());
    let object = bed.requested("app", "now").await;
    assert!(!file.exists());
    let message = condition(&object, "Ready").unwrap().message;
    bed.until_told("app", "Warning", "OCIArtifactPullFailed", &message)
        .await;
    let events: Api<Event> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let events = events.list(&ListParams::default()).await.unwrap();
    let mut reasons = events.iter().filter_map(|event| event.reason.as_deref());
    assert!(reasons.any(|reason| reason == "ArtifactVerificationFailed"));
}

/// S2: whoever starts with an empty store fills it again; consumers find the same content
#[tokio::test]
async fn an_empty_store_is_filled_again_at_the_start() {
    let registry = registry();
    let mut bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    bed.kill();
    std::fs::remove_dir_all(bed.store.root().join("ocirepository")).unwrap();
    let mut followed = bed.follow("app").await;
    bed.reopen("store.test");
    bed.run(OciRepositories::new);
    let states = followed
        .until(|state| {
            let status = state.status.as_ref();
            status.is_some_and(|status| status.artifact.is_none())
        })
        .await;
    assert_eq!(shown(states.last().unwrap(), "Ready"), "Unknown/Progressing");
    let object = bed.ready("app", "True", "Succeeded").await;
    let again = object.status.unwrap().artifact.unwrap();
    assert_eq!(again.digest, artifact.digest);
    bed.store.read(&again).unwrap();
}

/// S1, A4: the addresses in a status follow the host that the program advertises
#[tokio::test]
async fn addresses_follow_the_advertised_host() {
    let registry = registry();
    let mut bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    bed.kill();
    bed.reopen("elsewhere.test");
    bed.run(OciRepositories::new);
    let object = bed.requested("app", "now").await;
    let status = object.status.unwrap();
    let moved = status.artifact.unwrap();
    assert_eq!(moved.url, format!("http://elsewhere.test/{}", artifact.path));
    let newest = format!(
        "http://elsewhere.test/ocirepository/{}/app/latest.tar.gz",
        bed.namespace
    );
    assert_eq!(status.url, Some(newest));
    assert_eq!(
        moved.last_update_time, artifact.last_update_time,
        "nothing was made anew"
    );
}

/// S4: what failed and works again is told, though the content is the same
#[tokio::test]
async fn a_recovery_is_told() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    registry.fail(Fault::status(403).forever());
    bed.requested("app", "one").await;
    bed.ready("app", "False", "OCIArtifactPullFailed").await;
    registry.heal();
    bed.requested("app", "two").await;
    bed.ready("app", "True", "Succeeded").await;
    let revision = object.status.unwrap().artifact.unwrap().revision;
    let url = format!("oci://{}/team/app", registry.host());
    let message = format!("stored artifact with revision '{revision}' from '{url}'");
    bed.until_told("app", "Normal", "Succeeded", &message).await;
}

/// A9: only what is current stays, beyond the time and the number that are kept
#[tokio::test]
async fn what_was_replaced_is_collected_by_the_next_run() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let old = object.status.unwrap().artifact.unwrap();
    registry.push("team/app", "latest", &Artifact::files(&[("b", "2")]));
    bed.requested("app", "one").await;
    let object = bed.requested("app", "two").await;
    let new = object.status.unwrap().artifact.unwrap();
    assert_ne!(old.path, new.path);
    bed.store.read(&new).unwrap();
    assert!(!bed.store.root().join(&old.path).exists());
    let told = "GarbageCollectionSucceeded";
    bed.until_told("app", "Normal", told, "garbage collected 1 artifacts")
        .await;
}

/// X7, S6: what goes leaves no file behind, and that is told
#[tokio::test]
async fn the_files_of_what_is_deleted_are_collected() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    bed.delete("app").await;
    let folder = bed.store.root().join(&artifact.path);
    assert!(!folder.parent().unwrap().exists());
    let (told, message) = (
        "GarbageCollectionSucceeded",
        "garbage collected artifacts for deleted resource",
    );
    bed.until_told("app", "Normal", told, message).await;
}

/// S6: files that cannot be removed keep the object, and that is told until they can
#[tokio::test]
async fn an_object_stays_until_its_files_are_gone() {
    let registry = registry();
    let bed = started().await;
    bed.create("app", spec(&registry)).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.unwrap().artifact.unwrap();
    // Something that is no directory cannot be listed, by nobody.
    let file = bed.store.root().join(&artifact.path);
    let folder = file.parent().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    std::fs::write(folder, "").unwrap();
    bed.api.delete("app", &DeleteParams::default()).await.unwrap();
    let reason = "GarbageCollectionFailed";
    let is_told = |event: &Event| {
        let message = event.message.as_deref().unwrap_or_default();
        event.reason.as_deref() == Some(reason)
            && message.starts_with("garbage collection for deleted resource failed")
    };
    bed.until_event(is_told).await;
    assert!(bed.api.get("app").await.is_ok());
    std::fs::remove_file(folder).unwrap();
    bed.gone("app").await;
}
