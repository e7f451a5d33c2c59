//! Many objects, one fetch.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use source::store::share::{Error, Sharing};
use source::store::{Place, Store, Stored};
use source::trust::{Fingerprint, TrustScope};
use tokio::sync::Notify;

use super::{Fixture, place};

fn scope(reader: &str) -> TrustScope {
    let of = |part: &str| Fingerprint::builder("test").text(part).build();
    TrustScope::new(&of(reader), &of("trust"))
}

#[derive(Debug, thiserror::Error)]
#[error("the registry is down")]
struct Down;

struct Registry {
    store: Arc<Store>,
    sharing: Sharing<&'static str, Down>,
    scope: TrustScope,
    pulls: AtomicUsize,
    open: Notify,
}

impl Registry {
    fn new(fixture: &Fixture) -> Arc<Self> {
        let store = Arc::new(fixture.open());
        Arc::new(Registry {
            sharing: Sharing::new(Arc::clone(&store)),
            store,
            scope: scope("ada"),
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
        self.sharing
            .get(&self.scope, "revision", place, "1.tar.gz", fetch)
            .await
    }

    async fn fail(&self, place: &Place) -> Result<(Stored, &'static str), Error<Down>> {
        let fetch = || async {
            self.pulls.fetch_add(1, Ordering::SeqCst);
            self.open.notified().await;
            Err(Down)
        };
        self.sharing
            .get(&self.scope, "revision", place, "1.tar.gz", fetch)
            .await
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

/// Whoever fetches first may have a timeout of a second, and whoever waits for it one of an hour.
#[tokio::test]
async fn who_waited_for_a_fetch_that_failed_fetches_for_itself() {
    let fixture = Fixture::new();
    let registry = Registry::new(&fixture);
    let places: Vec<Place> = (0..10).map(|number| place(&format!("object-{number}"))).collect();
    let fails = registry.fail(&places[0]);
    let mut fails = std::pin::pin!(fails);
    assert!(futures::poll!(&mut fails).is_pending());
    let waits = futures::future::join_all(places[1..].iter().map(|place| registry.get(place)));
    let mut waits = std::pin::pin!(waits);
    assert!(futures::poll!(&mut waits).is_pending());
    assert_eq!(registry.pulls(), 1, "the others wait");

    registry.open.notify_one();
    let error = fails.await.unwrap_err();
    assert!(matches!(error, Error::Fetch(_)));
    assert_eq!(error.to_string(), "the registry is down");
    // They fetch at the same time: none of them waits for a second time.
    while registry.pulls() < places.len() {
        assert!(futures::poll!(&mut waits).is_pending());
        tokio::task::yield_now().await;
    }
    registry.open.notify_waiters();
    for outcome in waits.await {
        assert_eq!(outcome.unwrap().1, "annotations");
    }
    registry.get(&place("later")).await.unwrap();
    assert_eq!(registry.pulls(), places.len(), "a link");
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
        .get(
            &registry.scope,
            "another revision",
            &place("b"),
            "2.tar.gz",
            fetch,
        )
        .await
        .unwrap();
    assert_eq!(said, "other");
}
