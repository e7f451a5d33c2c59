//! Spec, source and Secrets of a HelmChart to a chart.

use std::io::Read;
use std::sync::Arc;

use api::source::{HelmRepository, OciVerification, ReconcileStrategy};
use api::{ConditionType, Reason};
use kube::ResourceExt;
use model::Artifact;
use source::archive::{self, Directory, unpack};
use source::helm::build::{self, Built, Content, Pick, from_tree, pick};
use source::helm::chart::Limits;
use source::helm::{ChartFetcher, Verified};
use source::store;
use source::store::share;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::helm_chart::{ChartRun, HelmCharts};
use super::helm_chart_failure as failure;
use super::helm_chart_source::Source;
use super::signature::Signatures;
use super::storage;
use super::{chain, helm_access};
use crate::kit::{Conditions, Failure, blocking};

impl HelmCharts {
    /// Builds the chart of a source, or finds that it is the one that is stored. A chart that is taken as it is has been linked
    /// to the file of the object by then.
    pub(super) async fn build(
        &self,
        run: &mut ChartRun<'_>,
        source: &Source,
    ) -> Result<(Built, Option<store::Stored>), Failure> {
        let options = self.options(run, source).await;
        let (built, linked) = match source {
            Source::Repository(repository, index) => {
                if let Some(repository) = source.indexed() {
                    self.shared.index_lookups.count_miss(repository);
                }
                let charts = self.charts(run, repository).await?;
                let of = of_index(repository, index.as_ref());
                let built = self.build_remote(run, charts, options, of).await;
                built.map_err(|unfetched| match unfetched.as_ref() {
                    Unfetched::Build(error) => failure::unbuilt(run, error),
                    Unfetched::Store(error) => {
                        storage::failure(run, "unable to copy Helm chart to storage", error)
                    }
                })?
            }
            Source::Files(artifact) => {
                let built = self.build_files(run, artifact, options).await?;
                (built.map_err(|error| failure::unbuilt(run, &error))?, None)
            }
        };
        if built.verified == Verified::Good {
            let message = format!("verified signature of version {}", built.version);
            let kind = ConditionType::SOURCE_VERIFIED;
            run.status.set_true(run.stamp, kind, Reason::SUCCEEDED, &message);
        }
        Ok((built, linked))
    }

    /// Builds a chart of a repository or registry. An archive that is taken as it is, is downloaded once for all
    /// objects that read it with the same credentials and trust settings.
    async fn build_remote(
        &self,
        run: &ChartRun<'_>,
        charts: Arc<dyn ChartFetcher>,
        options: build::Options,
        of_index: Option<String>,
    ) -> Result<(Built, Option<store::Stored>), Arc<Unfetched>> {
        let failed = |error: build::Error| Arc::new(Unfetched::Build(error));
        let spec = &run.object.spec;
        let version = spec.version.clone().unwrap_or_default();
        let pick = pick(&*charts, &spec.chart, &version, &options).await;
        let pick = pick.map_err(failed)?;
        if let Some(built) = pick.unchanged(&options) {
            return Ok((built, None));
        }
        let name = match (pick.is_packaged(), of_index) {
            (true, _) => None,
            (false, Some(index)) => Some(format!("{index} {}", pick.address())),
            (false, None) => pick.identity(&*charts).await.map_err(failed)?,
        };
        let scope = pick.scope(&*charts);
        let (Some(scope), Some(name), Ok(place)) = (scope, name, storage::place(run.object)) else {
            let built = fetched(charts, pick, options).await;
            return built.map(|built| (built, None)).map_err(failed);
        };
        let (file, verified) = (pick.file_name(), pick.verified());
        let store = Arc::clone(&self.shared.store);
        let (place_of_file, file_name) = (place.clone(), file.clone());
        let fetch = async move || {
            let mut built = fetched(charts, pick, options).await.map_err(Unfetched::Build)?;
            let archive = match std::mem::replace(&mut built.content, Content::Stored) {
                Content::Archive(archive) => archive,
                Content::Stored => unreachable!("what was fetched is here"),
            };
            let stored = blocking(move || store.copy(&place_of_file, &file_name, &archive[..]));
            Ok((stored.await.map_err(Unfetched::Store)?, built))
        };
        let got = self.downloads.get(&scope, &name, &place, &file, fetch).await;
        match got {
            // Others may have been satisfied with less.
            Ok((stored, built)) => Ok((Built { verified, ..built }, Some(stored))),
            Err(share::Error::Fetch(unfetched)) => Err(unfetched),
            Err(share::Error::Store(error)) => Err(Arc::new(Unfetched::Store(error))),
        }
    }

