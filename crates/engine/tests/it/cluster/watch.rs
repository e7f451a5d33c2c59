//! Lists and watches.

use engine::cluster::{Apply, Cluster, Delete, Detail, Error, Resource, Selection, Start, Watch, WatchEvent};
use model::Str;

use super::{config_map, of};

async fn with_maps(cluster: &Cluster, space: &str, names: &[&str]) -> Resource {
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    for name in names {
        let object = config_map(space, name, "one");
        cluster.apply(&maps, &object, &Apply::by("tests")).await.unwrap();
    }
    maps
}

/// The names in a namespace, without the certificates that a real cluster puts into each.
fn selection(space: &str, detail: Detail) -> Selection {
    Selection {
        namespace: space.into(),
        fields: "metadata.name!=kube-root-ca.crt".into(),
        detail,
        ..Selection::default()
    }
}

#[tokio::test]
async fn a_list_comes_page_by_page() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("pages").await);
    let maps = with_maps(&cluster, &space, &["a", "b", "c"]).await;
    let selection = selection(&space, Detail::Full);
    let (mut names, mut next, mut pages) = (Vec::new(), None::<Str>, 0);
    loop {
        let page = cluster.list(&maps, &selection, 2, next.as_deref()).await.unwrap();
        assert!(!page.resource_version.is_empty());
        names.extend(
            page.items
                .iter()
                .map(|item| item.str_at(&["metadata", "name"]).to_owned()),
        );
        pages += 1;
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(names, ["a", "b", "c"]);
    assert!(pages >= 2);
    test.finish().await;
}

async fn next(watch: &mut Watch) -> WatchEvent {
    loop {
        match watch.next().await.unwrap().expect("the watch goes on") {
            WatchEvent::Bookmark {
                initial_end: false, ..
            } => {}
            event => return event,
        }
    }
}

#[tokio::test]
async fn a_watch_begins_with_everything_and_goes_on_with_changes() {
    let test = testkit::Cluster::start().await;
    let (cluster, space) = (of(&test), test.namespace("watch").await);
    let maps = with_maps(&cluster, &space, &["a", "b"]).await;
    let selection = selection(&space, Detail::Metadata);
    let mut watch = cluster.watch(&maps, &selection, Start::Everything).await.unwrap();
    let mut names = Vec::new();
    let version = loop {
        match next(&mut watch).await {
            WatchEvent::Added(object) => {
                assert!(object.get("data").is_none(), "only metadata was asked for");
                names.push(object.str_at(&["metadata", "name"]).to_owned());
            }
            WatchEvent::Bookmark { resource_version, .. } => break resource_version,
            other => panic!("{other:?}"),
        }
    };
    names.sort();
    assert_eq!(names, ["a", "b"]);

    cluster
        .delete(&maps, &space, "a", &Delete::default())
        .await
        .unwrap();
    assert!(matches!(next(&mut watch).await, WatchEvent::Deleted(_)));
    // Another watch goes on from where the first one was.
    let mut later = cluster
        .watch(&maps, &selection, Start::After(&version))
        .await
        .unwrap();
    let deleted = next(&mut later).await;
    assert!(
        matches!(&deleted, WatchEvent::Deleted(object) if object.str_at(&["metadata", "name"]) == "a"),
        "{deleted:?}"
    );
    test.finish().await;
}

#[tokio::test]
async fn a_version_that_is_no_longer_known_is_expired() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let cluster = of(&test);
    let maps = with_maps(&cluster, "default", &["a", "b"]).await;
    let selection = selection("default", Detail::Full);
    let first = cluster.list(&maps, &selection, 1, None).await.unwrap();
    with_maps(&cluster, "default", &["c"]).await;
    test.server().unwrap().compact();
    let error = match cluster.watch(&maps, &selection, Start::After("1")).await {
        Ok(mut watch) => watch.next().await.unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(error, Error::Expired(_)), "{error:?}");
    let page = cluster.list(&maps, &selection, 1, first.next.as_deref()).await;
    assert!(matches!(page, Err(Error::Expired(_))), "{page:?}");
}
