//! A run of which nothing is written: what would be done is found out by what does it.

use std::sync::Arc;

use api::{Object, ReconcileStatus, Spec};
use kube::Client;
use tokio::sync::Semaphore;

use super::desk::Desk;
use super::recorder::Recorder;
use super::runner::{Options, Run};
use super::seat::Seat;

/// What a run stands on that is one by itself.
pub(crate) struct Rehearsal<S: Spec> {
    desk: Desk<S>,
    seat: Seat,
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Rehearsal<S> {
    /// Nothing where no seat is free, which does not happen: it has one of its own.
    pub(crate) async fn new(client: &Client, controller: &'static str) -> Option<Self> {
        let recorder = Recorder::new(client.clone(), controller, None);
        let options = Options::new(controller);
        Some(Rehearsal {
            desk: Desk::new(client.clone(), recorder, &[], options),
            seat: Seat::take(&Arc::new(Semaphore::new(1))).await?,
        })
    }

    /// A run of an object. Nobody writes its status, and nobody tells its notices.
    pub(crate) fn run<'r>(&'r self, object: &'r Object<S>) -> Run<'r, S> {
        Run::begun(object, &self.seat, &self.desk.writer)
    }
}