    async fn options(&self, run: &ChartRun<'_>, source: &Source) -> build::Options {
        let spec = &run.object.spec;
        let older = spec.values_file.iter().filter(|file| !file.is_empty());
        let limits = Limits {
            archive: self.shared.settings.helm_chart_max_size,
            file: self.shared.settings.helm_chart_file_max_size,
            ..Limits::default()
        };
        let mut options = build::Options {
            values_files: older.chain(&spec.values_files).cloned().collect(),
            ignore_missing_values_files: spec.ignore_missing_values_files,
            force: run.status.observed_generation != Some(run.stamp.generation),
            stored: self.stored(run, limits).await,
            limits,
            version_metadata: None,
        };
        let every_revision = spec.reconcile_strategy == Some(ReconcileStrategy::Revision);
        let revision = match source {
            Source::Files(artifact) if every_revision => Some(&artifact.revision),
            _ => None,
        };
        options.version_metadata = build::version_metadata(revision, &options, run.stamp.generation);
        options
    }

    /// The chart that is stored.
    async fn stored(&self, run: &ChartRun<'_>, limits: Limits) -> Option<build::Stored> {
        let artifact = run.status.artifact.clone()?;
        let store = Arc::clone(&self.shared.store);
        let observed = run.status.observed_values_files.clone();
        let values_files = (!observed.is_empty()).then_some(observed);
        blocking(move || {
            let mut archive = Vec::new();
            let mut file = store.read(&artifact).ok()?;
            file.read_to_end(&mut archive).ok()?;
            build::Stored::of_archive(&archive, &limits, values_files)
        })
        .await
    }

    /// The place that has the charts, with what is needed to reach it and to trust it.
    async fn charts(
        &self,
        run: &mut ChartRun<'_>,
        repository: &HelmRepository,
    ) -> Result<Arc<dyn ChartFetcher>, Failure> {
        let mut signatures = None;
        if let Some(verify) = run.object.spec.verify.clone() {
            if !repository.spec.url.starts_with("oci://") {
                let why = "chart verification error: only charts in a registry have signatures: remove spec.verify, or name a \
                           HelmRepository of type oci";
                return Err(failure::unverified(run, why.to_owned()));
            }
            let wanted = OciVerification {
                provider: verify.provider,
                secret_ref: verify.secret_ref,
                match_oidc_identity: verify.match_oidc_identity,
                trusted_root_secret_ref: None,
            };
            let namespace = run.object.namespace().unwrap_or_default();
            let read =
                Signatures::read(&self.shared.client, &self.shared.sigstore, &namespace, &wanted).await;
            signatures = Some(read.map_err(|why| {
                let kind = ConditionType::SOURCE_VERIFIED;
                run.status
                    .set_false(run.stamp, kind, Reason::VERIFICATION_ERROR, &why);
                failure::unknown(run, Failure::transient(Reason::VERIFICATION_ERROR, why))
            })?);
        }
        let charts = helm_access::charts(&self.shared, repository, signatures).await;
        charts.map_err(|error| failure::unknown(run, error.failure()))
    }

