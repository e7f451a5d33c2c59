//! What cannot be planned: whoever has asked for it is told, and it is not done later.

use std::time::Duration;

use engine::Engine;
use engine::unit::{
    Failure, MemoryStore, OneCluster, Operation, Phase, ReconciliationSettings, Status, SyncUnit,
    SyncUnitStore,
};
use futures::future::BoxFuture;

use super::{Bed, Running, by, config_map, refused_service, soon};

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_of_what_is_refused_is_answered() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    bed.sources
        .set("shop", "v2", [config_map("a", "1"), refused_service()]);
    let asked = Operation {
        dry_run: true,
        ..by("ada")
    };
    bed.ask("shop", asked.clone());
    let status = bed.phase("shop", Phase::Failed).await;
    assert_eq!(status.operation.unwrap().request, Some(asked));
    assert!(soon(60, async || !bed.is_asked("shop")).await);
    bed.finish().await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_is_not_carried_out_later_for_something_else() {
    let bed = Bed::paused().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    bed.units.put(unit);
    bed.sync("shop", "v1", [config_map("a", "1"), refused_service()]);
    bed.ask("shop", by("ada"));
    bed.phase("shop", Phase::Failed).await;
    assert!(soon(10, async || !bed.is_asked("shop")).await);
    bed.sync("shop", "v2", [config_map("unexpected", "1")]);
    let later = soon(600, async || bed.key("unexpected").await.is_some()).await;
    assert!(!later, "v2 was applied though nobody has asked for it");
    bed.finish().await;
}

/// A store that is full.
#[derive(Clone)]
struct Full(MemoryStore);

impl SyncUnitStore for Full {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        self.0.list()
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        self.0.get(id)
    }

    fn set_status<'a>(&'a self, _: &'a str, _: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Err(Failure::new("the store is full")) })
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        self.0.set_operation(id, from, to)
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_cannot_be_stored_is_tried_again_after_a_pause() {
    let bed = Bed::paused().await;
    bed.running.end().await;
    let mut unit = bed.unit("shop");
    unit.policy.automatic = false;
    unit.policy.retry = Duration::from_secs(60);
    unit.operation = Some(by("ada"));
    bed.units.put(unit);
    bed.sources.set("shop", "v1", [refused_service()]);
    let engine = Engine::new(
        ReconciliationSettings::default(),
        OneCluster::new(bed.client.clone()),
        bed.sources.clone(),
        Full(bed.units.clone()),
    );
    let running = Running::start(&engine, 2);
    assert!(soon(10, async || engine.looks() > 0).await);
    soon(300, async || false).await;
    let looks = engine.looks();
    running.end().await;
    assert!(
        (3..=15).contains(&looks),
        "{looks} looks in 5 minutes, with a retry of one"
    );
    bed.finish().await;
}
