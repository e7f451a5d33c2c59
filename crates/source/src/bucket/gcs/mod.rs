//! Buckets of Google Cloud Storage, over its JSON interface.

use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::{Client, Response, StatusCode};
use secrecy::ExposeSecret;
use serde::Deserialize;
use url::Url;

pub use crate::identity::gcp::{KeyError, KeyFile};

use super::answer;
use super::store::{Error, Object, Page, Store};
use crate::http::{self, escape};
use crate::identity::{CredentialSource, Kept};

/// Where Google Cloud Storage is.
pub const ENDPOINT: &str = "https://storage.googleapis.com";

/// How often an object that changes while it is fetched is tried.
const TRIES: usize = 3;

/// How to reach a bucket.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address of the service; see [`ENDPOINT`].
    pub endpoint: String,
    /// The bucket.
    pub bucket: String,
    /// Where tokens come from; nothing for buckets that anyone may read.
    pub tokens: Option<Arc<dyn CredentialSource>>,
    /// Proxy, authorities, time limit.
    pub http: http::Options,
}

/// A bucket of Google Cloud Storage.
#[derive(Debug)]
pub struct Bucket {
    options: Options,
    client: Client,
    kept: Kept,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    #[serde(default)]
    items: Vec<Item>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    name: String,
    etag: String,
    #[serde(default)]
    generation: String,
}

impl Bucket {
    /// A bucket; nothing is asked of it yet.
    ///
    /// # Errors
    /// Where certificates or proxy are not what they must be.
    pub fn new(options: Options) -> Result<Self, Error> {
        let client = options.http.raw_client()?;
        Ok(Bucket {
            options,
            client,
            kept: Kept::default(),
        })
    }

    /// Asks for a resource of the bucket. Nothing if it is not there.
    async fn get_resource(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<Result<Response, StatusCode>, Error> {
        let bucket = escape::escape(&self.options.bucket);
        let endpoint = self.options.endpoint.trim_end_matches('/');
        let path = format!("/storage/v1/b/{bucket}{path}");
        let url = format!("{endpoint}{path}?{}", escape::query(query));
        let url = Url::parse(&url).map_err(|_| Error::Endpoint(self.options.endpoint.clone()))?;
        if !url.path().ends_with(&path) {
            return Err(Error::Key(path));
        }
        let mut request = self.client.get(url);
        if let Some(tokens) = &self.options.tokens {
            let token = self.kept.grant(tokens.as_ref()).await?;
            request = request.bearer_auth(token.secret.expose_secret());
        }
        let response = answer::send(&self.options.http, self.name(), request).await?;
        match response.status() {
            StatusCode::OK => Ok(Ok(response)),
            status @ (StatusCode::NOT_FOUND | StatusCode::PRECONDITION_FAILED) => Ok(Err(status)),
            status => Err(answer::failure(self.name(), status, String::new())),
        }
    }

    async fn json<T: for<'de> Deserialize<'de>>(&self, response: Response) -> Result<T, Error> {
        let text = answer::text(self.name(), response).await?;
        serde_json::from_str(&text).map_err(|_| Error::Answer {
            bucket: self.options.bucket.clone(),
            what: "list of objects",
        })
    }
}

impl Store for Bucket {
    fn name(&self) -> &str {
        &self.options.bucket
    }

    fn exists(&self) -> BoxFuture<'_, Result<bool, Error>> {
        Box::pin(async move {
            let fields = [("fields", "name".to_owned())];
            Ok(self.get_resource("", &fields).await?.is_ok())
        })
    }

    fn list<'a>(&'a self, prefix: &'a str, page: Option<&'a str>) -> BoxFuture<'a, Result<Page, Error>> {
        Box::pin(async move {
            let mut query = vec![("fields", "nextPageToken,items(name,etag)".to_owned())];
            if !prefix.is_empty() {
                query.push(("prefix", prefix.to_owned()));
            }
            query.extend(page.map(|page| ("pageToken", page.to_owned())));
            match self.get_resource("/o", &query).await? {
                Ok(response) => {
                    let list: List = self.json(response).await?;
                    let objects = list.items.into_iter();
                    Ok(Page {
                        objects: objects
                            .map(|item| (item.name, answer::without_quotes(&item.etag)))
                            .collect(),
                        next: list.next_page_token.filter(|token| !token.is_empty()),
                    })
                }
                Err(_) => Err(Error::NoBucket(self.options.bucket.clone())),
            }
        })
    }

    fn get<'a>(&'a self, key: &'a str, _: Option<&'a str>) -> BoxFuture<'a, Result<Option<Object>, Error>> {
        Box::pin(async move {
            let path = format!("/o/{}", escape::escape(key));
            // Content comes without its tag, so that both must be of one generation.
            for _ in 0..TRIES {
                let fields = [("fields", "etag,generation".to_owned())];
                let Ok(response) = self.get_resource(&path, &fields).await? else {
                    return Ok(None);
                };
                let item: Item = self.json(response).await?;
                let media = [
                    ("alt", "media".to_owned()),
                    ("ifGenerationMatch", item.generation),
                ];
                if let Ok(response) = self.get_resource(&path, &media).await? {
                    let tag = answer::without_quotes(&item.etag);
                    return Ok(Some(answer::object(self.name(), tag, response)));
                }
            }
            let changing = "the object keeps changing".to_owned();
            Err(answer::failure(
                self.name(),
                StatusCode::PRECONDITION_FAILED,
                changing,
            ))
        })
    }
}
