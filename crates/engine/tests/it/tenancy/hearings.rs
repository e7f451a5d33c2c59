//! Units that are heard before something is pruned: only those of the same cluster.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Response};
use kube::client::Body;
use tower::service_fn;

use super::Tenants;
use crate::engine::fixtures::config_map;

/// A cluster of a tenant, whose server answers as slowly as it can once it is told to.
#[derive(Clone, Default)]
struct Remote(Arc<AtomicBool>);

impl Remote {
    fn reach(&self, tenants: &Tenants, endpoint: &str) {
        let (client, remote) = (tenants.bed.test.client(), self.clone());
        let service = service_fn(move |request: Request<Body>| {
            let (client, is_slow) = (client.clone(), remote.0.load(Ordering::SeqCst));
            async move {
                if is_slow {
                    tokio::time::sleep(Duration::from_secs(59)).await;
                }
                let answer: Result<Response<Body>, kube::Error> = client.send(request).await;
                answer
            }
        });
        let client = kube::Client::new(service, "default");
        let access = ("tenant", "tenant");
        tenants.names.vouched("remote", endpoint, access, client);
    }
}

/// Units that queue for the slow cluster of a tenant. Then a unit of the platform is about to prune an object.
async fn queued() -> (Tenants, Remote) {
    let (tenants, remote) = (Tenants::paused().await, Remote::default());
    remote.reach(&tenants, "https://remote.example");
    tenants.sync(
        "platform",
        "platform",
        "v1",
        [config_map("x", "1"), config_map("y", "1")],
    );
    tenants.applied("platform", "v1").await;
    for revision in ["v1", "v2"] {
        for id in ["one", "two", "three", "four"] {
            tenants.sync(id, "remote", revision, [config_map(id, revision)]);
            if revision == "v1" {
                tenants.applied(id, revision).await;
            }
        }
        remote.0.store(true, Ordering::SeqCst);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    (tenants, remote)
}

async fn is_pruned_within(tenants: &Tenants, limit: Duration) {
    let started = tokio::time::Instant::now();
    tenants.sync("platform", "platform", "v2", [config_map("y", "1")]);
    let every = testkit::settled::Every(Duration::from_secs(1));
    let applied = testkit::settled(Duration::from_secs(900), every, async || {
        let status = tenants.units.unit("platform").unwrap().status;
        (status.revision == "v2")
            .then_some(())
            .ok_or(format!("{status:?}"))
    });
    applied.await.unwrap();
    let took = started.elapsed();
    assert!(took < limit, "{took:?}");
    assert_eq!(tenants.bed.uid("x").await, None);
}

#[tokio::test(start_paused = true)]
async fn a_prune_does_not_wait_for_units_that_queue_for_the_cluster_of_a_tenant() {
    let (tenants, _) = queued().await;
    is_pruned_within(&tenants, Duration::from_secs(10)).await;
    tenants.finish().await;
}

/// Whoever writes a kubeconfig may write it anew at any time. The unit that is being looked at may have read the old one: it is waited for
/// as any unit is that hangs. Those behind it are not.
#[tokio::test(start_paused = true)]
async fn a_prune_does_not_wait_for_them_either_when_their_kubeconfig_has_changed() {
    let (tenants, remote) = queued().await;
    remote.reach(&tenants, "https://other.example");
    tokio::time::sleep(Duration::from_secs(1)).await;
    is_pruned_within(&tenants, Duration::from_secs(40)).await;
    tenants.finish().await;
}

/// Nobody tells the engine of it: the store is asked.
#[tokio::test(start_paused = true)]
async fn a_unit_that_has_come_into_the_same_cluster_is_heard() {
    let tenants = Tenants::paused().await;
    let quick = tenants.bed.test.client();
    let access = ("tenant", "tenant");
    tenants
        .names
        .vouched("remote", "https://remote.example", access, quick);
    tenants.sync(
        "platform",
        "platform",
        "v1",
        [config_map("x", "1"), config_map("y", "1")],
    );
    tenants.applied("platform", "v1").await;
    tenants.sync("comes", "remote", "v1", [config_map("z", "1")]);
    tenants.applied("comes", "v1").await;
    let uid = tenants.bed.uid("x").await;
    let mut unit = tenants.units.unit("comes").unwrap();
    unit.destination.cluster = "platform".to_owned();
    tenants.units.put(unit);
    tenants.sources.set("comes", "v2", [config_map("x", "1")]);
    tenants.sync("platform", "platform", "v2", [config_map("y", "1")]);
    tenants.applied("platform", "v2").await;
    tenants.applied("comes", "v2").await;
    assert_eq!(tenants.bed.uid("x").await, uid);
    tenants.finish().await;
}
