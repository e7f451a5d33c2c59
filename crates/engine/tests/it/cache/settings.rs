//! Settings that change while the cache runs.

use std::sync::Arc;

use engine::cache::{Assess, Settings, State};
use engine::cluster::Verb;
use jiff::Timestamp;
use model::{Health, Value, health, value};
use tokio::time::Instant;

use super::{Fixture, LIMIT, config_map, reaches, told};

struct Broken;

impl Assess for Broken {
    fn assess(&self, _: &Value, _: Timestamp) -> Option<Health> {
        Some(Health::because(health::State::Degraded, "by decree"))
    }
}

#[tokio::test]
async fn only_kinds_whose_settings_changed_are_looked_at_again() {
    let before = Settings::default();
    let fixture = Fixture::with(before.clone()).await;
    fixture.apply("a", "one").await;
    let mut changes = fixture.subscribe();
    let _maps = fixture.follow(fixture.maps()).await;
    let _secrets = fixture.follow(fixture.interest("", "Secret")).await;
    assert_eq!(told(&mut changes).await, "updated a");
    let counts = fixture.cache.cluster().counts();

    let mut settings = before.clone();
    settings
        .health_of
        .insert(("".into(), "ConfigMap".into()), Arc::new(Broken));
    fixture.cache.set_settings(settings.clone());
    assert_eq!(told(&mut changes).await, "updated a");
    assert_eq!(fixture.get("a").unwrap().health().unwrap().message, "by decree");
    assert_eq!(fixture.cache.cluster().counts().since(&counts).of(Verb::Watch), 1);

    // The same again changes nothing.
    fixture.cache.set_settings(settings);
    fixture.apply("b", "one").await;
    assert_eq!(told(&mut changes).await, "updated b");
    assert_eq!(fixture.cache.cluster().counts().since(&counts).of(Verb::Watch), 1);
    fixture.test.finish().await;
}

#[tokio::test]
async fn labels_and_whole_objects_are_kept_where_they_are_asked_for() {
    let settings = Settings {
        labels: Arc::new(["team".into()].into()),
        keep: Some(Arc::new(|entry, _| entry.label("team") == Some("a"))),
        ..Settings::default()
    };
    let fixture = Fixture::with(settings).await;
    let mut object = config_map(&fixture.space, "mine", "one");
    object.set_at(&["metadata", "labels"], value!({ "team": "a", "app": "web" }));
    fixture.apply_object(&object).await;
    fixture.apply("other", "one").await;
    let _maps = fixture.follow(fixture.maps()).await;
    let mine = fixture.get("mine").unwrap();
    assert_eq!(mine.labels().collect::<Vec<_>>(), [("team", "a")]);
    let kept = mine.object().unwrap();
    assert_eq!(kept.str_at(&["data", "text"]), "one");
    assert!(kept.at(&["metadata", "managedFields"]).is_none());
    assert_eq!(kept.str_at(&["kind"]), "ConfigMap");
    assert!(fixture.get("other").unwrap().object().is_none());
    fixture.test.finish().await;
}

#[tokio::test]
async fn a_kind_that_is_excluded_is_gone_until_it_is_not() {
    let fixture = Fixture::start().await;
    fixture.apply("a", "one").await;
    let maps = fixture.follow(fixture.maps()).await;
    let excluding = Settings {
        excluded: [("".into(), "ConfigMap".into())].into(),
        ..Settings::default()
    };
    fixture.cache.set_settings(excluding);
    reaches(&maps, |state| matches!(state, State::Absent)).await;
    assert!(fixture.get("a").is_none());
    fixture.cache.set_settings(Settings::default());
    reaches(&maps, State::is_synced).await;
    maps.synced(Instant::now() + LIMIT).await.unwrap();
    assert!(fixture.get("a").is_some());
    fixture.test.finish().await;
}
