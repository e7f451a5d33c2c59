//! What others do to our objects is put right.

use std::time::{Duration, Instant};

use model::value;

use super::{Bed, config_map};

#[tokio::test(flavor = "multi_thread")]
async fn a_change_by_hand_is_put_right() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.by_hand("", config_map("a", "changed")).await;
    let start = Instant::now();
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    // The benchmark has the figure; here it only matters that nobody waited for the interval of ten minutes.
    assert!(start.elapsed() < Duration::from_secs(60));
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_somebody_deleted_comes_back() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let config_maps = bed.resource("", "ConfigMap").await;
    let options = engine::cluster::Delete::default();
    bed.cluster
        .delete(&config_maps, &bed.space, "a", &options)
        .await
        .unwrap();
    bed.seen("ConfigMap", "a", |live| live.is_some()).await;
    bed.finish().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_asked_about_is_left_alone() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let other = value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": "a" }, "data": { "other": "theirs" },
    });
    bed.by_hand("", other).await;
    bed.sync("shop", "v2", [config_map("a", "2")]);
    bed.applied("shop", "v2").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    let data = (live.str_at(&["data", "key"]), live.str_at(&["data", "other"]));
    assert_eq!(data, ("2", "theirs"));
    bed.finish().await;
}

/// argo-cd#26530: what was kept for a revision hides what it really is.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_built_otherwise_under_the_same_revision_is_applied() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.sync("shop", "v1", [config_map("a", "2")]);
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "2")
    })
    .await;
    bed.finish().await;
}
