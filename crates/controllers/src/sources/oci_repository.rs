//! OCIRepository: an artifact of a registry.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use api::source::{LayerOperation, OciProvider, OciRepositorySpec};
use api::{ConditionType, Object, Reason, ReconcileStatus};
use kube::ResourceExt;
use source::archive::ignore::Rules;
use source::archive::{Directory, Limits, unpack};
use source::oci::{self, Client, Pulled, Repository, Resolved, Selector};
use source::store::share::{self, Sharing};
use source::store::{self, Place, Store};
use source::verify::notation::Verdict;

use super::provider;
use super::secrets::{Data, keychain_of};
use super::signature::Signatures;
use super::storage;
use super::{SUMMARY, Shared, begin, chain, failed, found_new, timeout_of, told};
use crate::kit::{Conditions, Failure, Notice, Reconcile, Run, Summary};

/// How much later than the whole run a request is given up, so that it is the run that says so.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// Keeps OCIRepositories.
pub struct OciRepositories {
    shared: Shared,
    /// One pull for all objects that want the same.
    pulls: Sharing<Metadata, Trouble>,
}

/// The annotations of a manifest.
type Metadata = BTreeMap<String, String>;

type OciRun<'r> = Run<'r, OciRepositorySpec>;

impl Reconcile for OciRepositories {
    type Spec = OciRepositorySpec;

    const SUMMARY: Summary = SUMMARY;

    fn is_suspended(&self, object: &Object<OciRepositorySpec>) -> bool {
        object.spec.suspend
    }

    fn interval(&self, object: &Object<OciRepositorySpec>) -> Duration {
        object.spec.interval.to_std()
    }

    async fn reconcile(&self, run: &mut OciRun<'_>) -> Result<Vec<Notice>, Failure> {
        begin(run).await;
        run.status.remove(ConditionType::STORAGE_OPERATION_FAILED);
        storage::check(run, &self.shared.store).await?;
        let limit = timeout_of(run.object.spec.timeout);
        let (worker, namespace) = (run.worker, run.object.namespace().unwrap_or_default());
        let fetch = tokio::time::timeout(limit, self.fetch(run));
        let fetched = self.shared.slow_fetches.run(worker, &namespace, fetch).await;
        let revision = fetched.unwrap_or_else(|_| {
            let url = &run.object.spec.url;
            let message = format!(
                "failed to pull artifact from '{url}': it took longer than {limit:?}: raise spec.timeout"
            );
            let failure = Failure::transient(Reason::OCI_ARTIFACT_PULL_FAILED, message);
            Err(failed(run, ConditionType::FETCH_FAILED, failure))
        })?;
        run.status.remove(ConditionType::ARTIFACT_OUTDATED);
        let message = format!("stored artifact for digest '{revision}'");
        let kind = ConditionType::ARTIFACT_IN_STORAGE;
        run.status.set_true(run.stamp, kind, Reason::SUCCEEDED, &message);
        let failures = [
            ConditionType::FETCH_FAILED,
            ConditionType::STORAGE_OPERATION_FAILED,
        ];
        Ok(told(run, &message_of(run), &failures))
    }

    fn gone(&self, object: &Object<OciRepositorySpec>) {
        provider::forget(&self.shared, object);
    }

    async fn finalize(&self, run: &mut Run<'_, OciRepositorySpec>) -> Result<Vec<Notice>, Failure> {
        let object = run.object;
        let notices = storage::remove(&self.shared.store, object).await?;
        provider::forget(&self.shared, object);
        Ok(notices)
    }
}

/// What is told of a new artifact.
fn message_of(run: &OciRun<'_>) -> String {
    let Some(artifact) = &run.status.artifact else {
        return String::new();
    };
    let (revision, url) = (&artifact.revision, &run.object.spec.url);
    let origin = |name: &str| artifact.metadata.get(&format!("org.opencontainers.image.{name}"));
    let mut message = format!("stored artifact with revision '{revision}' from '{url}'");
    if let (Some(source), Some(revision)) = (origin("source"), origin("revision")) {
        message.push_str(&format!(
            ", origin source '{source}', origin revision '{revision}'"
        ));
    }
    message
}

