//! Following, reading, and no longer following.

use std::time::Duration;

use engine::cache::{Interest, Lookup, Settings, State};
use engine::cluster::{Detail, Verb};
use model::{ObjectKey, Value, value};

use super::{Fixture, config_map, next, reaches, told};

#[tokio::test]
async fn what_is_followed_can_be_read_and_what_is_not_costs_nothing() {
    let fixture = Fixture::start().await;
    let made = fixture.apply("a", "one").await;
    assert!(fixture.get("a").is_none());
    assert!(matches!(fixture.cache.find(&fixture.key("a")), Lookup::Unknown));
    assert!(matches!(fixture.cache.state("", "ConfigMap"), State::Absent));
    assert_eq!(fixture.cache.cluster().counts().total(), 0);

    let _maps = fixture.follow(fixture.maps()).await;
    let entry = fixture.get("a").unwrap();
    assert_eq!(entry.key(), fixture.key("a"));
    assert_eq!(entry.api_version(), "v1");
    assert_eq!(entry.uid().to_string(), made.str_at(&["metadata", "uid"]));
    assert_eq!(
        entry.resource_version(),
        made.str_at(&["metadata", "resourceVersion"])
    );
    assert!(entry.created().is_some() && !entry.deleting() && entry.object().is_none());
    assert!(matches!(fixture.cache.find(&fixture.key("a")), Lookup::Found(_)));
    assert!(matches!(fixture.cache.find(&fixture.key("b")), Lookup::Missing));
    assert!(fixture.cache.state("", "ConfigMap").is_synced());
    fixture.test.finish().await;
}

#[tokio::test]
async fn changes_come_in_by_themselves() {
    let fixture = Fixture::start().await;
    let mut changes = fixture.subscribe();
    let _maps = fixture.follow(fixture.maps()).await;
    fixture.apply("a", "one").await;
    assert_eq!(told(&mut changes).await, "updated a");
    let before = fixture.get("a").unwrap();
    fixture.apply("a", "two").await;
    assert_eq!(told(&mut changes).await, "updated a");
    assert_ne!(fixture.get("a").unwrap().content(), before.content());
    fixture.delete("a").await;
    assert_eq!(told(&mut changes).await, "removed a");
    assert!(fixture.get("a").is_none());
    fixture.test.finish().await;
}

#[tokio::test]
async fn equal_interests_share_a_watch_and_a_wider_one_serves_a_narrower() {
    let fixture = Fixture::start().await;
    let wide = fixture.follow(Interest::in_all("", "ConfigMap")).await;
    let again = fixture.follow(Interest::in_all("", "ConfigMap")).await;
    let narrow = fixture.follow(fixture.maps()).await;
    let selected = fixture
        .follow(Interest {
            selector: Some("app=web".into()),
            detail: Detail::Metadata,
            ..fixture.maps()
        })
        .await;
    assert_eq!(fixture.cache.cluster().counts().of(Verb::Watch), 1);
    assert_eq!(selected.watched(), wide.watched());
    drop((wide, again, narrow));
    assert!(fixture.cache.state("", "ConfigMap").is_synced());
    fixture.test.finish().await;
}

#[tokio::test]
async fn labels_are_selected_by_the_server() {
    let fixture = Fixture::start().await;
    let mut changes = fixture.subscribe();
    let mut labelled = config_map(&fixture.space, "mine", "one");
    labelled.set_at(&["metadata", "labels"], value!({ "team": "a" }));
    fixture.apply_object(&labelled).await;
    fixture.apply("other", "one").await;
    let interest = Interest {
        selector: Some("team=a".into()),
        ..fixture.maps()
    };
    let _mine = fixture.follow(interest).await;
    assert_eq!(told(&mut changes).await, "updated mine");
    assert!(fixture.get("mine").is_some());
    // What is not selected may be there or not.
    assert!(matches!(
        fixture.cache.find(&fixture.key("other")),
        Lookup::Unknown
    ));
    // An object that loses its label leaves.
    labelled.set_at(&["metadata", "labels", "team"], "b");
    fixture.apply_object(&labelled).await;
    assert_eq!(told(&mut changes).await, "removed mine");

    // Unless another watch has it: then it was only changed.
    let _all = fixture.follow(fixture.maps()).await;
    labelled.set_at(&["metadata", "labels", "team"], "a");
    fixture.apply_object(&labelled).await;
    labelled.set_at(&["metadata", "labels", "team"], "b");
    fixture.apply_object(&labelled).await;
    fixture.apply("last", "one").await;
    loop {
        let change = next(&mut changes).await;
        assert!(matches!(change, engine::cache::Change::Updated(_)), "{change:?}");
        if change.entry().unwrap().name() == "last" {
            break;
        }
    }
    assert!(fixture.get("mine").is_some());
    fixture.test.finish().await;
}

