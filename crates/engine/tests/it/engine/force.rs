//! Objects that are made anew by force, although something keeps the old ones for a while.

use std::time::Duration;

use engine::cluster::Write;
use engine::unit::{Phase, SyncUnit};
use model::{Value, value};

use super::{Bed, config_map, definition, widget};

/// A config map that cannot be changed.
fn fixed(key: &str) -> Value {
    let mut object = config_map("a", key);
    object.set_at(&["immutable"], true);
    object
}

/// Makes everything anew that cannot be changed, and tries nothing twice.
fn forcing(bed: &Bed, seconds: u64) -> SyncUnit {
    let mut unit = bed.unit("shop");
    unit.policy.options.force = true;
    unit.policy.options.stage_seconds = seconds;
    unit.policy.retry = Duration::from_secs(3600);
    unit
}

/// Somebody keeps the object, or lets it go.
async fn finalizers(bed: &Bed, finalizers: Value) {
    let config_maps = bed.resource("", "ConfigMap").await;
    let (patch, by) = (
        value!({ "metadata": { "finalizers": finalizers } }),
        Write::by("hand"),
    );
    let patched = bed
        .cluster
        .merge_patch(&config_maps, &bed.space, "a", &patch, &by);
    patched.await.unwrap();
}

async fn kept(bed: &Bed) -> String {
    bed.sync("shop", "v1", [fixed("1")]);
    bed.applied("shop", "v1").await;
    finalizers(bed, value!(["example.com/kept"])).await;
    bed.uid("a").await.unwrap()
}

/// AP7
#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_anew_by_force_is_applied_when_what_keeps_the_old_one_lets_it_go() {
    let bed = Bed::start().await;
    bed.units.put(forcing(&bed, 600));
    let before = kept(&bed).await;
    bed.sync("shop", "v2", [fixed("2"), config_map("b", "2")]);
    let status = bed.waits("shop").await;
    let message = &status.operation.unwrap().message;
    assert_eq!(message, "waiting for objects that are made anew to be gone");
    // Nobody is held up: there are two workers, and three units besides this one.
    for id in ["one", "two", "three"] {
        bed.sync(id, "v1", [config_map(id, "1")]);
        bed.applied(id, "v1").await;
    }
    finalizers(&bed, value!([])).await;
    bed.applied("shop", "v2").await;
    let live = bed.get("", "ConfigMap", "a").await.unwrap();
    assert_eq!(live.str_at(&["data", "key"]), "2");
    assert_ne!(live.str_at(&["metadata", "uid"]), before);
    bed.finish().await;
}

/// AP7
#[tokio::test(flavor = "multi_thread")]
async fn what_is_made_anew_by_force_and_never_goes_is_a_timeout_that_names_it() {
    let bed = Bed::start().await;
    bed.units.put(forcing(&bed, 1));
    kept(&bed).await;
    bed.sync("shop", "v2", [fixed("2")]);
    let status = bed.phase("shop", Phase::Failed).await;
    let told = format!(
        "ConfigMap/{}/a timeout waiting for it to be deleted, to be made anew: something keeps it; look at its finalizers",
        bed.space
    );
    assert_eq!(status.errors, [told]);
    finalizers(&bed, value!([])).await;
    bed.engine.refresh("shop");
    bed.applied("shop", "v2").await;
    bed.finish().await;
}

/// All objects of its kind would go with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_not_made_anew_by_force() {
    let bed = Bed::start().await;
    let group = &format!("{}.example.com", bed.test.prefix());
    bed.units.put(SyncUnit {
        id: "def".to_owned(),
        ..forcing(&bed, 60)
    });
    bed.sync("def", "v1", [definition(group), config_map("def", "1")]);
    bed.applied("def", "v1").await;
    bed.sync("app", "v1", [widget(group), config_map("app", "1")]);
    bed.applied("app", "v1").await;
    let mut other = definition(group);
    other.set_at(&["spec", "scope"], "Cluster");
    bed.sync("def", "v2", [other, config_map("def", "2")]);
    let status = bed.until("def", |status| !status.errors.is_empty()).await;
    assert!(status.errors[0].contains("immutable"), "{:?}", status.errors);
    assert!(bed.get(group, "Widget", "w").await.is_some());
    bed.finish().await;
}
