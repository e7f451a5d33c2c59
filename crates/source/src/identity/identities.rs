//! The one thing to ask for credentials of a cloud.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::Client;

use super::cache::{Cache, Limits};
use super::caller::Caller;
use super::destination::{Destination, Endpoint, Service};
use super::environment::{Endpoints, Environment};
use super::tally::{Involved, Tally};
use super::{CredentialSource, Error, Grant, aws, azure, gcp};
use crate::http::{Clients, Options, Proxy};
use crate::store::Clock;
use crate::trust::Fingerprint;
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
    /// The endpoints beside those of the clouds that may receive credentials.
    pub trusted: Vec<Endpoint>,
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
            trusted: Vec::new(),
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
        key: Fingerprint,
        exchange: impl AsyncFnOnce() -> Result<Grant, Error>,
    ) -> Result<Grant, Error> {
        let involved = self.involved.as_deref();
        self.inner.cache.get(key, involved, exchange).await
    }

    /// Checks that what is given for a service may go to a server.
    fn check(&self, service: Service, destination: Destination<'_>) -> Result<(), Error> {
        destination.check(service, &self.inner.settings.trusted)
    }

    /// The login of a registry.
    ///
    /// # Errors
    /// Where the registry is not one of this cloud, the destination may not receive credentials, or none are given.
    pub async fn registry(
        &self,
        cloud: Cloud,
        asker: &Asker,
        registry: &str,
        destination: Destination<'_>,
    ) -> Result<oci::Credential, Error> {
        let grant = match cloud {
            Cloud::Aws => {
                let registry = aws::Registry::parse(registry)?;
                self.check(Service::ElasticRegistry, destination)?;
                let access = self.step().access(asker, &Purpose::Aws(registry.place())).await?;
                let key = asker.key(&format!("{registry:?}"));
                let login = async || registry.login(&self.context(asker)?, &access.key()).await;
                self.cached(key, login).await?
            }
            Cloud::Azure => {
                let registry = azure::Registry::parse(&self.context(asker)?, registry).await?;
                self.check(Service::AzureRegistry, destination)?;
                let scope = registry.scope.clone();
                let access = self.step().access(asker, &Purpose::Azure { scope }).await?;
                let key = asker.key(&format!("{registry:?}"));
                let login = async || registry.login(&self.context(asker)?, &access.secret).await;
                self.cached(key, login).await?
            }
            Cloud::Gcp => {
                gcp::check_registry(registry)?;
                self.check(Service::GoogleRegistry, destination)?;
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
    /// Where the repository is not one of this cloud, the destination may not receive credentials, or none are given.
    pub async fn git(
        &self,
        cloud: Cloud,
        asker: &Asker,
        url: &git::Url,
        destination: Destination<'_>,
    ) -> Result<git::Auth, Error> {
        match cloud {
            Cloud::Aws => {
                let repository = aws::Repository::parse(url)?;
                self.check(Service::CodeCommit, destination)?;
                let access = self
                    .step()
                    .access(asker, &Purpose::Aws(repository.place()))
                    .await?;
                let key = asker.key(&format!("{repository:?}"));
                let now = self.inner.cache.now();
                let sign = async || Ok(repository.login(&access, now));
                let grant = self.cached(key, sign).await?;
                Ok(git::Auth::Basic {
                    user: grant.name,
                    password: grant.secret,
                })
            }
            Cloud::Azure => {
                self.check(Service::AzureDevOps, destination)?;
                let scope = azure::DEV_OPS.to_owned();
                let access = self.access(asker, &Purpose::Azure { scope }).await?;
                Ok(git::Auth::Bearer(access.secret))
            }
            Cloud::Gcp => Err(Error::Setup(
                "provider 'gcp' does not support Git credentials".to_owned(),
            )),
        }
    }

    /// What a source gives, kept for all that are made of the same: secrets, server and trust settings.
    ///
    /// # Errors
    /// Where nothing is given.
    pub async fn keep(&self, made_of: &Fingerprint, source: &dyn CredentialSource) -> Result<Grant, Error> {
        self.cached(*made_of, async || source.grant().await).await
    }

    /// Returns a source that keeps what it gives here; see [`Identities::keep`]. It is made of a secret, and asks over `way`.
    pub fn kept(
        &self,
        secret: &[u8],
        way: &Options,
        source: Arc<dyn CredentialSource>,
    ) -> Arc<dyn CredentialSource> {
        Arc::new(Named {
            identities: self.clone(),
            key: Fingerprint::builder("credential source")
                .bytes(secret)
                .fingerprint(&way.trust())
                .build(),
            source,
        })
    }

    /// The keys of an S3 bucket, for the region and token service of the object.
    ///
    /// # Errors
    /// Where the destination may not receive credentials.
    pub fn s3(
        &self,
        asker: Asker,
        place: aws::Place,
        destination: Destination<'_>,
    ) -> Result<Arc<dyn CredentialSource>, Error> {
        self.check(Service::S3, destination)?;
        Ok(self.source(asker, Purpose::Aws(place)))
    }

    /// The tokens of a container of Azure Blob Storage. With `client` they are those of one of the identities that Azure
    /// manages for the machine.
    ///
    /// # Errors
    /// Where the destination may not receive credentials.
    pub fn azure_storage(
        &self,
        asker: Asker,
        client: Option<String>,
        destination: Destination<'_>,
    ) -> Result<Arc<dyn CredentialSource>, Error> {
        self.check(Service::AzureStorage, destination)?;
        Ok(self.azure(asker, client, azure::STORAGE.to_owned()))
    }

    /// Tokens of Azure for a Key Vault. With `client` they are those of one of the identities that Azure manages for the
    /// machine.
    ///
    /// # Errors
    /// Where the destination may not receive credentials.
    pub fn azure_key_vault(
        &self,
        asker: Asker,
        client: Option<String>,
        scope: String,
        destination: Destination<'_>,
    ) -> Result<Arc<dyn CredentialSource>, Error> {
        self.check(Service::AzureKeyVault, destination)?;
        Ok(self.azure(asker, client, scope))
    }

    fn azure(&self, asker: Asker, client: Option<String>, scope: String) -> Arc<dyn CredentialSource> {
        let purpose = match client {
            Some(client) => Purpose::AzureMachine { client, scope },
            None => Purpose::Azure { scope },
        };
        self.source(asker, purpose)
    }

    /// The tokens of a bucket of Google Cloud Storage.
    ///
    /// # Errors
    /// Where the destination may not receive credentials.
    pub fn gcs(
        &self,
        asker: Asker,
        destination: Destination<'_>,
    ) -> Result<Arc<dyn CredentialSource>, Error> {
        self.check(Service::GoogleStorage, destination)?;
        Ok(self.source(asker, Purpose::Gcp))
    }

    fn source(&self, asker: Asker, purpose: Purpose) -> Arc<dyn CredentialSource> {
        Arc::new(Access {
            identities: self.clone(),
            asker,
            purpose,
        })
    }

    async fn access(&self, asker: &Asker, purpose: &Purpose) -> Result<Grant, Error> {
        let key = asker.key(&format!("{purpose:?}"));
        let exchange = async || {
            let context = self.context(asker)?;
            match purpose {
                Purpose::Aws(place) => aws::access(&context, &asker.caller, place).await,
                Purpose::Azure { scope } => azure::access(&context, &asker.caller, scope).await,
                Purpose::AzureMachine { client, scope } => match &asker.caller {
                    Caller::Controller => azure::of_machine(&context, Some(client), scope).await,
                    // Whoever has an identity of their own does not choose one of the machine's.
                    Caller::ServiceAccount(account) => Err(Error::Setup(format!(
                        "the managed identity '{client}' of the machine is not used for the service account '{}/{}': set 'tenantId' and \
                         'clientSecret' too, or annotate the service account",
                        account.namespace, account.name
                    ))),
                },
                Purpose::Gcp => gcp::access(&context, &asker.caller).await,
            }
        };
        self.cached(key, exchange).await
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
            // The metadata servers of clouds are link-local.
            unrestricted: true,
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
    /// Identifies whom credentials of a cloud are issued to. It stays the same when they are renewed.
    pub fn fingerprint(&self, cloud: Cloud) -> Fingerprint {
        Fingerprint::builder("cloud identity")
            .text(&format!("{cloud:?}"))
            .text(&self.caller.fingerprint())
            .fingerprint(&self.way())
            .build()
    }

    /// The key of what is kept for this asker.
    fn key(&self, what: &str) -> Fingerprint {
        Fingerprint::builder("cloud credential")
            .text(what)
            .text(&self.caller.fingerprint())
            .fingerprint(&self.way())
            .build()
    }

    /// The way to the cloud.
    fn way(&self) -> Fingerprint {
        let way = Options {
            proxy: self.proxy.clone(),
            ..Options::default()
        };
        way.trust()
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

/// A source with the key under which it is kept.
#[derive(Debug)]
struct Named {
    identities: Identities,
    key: Fingerprint,
    source: Arc<dyn CredentialSource>,
}

impl CredentialSource for Named {
    fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>> {
        Box::pin(self.identities.keep(&self.key, self.source.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    #[derive(Debug)]
    struct Fixed(&'static str);

    impl CredentialSource for Fixed {
        fn grant(&self) -> BoxFuture<'_, Result<Grant, Error>> {
            let expires = Timestamp::now() + Duration::from_secs(3600);
            Box::pin(async move { Ok(Grant::token(self.0.into(), Some(expires))) })
        }
    }

    /// A server behind the proxy of one object gave the token that another one used.
    #[tokio::test]
    async fn what_a_secret_gives_is_kept_for_one_way_to_the_server() {
        let identities = Identities::new(Settings::new(Environment::default()));
        let proxied = Options {
            proxy: Some(Proxy {
                address: "http://127.0.0.1:1".to_owned(),
                login: None,
            }),
            ..Options::default()
        };
        for (way, token, kept) in [
            (&proxied, "evil", "evil"),
            (&Options::default(), "good", "good"),
            (&Options::default(), "other", "good"),
        ] {
            let source = identities.kept(b"secret", way, Arc::new(Fixed(token)));
            let grant = source.grant().await.unwrap();
            assert_eq!(grant.secret.expose_secret(), kept);
        }
    }

    #[tokio::test]
    async fn no_proxy_of_an_object_leads_to_metadata_servers() {
        // Nobody listens there: a request that were sent would fail for that reason.
        let proxy = Proxy {
            address: "http://127.0.0.1:1".to_owned(),
            login: None,
        };
        let identities = Identities::new(Settings::new(Environment::default()));
        for proxy in [Some(proxy), None] {
            let asker = Asker {
                proxy,
                ..Asker::default()
            };
            let context = identities.context(&asker).unwrap();
            let sent = context.client.get("http://169.254.169.254/latest").send().await;
            let error = format!("{:?}", sent.unwrap_err());
            assert!(error.contains("Refused { host"), "{error}");
        }
    }
}
