//! Manifests that take as long to generate as a tenant likes: nobody else waits for them.

use std::time::Duration;

use engine::Engine;
use engine::unit::{Failure, Generated, ManifestGenerator, ReconciliationSettings, SyncUnit};
use futures::future::BoxFuture;
use tokio::time::Instant;

use super::Tenants;
use crate::engine::bed::{Running, Sources};
use crate::engine::fixtures::config_map;

/// The sources of units that wait for servers of their tenants: those of `mallory` never answer.
#[derive(Clone)]
struct Silent(Sources);

impl ManifestGenerator for Silent {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        revision: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async move {
            if unit.tenant.starts_with("mallory") {
                std::future::pending::<()>().await;
            }
            self.0.generate(unit, revision, fresh).await
        })
    }
}

/// An engine with two workers whose sources are [`Silent`].
async fn silent() -> Tenants {
    let mut tenants = Tenants::paused().await;
    tenants.running.end().await;
    tenants.engine = Engine::new(
        ReconciliationSettings::default(),
        tenants.names.clone(),
        Silent(tenants.sources.clone()),
        tenants.units.clone(),
    );
    tenants.running = Running::start(&tenants.engine, 2);
    tenants
}

fn put(tenants: &Tenants, id: &str, tenant: &str) {
    let mut unit = tenants.unit(id, "platform");
    tenant.clone_into(&mut unit.tenant);
    tenants.units.put(unit);
    tenants.sync(id, "platform", "v1", [config_map(id, "1")]);
}

/// There are two workers, and more units than that wait for a server that never answers.
#[tokio::test(start_paused = true)]
async fn units_that_wait_for_servers_hold_no_worker_that_others_need() {
    let tenants = silent().await;
    for number in 0..40 {
        put(&tenants, &format!("slow-{number}"), "mallory");
    }
    // All that may begin have begun.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let began = Instant::now();
    put(&tenants, "platform", "platform");
    tenants.applied("platform", "v1").await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    tenants.finish().await;
}

/// The same, where each of many tenants has a few.
#[tokio::test(start_paused = true)]
async fn units_of_many_tenants_that_wait_hold_no_worker_that_others_need() {
    let tenants = silent().await;
    for tenant in 0..10 {
        for number in 0..4 {
            put(
                &tenants,
                &format!("slow-{tenant}-{number}"),
                &format!("mallory-{tenant}"),
            );
        }
    }
    tokio::time::sleep(Duration::from_secs(120)).await;
    let began = Instant::now();
    put(&tenants, "platform", "platform");
    tenants.applied("platform", "v1").await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(10), "{took:?}");
    tenants.finish().await;
}
