//! What a controller knows of an object goes with the object, however that goes.

use std::time::Duration;

use api::kustomize::KustomizationSpec;
use api::source::{BucketSpec, GitRepositorySpec, OciRepositorySpec};
use api::{ReconcileStatus, Spec};
use controllers::kustomizations::{Kustomizations, Settings, Shared};
use kube::api::Patch;
use serde_json::{Value, json};
use testkit::settled::Every;

use super::undecodable::{TOO_LONG, stalled, untyped};
use crate::helm_releases::bed::{CONFIG, Setting as HelmSetting};
use crate::sources::bed::Bed;

/// Twelve Kustomizations that the controller has worked on, and a count of those that it keeps something of.
async fn kustomizations() -> (Bed<KustomizationSpec>, Vec<String>, impl Fn() -> usize) {
    let mut bed = Bed::<KustomizationSpec>::start().await;
    bed.serve::<GitRepositorySpec>().await;
    bed.serve::<OciRepositorySpec>().await;
    bed.serve::<BucketSpec>().await;
    let (scratch, mut counts) = (bed.scratch(), None);
    bed.run(|shared| {
        let controller = Kustomizations::new(Shared {
            client: shared.client,
            store: Some(shared.store),
            scratch,
            repositories: shared.repositories,
            identities: shared.identities,
            http: source::http::Options::default(),
            settings: Settings::default(),
        });
        counts = Some(controller.remembered());
        controller
    });
    let count = counts.unwrap();
    let spec =
        json!({"interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "none"}});
    let names: Vec<String> = (0..12).map(|number| format!("app-{number}")).collect();
    for name in &names {
        bed.create(name, spec.clone()).await;
    }
    for name in &names {
        bed.ready(name, "False", "ArtifactFailed").await;
    }
    assert_eq!(count(), names.len());
    (bed, names, count)
}

async fn patch<S: Spec>(bed: &Bed<S>, name: &str, patch: Value) {
    match untyped(bed)
        .patch(name, &Default::default(), &Patch::Merge(patch))
        .await
    {
        // The object may be gone by itself.
        Err(kube::Error::Api(status)) if status.code == 404 => {}
        patched => drop(patched.unwrap()),
    }
}

/// Deletes an object, and takes its finalizer away: somebody is in a hurry.
async fn vanish<S: Spec<Status: ReconcileStatus + PartialEq>>(bed: &Bed<S>, name: &str) {
    bed.api
        .delete(name, &Default::default())
        .await
        .map(drop)
        .or_else(|error| match error {
            // The answer is the object as it is, which may be undecodable.
            kube::Error::SerdeError(_) => Ok(()),
            error => Err(error),
        })
        .unwrap();
    patch(bed, name, json!({"metadata": {"finalizers": null}})).await;
    let limit = Duration::from_secs(30);
    let gone = testkit::cluster::object_settled(untyped(bed), name, limit, |object| match object {
        None => Ok(()),
        Some(_) => Err("it is still there".to_owned()),
    });
    gone.await.unwrap();
}

async fn freed(count: impl Fn() -> usize) {
    let every = Every(Duration::from_millis(20));
    let freed = testkit::settled(Duration::from_secs(30), every, async || match count() {
        0 => Ok(()),
        left => Err(format!("{left} are left")),
    });
    freed.await.unwrap();
}

/// Objects that vanish without their finalizer, or whose source never comes, left what was known of them behind.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_that_vanish_leave_nothing_in_memory() {
    let (bed, names, count) = kustomizations().await;
    for name in &names {
        vanish(&bed, name).await;
    }
    freed(count).await;
}

/// The controller forgot an object that got undecodable, and so did not recognize it when it was gone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_that_vanish_while_undecodable_leave_nothing_in_memory() {
    let (bed, names, count) = kustomizations().await;
    for name in &names {
        patch(&bed, name, json!({"spec": {"interval": TOO_LONG}})).await;
    }
    for name in &names {
        stalled(&bed, name, "spec.interval: ").await;
        vanish(&bed, name).await;
    }
    freed(count).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn releases_that_vanish_leave_nothing_in_memory() {
    let setting = HelmSetting::with(&[("app/templates/config.yaml", CONFIG)]).await;
    for name in ["one", "two", "bad"] {
        let drift = json!({"mode": "enabled"});
        setting
            .create(name, json!({"values": {"a": "1"}, "driftDetection": drift}))
            .await;
    }
    for name in ["one", "two", "bad"] {
        setting.deployed(name, 1).await;
    }
    assert_eq!((setting.remembered)(), 3);
    patch(&setting.bed, "bad", json!({"spec": {"interval": TOO_LONG}})).await;
    stalled(&setting.bed, "bad", "spec.interval: ").await;
    setting.bed.delete("one").await;
    for name in ["two", "bad"] {
        vanish(&setting.bed, name).await;
    }
    freed(&setting.remembered).await;
}