/// What went wrong on the way to a layer.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the artifact cannot be pulled")]
    Pull(#[source] oci::Error),
    #[error("the layer cannot be unpacked: {0}")]
    Layer(String),
    #[error("the ignore rules cannot be read: {0}")]
    Ignore(String),
    #[error("the artifact cannot be stored")]
    Store(#[source] store::Error),
}

impl OciRepositories {
    /// A controller that shares these.
    pub fn new(shared: Shared) -> Self {
        let pulls = Sharing::new(Arc::clone(&shared.store));
        OciRepositories { shared, pulls }
    }

    /// Brings the artifact to what the registry has; its revision.
    async fn fetch(&self, run: &mut OciRun<'_>) -> Result<model::Revision, Failure> {
        if run.status.is_false(ConditionType::SOURCE_VERIFIED) {
            run.status.remove(ConditionType::SOURCE_VERIFIED);
        }
        let repository = self.repository(run)?;
        let client = self.client(run, &repository).await?;
        let spec = &run.object.spec;
        let media_type = spec
            .layer_selector
            .as_ref()
            .and_then(|layer| layer.media_type.clone());
        let resolved = client
            .resolve(&repository, &selector(spec), media_type.as_deref())
            .await;
        let resolved = resolved.map_err(|error| {
            let mut failure = resolve_failure(&error, &spec.url);
            if let (oci::Error::Unauthorized { registry, .. }, Some(secret)) = (&error, &spec.secret_ref)
                && !client.has_credentials(&repository)
            {
                let hint = format!(
                    "; the Secret '{}' has no credentials for '{registry}': add them",
                    secret.name
                );
                failure.message.push_str(&hint);
            }
            failed(run, ConditionType::FETCH_FAILED, failure)
        })?;
        self.verify(run, &client, &repository, &resolved).await?;
        let artifact = run.status.artifact.as_ref();
        let is_new = artifact.is_none_or(|artifact| artifact.revision != resolved.revision);
        if !is_new && !content_changed(run) {
            run.status.remove(ConditionType::FETCH_FAILED);
            return Ok(resolved.revision);
        }
        if is_new {
            let (revision, reference) = (&resolved.revision, &resolved.reference);
            found_new(run, &format!("new revision '{revision}' for '{reference}'")).await;
        }
        self.store(run, &client, &repository, &resolved, media_type.as_deref())
            .await?;
        Ok(resolved.revision)
    }

    fn repository(&self, run: &mut OciRun<'_>) -> Result<Repository, Failure> {
        let url = &run.object.spec.url;
        Repository::parse(url).map_err(|error| {
            let message = format!("URL validation failed for '{url}': {}", chain(&error));
            let failure = Failure::stalled(Reason::URL_INVALID, message);
            failed(run, ConditionType::FETCH_FAILED, failure)
        })
    }

    async fn client(&self, run: &mut OciRun<'_>, repository: &Repository) -> Result<Client, Failure> {
        let client = self.connect(run.object, repository).await;
        client.map_err(|failure| failed(run, ConditionType::FETCH_FAILED, failure))
    }

    async fn connect(
        &self,
        object: &Object<OciRepositorySpec>,
        repository: &Repository,
    ) -> Result<Client, Failure> {
        let spec = &object.spec;
        let cluster = &self.shared.client;
        let namespace = object.namespace().unwrap_or_default();
        let generic = matches!(spec.provider, None | Some(OciProvider::Generic));
        let secret = spec.secret_ref.as_ref().map(|secret| secret.name.as_str());
        let account = spec.service_account_name.as_deref().filter(|_| generic);
        let keychain = keychain_of(cluster, &namespace, secret, account).await;
        let refused = |message: String| Failure::transient(Reason::AUTHENTICATION_FAILED, message);
        let mut keychain =
            keychain.map_err(|error| refused(format!("failed to get credential: {}", chain(&error))))?;
        let mut options = oci::Options {
            insecure: spec.insecure,
            http: self.shared.http(),
            ..oci::Options::default()
        };
        // The whole run has the limit of the object; no request outlives it by much.
        options.http.timeout = Some(timeout_of(spec.timeout).saturating_add(AFTERWARDS));
        if let Some(proxy) = &spec.proxy_secret_ref {
            let data = Data::read(cluster, &namespace, &proxy.name).await;
            let proxy = data.and_then(|data| data.proxy());
            let proxy =
                proxy.map_err(|error| refused(format!("failed to get proxy address: {}", chain(&error))))?;
            options.http.proxy = Some(proxy);
        }
        let transport =
            |why: String| refused(format!("failed to generate transport for '{}': {why}", spec.url));
        if let Some(secret) = &spec.cert_secret_ref {
            let data = Data::read(cluster, &namespace, &secret.name).await;
            let tls = data.and_then(|data| data.tls());
            options.http.tls = tls.map_err(|error| transport(chain(&error)))?;
        }
        if let Some(provider) = spec.provider.as_ref().filter(|_| !generic && keychain.is_empty()) {
            let failure =
                |error: provider::Error| error.failure(&format!("failed to get credential from {provider}"));
            let (account, proxy) = (spec.service_account_name.as_deref(), options.http.proxy.clone());
            let asker = provider::asker(&self.shared, &namespace, account, proxy).await;
            let asker = asker.map_err(failure)?;
            let reached = provider::Reached {
                insecure: spec.insecure,
                tls: &options.http.tls,
                proxied: spec.proxy_secret_ref.is_some(),
            };
            let identities = provider::identities(&self.shared, object);
            let login = provider::registry(&identities, provider, &asker, repository, reached).await;
            keychain = login.map_err(failure)?;
        }
        Client::new(&options, keychain, &self.shared.registries).map_err(|error| transport(chain(&error)))
    }

    /// Verifies the signature of a revision, where that is asked for and was not done yet: of a new revision, for a new
    /// generation of the object, and after a failure.
    async fn verify(
        &self,
        run: &mut OciRun<'_>,
        client: &Client,
        repository: &Repository,
        resolved: &Resolved,
    ) -> Result<(), Failure> {
        let kind = ConditionType::SOURCE_VERIFIED;
        let Some(verification) = &run.object.spec.verify else {
            run.status.remove(kind);
            return Ok(());
        };
        let artifact = run.status.artifact.as_ref();
        let is_new = artifact.is_none_or(|artifact| artifact.revision != resolved.revision);
        let verified = run.status.condition(kind);
        if !is_new && verified.is_some_and(|one| one.observed_generation == Some(run.stamp.generation)) {
            return Ok(());
        }
        let namespace = run.object.namespace().unwrap_or_default();
        let signatures = Signatures::read(
            &self.shared.client,
            &self.shared.sigstore,
            &namespace,
            verification,
        )
        .await;
        let checked = match signatures {
            Ok(signatures) => signatures.verify(client, repository, resolved.digest).await,
            Err(why) => Err(why),
        };
        match checked {
            // The policy lets it pass, but nobody who is trusted signed it.
            Ok(Verdict::Ignored) => {
                run.status.remove(kind);
                Ok(())
            }
            Ok(Verdict::Verified) => {
                let message = format!("verified signature of revision {}", resolved.revision);
                run.status.set_true(run.stamp, kind, Reason::SUCCEEDED, &message);
                Ok(())
            }
            Err(why) => {
                let failure = Failure::transient(Reason::VERIFICATION_ERROR, why);
                run.status
                    .set_false(run.stamp, kind, failure.reason, &failure.message);
                Err(failure)
            }
        }
    }

    async fn store(
        &self,
        run: &mut OciRun<'_>,
        client: &Client,
        repository: &Repository,
        resolved: &Resolved,
        media_type: Option<&str>,
    ) -> Result<(), Failure> {
        let (store, place) = (&self.shared.store, storage::place(run.object)?);
        let spec = &run.object.spec;
        let operation = spec
            .layer_selector
            .as_ref()
            .and_then(|layer| layer.operation.clone());
        let copy = operation == Some(LayerOperation::Copy);
        let file = format!("{}.tar.gz", resolved.digest);
        let ignore = spec.ignore.clone();
        // All that the content depends on.
        let key = format!(
            "{repository}@{} {media_type:?} {copy} {ignore:?}",
            resolved.digest
        );
        let kept = match may_read(client, repository, resolved).await {
            Err(error) => Err(Arc::new(Trouble::Pull(error))),
            Ok(()) => {
                let pull = async || {
                    let pulled = client
                        .pull(repository, resolved.digest, media_type, store.root())
                        .await;
                    let pulled = pulled.map_err(Trouble::Pull)?;
                    keep(
                        &self.shared,
                        place.clone(),
                        file.clone(),
                        pulled,
                        copy,
                        ignore.clone(),
                    )
                    .await
                };
                self.pulls
                    .get(&client.scope(repository), &key, &place, &file, pull)
                    .await
                    .map_err(|error| match error {
                        share::Error::Fetch(trouble) => trouble,
                        share::Error::Store(error) => Arc::new(Trouble::Store(error)),
                    })
            }
        };
        let (stored, annotations) = kept.map_err(|trouble| trouble.failure(run))?;
        run.status.remove(ConditionType::FETCH_FAILED);
        run.status.artifact = Some(stored.artifact(resolved.revision.clone(), annotations));
        run.status.observed_ignore = run.object.spec.ignore.clone();
        run.status.observed_layer_selector = run.object.spec.layer_selector.clone();
        storage::point(run, store, stored.path, "latest.tar.gz").await;
        Ok(())
    }
}

/// Asks the registry whether we may still read an artifact that was only named. Whoever resolved a tag has been asked already.
async fn may_read(client: &Client, repository: &Repository, resolved: &Resolved) -> Result<(), oci::Error> {
    if resolved.reference.tag().is_some() {
        return Ok(());
    }
    client.digest(&repository.digest(resolved.digest)).await.map(drop)
}

/// Makes an artifact of a layer.
async fn keep(
    shared: &Shared,
    place: Place,
    name: String,
    pulled: Pulled,
    copy: bool,
    ignore: Option<String>,
) -> Result<(store::Stored, Metadata), Trouble> {
    let Pulled {
        file, annotations, ..
    } = pulled;
    let namespace = place.namespace().to_owned();
    let work = move |store: &Store| match copy {
        true => store.copy(&place, &name, file).map_err(Trouble::Store),
        false => repack(store, &place, &name, &file, ignore.as_deref()),
    };
    let stored = storage::packed(shared, &namespace, work).await?;
    Ok((stored, annotations.into_iter().collect()))
}

fn repack(
    store: &Store,
    place: &Place,
    name: &str,
    file: &File,
    ignore: Option<&str>,
) -> Result<store::Stored, Trouble> {
    let layer = |error: &dyn std::error::Error| Trouble::Layer(error.to_string());
    let scratch = tempfile::tempdir_in(store.root()).map_err(|error| layer(&error))?;
    let directory: &Path = &scratch.path().join("content");
    unpack(file, directory, &Limits::default()).map_err(|error| Trouble::Layer(chain(&error)))?;
    let tree = Directory::new(directory);
    let rules = Rules::of(&tree, ignore).map_err(|error| Trouble::Ignore(chain(&error)))?;
    store.pack(place, name, &tree, &rules).map_err(Trouble::Store)
}

impl Trouble {
    fn failure(&self, run: &mut OciRun<'_>) -> Failure {
        let url = &run.object.spec.url;
        let (reason, message) = match self {
            Trouble::Store(error) => {
                return storage::failure(run, "unable to archive artifact to storage", error);
            }
            Trouble::Pull(error @ (oci::Error::NoLayers | oci::Error::NoLayerOfType(_))) => {
                (Reason::OCI_ARTIFACT_LAYER_OPERATION_FAILED, chain(error))
            }
            Trouble::Pull(oci::Error::Layer(error)) => {
                let message = format!(
                    "failed to pull the layer of the artifact from '{url}': {}",
                    chain(error)
                );
                (Reason::OCI_ARTIFACT_LAYER_OPERATION_FAILED, message)
            }
            Trouble::Pull(error) => {
                let message = format!("failed to pull artifact from '{url}': {}", chain(error));
                (Reason::OCI_ARTIFACT_PULL_FAILED, message)
            }
            Trouble::Layer(why) => (
                Reason::OCI_ARTIFACT_LAYER_OPERATION_FAILED,
                format!("failed to extract layer contents from artifact: {why}"),
            ),
            Trouble::Ignore(why) => (
                Reason::SOURCE_IGNORE_ERROR,
                format!("failed to load source ignore patterns from repository: {why}"),
            ),
        };
        failed(
            run,
            ConditionType::FETCH_FAILED,
            Failure::transient(reason, message),
        )
    }
}

fn selector(spec: &OciRepositorySpec) -> Selector {
    let Some(reference) = &spec.r#ref else {
        return Selector::default();
    };
    Selector {
        digest: reference.digest.clone(),
        semver: reference.semver.clone(),
        semver_filter: reference.semver_filter.clone(),
        tag: reference.tag.clone(),
    }
}

/// Whether the artifact would be made in another way than it was.
fn content_changed(run: &OciRun<'_>) -> bool {
    let spec = &run.object.spec;
    spec.ignore != run.status.observed_ignore || spec.layer_selector != run.status.observed_layer_selector
}

fn resolve_failure(error: &oci::Error, url: &str) -> Failure {
    match error {
        oci::Error::Range { .. }
        | oci::Error::Filter { .. }
        | oci::Error::NoVersion(_)
        | oci::Error::Tag(_)
        | oci::Error::TooMany { .. } => {
            let message = format!(
                "failed to determine the artifact tag for '{url}': {}",
                chain(error)
            );
            Failure::transient(Reason::READ_OPERATION_FAILED, message)
        }
        _ => {
            let message = format!("failed to determine artifact digest: {}", chain(error));
            Failure::transient(Reason::OCI_ARTIFACT_PULL_FAILED, message)
        }
    }
}
