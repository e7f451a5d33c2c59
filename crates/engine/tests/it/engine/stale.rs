//! A cache that is behind is no ground to say that all is well.

use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use engine::unit::SyncState;

use super::gate::Gate;
use super::{Bed, config_map};

/// On any cluster: the watch is cut off, and cannot be begun anew.
#[tokio::test(flavor = "multi_thread")]
async fn while_a_watch_cannot_be_begun_anew_the_server_is_asked() {
    let gate = Gate::new();
    let bed = Bed::through(&gate).await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.until("shop", |status| status.sync == SyncState::Synced).await;
    gate.refuse(|request| request.contains("/configmaps?") && request.contains("watch="));
    gate.refused().await;
    bed.by_hand("", config_map("a", "by hand")).await;
    bed.engine.refresh("shop");
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    bed.until("shop", |status| status.sync == SyncState::Synced).await;
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn while_a_kind_is_retried_the_server_is_asked_instead_of_the_cache() {
    let bed = Bed::on(testkit::Cluster::embedded(apiserver::Server::builder())).await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    // Watches end after some minutes, and this one cannot be begun anew.
    let refuses = Rule::new(Fault::Internal).verb("watch").client("sluice-engine");
    let refused = bed.server().faults().add(refuses.resource("", "configmaps"));
    tokio::time::sleep(Duration::from_secs(1200)).await;
    assert!(bed.server().faults().fired(refused) > 0);
    bed.by_hand("", config_map("a", "by hand")).await;
    bed.engine.refresh("shop");
    bed.seen("ConfigMap", "a", |live| {
        live.is_some_and(|live| live.str_at(&["data", "key"]) == "1")
    })
    .await;
    bed.until("shop", |status| status.sync == SyncState::Synced).await;
    bed.finish().await;
}
