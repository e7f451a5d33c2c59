//! What whoever embeds the engine brings along, with panics and silence turned into failures: they are told and tried again as any
//! other is, and no worker ends or is held by them.

use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::panics::{caught, caught_in};
use crate::unit::{
    Access, ClusterEvent, CredentialsStore, Failure, Generated, ManifestGenerator, Operation, Status,
    SyncUnit, SyncUnitStore,
};

/// How long a store may take to answer.
const ANSWER: Duration = Duration::from_secs(60);

/// A store or a generator that answers always, if only with a failure.
pub(super) struct Guarded<T>(pub(super) T);

/// Asks, and waits for the answer for so long.
async fn asked<'a, T>(
    who: &str,
    limit: Duration,
    ask: impl FnOnce() -> BoxFuture<'a, Result<T, Failure>>,
) -> Result<T, Failure> {
    match tokio::time::timeout(limit, caught_in(ask)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(panic)) => {
            tracing::error!(%who, %panic, "code that was brought along panicked");
            Err(Failure::new(format!("{who} panicked: {panic}")))
        }
        Err(_) => {
            tracing::error!(%who, ?limit, "code that was brought along does not answer");
            Err(Failure::new(format!("{who} gave no answer within {limit:?}")))
        }
    }
}

impl<T: SyncUnitStore> SyncUnitStore for Guarded<T> {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(asked("list of the unit store", ANSWER, || self.0.list()))
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(asked("get of the unit store", ANSWER, || self.0.get(id)))
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        let set = || self.0.set_status(id, status);
        Box::pin(asked("set_status of the unit store", ANSWER, set))
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        let set = move || self.0.set_operation(id, from, to);
        Box::pin(asked("set_operation of the unit store", ANSWER, set))
    }
}

impl<T: ManifestGenerator> ManifestGenerator for Guarded<T> {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        revision: Option<&'a str>,
        fresh: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        let limit = unit.policy.generate_within;
        let generate = move || self.0.generate(unit, revision, fresh);
        Box::pin(asked("the manifest generator", limit, generate))
    }
}

impl<T: CredentialsStore> CredentialsStore for Guarded<T> {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        let get = || self.0.get_cluster(name);
        Box::pin(asked("get_cluster of the credentials store", ANSWER, get))
    }

    /// Whoever reads the stream takes care of its panics: a stream that has panicked is begun anew.
    fn watch_clusters(&self) -> BoxStream<'static, ClusterEvent> {
        self.0.watch_clusters()
    }

    fn forget_cluster(&self, name: &str) {
        if let Err(panic) = caught(|| self.0.forget_cluster(name)) {
            tracing::error!(%panic, "forget_cluster of the credentials store panicked");
        }
    }
}
