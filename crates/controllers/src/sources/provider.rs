//! Who an object is to its provider: the identity of the controller or of a ServiceAccount in a cloud, or a GitHub App.

use std::error::Error as StdError;
use std::sync::Arc;

use api::source::{GitProvider, GitRepositorySpec, OciProvider};
use api::{Object, Reason, Spec};
use futures::future::BoxFuture;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount as Account;
use kube::api::PostParams;
use kube::{Api, Client, ResourceExt};
use secrecy::SecretString;
use source::git::github_app::{App, Installation, Settings as AppSettings};
use source::git::{Auth, Settings as GitSettings};
use source::http::{Proxy, Tls};
use source::identity::{
    self, Asker, Caller, Cloud, Destination, Identities, Involved, ServiceAccount, ServiceAccountTokens,
};
use source::oci::{Keychain, Repository};

use super::secrets::{self, Data};
use super::{Shared, chain};
use crate::kit::{Failure, named};

/// Why an object is nobody to its provider.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(
        "to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate \
         in the controller"
    )]
    GateDisabled,
    #[error(transparent)]
    ServiceAccount(secrets::Error),
    #[error("there is no provider '{0}' of credentials: use generic, aws, azure or gcp")]
    Unknown(String),
    #[error(transparent)]
    Identity(#[from] identity::Error),
}

impl Error {
    /// What it means for the object. A gate does not open by waiting.
    pub(crate) fn failure(&self, what: &str) -> Failure {
        match self {
            Error::GateDisabled => Failure::stalled(Reason::FEATURE_GATE_DISABLED, self.to_string()),
            error => Failure::transient(Reason::AUTHENTICATION_FAILED, format!("{what}: {}", chain(error))),
        }
    }
}

/// Identities that count what they give for an object.
pub(super) fn identities<S: Spec>(shared: &Shared, object: &Object<S>) -> Identities {
    shared.identities.on_behalf_of(involved(object))
}

/// An object that goes is not told of any more.
pub(super) fn forget<S: Spec>(shared: &Shared, object: &Object<S>) {
    shared.identities.forget(&involved(object));
}

fn involved<S: Spec>(object: &Object<S>) -> Involved {
    let namespace = object.namespace().unwrap_or_default();
    Involved::new(S::NAMES.kind, &namespace, &object.name_any())
}

/// Who asks for an object: its ServiceAccount, where one is named or the program was given one for all, or else the controller.
pub(crate) async fn asker(
    shared: &Shared,
    namespace: &str,
    service_account: Option<&str>,
    proxy: Option<Proxy>,
) -> Result<Asker, Error> {
    let settings = &shared.settings;
    let usual = settings.default_service_account.as_deref();
    // An empty name is no name: it must not lead around the default to the controller's own identity.
    let named = [service_account, usual]
        .into_iter()
        .flatten()
        .find(|name| !name.is_empty());
    let Some(name) = named else {
        let caller = Caller::Controller;
        return Ok(Asker { caller, proxy });
    };
    if !settings.object_level_workload_identity {
        return Err(Error::GateDisabled);
    }
    let caller = account(&shared.client, namespace, name).await?;
    Ok(Asker { caller, proxy })
}

/// A ServiceAccount that asks.
pub(crate) async fn account(client: &Client, namespace: &str, name: &str) -> Result<Caller, Error> {
    let account = named::get::<Account>(client, namespace, name).await;
    let account = account.map_err(|error| {
        Error::ServiceAccount(secrets::Error::reading("ServiceAccount", namespace, name, error))
    })?;
    Ok(Caller::ServiceAccount(ServiceAccount {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        annotations: account.metadata.annotations.unwrap_or_default(),
        tokens: Arc::new(Cluster {
            client: client.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }),
    }))
}

/// The cluster, which vouches for its ServiceAccounts.
struct Cluster {
    client: Client,
    namespace: String,
    name: String,
}

impl ServiceAccountTokens for Cluster {
    fn token<'a>(
        &'a self,
        audience: &'a str,
    ) -> BoxFuture<'a, Result<SecretString, Box<dyn StdError + Send + Sync>>> {
        Box::pin(async move {
            let api: Api<Account> = Api::namespaced(self.client.clone(), &self.namespace);
            let request = TokenRequest {
                spec: TokenRequestSpec {
                    audiences: vec![audience.to_owned()],
                    ..TokenRequestSpec::default()
                },
                ..TokenRequest::default()
            };
            let parameters = PostParams::default();
            let granted = api.create_token_request(&self.name, &parameters, &request);
            let status = granted.await?.status.ok_or("the cluster gave no token")?;
            Ok(status.token.into())
        })
    }
}

/// How an object has its registry reached.
pub(crate) struct Reached<'a> {
    /// Whether the object allows plain HTTP and any certificate.
    pub(crate) insecure: bool,
    /// The certificates that the object names.
    pub(crate) tls: &'a Tls,
    /// Whether the object names a proxy.
    pub(crate) proxied: bool,
}

