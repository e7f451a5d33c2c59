//! Containers of Azure Blob Storage.

mod sign;

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::{Client, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use url::Url;

pub use crate::identity::azure::{AUTHORITY, Application, CertificateError, Proof};
pub use sign::AccountKey;

use super::store::{Error, Object, Page, Store};
use super::{answer, xml};
use crate::http::{self, escape};
use crate::identity::{CredentialSource, Kept};
use sign::Unsigned;

/// The version of the interface that is spoken.
const VERSION: &str = "2023-11-03";

/// How to reach a container.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address of the account: `https://<account>.blob.core.windows.net`.
    pub endpoint: String,
    /// The container.
    pub container: String,
    /// Who to be.
    pub credentials: Credentials,
    /// Proxy, authorities, time limit.
    pub http: http::Options,
}

/// Who to be for a container.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// Anyone.
    #[default]
    Anonymous,
    /// The holder of the key of the account.
    AccountKey(AccountKey),
    /// The holder of a shared access signature: a query with or without its question mark.
    Sas(SecretString),
    /// Someone who has tokens.
    Tokens(Arc<dyn CredentialSource>),
}

/// The account that an endpoint names: its first part, where there are more than two.
pub fn account_of(endpoint: &str) -> Option<String> {
    let url = Url::parse(endpoint).ok()?;
    let host = url.host_str()?;
    let mut parts = host.split('.');
    (host.split('.').count() > 2).then(|| parts.next().unwrap_or_default().to_owned())
}

/// A container of Azure Blob Storage.
#[derive(Debug)]
pub struct Container {
    options: Options,
    endpoint: Url,
    client: Client,
    kept: Kept,
}

/// What the server answered.
enum Answer {
    Success(Response),
    Failure { status: StatusCode, code: String },
}

impl Container {
    /// A container; nothing is asked of it yet.
    ///
    /// # Errors
    /// Where certificates, proxy or endpoint are not what they must be.
    pub fn new(options: Options) -> Result<Self, Error> {
        let shown = || Error::Endpoint(crate::helm::address::without_secrets(&options.endpoint));
        let endpoint = Url::parse(options.endpoint.trim_end_matches('/')).map_err(|_| shown())?;
        if endpoint.host().is_none() {
            return Err(shown());
        }
        let client = options.http.raw_client()?;
        Ok(Container {
            options,
            endpoint,
            client,
            kept: Kept::default(),
        })
    }

    async fn send(&self, key: &str, query: &[(&str, String)], tag: Option<&str>) -> Result<Answer, Error> {
        let container = self.options.container.as_str();
        let below = escape::path(Some(container).filter(|name| !name.is_empty()), key);
        let path = format!("{}{below}", self.endpoint.path().trim_end_matches('/'));
        let mut url = self.endpoint.clone();
        url.set_path(&path);
        if url.path() != path {
            return Err(Error::Key(key.to_owned()));
        }
        let mut sent = escape::query(query);
        if let Credentials::Sas(signature) = &self.options.credentials {
            let signature = signature.expose_secret().trim_start_matches('?');
            sent = if sent.is_empty() {
                signature.to_owned()
            } else {
                format!("{sent}&{signature}")
            };
        }
        url.set_query(Some(sent.as_str()).filter(|query| !query.is_empty()));

        let date = Timestamp::now().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let headers = [("x-ms-date", date), ("x-ms-version", VERSION.to_owned())];
        let if_match = tag.map(|tag| format!("\"{tag}\""));
        let mut request = self.client.get(url);
        if let Some(if_match) = &if_match {
            request = request.header("if-match", if_match);
        }
        match &self.options.credentials {
            Credentials::Anonymous | Credentials::Sas(_) => {}
            Credentials::Tokens(tokens) => {
                let token = self.kept.grant(tokens.as_ref()).await?;
                request = request.bearer_auth(token.secret.expose_secret());
            }
            Credentials::AccountKey(key) => {
                let unsigned = Unsigned {
                    path: &path,
                    query,
                    if_match: if_match.as_deref(),
                    headers: &headers,
                };
                let authorization = key.authorization(&unsigned).ok_or_else(|| Error::Refused {
                    bucket: container.to_owned(),
                    code: "the account key is not base64".to_owned(),
                })?;
                request = request.header("authorization", authorization);
            }
        }
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let response = answer::send(&self.options.http, container, request).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(Answer::Success(response));
        }
        let header = response.headers().get("x-ms-error-code");
        let code = header.and_then(|code| code.to_str().ok()).map(str::to_owned);
        let code = match code {
            Some(code) => code,
            None => xml::text(
                &answer::text(container, response).await.unwrap_or_default(),
                "Code",
            )
            .unwrap_or_default(),
        };
        Ok(Answer::Failure { status, code })
    }

    async fn page(&self, prefix: &str, more: Option<(&'static str, String)>) -> Result<Page, Error> {
        let mut query = vec![("comp", "list".to_owned()), ("restype", "container".to_owned())];
        if !prefix.is_empty() {
            query.push(("prefix", prefix.to_owned()));
        }
        query.extend(more);
        match self.send("", &query, None).await? {
            Answer::Success(response) => {
                let text = answer::text(self.name(), response).await?;
                xml::azure_page(&text).ok_or_else(|| Error::Answer {
                    bucket: self.options.container.clone(),
                    what: "list of blobs",
                })
            }
            Answer::Failure { status, code } => Err(answer::failure(self.name(), status, code)),
        }
    }
}

impl Store for Container {
    fn name(&self) -> &str {
        &self.options.container
    }

    fn exists(&self) -> BoxFuture<'_, Result<bool, Error>> {
        Box::pin(async move {
            match self.page("", Some(("maxresults", "1".to_owned()))).await {
                Ok(_) => Ok(true),
                Err(Error::NoBucket(_)) => Ok(false),
                Err(error) => Err(error),
            }
        })
    }

    fn list<'a>(&'a self, prefix: &'a str, page: Option<&'a str>) -> BoxFuture<'a, Result<Page, Error>> {
        Box::pin(self.page(prefix, page.map(|page| ("marker", page.to_owned()))))
    }

    fn get<'a>(&'a self, key: &'a str, tag: Option<&'a str>) -> BoxFuture<'a, Result<Option<Object>, Error>> {
        Box::pin(async move {
            let mut answered = self.send(key, &[], tag).await?;
            if matches!(
                &answered,
                Answer::Failure {
                    status: StatusCode::PRECONDITION_FAILED,
                    ..
                }
            ) {
                answered = self.send(key, &[], None).await?;
            }
            match answered {
                Answer::Success(response) => {
                    let tag = answer::tag(&response);
                    Ok(Some(answer::object(self.name(), tag, response)))
                }
                Answer::Failure {
                    status: StatusCode::NOT_FOUND,
                    code,
                } if code != "ContainerNotFound" => Ok(None),
                Answer::Failure { status, code } => Err(answer::failure(self.name(), status, code)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_is_the_first_part_of_the_host() {
        assert_eq!(account_of("https://acme.blob.core.windows.net").unwrap(), "acme");
        assert_eq!(account_of("https://localhost:10000"), None);
        assert_eq!(account_of("no address"), None);
    }
}
