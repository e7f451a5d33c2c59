//! Single objects.

use engine::cluster::{Apply, Delete, Deleted, Error, Validation, Verb, Write};
use model::value;

use super::{config_map, definition, of};

#[tokio::test]
async fn an_object_is_created_read_changed_and_deleted() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("objects").await);
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    assert_eq!(cluster.get(&maps, &space, "a").await.unwrap(), None);

    let write = Write::by("tests");
    let made = cluster
        .create(&maps, &config_map(&space, "a", "one"), &write)
        .await
        .unwrap();
    assert_eq!(made.str_at(&["data", "text"]), "one");
    let again = cluster
        .create(&maps, &config_map(&space, "a", "two"), &write)
        .await;
    assert!(matches!(again, Err(Error::AlreadyExists(_))), "{again:?}");

    let patch = value!([{ "op": "replace", "path": "/data/text", "value": "two" }]);
    let patched = cluster
        .json_patch(&maps, &space, "a", &patch, &write)
        .await
        .unwrap();
    assert_eq!(patched.str_at(&["data", "text"]), "two");
    let patch = value!({ "data": { "text": "three" } });
    let mut merged = cluster
        .merge_patch(&maps, &space, "a", &patch, &write)
        .await
        .unwrap();
    merged.set_at(&["data", "text"], "four");
    let replaced = cluster.replace(&maps, &merged, &write).await.unwrap();
    assert_eq!(replaced.str_at(&["data", "text"]), "four");
    // The version in it is an old one by now.
    let stale = cluster.replace(&maps, &merged, &write).await;
    assert!(matches!(stale, Err(Error::Conflict(_))), "{stale:?}");

    let other = Delete {
        uid: Some("other".into()),
        ..Delete::default()
    };
    let refused = cluster.delete(&maps, &space, "a", &other).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let uid = Delete {
        uid: Some(replaced.str_at(&["metadata", "uid"]).into()),
        ..Delete::default()
    };
    assert_eq!(
        cluster.delete(&maps, &space, "a", &uid).await.unwrap(),
        Deleted::Gone
    );
    let gone = cluster.delete(&maps, &space, "a", &uid).await;
    assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
    test.finish().await;
}

#[tokio::test]
async fn an_object_with_a_finalizer_is_leaving_when_it_is_deleted() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("leaving").await);
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    let mut object = config_map(&space, "a", "one");
    object.set_at(&["metadata", "finalizers"], value!(["engine.sluice.dev/test"]));
    let write = Write::by("tests");
    cluster.create(&maps, &object, &write).await.unwrap();
    let dry = Delete {
        dry_run: true,
        ..Delete::default()
    };
    cluster.delete(&maps, &space, "a", &dry).await.unwrap();
    let deleted = cluster
        .delete(&maps, &space, "a", &Delete::default())
        .await
        .unwrap();
    let Deleted::Leaving(object) = deleted else {
        panic!("{deleted:?}")
    };
    assert_eq!(object.str_at(&["metadata", "name"]), "a");
    let patch = value!({ "metadata": { "finalizers": null } });
    cluster
        .merge_patch(&maps, &space, "a", &patch, &write)
        .await
        .unwrap();
    assert_eq!(cluster.get(&maps, &space, "a").await.unwrap(), None);
    test.finish().await;
}

/// AP1
#[tokio::test]
async fn a_dry_run_tells_what_an_apply_would_do_and_does_nothing() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("apply").await);
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    let (before, apply) = (cluster.counts(), Apply::by("tests"));
    let dry = Apply {
        dry_run: true,
        ..apply.clone()
    };
    let would = cluster
        .apply(&maps, &config_map(&space, "a", "one"), &dry)
        .await
        .unwrap();
    assert_eq!(would.str_at(&["data", "text"]), "one");
    assert_eq!(cluster.get(&maps, &space, "a").await.unwrap(), None);
    cluster
        .apply(&maps, &config_map(&space, "a", "one"), &apply)
        .await
        .unwrap();
    assert!(cluster.get(&maps, &space, "a").await.unwrap().is_some());
    let counts = cluster.counts().since(&before);
    assert_eq!(
        (
            counts.of(Verb::DryRun),
            counts.of(Verb::Apply),
            counts.of(Verb::Get)
        ),
        (1, 1, 2)
    );
    test.finish().await;
}

