//! Objects seen over time: every state of one, runs that are asked for, a store that is opened anew.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use api::{Object, ReconcileStatus, Spec};
use futures::StreamExt;
use kube::runtime::watcher::watch_object;
use serde_json::json;
use source::store::{self, Store};
use tokio::sync::mpsc;

use super::bed::{Bed, condition};

/// All states of an object since it is followed.
pub(crate) struct Followed<S: Spec> {
    states: mpsc::UnboundedReceiver<Object<S>>,
}

impl<S: Spec> Followed<S> {
    /// Every state up to the one that is as it should be.
    pub(crate) async fn until(&mut self, holds: impl Fn(&Object<S>) -> bool) -> Vec<Object<S>> {
        let mut seen = Vec::new();
        let found = tokio::time::timeout(testkit::DEADLINE, async {
            while let Some(state) = self.states.recv().await {
                let ends = holds(&state);
                seen.push(state);
                if ends {
                    return;
                }
            }
        });
        let found = found.await;
        let last = seen.last().map(|state| format!("{:?}", state.status));
        assert!(found.is_ok(), "it did not come to that; the last state: {last:?}");
        seen
    }
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Bed<S> {
    /// Follows an object from now on, also one that is not there yet.
    pub(crate) async fn follow(&self, name: &str) -> Followed<S> {
        let (sender, states) = mpsc::unbounded_channel();
        let (api, name) = (self.api.clone(), name.to_owned());
        let (begun, mut begins) = mpsc::channel(1);
        tokio::spawn(async move {
            let mut changes = pin!(watch_object(api, &name));
            while let Some(change) = changes.next().await {
                let sent = match change {
                    Ok(Some(state)) => sender.send(state).is_ok(),
                    _ => true,
                };
                begun.try_send(()).ok();
                if !sent {
                    return;
                }
            }
        });
        begins.recv().await;
        Followed { states }
    }

    /// Asks for a run.
    pub(crate) async fn ask(&self, name: &str, token: &str) {
        let asked = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": token}}});
        self.patch(name, asked).await;
    }

    /// Asks for a run and waits for its end.
    pub(crate) async fn requested(&self, name: &str, token: &str) -> Object<S> {
        self.ask(name, token).await;
        self.until(name, |object| answered(object, token)).await
    }

    /// Opens the store anew, as a program does that is started again, under an advertised host. The controller must have
    /// been killed.
    pub(crate) fn reopen(&mut self, host: &str) {
        let options = store::Options {
            retention_ttl: Duration::ZERO,
            ..store::Options::new(host)
        };
        let clock: store::Clock = Arc::new(jiff::Timestamp::now);
        self.store = Arc::new(Store::open(self.folder.path(), options, clock).unwrap());
        self.shared.store = Arc::clone(&self.store);
    }
}

/// Whether a run that was asked for has ended.
pub(crate) fn answered<S: Spec<Status: ReconcileStatus>>(object: &Object<S>, token: &str) -> bool {
    let status = object.status.as_ref();
    status.and_then(|status| status.last_handled_reconcile_at()) == Some(token)
}

/// Status and reason of a condition, as `True/Succeeded`.
pub(crate) fn shown<S: Spec<Status: ReconcileStatus>>(object: &Object<S>, kind: &str) -> String {
    condition(object, kind).map_or_else(
        || "none".into(),
        |condition| format!("{}/{}", condition.status, condition.reason),
    )
}
