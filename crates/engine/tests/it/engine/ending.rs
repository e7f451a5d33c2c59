//! How an engine ends.

use engine::unit::{Failure, OneCluster, Operation, ReconciliationSettings, Status, SyncUnit, SyncUnitStore};
use engine::{Engine, RunError};
use futures::future::BoxFuture;

use super::{Bed, Sources, config_map};

/// A store that cannot be reached.
struct Silent;

impl SyncUnitStore for Silent {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(async { Err(Failure::new("the store cannot be reached")) })
    }

    fn get<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async { Err(Failure::new("the store cannot be reached")) })
    }

    fn set_status<'a>(&'a self, _: &'a str, _: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async { Err(Failure::new("the store cannot be reached")) })
    }

    fn set_operation<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a Operation>,
        _: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async { Err(Failure::new("the store cannot be reached")) })
    }
}

#[tokio::test]
async fn an_engine_ends_when_it_is_told_to_although_its_store_does_not_answer() {
    let bed = Bed::start().await;
    let clusters = OneCluster::new(bed.test.client());
    let engine = Engine::new(
        ReconciliationSettings::default(),
        clusters,
        Sources::default(),
        Silent,
    );
    let (tell, told) = tokio::sync::oneshot::channel();
    let tell = parking_lot::Mutex::new(Some(tell));
    let _events = engine.on_unit_event(move |_, event| {
        assert_eq!(event.message, "the store cannot be reached");
        if let Some(tell) = tell.lock().take() {
            tell.send(()).unwrap();
        }
    });
    let run = engine.run(1, 1, async { told.await.unwrap() });
    tokio::time::timeout(super::LIMIT, run).await.unwrap().unwrap();
    bed.finish().await;
}

#[tokio::test]
async fn an_engine_that_runs_or_has_run_says_so_when_it_is_to_run_again() {
    let bed = Bed::start().await;
    bed.sync("shop", "v1", [config_map("a", "1")]);
    bed.applied("shop", "v1").await;
    let again = bed.engine.run(1, 1, std::future::pending()).await;
    assert!(matches!(again, Err(RunError::Again)), "{again:?}");
    let ended = Engine::new(
        ReconciliationSettings::default(),
        OneCluster::new(bed.test.client()),
        Sources::default(),
        bed.units.clone(),
    );
    ended.run(1, 1, std::future::ready(())).await.unwrap();
    let again = ended.run(1, 1, std::future::pending()).await;
    assert!(matches!(again, Err(RunError::Again)), "{again:?}");
    bed.finish().await;
}
