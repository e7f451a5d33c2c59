//! Objects that go without having been finalized.

use std::sync::Arc;
use std::time::Duration;

use api::source::GitRepositorySpec;
use api::{Object, Reason};
use controllers::kit::{Failure, Notice, Reconcile, Run, Summary};
use kube::ResourceExt;
use parking_lot::Mutex;
use serde_json::json;

use super::bed::Bed;

/// A controller that cannot finalize, and takes note of what goes.
struct Noting(Arc<Mutex<Vec<String>>>);

impl Reconcile for Noting {
    type Spec = GitRepositorySpec;

    const SUMMARY: Summary = Summary {
        order: &[],
        negative: &[],
        decisive: &[],
    };

    fn is_suspended(&self, _: &Object<GitRepositorySpec>) -> bool {
        false
    }

    fn interval(&self, _: &Object<GitRepositorySpec>) -> Duration {
        Duration::from_secs(3600)
    }

    async fn reconcile(&self, _: &mut Run<'_, GitRepositorySpec>) -> Result<Vec<Notice>, Failure> {
        Ok(Vec::new())
    }

    fn gone(&self, object: &Object<GitRepositorySpec>) {
        self.0.lock().push(object.uid().unwrap());
    }

    async fn finalize(&self, _: &mut Run<'_, GitRepositorySpec>) -> Result<Vec<Notice>, Failure> {
        Err(Failure::transient(Reason::GIT_OPERATION_FAILED, "it cannot be"))
    }
}

/// What a controller has kept of an object can go though somebody has taken its finalizer away.
#[tokio::test]
async fn a_controller_is_told_of_what_goes_without_being_finalized() {
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    let gone = Arc::new(Mutex::new(Vec::new()));
    let noting = Noting(Arc::clone(&gone));
    bed.run(|_| noting);
    let spec = json!({"url": "https://127.0.0.1:1/app", "interval": "1h"});
    bed.create("app", spec.clone()).await;
    let held = bed.until("app", |object| !object.finalizers().is_empty()).await;
    bed.api.delete("app", &Default::default()).await.unwrap();
    bed.patch("app", json!({"metadata": {"finalizers": null}})).await;
    bed.gone("app").await;
    bed.create("app", spec).await;
    bed.until("app", |object| !object.finalizers().is_empty()).await;
    let told = gone.lock().clone();
    let uid = held.uid().unwrap();
    assert!(!told.is_empty() && told.iter().all(|one| *one == uid), "{told:?}");
}
