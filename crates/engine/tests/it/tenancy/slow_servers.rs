//! Servers of tenants that answer as slowly as they can: nobody else waits for them.

use std::time::Duration;

use engine::unit::SyncUnit;
use http::{Request, Response};
use kube::client::Body;
use model::Value;
use tower::service_fn;

use super::Tenants;
use crate::engine::fixtures::config_map;

/// A client of a server that answers after a while what the cluster of the test does.
fn slow(tenants: &Tenants, pause: Duration) -> kube::Client {
    let client = tenants.bed.test.client();
    let service = service_fn(move |request: Request<Body>| {
        let client = client.clone();
        async move {
            tokio::time::sleep(pause).await;
            let answer: Result<Response<Body>, kube::Error> = client.send(request).await;
            answer
        }
    });
    kube::Client::new(service, "default")
}

fn objects(of: &str) -> impl Iterator<Item = Value> + '_ {
    (0..5).map(move |at| config_map(&format!("{of}-{at}"), "1"))
}

/// A unit of the tenant in a cluster that only the tenant's kubeconfig names.
fn remote(tenants: &Tenants, id: &str) -> SyncUnit {
    tenants.unit(id, "remote")
}

/// There are two workers, and more than two units that would hold one for hours.
#[tokio::test(start_paused = true)]
async fn units_in_the_cluster_of_a_tenant_hold_no_worker_that_others_need() {
    let tenants = Tenants::paused().await;
    for (cluster, voucher) in [("remote", "tenant"), ("second", "another")] {
        let client = slow(&tenants, Duration::from_secs(59));
        let address = format!("https://{cluster}.example");
        tenants
            .names
            .vouched(cluster, &address, (voucher, voucher), client);
    }
    for (id, cluster) in [
        ("one", "remote"),
        ("two", "remote"),
        ("three", "second"),
        ("four", "second"),
    ] {
        tenants.units.put(tenants.unit(id, cluster));
        tenants.sync(id, cluster, "v1", objects(id));
    }
    // All of them are at work by now.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let started = tokio::time::Instant::now();
    tenants.sync("platform", "platform", "v1", [config_map("x", "1")]);
    tenants.applied("platform", "v1").await;
    let took = started.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    // Nor does another tenant wait for them, who has a cluster as well.
    let quick = tenants.bed.test.client();
    tenants
        .names
        .vouched("quick", "https://quick.example", ("other", "other"), quick);
    let started = tokio::time::Instant::now();
    tenants.sync("other", "quick", "v1", [config_map("z", "1")]);
    tenants.applied("other", "v1").await;
    let took = started.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    tenants.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_that_answers_too_slowly_is_given_up_and_named() {
    let tenants = Tenants::paused().await;
    let client = slow(&tenants, Duration::from_secs(50));
    tenants
        .names
        .vouched("remote", "https://slow.example", ("tenant", "tenant"), client);
    let mut unit = remote(&tenants, "one");
    unit.policy.observe_within = Duration::from_secs(60);
    tenants.units.put(unit);
    tenants.sync("one", "remote", "v1", objects("one"));
    let wanted = "failed to compare with the cluster https://slow.example: its API server has not answered all requests within 60s";
    let every = testkit::settled::Every(Duration::from_secs(1));
    let settled = testkit::settled(Duration::from_secs(300), every, async || {
        let status = tenants.units.unit("one").unwrap().status;
        let is_told = status.errors.iter().any(|error| error.starts_with(wanted));
        is_told.then_some(()).ok_or(format!("{:?}", status.errors))
    });
    settled.await.unwrap();
    tenants.finish().await;
}
