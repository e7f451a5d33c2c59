//! The one thing to ask for credentials of a cloud.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::Client;
use sha2::{Digest, Sha256};

use super::cache::{Cache, Limits};
use super::caller::Caller;
use super::environment::{Endpoints, Environment};
use super::tally::{Involved, Tally};
use super::{CredentialSource, Error, Grant, aws, azure, gcp};
use crate::http::{Clients, Options, Proxy};
use crate::store::Clock;
use crate::{git, oci};

/// How long a question may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cloud {
    /// Amazon Web Services.
    Aws,
    /// Azure.
    Azure,
    /// Google Cloud.
    Gcp,
}

/// What identities follow from.
#[derive(Clone)]
pub struct Settings {
    /// The environment of the process.
    pub environment: Environment,
    /// Where the clouds are.
    pub endpoints: Endpoints,
    /// How much is kept.
    pub limits: Limits,
    /// What time it is.
    pub clock: Clock,
    /// Where HTTP clients are kept.
    pub clients: Clients,
}

impl Settings {
    /// What this environment says, at the time of this machine.
    pub fn new(environment: Environment) -> Self {
        Settings {
            endpoints: Endpoints::of(&environment),
            environment,
            limits: Limits::default(),
            clock: Arc::new(Timestamp::now),
            clients: Clients::new(),
        }
    }
}

/// Who asks, and which way.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    /// Who.
    pub caller: Caller,
    /// The proxy to the cloud, where it is not that of the environment.
    pub proxy: Option<Proxy>,
}

/// Gives credentials of all clouds, and keeps them. Cheap to clone; clones keep together. One per process is meant.
#[derive(Clone)]
pub struct Identities {
    inner: Arc<Inner>,
    /// The object that is asked for.
    involved: Option<Arc<Involved>>,
}

struct Inner {
    settings: Settings,
    cache: Cache,
}

/// What an exchange works with.
pub(super) struct Context<'a> {
    pub(super) environment: &'a Environment,
    pub(super) endpoints: &'a Endpoints,
    /// The way to the cloud.
    pub(super) client: Client,
    /// The way to servers on this machine or node, which is through no proxy.
    pub(super) near: Client,
    pub(super) now: Timestamp,
}

/// What access is for: this decides which cloud is asked for what.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    /// A key of AWS, from the token service of a region.
    Aws(aws::Place),
    /// A token of Azure for one thing.
    Azure { scope: String },
    /// A token of the identity that Azure manages for the machine, of which there may be several.
    AzureMachine { client: String, scope: String },
    /// A token of Google Cloud.
    Gcp,
}

impl Identities {
    /// Identities that follow from these settings. Nothing is asked yet.
    pub fn new(settings: Settings) -> Self {
        let cache = Cache::new(settings.limits, Arc::clone(&settings.clock));
        Identities {
            inner: Arc::new(Inner { settings, cache }),
            involved: None,
        }
    }

    /// The same, asked for an object, for which it is counted.
    #[must_use]
    pub fn on_behalf_of(&self, involved: Involved) -> Self {
        Identities {
            inner: Arc::clone(&self.inner),
            involved: Some(Arc::new(involved)),
        }
    }

    /// How what is kept is used.
    pub fn tally(&self) -> Tally {
        self.inner.cache.tally()
    }

    /// An object is gone: nothing is counted for it any more.
    pub fn forget(&self, involved: &Involved) {
        self.inner.cache.forget(involved);
    }

    /// For what is only a step to what an object asks for.
    fn step(&self) -> Self {
        Identities {
            inner: Arc::clone(&self.inner),
            involved: None,
        }
    }

    async fn cached(
        &self,
        name: &str,
        exchange: impl AsyncFnOnce() -> Result<Grant, Error>,
    ) -> Result<Grant, Error> {
        let involved = self.involved.as_deref();
        self.inner.cache.get(name, involved, exchange).await
    }

    /// The login of a registry.
    ///
    /// # Errors
    /// Where the registry is not one of this cloud, or no credentials are given.
    pub async fn registry(
        &self,
        cloud: Cloud,
        asker: &Asker,
        registry: &str,
    ) -> Result<oci::Credential, Error> {
        let grant = match cloud {
            Cloud::Aws => {
                let registry = aws::Registry::parse(registry)?;
                let access = self.step().access(asker, &Purpose::Aws(registry.place())).await?;
                let name = asker.name(&format!("{registry:?}"));
                let login = async || registry.login(&self.context(asker)?, &access.key()).await;
                self.cached(&name, login).await?
            }
            Cloud::Azure => {
                let registry = azure::Registry::parse(&self.context(asker)?, registry).await?;
                let scope = registry.scope.clone();
                let access = self.step().access(asker, &Purpose::Azure { scope }).await?;
                let name = asker.name(&format!("{registry:?}"));
                let login = async || registry.login(&self.context(asker)?, &access.secret).await;
                self.cached(&name, login).await?
            }
            Cloud::Gcp => {
                gcp::check_registry(registry)?;
                let access = self.access(asker, &Purpose::Gcp).await?;
                Grant::login(gcp::REGISTRY_USER, access.secret, access.expires)
            }
        };
        Ok(oci::Credential::Basic {
            user: grant.name,
            password: grant.secret,
        })
    }