/// The login of a registry at one of the clouds. Both kinds that pull from registries ask here.
pub(crate) async fn registry(
    identities: &Identities,
    provider: &OciProvider,
    asker: &Asker,
    repository: &Repository,
    reached: Reached<'_>,
) -> Result<Keychain, Error> {
    let cloud = match provider {
        OciProvider::Aws => Cloud::Aws,
        OciProvider::Azure => Cloud::Azure,
        OciProvider::Gcp => Cloud::Gcp,
        OciProvider::Generic | OciProvider::Other(_) => return Err(Error::Unknown(provider.to_string())),
    };
    let registry = repository.registry();
    let scheme = if reached.insecure { "http" } else { "https" };
    let destination = Destination::Named {
        address: &format!("{scheme}://{registry}"),
        tls: reached.tls,
        proxied: reached.proxied,
    };
    let credential = identities.registry(cloud, asker, registry, destination).await?;
    let keychain = Keychain::for_registry_of(repository, credential);
    Ok(keychain.issued_to(asker.fingerprint(cloud)))
}

/// Completes how a Git repository is reached with what its provider gives. What the Secret says of TLS stays.
pub(super) async fn git(
    shared: &Shared,
    object: &Object<GitRepositorySpec>,
    data: Option<&Data>,
    settings: &mut GitSettings,
) -> Result<(), Failure> {
    let spec = &object.spec;
    let cloud = match &spec.provider {
        None | Some(GitProvider::Generic) => return no_app(object, data),
        Some(GitProvider::GitHub) => return github(&identities(shared, object), data, settings).await,
        Some(GitProvider::Aws) => Cloud::Aws,
        Some(GitProvider::Azure) => Cloud::Azure,
        Some(GitProvider::Other(other)) => {
            let message = format!(
                "there is no provider '{other}' of Git credentials: use generic, aws, azure, gcp or github"
            );
            return Err(misconfigured(message));
        }
    };
    let failure = |error: Error| error.failure("failed to configure authentication options");
    let namespace = object.namespace().unwrap_or_default();
    let proxy = settings.http.proxy.clone();
    let account = spec.service_account_name.as_deref();
    let asker = asker(shared, &namespace, account, proxy).await.map_err(failure)?;
    let address = settings.url.to_string();
    let destination = Destination::Named {
        address: &address,
        tls: &settings.http.tls,
        proxied: spec.proxy_secret_ref.is_some(),
    };
    let identities = identities(shared, object);
    let auth = identities.git(cloud, &asker, &settings.url, destination).await;
    settings.auth = auth.map_err(|error| failure(error.into()))?;
    settings.identity = Some(asker.fingerprint(cloud));
    Ok(())
}

fn misconfigured(message: impl Into<String>) -> Failure {
    Failure::transient(Reason::INVALID_PROVIDER_CONFIGURATION, message)
}

/// Whoever has given the data of an app meant it to be used.
fn no_app(object: &Object<GitRepositorySpec>, data: Option<&Data>) -> Result<(), Failure> {
    match (&object.spec.secret_ref, data) {
        (Some(secret), Some(data)) if data.has("githubAppID") => Err(misconfigured(format!(
            "secretRef '{}/{}' has github app data but provider is not set to github: set it",
            object.namespace().unwrap_or_default(),
            secret.name
        ))),
        _ => Ok(()),
    }
}

/// The token of a GitHub App, which is kept for all objects that use the same app.
async fn github(
    identities: &Identities,
    data: Option<&Data>,
    settings: &mut GitSettings,
) -> Result<(), Failure> {
    const NEEDED: &str = "secretRef with github app data must be specified when provider is set to github";
    let Some(data) = data else {
        return Err(Failure::stalled(Reason::INVALID_PROVIDER_CONFIGURATION, NEEDED));
    };
    let app = app_of(data).map_err(|error| misconfigured(chain(&error)))?;
    let Some((app_id, private_key, installation, base_url)) = app else {
        return Err(misconfigured(NEEDED));
    };
    let app = AppSettings {
        app_id,
        private_key,
        installation,
        base_url,
        http: settings.http.clone(),
    };
    let refused = |error: &(dyn StdError + 'static)| {
        let message = format!(
            "failed to configure authentication options with the GitHub App of '{}': {}",
            data.name(),
            chain(error)
        );
        Failure::transient(Reason::AUTHENTICATION_FAILED, message)
    };
    let identity = app.fingerprint();
    let app = App::new(&app).map_err(|error| refused(&error))?;
    let grant = identities.keep(&identity, &app).await;
    let grant = grant.map_err(|error| refused(&error))?;
    settings.auth = Auth::Basic {
        user: grant.name,
        password: grant.secret,
    };
    settings.identity = Some(identity);
    Ok(())
}

type AppData = (String, SecretString, Installation, Option<String>);

/// The data of an app; nothing where a part of it is not there.
fn app_of(data: &Data) -> Result<Option<AppData>, secrets::Error> {
    let text = |key: &str| match data.has(key) {
        true => data.text_of(key).map(Some),
        false => Ok(None),
    };
    let (Some(id), Some(key)) = (text("githubAppID")?, data.secret("githubAppPrivateKey")?) else {
        return Ok(None);
    };
    let owner = text("githubAppInstallationOwner")?;
    let installation = match (owner, text("githubAppInstallationID")?) {
        (Some(owner), None) => Installation::Owner(owner),
        (None, Some(id)) => Installation::Id(id),
        _ => {
            let problem =
                "must contain exactly one of 'githubAppInstallationOwner' or 'githubAppInstallationID'";
            return Err(data.problem(problem));
        }
    };
    Ok(Some((id, key, installation, text("githubAppBaseURL")?)))
}
