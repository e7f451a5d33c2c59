//! HelmRepository: the index of a Helm repository. One in a registry (`type: oci`) has nothing to fetch: it only says where
//! charts are.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::time::Duration;

use api::source::{HelmRepositorySpec, HelmRepositoryType};
use api::{ConditionType, Object, Reason};
use kube::ResourceExt;
use model::Revision;
use source::helm::index::{self, Index};
use source::helm::repository::{Error as RepositoryError, FetchedIndex, Repository};
use source::store::{Place, Store};
use tempfile::{NamedTempFile, TempPath};

use super::provider;
use super::storage;
use super::{SUMMARY, Shared, begin, chain, failed, found_new, helm_access, secrets, told};
use crate::kit::{Conditions, Failure, Notice, Reconcile, Run, Summary, blocking};

/// Keeps HelmRepositories.
pub struct HelmRepositories {
    shared: Shared,
}

type HelmRun<'r> = Run<'r, HelmRepositorySpec>;

impl Reconcile for HelmRepositories {
    type Spec = HelmRepositorySpec;

    const SUMMARY: Summary = SUMMARY;

    fn is_static(&self, object: &Object<HelmRepositorySpec>) -> bool {
        object.spec.r#type == Some(HelmRepositoryType::Oci)
    }

    fn is_suspended(&self, object: &Object<HelmRepositorySpec>) -> bool {
        object.spec.suspend
    }

    fn interval(&self, object: &Object<HelmRepositorySpec>) -> Duration {
        let interval = object.spec.interval;
        interval.map_or(Duration::from_secs(60), |interval| interval.to_std())
    }

    async fn reconcile(&self, run: &mut HelmRun<'_>) -> Result<Vec<Notice>, Failure> {
        begin(run).await;
        run.status.remove(ConditionType::STORAGE_OPERATION_FAILED);
        storage::check(run, &self.shared.store).await?;
        let (worker, namespace) = (run.worker, run.object.namespace().unwrap_or_default());
        let fetch = self.fetch(run.object);
        let fetched = self.shared.slow_fetches.run(worker, &namespace, fetch).await;
        let fetched = fetched.map_err(|failure| failed(run, ConditionType::FETCH_FAILED, failure))?;
        let revision = Revision::unnamed(fetched.digest);
        let artifact = run.status.artifact.as_ref();
        if artifact.is_none_or(|artifact| artifact.revision != revision) {
            self.store(run, fetched, revision.clone()).await?;
        }
        run.status.remove(ConditionType::FETCH_FAILED);
        run.status.remove(ConditionType::ARTIFACT_OUTDATED);
        let message = format!("stored artifact: revision '{revision}'");
        let kind = ConditionType::ARTIFACT_IN_STORAGE;
        run.status.set_true(run.stamp, kind, Reason::SUCCEEDED, &message);
        let size = run.status.artifact.as_ref().and_then(|artifact| artifact.size);
        let size = size.map_or_else(
            || "unknown size".to_owned(),
            |size| format!("size {}", human_size(size)),
        );
        let url = source::helm::address::without_secrets(&run.object.spec.url);
        let message = format!("stored fetched index of {size} from '{url}'");
        let failures = [
            ConditionType::FETCH_FAILED,
            ConditionType::STORAGE_OPERATION_FAILED,
        ];
        Ok(told(run, &message, &failures))
    }

    fn gone(&self, object: &Object<HelmRepositorySpec>) {
        provider::forget(&self.shared, object);
    }

    async fn finalize(&self, run: &mut Run<'_, HelmRepositorySpec>) -> Result<Vec<Notice>, Failure> {
        let object = run.object;
        let key = (object.namespace().unwrap_or_default(), object.name_any());
        self.shared.index_lookups.forget(&key);
        storage::remove(&self.shared.store, object).await
    }
}

impl HelmRepositories {
    /// A controller that shares these.
    pub fn new(shared: Shared) -> Self {
        HelmRepositories { shared }
    }

    async fn fetch(&self, object: &Object<HelmRepositorySpec>) -> Result<FetchedIndex, Failure> {
        let invalid = |why: String| {
            let message = format!("invalid Helm repository URL: {why}");
            Failure::stalled(Reason::URL_INVALID, message)
        };
        if object.spec.url.starts_with("oci://") {
            let why = "'oci' URL scheme cannot be used with 'default' HelmRepository type";
            return Err(invalid(why.into()));
        }
        let options = helm_access::options(&self.shared, object).await;
        let (options, doubt) = options.map_err(|error| error.failure())?;
        let repository = Repository::new(options).map_err(|error| match error {
            RepositoryError::Address(_) | RepositoryError::Scheme(_) => invalid(chain(&error)),
            // What a Secret says of certificates is wrong, and a Secret can be mended without a change of this object.
            error => Failure::transient(
                Reason::AUTHENTICATION_FAILED,
                format!("failed to construct Helm client: {}", chain(&error)),
            ),
        })?;
        let fetched = repository.fetch_index(self.shared.store.root()).await;
        fetched.map_err(|error| {
            let message = format!("failed to fetch Helm repository index: {}", chain(&error));
            Failure::transient(Reason::FAILED, secrets::with_doubt(message, doubt.as_deref()))
        })
    }

    async fn store(
        &self,
        run: &mut HelmRun<'_>,
        fetched: FetchedIndex,
        revision: Revision,
    ) -> Result<(), Failure> {
        let (path, root) = (fetched.file.to_path_buf(), self.shared.store.root().to_owned());
        // An index is read to its end before it counts: what is wrong with it may be in its last line.
        let written = blocking(move || written(&Index::open(path)?, &root)).await;
        let written = written.map_err(|error| {
            let message = format!(
                "failed to load Helm repository from index YAML: {}",
                chain(&error)
            );
            let failure = Failure::transient(Reason::INDEXATION_FAILED, message);
            failed(run, ConditionType::FETCH_FAILED, failure)
        })?;
        found_new(run, &format!("new index revision '{revision}'")).await;
        let name = format!("index-{}.yaml", fetched.digest.hex());
        let put = move |store: &Store, place: &Place| {
            store.put(place, &name, |out| {
                io::copy(&mut File::open(&written)?, out)?;
                Ok(())
            })
        };
        let what = "unable to save artifact to storage";
        let stored = storage::keep(run, &self.shared, "index.yaml", what, put).await?;
        run.status.artifact = Some(stored.artifact(revision, Default::default()));
        Ok(())
    }
}

/// The index as it is stored, in a file that goes when it is dropped.
fn written(index: &Index, directory: &Path) -> Result<TempPath, index::Error> {
    let file = NamedTempFile::new_in(directory).map_err(index::Error::Write)?;
    let mut out = BufWriter::new(file);
    index.write_json(&mut out)?;
    let file = out
        .into_inner()
        .map_err(|error| index::Error::Write(error.into_error()))?;
    Ok(file.into_temp_path())
}

/// A size as people read it, in four digits.
fn human_size(bytes: i64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    #[allow(clippy::cast_precision_loss, reason = "it is shown in four digits")]
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1000.0 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    let whole = size.trunc().abs().to_string().len();
    let text = format!("{size:.*}", 4usize.saturating_sub(whole));
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text}{}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_shown_in_four_digits() {
        for (bytes, shown) in [
            (0, "0B"),
            (999, "999B"),
            (1000, "1kB"),
            (1234, "1.234kB"),
            (12_345, "12.35kB"),
            (1_234_567, "1.235MB"),
            (50 << 20, "52.43MB"),
        ] {
            assert_eq!(human_size(bytes), shown);
        }
    }
}
