//! A run of which nothing is written: what would be done is found out by what does it.

use api::{Object, ReconcileStatus, Spec};
use engine::workers::{WorkerPermit, Workers};
use kube::Client;

use super::desk::Desk;
use super::recorder::Recorder;
use super::runner::{Options, Run};

/// What a run stands on that is one by itself.
pub(crate) struct Rehearsal<S: Spec> {
    desk: Desk<S>,
    worker: WorkerPermit,
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Rehearsal<S> {
    /// Nothing where no worker is free, which does not happen: it has one of its own.
    pub(crate) async fn new(client: &Client, controller: &'static str) -> Option<Self> {
        let recorder = Recorder::new(client.clone(), controller, None);
        let options = Options::new(controller);
        Some(Rehearsal {
            desk: Desk::new(client.clone(), recorder, &[], options),
            worker: Workers::new(1).take().await?,
        })
    }

    /// A run of an object. Nobody writes its status, and nobody tells its notices.
    pub(crate) fn run<'r>(&'r self, object: &'r Object<S>) -> Run<'r, S> {
        Run::begun(object, &self.worker, &self.desk.writer)
    }
}