    /// The login of a Git repository.
    ///
    /// # Errors
    /// Where the repository is not one of this cloud, or no credentials are given.
    pub async fn git(&self, cloud: Cloud, asker: &Asker, url: &git::Url) -> Result<git::Auth, Error> {
        match cloud {
            Cloud::Aws => {
                let repository = aws::Repository::parse(url)?;
                let access = self
                    .step()
                    .access(asker, &Purpose::Aws(repository.place()))
                    .await?;
                let name = asker.name(&format!("{repository:?}"));
                let now = self.inner.cache.now();
                let sign = async || Ok(repository.login(&access, now));
                let grant = self.cached(&name, sign).await?;
                Ok(git::Auth::Basic {
                    user: grant.name,
                    password: grant.secret,
                })
            }
            Cloud::Azure => {
                let scope = azure::DEV_OPS.to_owned();
                let access = self.access(asker, &Purpose::Azure { scope }).await?;
                Ok(git::Auth::Bearer(access.secret))
            }
            Cloud::Gcp => Err(Error::Setup(
                "provider 'gcp' does not support Git credentials".to_owned(),
            )),
        }
    }

    /// What a source gives, kept for all that are made of the same. Of that only a digest is kept.
    ///
    /// # Errors
    /// Where nothing is given.
    pub async fn keep(&self, made_of: &[u8], source: &dyn CredentialSource) -> Result<Grant, Error> {
        self.keep_digest(&digest(made_of), source).await
    }

    async fn keep_digest(&self, digest: &str, source: &dyn CredentialSource) -> Result<Grant, Error> {
        let name = format!("source {digest}");
        self.cached(&name, async || source.grant().await).await
    }

    /// A source that keeps what it gives here; see [`Identities::keep`].
    pub fn kept(&self, made_of: &[u8], source: Arc<dyn CredentialSource>) -> Arc<dyn CredentialSource> {
        Arc::new(Named {
            identities: self.clone(),
            digest: digest(made_of),
            source,
        })
    }

    /// The keys of an S3 bucket, for the region and token service of the object.
    pub fn s3(&self, asker: Asker, place: aws::Place) -> Arc<dyn CredentialSource> {
        self.source(asker, Purpose::Aws(place))
    }

    /// The tokens of a container of Azure Blob Storage.
    pub fn azure_storage(&self, asker: Asker) -> Arc<dyn CredentialSource> {
        let scope = azure::STORAGE.to_owned();
        self.source(asker, Purpose::Azure { scope })
    }

    /// The same, of one of the identities that Azure manages for the machine.
    pub fn azure_storage_of_machine(&self, asker: Asker, client: String) -> Arc<dyn CredentialSource> {
        let scope = azure::STORAGE.to_owned();
        self.source(asker, Purpose::AzureMachine { client, scope })
    }

    /// Tokens of Azure for anything else, such as a Key Vault.
    pub fn azure(&self, asker: Asker, scope: String) -> Arc<dyn CredentialSource> {
        self.source(asker, Purpose::Azure { scope })
    }

    /// The same, of one of the identities that Azure manages for the machine.
    pub fn azure_of_machine(&self, asker: Asker, client: String, scope: String) -> Arc<dyn CredentialSource> {
        self.source(asker, Purpose::AzureMachine { client, scope })
    }

    /// The tokens of a bucket of Google Cloud Storage.
    pub fn gcs(&self, asker: Asker) -> Arc<dyn CredentialSource> {
        self.source(asker, Purpose::Gcp)
    }

    fn source(&self, asker: Asker, purpose: Purpose) -> Arc<dyn CredentialSource> {
        Arc::new(Access {
            identities: self.clone(),
            asker,
            purpose,
        })
    }

    async fn access(&self, asker: &Asker, purpose: &Purpose) -> Result<Grant, Error> {
        let name = asker.name(&format!("{purpose:?}"));
        let exchange = async || {
            let context = self.context(asker)?;
            match purpose {
                Purpose::Aws(place) => aws::access(&context, &asker.caller, place).await,
                Purpose::Azure { scope } => azure::access(&context, &asker.caller, scope).await,
                Purpose::AzureMachine { client, scope } => {
                    azure::of_machine(&context, Some(client), scope).await
                }
                Purpose::Gcp => gcp::access(&context, &asker.caller).await,
            }
        };
        self.cached(&name, exchange).await
    }

    fn context(&self, asker: &Asker) -> Result<Context<'_>, Error> {
        let Settings {
            environment,
            endpoints,
            clients,
            ..
        } = &self.inner.settings;
        let options = Options {
            timeout: Some(TIMEOUT),
            clients: Some(clients.clone()),
            ..Options::default()
        };
        let near = Options {
            direct: true,
            ..options.clone()
        };
        let options = Options {
            proxy: asker.proxy.clone(),
            ..options
        };
        Ok(Context {
            environment,
            endpoints,
            client: options.client()?,
            near: near.client()?,
            now: self.inner.cache.now(),
        })
    }
}

impl Asker {
    /// The name of what is kept for this asker.
    fn name(&self, what: &str) -> String {
        let way = Options {
            proxy: self.proxy.clone(),
            ..Options::default()
        };
        format!(
            "{what} {} {:02x?}",
            self.caller.fingerprint(),
            way.fingerprint("")
        )
    }
}

impl fmt::Debug for Identities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identities")
            .field("environment", &self.inner.settings.environment)
            .field("cache", &self.inner.cache)
            .finish_non_exhaustive()
    }
}

/// Access to a cloud as something that gives credentials.
#[derive(Debug)]
struct Access {
    identities: Identities,
    asker: Asker,
    purpose: Purpose,
}

impl CredentialSource for Access {
    fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>> {
        Box::pin(self.identities.access(&self.asker, &self.purpose))
    }
}

fn digest(made_of: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(made_of))
}

/// A source with the digest under which it is kept.
#[derive(Debug)]
struct Named {
    identities: Identities,
    digest: String,
    source: Arc<dyn CredentialSource>,
}

impl CredentialSource for Named {
    fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>> {
        Box::pin(self.identities.keep_digest(&self.digest, self.source.as_ref()))
    }
}
