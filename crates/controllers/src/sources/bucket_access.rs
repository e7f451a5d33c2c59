//! How a Bucket is reached, and as whom: from its spec and its Secrets.

use std::sync::Arc;
use std::time::Duration;

use api::source::{BucketProvider, BucketSpec, Sts as StsSpec};
use api::{Object, Reason};
use kube::{Client, ResourceExt};
use source::bucket::{Store, TokenSource, azure, gcs, s3};
use source::http;

use super::chain;
use super::secrets::{self, Data};
use crate::kit::Failure;

/// The bucket of an object.
pub(super) async fn open(cluster: &Client, object: &Object<BucketSpec>) -> Result<Box<dyn Store>, Failure> {
    let access = Access {
        cluster,
        namespace: object.namespace().unwrap_or_default(),
        spec: &object.spec,
    };
    if object.spec.service_account_name.is_some() {
        return Err(Failure::stalled(
            Reason::FEATURE_GATE_DISABLED,
            "to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature \
             gate in the controller",
        ));
    }
    let options = access.http().await.map_err(refused)?;
    let data = access.read(object.spec.secret_ref.as_ref().map(|secret| secret.name.as_str()));
    let data = data.await.map_err(refused)?;
    match &object.spec.provider {
        None | Some(BucketProvider::Generic | BucketProvider::Aws) => access.s3(options, data).await,
        Some(BucketProvider::Gcp) => access.gcs(options, data),
        Some(BucketProvider::Azure) => access.azure(options, data),
        Some(BucketProvider::Other(other)) => Err(Failure::stalled(
            Reason::INVALID_PROVIDER_CONFIGURATION,
            format!("there is no provider '{other}' of buckets"),
        )),
    }
}

fn refused(error: secrets::Error) -> Failure {
    authentication(chain(&error))
}

fn authentication(message: impl Into<String>) -> Failure {
    Failure::transient(Reason::AUTHENTICATION_FAILED, message)
}

fn not_yet(provider: &str) -> Failure {
    authentication(format!(
        "the identity of the workload cannot be used for {provider} yet in this controller: set spec.secretRef"
    ))
}

struct Access<'a> {
    cluster: &'a Client,
    namespace: String,
    spec: &'a BucketSpec,
}

impl Access<'_> {
    async fn read(&self, name: Option<&str>) -> Result<Option<Data>, secrets::Error> {
        match name {
            Some(name) => Data::read(self.cluster, &self.namespace, name).await.map(Some),
            None => Ok(None),
        }
    }

    async fn http(&self) -> Result<http::Options, secrets::Error> {
        let mut options = http::Options::default();
        let timeout = self.spec.timeout;
        options.timeout = Some(timeout.map_or(Duration::from_secs(60), |timeout| timeout.to_std()));
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
            (None, Some(sts)) => self.sts(sts, &http).await?,
            (None, None) if self.spec.provider == Some(BucketProvider::Aws) => return Err(not_yet("aws")),
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
                "spec.sts.secretRef must name a Secret with 'username' and 'password'; other identities are not there yet in \
                 this controller",
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
        Ok(s3::Credentials::Sts(Box::new(s3::Sts {
            endpoint: sts.endpoint.clone(),
            http,
            identity,
        })))
    }

    fn gcs(&self, http: http::Options, data: Option<Data>) -> Result<Box<dyn Store>, Failure> {
        let tokens = match data {
            None => return Err(not_yet("gcp")),
            Some(data) => {
                let client = http.client().map_err(|error| authentication(chain(&error)))?;
                let json = data.need("serviceaccount").map_err(refused)?;
                let account = gcs::ServiceAccount::parse(json, client);
                let account = account.map_err(|error| authentication(chain(&error)))?;
                Arc::new(account) as Arc<dyn TokenSource>
            }
        };
        let endpoint = match (self.spec.endpoint.as_str(), self.spec.insecure) {
            ("storage.googleapis.com", _) => gcs::ENDPOINT.to_owned(),
            (host, true) => format!("http://{host}"),
            (host, false) => format!("https://{host}"),
        };
        let bucket = gcs::Bucket::new(gcs::Options {
            endpoint,
            bucket: self.spec.bucket_name.clone(),
            tokens: Some(tokens),
            http,
        });
        opened(bucket.map(|bucket| Box::new(bucket) as Box<dyn Store>))
    }

    fn azure(&self, http: http::Options, data: Option<Data>) -> Result<Box<dyn Store>, Failure> {
        let Some(data) = data else {
            return Err(not_yet("azure"));
        };
        let secret = |key: &str| data.secret(key).map_err(refused);
        let credentials = if let Some(key) = secret("accountKey")? {
            let account = azure::account_of(&self.spec.endpoint);
            let account = account.ok_or_else(|| authentication("spec.endpoint names no storage account"))?;
            azure::Credentials::AccountKey(azure::AccountKey { account, key })
        } else if let Some(signature) = secret("sasKey")? {
            azure::Credentials::Sas(signature)
        } else if let Some(secret) = secret("clientSecret")? {
            let text = |key: &str| data.text_of(key).map_err(refused);
            let client = http.client().map_err(|error| authentication(chain(&error)))?;
            azure::Credentials::Tokens(Arc::new(azure::ClientSecret {
                tenant: text("tenantId")?,
                client_id: text("clientId")?,
                secret,
                authority: match data.has("authorityHost") {
                    true => text("authorityHost")?,
                    false => azure::AUTHORITY.to_owned(),
                },
                client,
            }))
        } else {
            return Err(authentication(
                "spec.secretRef must name a Secret with 'accountKey', 'sasKey', or 'tenantId', 'clientId' and 'clientSecret'",
            ));
        };
        let container = azure::Container::new(azure::Options {
            endpoint: self.spec.endpoint.clone(),
            container: self.spec.bucket_name.clone(),
            credentials,
            http,
        });
        opened(container.map(|container| Box::new(container) as Box<dyn Store>))
    }
}

fn opened(bucket: Result<Box<dyn Store>, source::bucket::Error>) -> Result<Box<dyn Store>, Failure> {
    bucket.map_err(|error| authentication(chain(&error)))
}
