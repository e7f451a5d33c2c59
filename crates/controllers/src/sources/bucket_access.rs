//! How a Bucket is reached, and as whom: from its spec and its Secrets.

use std::sync::Arc;

use api::source::{BucketProvider, BucketSpec, Sts as StsSpec};
use api::{Object, Reason};
use kube::ResourceExt;
use source::bucket::{Store, azure, gcs, s3};
use source::http;
use source::identity::{Asker, Destination, Identities, aws};

use super::provider;
use super::secrets::{self, Data};
use super::{Shared, chain, timeout_of};
use crate::kit::{Failure, blocking};

/// The bucket of an object.
pub(super) async fn open(shared: &Shared, object: &Object<BucketSpec>) -> Result<Box<dyn Store>, Failure> {
    let access = Access {
        shared,
        identities: provider::identities(shared, object),
        namespace: object.namespace().unwrap_or_default(),
        spec: &object.spec,
    };
    if object.spec.service_account_name.is_some() && !shared.settings.object_level_workload_identity {
        return Err(provider::Error::GateDisabled.failure(""));
    }
    let options = access.http().await.map_err(refused)?;
    let data = access.read(object.spec.secret_ref.as_ref().map(|secret| secret.name.as_str()));
    let data = data.await.map_err(refused)?;
    match &object.spec.provider {
        None | Some(BucketProvider::Generic | BucketProvider::Aws) => access.s3(options, data).await,
        Some(BucketProvider::Gcp) => access.gcs(options, data).await,
        Some(BucketProvider::Azure) => access.azure(options, data).await,
        Some(BucketProvider::Other(other)) => Err(Failure::stalled(
            Reason::INVALID_PROVIDER_CONFIGURATION,
            format!("there is no provider '{other}' of buckets: use generic, aws, gcp or azure"),
        )),
    }
}

fn refused(error: secrets::Error) -> Failure {
    authentication(chain(&error))
}

fn authentication(message: impl Into<String>) -> Failure {
    Failure::transient(Reason::AUTHENTICATION_FAILED, message)
}

struct Access<'a> {
    shared: &'a Shared,
    identities: Identities,
    namespace: String,
    spec: &'a BucketSpec,
}

