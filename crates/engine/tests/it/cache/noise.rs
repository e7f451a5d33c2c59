//! Which changes are told.

use engine::cluster::{Apply, Write};
use model::health::State;
use model::value;

use super::{Fixture, config_map, told};

/// Argo CD drops updates whose manifest hash and health are the same; so do we.
#[tokio::test]
async fn a_change_that_changes_nothing_moves_only_the_version() {
    let fixture = Fixture::start().await;
    let mut changes = fixture.subscribe();
    let _maps = fixture.follow(fixture.maps()).await;
    let mut object = config_map(&fixture.space, "a", "one");
    object.set_at(
        &[
            "metadata",
            "annotations",
            "control-plane.alpha.kubernetes.io/leader",
        ],
        "0",
    );
    fixture.apply_object(&object).await;
    assert_eq!(told(&mut changes).await, "updated a");
    let before = fixture.get("a").unwrap();
    // Only what an election renews changes.
    object.set_at(
        &[
            "metadata",
            "annotations",
            "control-plane.alpha.kubernetes.io/leader",
        ],
        "1",
    );
    let renewed = fixture.apply_object(&object).await;
    // Another manager takes the same fields: only the managed fields change.
    let maps = fixture.kind("", "ConfigMap").await;
    let owned = fixture
        .cluster
        .apply(&maps, &object, &Apply::by("another"))
        .await
        .unwrap();
    assert_ne!(
        renewed.str_at(&["metadata", "resourceVersion"]),
        before.resource_version()
    );
    fixture.apply("b", "one").await;
    assert_eq!(told(&mut changes).await, "updated b");
    let after = fixture.get("a").unwrap();
    assert_eq!(
        after.resource_version(),
        owned.str_at(&["metadata", "resourceVersion"])
    );
    assert_eq!(after.content(), before.content());
    fixture.test.finish().await;
}

#[tokio::test]
async fn a_change_of_health_or_the_begin_of_a_deletion_is_told() {
    let fixture = Fixture::start().await;
    let mut changes = fixture.subscribe();
    let _claims = fixture
        .follow(fixture.interest("", "PersistentVolumeClaim"))
        .await;
    fixture
        .apply_object(&value!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": { "name": "data", "namespace": (fixture.space.clone()), "finalizers": ["engine.sluice.dev/test"] },
            "spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": "none",
                "resources": { "requests": { "storage": "1Gi" } },
            },
        }))
        .await;
    assert_eq!(told(&mut changes).await, "updated data");
    let claims = fixture.kind("", "PersistentVolumeClaim").await;
    let key = model::ObjectKey {
        kind: "PersistentVolumeClaim".into(),
        ..fixture.key("data")
    };
    let state = || fixture.cache.get(&key).unwrap().health().unwrap().state;
    assert_eq!(state(), State::Progressing);

    fixture
        .cluster
        .delete(&claims, &fixture.space, "data", &Default::default())
        .await
        .unwrap();
    assert_eq!(told(&mut changes).await, "updated data");
    assert!(fixture.cache.get(&key).unwrap().deleting());
    assert_eq!(state(), State::Terminating);
    let patch = value!({ "metadata": { "finalizers": null } });
    fixture
        .cluster
        .merge_patch(&claims, &fixture.space, "data", &patch, &Write::by("tests"))
        .await
        .unwrap();
    // The finalizers are something that somebody asked for, and a protection of the server's own may be gone a moment later.
    loop {
        match told(&mut changes).await.as_str() {
            "removed data" => break,
            other => assert_eq!(other, "updated data"),
        }
    }
    fixture.test.finish().await;
}
