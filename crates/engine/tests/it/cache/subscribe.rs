//! Being told of changes.

use engine::cache::{Change, Settings};

use super::{Fixture, told};

#[tokio::test]
async fn of_each_object_the_last_state_is_told() {
    let fixture = Fixture::start().await;
    let mut slow = fixture.subscribe();
    let mut quick = fixture.subscribe();
    let _maps = fixture.follow(fixture.maps()).await;
    for text in ["one", "two", "three"] {
        fixture.apply("a", text).await;
        assert_eq!(told(&mut quick).await, "updated a");
    }
    fixture.apply("b", "one").await;
    assert_eq!(told(&mut quick).await, "updated b");
    fixture.delete("b").await;
    assert_eq!(told(&mut quick).await, "removed b");
    // The slow one hears of each object once.
    let Some(Change::Updated(entry)) = slow.try_next() else {
        panic!("nothing was told")
    };
    assert_eq!(entry.content(), fixture.get("a").unwrap().content());
    assert!(matches!(slow.try_next(), Some(Change::Removed(entry)) if entry.name() == "b"));
    assert!(slow.try_next().is_none());
    fixture.test.finish().await;
}

#[tokio::test]
async fn a_filter_says_what_is_told() {
    let fixture = Fixture::start().await;
    let mut some = fixture.cache.subscribe(Box::new(|entry| entry.name() == "b"));
    let _maps = fixture.follow(fixture.maps()).await;
    fixture.apply("a", "one").await;
    fixture.apply("b", "one").await;
    assert_eq!(told(&mut some).await, "updated b");
    fixture.test.finish().await;
}

/// argo-cd calls its handlers under the lock of the cache: one that reads the cache locks up.
#[tokio::test]
async fn a_filter_may_read_the_cache() {
    let fixture = Fixture::start().await;
    let (cache, key) = (fixture.cache.clone(), fixture.key("a"));
    let mut changes = fixture.cache.subscribe(Box::new(move |entry| {
        let known = cache.get(&entry.key());
        known.is_some_and(|known| known.resource_version() == entry.resource_version())
            && cache
                .entries("", "ConfigMap")
                .iter()
                .any(|entry| entry.key() == key)
            && cache.tree(&key).is_some()
    }));
    let _maps = fixture.follow(fixture.maps()).await;
    fixture.apply("a", "one").await;
    assert_eq!(told(&mut changes).await, "updated a");
    // The filter holds the cache.
    drop(changes);
    fixture.test.finish().await;
}

#[tokio::test]
async fn a_subscription_ends_with_the_cache() {
    let fixture = Fixture::with(Settings::default()).await;
    let mut changes = fixture.subscribe();
    let maps = fixture.follow(fixture.maps()).await;
    let Fixture { cache, test, .. } = fixture;
    drop(cache);
    while changes.next().await.is_some() {}
    assert!(matches!(maps.state(), engine::cache::State::Absent));
    test.finish().await;
}