#[tokio::test]
async fn metadata_alone_has_no_health_and_is_asked_for_as_such() {
    let fixture = Fixture::start().await;
    fixture.apply("a", "one").await;
    let _names = fixture
        .follow(Interest {
            detail: Detail::Metadata,
            ..fixture.maps()
        })
        .await;
    let entry = fixture.get("a").unwrap();
    assert_eq!(
        (entry.detail(), entry.health(), entry.kind()),
        (Detail::Metadata, None, "ConfigMap")
    );
    // Who wants all of it gets it, and that is what is read from then on.
    let _maps = fixture.follow(fixture.maps()).await;
    let entry = fixture.get("a").unwrap();
    assert_eq!(entry.detail(), Detail::Full);
    assert!(entry.health().is_some());
    let entries = fixture.cache.entries("", "ConfigMap");
    assert_eq!(entries.iter().filter(|entry| entry.name() == "a").count(), 1);
    fixture.test.finish().await;
}

#[tokio::test]
async fn a_watch_ends_a_while_after_the_last_follower_left() {
    let settings = Settings {
        linger: Duration::from_millis(50),
        ..Settings::default()
    };
    let fixture = Fixture::with(settings).await;
    fixture.apply("a", "one").await;
    let maps = fixture.follow(fixture.maps()).await;
    let again = maps.clone();
    drop(maps);
    assert!(again.state().is_synced() && fixture.get("a").is_some());
    drop(again);
    let every = testkit::settled::Every(Duration::from_millis(20));
    let ended = testkit::settled(super::LIMIT, every, async || {
        match fixture.cache.state("", "ConfigMap") {
            State::Absent => Ok(()),
            state => Err(state.to_string()),
        }
    });
    ended.await.unwrap();
    assert!(fixture.get("a").is_none() && fixture.cache.is_empty());
    fixture.test.finish().await;
}

#[tokio::test]
async fn who_comes_back_in_time_finds_the_watch_as_it_was() {
    let fixture = Fixture::start().await;
    drop(fixture.follow(fixture.maps()).await);
    let _maps = fixture.follow(fixture.maps()).await;
    assert_eq!(fixture.cache.cluster().counts().of(Verb::Watch), 1);
    fixture.test.finish().await;
}

#[tokio::test]
async fn a_deadline_ends_the_wait_for_a_kind() {
    let fixture = Fixture::embedded().await;
    let rule = apiserver::fault::Rule::new(apiserver::fault::Fault::Internal).verb("watch");
    fixture.faults().add(rule);
    let maps = fixture.cache.follow(fixture.maps());
    reaches(&maps, |state| matches!(state, State::Retrying { .. })).await;
    let error = maps.synced(tokio::time::Instant::now()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "ConfigMap is being retried: failed to watch ConfigMap/".to_owned()
            + &fixture.space
            + ": Internal error occurred: a fault that was asked for"
    );
}

/// A watch of another namespace has nothing to say about an object.
#[tokio::test]
async fn how_far_a_watch_is_counts_for_what_it_would_have() {
    let fixture = Fixture::start().await;
    let elsewhere = fixture.test.namespace("elsewhere").await;
    let _maps = fixture.follow(fixture.maps()).await;
    let version = |object: Value| object.str_at(&["metadata", "resourceVersion"]).to_owned();
    let there = config_map(&elsewhere, "there", "one");
    let (there, first) = (ObjectKey::of(&there), version(fixture.apply_object(&there).await));
    let second = version(fixture.apply("here", "one").await);
    let every = testkit::settled::Every(Duration::from_millis(20));
    let reached = testkit::settled(super::LIMIT, every, async || {
        match fixture.cache.has_reached(&fixture.key("here"), &second) {
            true => Ok(()),
            false => Err("not yet"),
        }
    });
    reached.await.unwrap();
    assert!(!fixture.cache.has_reached(&there, &first));
    let all = fixture.follow(Interest::in_all("", "ConfigMap")).await;
    assert!(all.state().is_synced() && fixture.cache.has_reached(&there, &first));
    fixture.test.finish().await;
}
