//! Many objects, one fetch.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use source::store::share::{Error, Sharing};
use source::store::{Place, Store, Stored};
use tokio::sync::Notify;

use super::{Fixture, place};

#[derive(Debug, thiserror::Error)]
#[error("the registry is down")]
struct Down;

struct Registry {
    store: Arc<Store>,
    sharing: Sharing<&'static str, Down>,
    pulls: AtomicUsize,
    open: Notify,
}

impl Registry {
    fn new(fixture: &Fixture) -> Arc<Self> {
        let store = Arc::new(fixture.open());
        Arc::new(Registry {
            sharing: Sharing::new(Arc::clone(&store)),
            store,
            pulls: AtomicUsize::new(0),
            open: Notify::new(),
        })
    }

    async fn get(&self, place: &Place) -> Result<(Stored, &'static str), Error<Down>> {
        let fetch = || async {
            self.pulls.fetch_add(1, Ordering::SeqCst);
            self.open.notified().await;
            let stored = self.store.copy(place, "1.tar.gz", &b"content"[..]).unwrap();
            Ok((stored, "annotations"))
        };
        self.sharing.get("revision", place, "1.tar.gz", fetch).await
    }

    async fn fail(&self, place: &Place) -> Result<(Stored, &'static str), Error<Down>> {
        let fetch = || async {
            self.pulls.fetch_add(1, Ordering::SeqCst);
            self.open.notified().await;
            Err(Down)
        };
        self.sharing.get("revision", place, "1.tar.gz", fetch).await
    }

    fn pulls(&self) -> usize {
        self.pulls.load(Ordering::SeqCst)
    }
}

/// Polls all once, so that one fetches and the others wait, then opens the registry and gives back all outcomes.
async fn together<F: Future>(registry: &Registry, askers: Vec<F>) -> Vec<F::Output> {
    let mut askers = std::pin::pin!(futures::future::join_all(askers));
    assert!(futures::poll!(&mut askers).is_pending());
    registry.open.notify_one();
    askers.await
}

#[tokio::test]
async fn a_thousand_objects_of_one_revision_cost_one_fetch() {
    let fixture = Fixture::new();
    let registry = Registry::new(&fixture);
    let places: Vec<Place> = (0..1000)
        .map(|number| place(&format!("object-{number}")))
        .collect();
    let askers = places.iter().map(|place| registry.get(place)).collect();
    let outcomes = together(&registry, askers).await;
    assert_eq!(registry.pulls(), 1);
    let mut inodes = Vec::new();
    for (place, outcome) in places.iter().zip(outcomes) {
        let (stored, said) = outcome.unwrap();
        assert_eq!(said, "annotations");
        assert_eq!(stored.path, format!("{place}/1.tar.gz"));
        inodes.push(fs::metadata(fixture.path(&stored.path)).unwrap().ino());
    }
    inodes.dedup();
    assert_eq!(inodes.len(), 1, "the content is on disk once");
}

#[tokio::test]
async fn who_comes_later_gets_a_link_too() {
    let fixture = Fixture::new();
    let registry = Registry::new(&fixture);
    let first = place("a");
    together(&registry, vec![registry.get(&first)])
        .await
        .pop()
        .unwrap()
        .unwrap();
    registry.get(&place("b")).await.unwrap();
    assert_eq!(registry.pulls(), 1);
    registry.store.remove_all(&place("a")).unwrap();
    registry.get(&place("c")).await.unwrap();
    assert_eq!(registry.pulls(), 1, "another object still has it");
}

#[tokio::test]
async fn content_that_no_object_has_any_more_is_fetched_again() {
    let fixture = Fixture::new();
    let registry = Registry::new(&fixture);
    let first = place("a");
    together(&registry, vec![registry.get(&first)])
        .await
        .pop()
        .unwrap()
        .unwrap();
    registry.store.remove_all(&place("a")).unwrap();
    registry.open.notify_one();
    registry.get(&place("b")).await.unwrap();
    assert_eq!(registry.pulls(), 2);
}

#[tokio::test]
async fn a_failure_is_told_to_all_who_waited_and_not_remembered() {
    let fixture = Fixture::new();
    let registry = Registry::new(&fixture);
    let places: Vec<Place> = (0..10).map(|number| place(&format!("object-{number}"))).collect();
    let askers = places.iter().map(|place| registry.fail(place)).collect();
    for outcome in together(&registry, askers).await {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Fetch(_)));
        assert_eq!(error.to_string(), "the registry is down");
    }
    assert_eq!(registry.pulls(), 1);
    registry.open.notify_one();
    registry.get(&places[0]).await.unwrap();
    assert_eq!(registry.pulls(), 2);
}

#[tokio::test]
async fn a_fetch_that_is_given_up_is_taken_over() {
    let fixture = Fixture::new();
    let registry = Registry::new(&fixture);
    let (first, second) = (place("a"), place("b"));
    let mut leader = Box::pin(registry.get(&first));
    assert!(futures::poll!(&mut leader).is_pending());
    let mut waiter = Box::pin(registry.get(&second));
    assert!(futures::poll!(&mut waiter).is_pending());
    assert_eq!(registry.pulls(), 1);
    drop(leader);
    registry.open.notify_one();
    let (stored, _) = waiter.await.unwrap();
    assert_eq!(registry.pulls(), 2);
    assert_eq!(stored.path, "bucket/apps/b/1.tar.gz");
}

#[tokio::test]
async fn other_revisions_do_not_wait() {
    let fixture = Fixture::new();
    let registry = Registry::new(&fixture);
    let first = place("a");
    let mut leader = Box::pin(registry.get(&first));
    assert!(futures::poll!(&mut leader).is_pending());
    let store = Arc::clone(&registry.store);
    let fetch = || async move {
        let stored = store.copy(&place("b"), "2.tar.gz", &b"other"[..]).unwrap();
        Ok((stored, "other"))
    };
    let (_, said) = registry
        .sharing
        .get("another revision", &place("b"), "2.tar.gz", fetch)
        .await
        .unwrap();
    assert_eq!(said, "other");
}