#[tokio::test]
async fn a_field_of_another_manager_is_a_conflict_unless_it_is_taken_over() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("conflict").await);
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    cluster
        .apply(&maps, &config_map(&space, "a", "one"), &Apply::by("first"))
        .await
        .unwrap();
    let polite = Apply {
        force: false,
        ..Apply::by("second")
    };
    let refused = cluster
        .apply(&maps, &config_map(&space, "a", "two"), &polite)
        .await
        .unwrap_err();
    assert!(matches!(refused, Error::Conflict(_)), "{refused:?}");
    let causes = &refused.refusal().unwrap().causes;
    assert_eq!(
        (causes[0].reason.as_str(), causes[0].field.as_str()),
        ("FieldManagerConflict", ".data.text")
    );
    let taken = cluster
        .apply(&maps, &config_map(&space, "a", "two"), &Apply::by("second"))
        .await
        .unwrap();
    assert_eq!(taken.str_at(&["data", "text"]), "two");
    test.finish().await;
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("refused").await);
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    let apply = Apply::by("tests");
    let homeless = cluster
        .apply(&maps, &config_map("no-such-namespace", "a", "one"), &apply)
        .await;
    assert!(matches!(homeless, Err(Error::NotFound(_))), "{homeless:?}");
    let named = cluster
        .apply(&maps, &config_map(&space, "No Name", "one"), &apply)
        .await;
    assert!(matches!(named, Err(Error::Invalid(_))), "{named:?}");
    let mut odd = config_map(&space, "a", "one");
    odd.set_at(&["datum"], "two");
    let strict = Write {
        validation: Validation::Strict,
        ..Write::by("tests")
    };
    let strict = cluster.create(&maps, &odd, &strict).await;
    assert!(matches!(strict, Err(Error::Rejected(_))), "{strict:?}");

    let mut fixed = config_map(&space, "fixed", "one");
    fixed.set_at(&["immutable"], true);
    cluster.apply(&maps, &fixed, &apply).await.unwrap();
    fixed.set_at(&["data", "text"], "two");
    let changed = cluster.apply(&maps, &fixed, &apply).await.unwrap_err();
    assert!(
        matches!(changed, Error::Immutable(_)) && changed.is_immutable(),
        "{changed:?}"
    );

    let nobody = engine::cluster::Cluster::new(test.client_as("nobody", &["nobodies"]));
    let denied = nobody.get(&maps, &space, "fixed").await;
    assert!(matches!(denied, Err(Error::Forbidden(_))), "{denied:?}");
    let stranger = engine::cluster::Cluster::new(test.client_with_token("no-such-token"));
    let unknown = stranger.get(&maps, &space, "fixed").await;
    assert!(matches!(unknown, Err(Error::Unauthorized(_))), "{unknown:?}");
    test.finish().await;
}

#[tokio::test]
async fn what_a_secret_holds_is_in_no_error() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("secret").await);
    let secrets = cluster.preferred("", "Secret").await.unwrap();
    let secret = value!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": { "name": "a", "namespace": (space.clone()) },
        "data": { "password": "not-base64-hunter2" },
    });
    let refused = cluster
        .apply(&secrets, &secret, &Apply::by("tests"))
        .await
        .unwrap_err();
    assert!(
        !format!("{refused} {refused:?}").contains("hunter2"),
        "{refused:?}"
    );
    test.finish().await;
}

#[tokio::test]
async fn a_kind_whose_definition_is_gone_is_no_such_kind() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("gone").await);
    let plural = format!("{}gones", test.prefix());
    let definition = definition(&plural, "Gone", &["v1"]);
    test.establish(&definition).await;
    let group = format!("{plural}.engine.sluice.dev");
    let resource = engine::cluster::Resource {
        group: group.as_str().into(),
        version: "v1".into(),
        kind: "Gone".into(),
        plural: plural.as_str().into(),
        namespaced: true,
        watchable: true,
    };
    assert_eq!(cluster.get(&resource, &space, "a").await.unwrap(), None);
    let definitions = cluster
        .preferred("apiextensions.k8s.io", "CustomResourceDefinition")
        .await
        .unwrap();
    let name = format!("{plural}.{group}");
    cluster
        .delete(&definitions, "", &name, &Delete::default())
        .await
        .unwrap();
    let limit = std::time::Duration::from_secs(30);
    let gone = testkit::settled(
        limit,
        testkit::settled::Every(std::time::Duration::from_millis(50)),
        async || match cluster.get(&resource, &space, "a").await {
            Err(error @ Error::NoSuchKind { .. }) => Ok(error),
            other => Err(format!("{other:?}")),
        },
    );
    assert_eq!(
        gone.await.unwrap().to_string(),
        format!("no matches for kind \"Gone\" in version \"{group}/v1\"")
    );
    test.finish().await;
}
