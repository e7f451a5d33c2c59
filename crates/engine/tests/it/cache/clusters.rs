//! Several clusters.

use engine::cache::{Access, Clusters, Interest, Settings};
use engine::cluster::{Cluster, Verb};

use super::told;

fn access(identity: &str) -> Access {
    Access {
        endpoint: "https://one.example".into(),
        identity: identity.into(),
    }
}

/// argo-cd#14410: the watches of a cluster that is no longer used go on.
#[tokio::test]
async fn a_cluster_has_one_cache_for_each_identity_and_none_when_nobody_holds_it() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let clusters = Clusters::default();
    let connect = || Cluster::new(test.client());
    let cache = clusters.get(&access("ada"), Settings::default, connect);
    let again = clusters.get(&access("ada"), Settings::default, || panic!("it is connected"));
    let other = clusters.get(&access("eve"), Settings::default, connect);
    assert!(cache.cluster().is(again.cluster()) && !cache.cluster().is(other.cluster()));
    assert_eq!(clusters.len(), 2);

    let before = again.clone();
    clusters.forget(&access("ada"));
    let anew = clusters.get(&access("ada"), Settings::default, connect);
    assert!(!anew.cluster().is(before.cluster()));
    drop((anew, before));

    let maps = again.follow(Interest::in_all("", "ConfigMap"));
    maps.synced(tokio::time::Instant::now() + super::LIMIT)
        .await
        .unwrap();
    let cluster = cache.cluster().clone();
    let mut changes = cache.subscribe(Box::new(|_| true));
    drop((cache, again, other));
    assert!(clusters.is_empty());
    while changes.next().await.is_some() {}
    // Nobody asks any more, although somebody still wants to know.
    let counts = cluster.counts();
    tokio::task::yield_now().await;
    assert_eq!(cluster.counts().since(&counts).of(Verb::Watch), 0);
    assert!(!maps.state().is_synced());

    let cache = clusters.get(&access("ada"), Settings::default, connect);
    assert!(cache.is_empty());
    let mut changes = cache.subscribe(Box::new(|entry| entry.name() == "default"));
    let _spaces = cache.follow(Interest::in_all("", "Namespace"));
    assert_eq!(told(&mut changes).await, "updated default");
}