    /// Builds the chart that lies in the files of an artifact.
    async fn build_files(
        &self,
        run: &mut ChartRun<'_>,
        artifact: &Artifact,
        options: build::Options,
    ) -> Result<Result<Built, build::Error>, Failure> {
        let namespace = run.object.namespace().unwrap_or_default();
        let repositories = self.sources.repositories(&self.shared, namespace);
        let (store, artifact) = (Arc::clone(&self.shared.store), artifact.clone());
        let path = run.object.spec.chart.clone();
        let handle = Handle::current();
        // The thread ends when this is dropped because nobody waits for the chart any more.
        let (_waiting, left) = oneshot::channel::<()>();
        let task = move || -> Result<Result<Built, build::Error>, Unread> {
            let scratch = tempfile::tempdir_in(store.root()).map_err(Unread::Directory)?;
            let directory = scratch.path().join("source");
            let file = store.read(&artifact).map_err(Unread::Open)?;
            unpack(file, &directory, &archive::Limits::of_own_archives()).map_err(Unread::Unpack)?;
            let tree = Directory::new(directory);
            handle.block_on(async {
                tokio::select! {
                    built = from_tree(&tree, &path, &repositories, &options) => Ok(built),
                    _ = left => Err(Unread::Stopped),
                }
            })
        };
        let built = blocking(task).await;
        built.map_err(|unread| {
            let reason = match unread {
                Unread::Directory(_) => Reason::DIRECTORY_CREATION_FAILED,
                Unread::Open(_) => Reason::READ_OPERATION_FAILED,
                Unread::Unpack(_) | Unread::Stopped => Reason::FAILED,
            };
            failure::unknown(run, Failure::transient(reason, chain(&unread)))
        })
    }
}

/// The index of a repository, as this object sees it: who reads an index may read the charts in it, and what others got with
/// other credentials is not looked at.
fn of_index(repository: &HelmRepository, index: Option<&Artifact>) -> Option<String> {
    // An object that took the name of another may have another address.
    let uid = repository.metadata.uid.as_deref()?;
    let generation = repository.metadata.generation.unwrap_or_default();
    let digest = index?.digest?;
    Some(format!("{uid} {generation} {digest}"))
}

/// Gets a chart. Charts are unpacked and packed on the way.
async fn fetched(
    charts: Arc<dyn ChartFetcher>,
    pick: Pick,
    options: build::Options,
) -> Result<Built, build::Error> {
    let handle = Handle::current();
    let (_waiting, left) = oneshot::channel::<()>();
    let task = move || {
        handle.block_on(async {
            tokio::select! {
                built = pick.fetch(&*charts, &options) => Some(built),
                _ = left => None,
            }
        })
    };
    match blocking(task).await {
        Some(built) => built,
        None => unreachable!("the sender is dropped only with this future"),
    }
}

/// Why a chart of a repository is not there.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfetched {
    #[error(transparent)]
    Build(build::Error),
    #[error(transparent)]
    Store(store::Error),
}

/// Why the files of a source cannot be read.
#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error("failed to create temporary working directory")]
    Directory(#[source] std::io::Error),
    #[error("failed to open source artifact")]
    Open(#[source] store::Error),
    #[error("artifact untar error")]
    Unpack(#[source] archive::Error),
    #[error("nobody waits for the chart any more")]
    Stopped,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_repository_that_took_the_name_of_another_has_downloads_of_its_own() {
        let repository = |uid: &str, generation: i64| -> HelmRepository {
            let metadata =
                json!({"namespace": "default", "name": "one", "uid": uid, "generation": generation});
            let object = json!({
                "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmRepository", "metadata": metadata,
                "spec": {"url": "https://charts.test"},
            });
            serde_json::from_value(object).unwrap()
        };
        let index: Artifact = serde_json::from_value(json!({
            "path": "p", "url": "u", "revision": "r", "lastUpdateTime": "2026-01-01T00:00:00Z",
            "digest": format!("sha256:{}", "0".repeat(64)),
        }))
        .unwrap();
        let key = |uid: &str, generation: i64| of_index(&repository(uid, generation), Some(&index)).unwrap();
        assert_eq!(key("a", 1), key("a", 1));
        assert_ne!(key("a", 1), key("b", 1));
        assert_ne!(key("a", 1), key("a", 2));
        assert_eq!(of_index(&repository("a", 1), None), None);
    }
}
