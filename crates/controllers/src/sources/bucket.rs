//! Bucket: the objects of a bucket as files.

use std::time::Duration;

use api::source::BucketSpec;
use api::{ConditionType, Object, Reason};
use kube::ResourceExt;
use model::Revision;
use model::digest::Algorithm;
use source::archive::ignore::Rules;
use source::archive::{Directory, Limits};
use source::bucket::{self, Index};
use source::store::{Place, Store};

use super::bucket_access;
use super::provider;
use super::storage;
use super::{SUMMARY, Shared, begin, chain, failed, found_new, timeout_of, told};
use crate::kit::{Conditions, Failure, Notice, Reconcile, Run, Summary};

/// Keeps Buckets.
pub struct Buckets {
    shared: Shared,
}

type BucketRun<'r> = Run<'r, BucketSpec>;

impl Reconcile for Buckets {
    type Spec = BucketSpec;

    const SUMMARY: Summary = SUMMARY;

    fn is_suspended(&self, object: &Object<BucketSpec>) -> bool {
        object.spec.suspend
    }

    fn interval(&self, object: &Object<BucketSpec>) -> Duration {
        object.spec.interval.to_std()
    }

    async fn reconcile(&self, run: &mut BucketRun<'_>) -> Result<Vec<Notice>, Failure> {
        begin(run).await;
        run.status.remove(ConditionType::STORAGE_OPERATION_FAILED);
        storage::check(run, &self.shared.store).await?;
        let limit = timeout_of(run.object.spec.timeout);
        let (worker, namespace) = (run.worker, run.object.namespace().unwrap_or_default());
        let fetch = tokio::time::timeout(limit, self.fetch(run));
        let fetched = self.shared.slow_fetches.run(worker, &namespace, fetch).await;
        let files = fetched.unwrap_or_else(|_| {
            let name = &run.object.spec.bucket_name;
            let message = format!("bucket '{name}' was not read within {limit:?}: raise spec.timeout");
            let failure = Failure::transient(Reason::BUCKET_OPERATION_FAILED, message);
            Err(failed(run, ConditionType::FETCH_FAILED, failure))
        })?;
        run.status.remove(ConditionType::FETCH_FAILED);
        run.status.remove(ConditionType::ARTIFACT_OUTDATED);
        let revision = run
            .status
            .artifact
            .as_ref()
            .map(|artifact| artifact.revision.to_string());
        let message = format!("stored artifact: revision '{}'", revision.unwrap_or_default());
        let kind = ConditionType::ARTIFACT_IN_STORAGE;
        run.status.set_true(run.stamp, kind, Reason::SUCCEEDED, &message);
        let name = &run.object.spec.bucket_name;
        let message = format!("stored artifact with {files} fetched files from '{name}' bucket");
        let failures = [
            ConditionType::FETCH_FAILED,
            ConditionType::STORAGE_OPERATION_FAILED,
        ];
        Ok(told(run, &message, &failures))
    }

    fn gone(&self, object: &Object<BucketSpec>) {
        provider::forget(&self.shared, object);
    }

    async fn finalize(&self, run: &mut Run<'_, BucketSpec>) -> Result<Vec<Notice>, Failure> {
        let object = run.object;
        let notices = storage::remove(&self.shared.store, object).await?;
        provider::forget(&self.shared, object);
        Ok(notices)
    }
}

impl Buckets {
    /// A controller that shares these.
    pub fn new(shared: Shared) -> Self {
        Buckets { shared }
    }

    /// Brings the artifact to what the bucket holds; the number of files.
    async fn fetch(&self, run: &mut BucketRun<'_>) -> Result<usize, Failure> {
        let remote = bucket_access::open(&self.shared, run.object).await;
        let remote = remote.map_err(|failure| failed(run, ConditionType::FETCH_FAILED, failure))?;
        let spec = &run.object.spec;
        let listed = bucket::index(
            &*remote,
            spec.prefix.as_deref().unwrap_or_default(),
            spec.ignore.as_deref(),
        );
        let mut index = listed.await.map_err(|error| unread(run, &error))?;
        let artifact = run.status.artifact.as_ref();
        if artifact.is_some_and(|artifact| artifact.revision == revision_of(&index)) {
            run.status.observed_ignore = run.object.spec.ignore.clone();
            return Ok(index.len());
        }
        found_new(run, &format!("new upstream revision '{}'", revision_of(&index))).await;
        let scratch = tempfile::tempdir_in(self.shared.store.root()).map_err(|error| {
            let message = format!("failed to create temporary working directory: {error}");
            let failure = Failure::transient(Reason::DIRECTORY_CREATION_FAILED, message);
            failed(run, ConditionType::STORAGE_OPERATION_FAILED, failure)
        })?;
        let downloaded = bucket::download(&*remote, &mut index, scratch.path(), Limits::default().size).await;
        downloaded.map_err(|error| unread(run, &error))?;
        let files = index.len();
        self.store(run, index, scratch).await?;
        Ok(files)
    }

    async fn store(
        &self,
        run: &mut BucketRun<'_>,
        index: Index,
        scratch: tempfile::TempDir,
    ) -> Result<(), Failure> {
        let digest = index.digest(Algorithm::Sha256);
        let name = format!("{}.tar.gz", digest.hex());
        let put = move |store: &Store, place: &Place| {
            // What is ignored was not even fetched.
            store.pack(place, &name, &Directory::new(scratch.path()), &Rules::none())
        };
        let what = "unable to archive artifact to storage";
        let stored = storage::keep(run, &self.shared, "latest.tar.gz", what, put).await?;
        run.status.artifact = Some(stored.artifact(Revision::unnamed(digest), Default::default()));
        run.status.observed_ignore = run.object.spec.ignore.clone();
        Ok(())
    }
}

fn revision_of(index: &Index) -> Revision {
    Revision::unnamed(index.digest(Algorithm::Sha256))
}

/// Why the bucket was not read.
fn unread(run: &mut BucketRun<'_>, error: &bucket::Error) -> Failure {
    let failure = Failure::transient(Reason::BUCKET_OPERATION_FAILED, chain(error));
    failed(run, ConditionType::FETCH_FAILED, failure)
}