impl Access<'_> {
    async fn read(&self, name: Option<&str>) -> Result<Option<Data>, secrets::Error> {
        match name {
            Some(name) => Data::read(&self.shared.client, &self.namespace, name)
                .await
                .map(Some),
            None => Ok(None),
        }
    }

    async fn http(&self) -> Result<http::Options, secrets::Error> {
        let mut options = self.shared.http();
        options.timeout = Some(timeout_of(self.spec.timeout));
        let certificates = self
            .spec
            .cert_secret_ref
            .as_ref()
            .map(|secret| secret.name.as_str());
        if let Some(data) = self.read(certificates).await? {
            options.tls = data.tls()?;
        }
        let proxy = self
            .spec
            .proxy_secret_ref
            .as_ref()
            .map(|secret| secret.name.as_str());
        if let Some(data) = self.read(proxy).await? {
            options.proxy = Some(data.proxy()?);
        }
        Ok(options)
    }

    async fn s3(&self, http: http::Options, data: Option<Data>) -> Result<Box<dyn Store>, Failure> {
        let credentials = match (&data, &self.spec.sts) {
            (Some(data), _) => s3::Credentials::Key(data.s3_key().map_err(refused)?),
            (None, sts) if self.spec.provider == Some(BucketProvider::Aws) => {
                let place = aws::Place {
                    region: self.spec.region.clone().filter(|region| !region.is_empty()),
                    sts: sts.as_ref().map(|sts| sts.endpoint.clone()),
                };
                let scheme = if self.spec.insecure { "http" } else { "https" };
                let address = format!("{scheme}://{}", self.spec.endpoint);
                let asker = self.asker(&http).await?;
                let keys = self
                    .identities
                    .s3(asker, place, self.destination(&address, &http));
                let keys = keys.map_err(|error| authentication(chain(&error)))?;
                // Asked for now, so that what fails is told as a matter of authentication, as Flux tells it.
                let key = keys.grant().await;
                key.map_err(|error| authentication(format!("AWS authentication failed: {}", chain(&error))))?;
                s3::Credentials::Temporary(keys)
            }
            (None, Some(sts)) => self.sts(sts, &http).await?,
            (None, None) => s3::Credentials::Anonymous,
        };
        let bucket = s3::Bucket::new(s3::Options {
            endpoint: self.spec.endpoint.clone(),
            bucket: self.spec.bucket_name.clone(),
            region: self.spec.region.clone().unwrap_or_default(),
            insecure: self.spec.insecure,
            credentials,
            http,
        });
        opened(bucket.map(|bucket| Box::new(bucket) as Box<dyn Store>))
    }

    /// The server that credentials of an identity would be sent to.
    fn destination<'a>(&self, address: &'a str, http: &'a http::Options) -> Destination<'a> {
        Destination::Named {
            address,
            tls: &http.tls,
            proxied: self.spec.proxy_secret_ref.is_some(),
        }
    }

    async fn asker(&self, http: &http::Options) -> Result<Asker, Failure> {
        let account = self.spec.service_account_name.as_deref();
        let asker = provider::asker(self.shared, &self.namespace, account, http.proxy.clone());
        asker
            .await
            .map_err(|error| error.failure("failed to get credentials of the bucket"))
    }

    async fn sts(&self, sts: &StsSpec, http: &http::Options) -> Result<s3::Credentials, Failure> {
        let login = self.read(sts.secret_ref.as_ref().map(|secret| secret.name.as_str()));
        let login = login.await.map_err(refused)?;
        let login = login
            .map(|data| data.login())
            .transpose()
            .map_err(refused)?
            .flatten();
        let Some(login) = login else {
            return Err(Failure::stalled(
                Reason::INVALID_STS_CONFIGURATION,
                "spec.sts.secretRef must name a Secret with 'username' and 'password'",
            ));
        };
        let mut http = http.clone();
        let certificates = self.read(sts.cert_secret_ref.as_ref().map(|secret| secret.name.as_str()));
        if let Some(data) = certificates.await.map_err(refused)? {
            http.tls = data.tls().map_err(refused)?;
        }
        let identity = s3::Identity::Ldap {
            user: login.user,
            password: login.password,
        };
        Ok(s3::Credentials::Temporary(Arc::new(s3::Sts {
            endpoint: sts.endpoint.clone(),
            http,
            identity,
        })))
    }

    async fn gcs(&self, http: http::Options, data: Option<Data>) -> Result<Box<dyn Store>, Failure> {
        let endpoint = match (self.spec.endpoint.as_str(), self.spec.insecure) {
            ("storage.googleapis.com", _) => gcs::ENDPOINT.to_owned(),
            (host, true) => format!("http://{host}"),
            (host, false) => format!("https://{host}"),
        };
        let tokens = match data {
            None => {
                let asker = self.asker(&http).await?;
                let tokens = self.identities.gcs(asker, self.destination(&endpoint, &http));
                tokens.map_err(|error| authentication(chain(&error)))?
            }
            Some(data) => {
                let client = http.client().map_err(|error| authentication(chain(&error)))?;
                let json = data.need("serviceaccount").map_err(refused)?;
                let file = gcs::KeyFile::parse(json, client);
                let file = file.map_err(|error| authentication(chain(&error)))?;
                self.identities.kept(&data.content(), &http, Arc::new(file))
            }
        };
        let bucket = gcs::Bucket::new(gcs::Options {
            endpoint,
            bucket: self.spec.bucket_name.clone(),
            tokens: Some(tokens),
            http,
        });
        opened(bucket.map(|bucket| Box::new(bucket) as Box<dyn Store>))
    }

    async fn azure(&self, http: http::Options, data: Option<Data>) -> Result<Box<dyn Store>, Failure> {
        let credentials = match data.filter(|data| !data.is_empty()) {
            Some(data) => self.azure_secret(&http, &data).await?,
            None => self.azure_identity(&http, None).await?,
        };
        let container = azure::Container::new(azure::Options {
            endpoint: self.spec.endpoint.clone(),
            container: self.spec.bucket_name.clone(),
            credentials,
            http,
        });
        opened(container.map(|container| Box::new(container) as Box<dyn Store>))
    }

    /// Tokens of the identity of the object or controller, or of one that Azure manages for the machine.
    async fn azure_identity(
        &self,
        http: &http::Options,
        client: Option<String>,
    ) -> Result<azure::Credentials, Failure> {
        let asker = self.asker(http).await?;
        let destination = self.destination(&self.spec.endpoint, http);
        let tokens = self.identities.azure_storage(asker, client, destination);
        let tokens = tokens.map_err(|error| authentication(chain(&error)))?;
        Ok(azure::Credentials::Tokens(tokens))
    }

    /// Who a Secret says to be. The first that is complete counts: an application, an identity of the machine, the account.
    async fn azure_secret(&self, http: &http::Options, data: &Data) -> Result<azure::Credentials, Failure> {
        let secret = |key: &str| data.secret(key).map_err(refused);
        let text = |key: &str| data.text_of(key).map_err(refused);
        let identities = &self.identities;
        if data.has("tenantId") && data.has("clientId") {
            let file = data
                .has("clientCertificate")
                .then(|| data.need("clientCertificate"));
            let proof = match (secret("clientSecret")?, file.transpose().map_err(refused)?) {
                (Some(secret), _) => Some(azure::Proof::Secret(secret)),
                (None, Some(file)) => {
                    let send_chain = data.has("clientCertificateSendChain")
                        && matches!(text("clientCertificateSendChain")?.as_str(), "1" | "true");
                    let (file, password) = (file.to_vec(), secret("clientCertificatePassword")?);
                    // Its password is hashed for up to seconds.
                    let read = move || azure::Proof::certificate_file(&file, password.as_ref(), send_chain);
                    Some(
                        blocking(read)
                            .await
                            .map_err(|error| authentication(format!("'{}': {error}", data.name())))?,
                    )
                }
                (None, None) => None,
            };
            if let Some(proof) = proof {
                let application = azure::Application {
                    tenant: text("tenantId")?,
                    client_id: text("clientId")?,
                    proof,
                    authority: match data.has("authorityHost") {
                        true => text("authorityHost")?,
                        false => azure::AUTHORITY.to_owned(),
                    },
                    client: http.client().map_err(|error| authentication(chain(&error)))?,
                };
                let tokens = identities.kept(&data.content(), http, Arc::new(application));
                return Ok(azure::Credentials::Tokens(tokens));
            }
        } else if data.has("clientId") {
            return self.azure_identity(http, Some(text("clientId")?)).await;
        }
        if let Some(key) = secret("accountKey")? {
            let account = azure::account_of(&self.spec.endpoint);
            let account = account.ok_or_else(|| {
                authentication("spec.endpoint names no storage account: it must be that of the account")
            })?;
            return Ok(azure::Credentials::AccountKey(azure::AccountKey { account, key }));
        }
        if let Some(signature) = secret("sasKey")? {
            return Ok(azure::Credentials::Sas(signature));
        }
        Err(authentication(format!(
            "the Secret '{}' must have 'tenantId', 'clientId' and 'clientSecret' or 'clientCertificate', or 'clientId', or \
             'accountKey', or 'sasKey'",
            data.name()
        )))
    }
}

fn opened(bucket: Result<Box<dyn Store>, source::bucket::Error>) -> Result<Box<dyn Store>, Failure> {
    bucket.map_err(|error| authentication(chain(&error)))
}
