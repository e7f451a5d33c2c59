//! Buckets of S3 and of what speaks like it: MinIO, Ceph, Google's and others' compatible endpoints.
//!
//! A thin client of our own, so that client certificates, proxies and conditional requests work as in all other sources.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use parking_lot::Mutex;
use reqwest::{Client, Response, StatusCode};

pub use crate::identity::aws::{Identity, Key, Sts};

use super::store::{Error, Object, Page, Store};
use super::{answer, xml};
use crate::http::{self, escape};
use crate::identity::aws::{self, EMPTY, Unsigned};
use crate::identity::{CredentialSource, Kept};

/// How to reach a bucket.
#[derive(Clone, Debug)]
pub struct Options {
    /// The host, with a port where it is another.
    pub endpoint: String,
    /// The bucket.
    pub bucket: String,
    /// The region. Where it is empty, it follows from the endpoint, or from what the server complains about.
    pub region: String,
    /// Whether there is no TLS.
    pub insecure: bool,
    /// Who to be.
    pub credentials: Credentials,
    /// Authorities, client certificate, proxy, time limit.
    pub http: http::Options,
}

/// Who to be for a bucket.
#[derive(Clone, Debug, Default)]
pub enum Credentials {
    /// Anyone.
    #[default]
    Anonymous,
    /// The holder of a key.
    Key(Key),
    /// Someone who is given temporary keys, by a token service ([`Sts`]) or as the identity of a workload.
    Temporary(Arc<dyn CredentialSource>),
}

/// A bucket of S3.
pub struct Bucket {
    client: Client,
    options: Options,
    /// The host of requests, with the bucket in it where that is how the server wants it.
    host: String,
    /// Whether the bucket is part of the host.
    in_host: bool,
    region: Mutex<String>,
    kept: Kept,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Bucket {
    /// A bucket; nothing is asked of it yet.
    ///
    /// # Errors
    /// Where certificates, proxy or endpoint are not what they must be.
    pub fn new(options: Options) -> Result<Self, Error> {
        let endpoint = options.endpoint.trim_end_matches('/');
        if endpoint.is_empty() || endpoint.contains(['/', '@', '?', '#', ' ']) {
            return Err(Error::Endpoint(crate::helm::address::without_secrets(endpoint)));
        }
        let client = options.http.raw_client()?;
        let is_amazon = endpoint.ends_with(".amazonaws.com") || endpoint.ends_with(".amazonaws.com.cn");
        let in_host =
            is_amazon && is_host_name(&options.bucket) && (options.insecure || !options.bucket.contains('.'));
        let host = if in_host {
            format!("{}.{endpoint}", options.bucket)
        } else {
            endpoint.to_owned()
        };
        let region = match options.region.as_str() {
            "" => region_of(endpoint).to_owned(),
            region => region.to_owned(),
        };
        Ok(Bucket {
            client,
            host,
            in_host,
            region: Mutex::new(region),
            kept: Kept::default(),
            options,
        })
    }

    async fn key(&self) -> Result<Option<Key>, Error> {
        match &self.options.credentials {
            Credentials::Anonymous => Ok(None),
            Credentials::Key(key) => Ok(Some(key.clone())),
            Credentials::Temporary(source) => Ok(Some(self.kept.grant(source.as_ref()).await?.key())),
        }
    }

    /// Sends a request. A server that wants another region is asked again with that.
    async fn send(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, String)],
        tag: Option<&str>,
    ) -> Result<Answer, Error> {
        let answer = self.send_once(method, key, query, tag).await?;
        if let Answer::Failure {
            region: Some(region), ..
        } = &answer
        {
            let mut known = self.region.lock();
            if *known != *region && self.options.region.is_empty() {
                known.clone_from(region);
            } else {
                return Ok(answer);
            }
        } else {
            return Ok(answer);
        }
        self.send_once(method, key, query, tag).await
    }

    async fn send_once(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, String)],
        tag: Option<&str>,
    ) -> Result<Answer, Error> {
        let bucket = (!self.in_host).then_some(self.options.bucket.as_str());
        let path = escape::path(bucket.filter(|name| !name.is_empty()), key);
        let scheme = if self.options.insecure { "http" } else { "https" };
        let mut url = format!("{scheme}://{}{path}", self.host);
        if !query.is_empty() {
            url = format!("{url}?{}", escape::query(query));
        }
        let url = url::Url::parse(&url).map_err(|_| Error::Endpoint(self.options.endpoint.clone()))?;
        // An address without its dots would be that of another object, and the signature be wrong.
        if url.path() != path {
            return Err(Error::Key(key.to_owned()));
        }
        let host = match url.port() {
            Some(port) => format!("{}:{port}", url.host_str().unwrap_or_default()),
            None => url.host_str().unwrap_or_default().to_owned(),
        };
        let mut request = match method {
            "HEAD" => self.client.head(url),
            _ => self.client.get(url),
        };
        if let Some(tag) = tag {
            request = request.header("if-match", format!("\"{tag}\""));
        }
        if let Some(signing) = self.key().await? {
            let unsigned = Unsigned {
                method,
                host: &host,
                path: &path,
                query,
                headers: &[("x-amz-content-sha256", EMPTY.to_owned())],
                body: b"",
                service: "s3",
            };
            let region = self.region.lock().clone();
            for (name, value) in aws::headers(&unsigned, &signing, &region, Timestamp::now()) {
                request = request.header(name, value);
            }
        }
        let response = answer::send(&self.options.http, &self.options.bucket, request).await?;
        if response.status().is_success() {
            return Ok(Answer::Success(response));
        }
        let status = response.status();
        let header = response.headers().get("x-amz-bucket-region");
        let region = header.and_then(|region| region.to_str().ok()).map(str::to_owned);
        let text = answer::text(&self.options.bucket, response)
            .await
            .unwrap_or_default();
        Ok(Answer::Failure {
            status,
            code: xml::text(&text, "Code").unwrap_or_default(),
            region: region
                .or_else(|| xml::text(&text, "Region"))
                .filter(|region| !region.is_empty()),
        })
    }
}

enum Answer {
    Success(Response),
    Failure {
        status: StatusCode,
        code: String,
        /// The region that the server wants.
        region: Option<String>,
    },
}

/// Whether a bucket's name can be a part of a host's: any other would lead a signed request to somebody else.
fn is_host_name(bucket: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte);
    let is_label = |label: &str| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-');
    bucket.len() <= 63 && bucket.bytes().all(is_known) && bucket.split('.').all(is_label)
}

/// The region that an endpoint of Amazon names, or the one that everyone takes where there are none.
fn region_of(endpoint: &str) -> &str {
    let name = endpoint.strip_suffix(".cn").unwrap_or(endpoint);
    let name = name.strip_suffix(".amazonaws.com").unwrap_or_default();
    let name = name
        .strip_prefix("s3.dualstack.")
        .or_else(|| name.strip_prefix("s3."));
    match name.or_else(|| endpoint.strip_prefix("s3-")?.strip_suffix(".amazonaws.com")) {
        Some(region) if !region.is_empty() => region,
        _ => "us-east-1",
    }
}

impl Store for Bucket {
    fn name(&self) -> &str {
        &self.options.bucket
    }

    fn exists(&self) -> BoxFuture<'_, Result<bool, Error>> {
        Box::pin(async move {
            match self.send("HEAD", "", &[], None).await? {
                Answer::Success(_) => Ok(true),
                Answer::Failure {
                    status: StatusCode::NOT_FOUND,
                    ..
                } => Ok(false),
                Answer::Failure { status, code, .. } => Err(answer::failure(self.name(), status, code)),
            }
        })
    }

    fn list<'a>(&'a self, prefix: &'a str, page: Option<&'a str>) -> BoxFuture<'a, Result<Page, Error>> {
        Box::pin(async move {
            let mut query = vec![("list-type", "2".to_owned()), ("encoding-type", "url".to_owned())];
            if !prefix.is_empty() {
                query.push(("prefix", prefix.to_owned()));
            }
            query.extend(page.map(|page| ("continuation-token", page.to_owned())));
            match self.send("GET", "", &query, None).await? {
                Answer::Success(response) => {
                    let text = answer::text(&self.options.bucket, response).await?;
                    xml::s3_page(&text).ok_or_else(|| Error::Answer {
                        bucket: self.options.bucket.clone(),
                        what: "list of objects",
                    })
                }
                Answer::Failure { status, code, .. } => Err(answer::failure(self.name(), status, code)),
            }
        })
    }

    fn get<'a>(&'a self, key: &'a str, tag: Option<&'a str>) -> BoxFuture<'a, Result<Option<Object>, Error>> {
        Box::pin(async move {
            let mut answered = self.send("GET", key, &[], tag).await?;
            if matches!(
                &answered,
                Answer::Failure {
                    status: StatusCode::PRECONDITION_FAILED,
                    ..
                }
            ) {
                answered = self.send("GET", key, &[], None).await?;
            }
            match answered {
                Answer::Success(response) => {
                    let tag = answer::tag(&response);
                    Ok(Some(answer::object(self.name(), tag, response)))
                }
                Answer::Failure {
                    status: StatusCode::NOT_FOUND,
                    code,
                    ..
                } if code != "NoSuchBucket" => Ok(None),
                Answer::Failure { status, code, .. } => Err(answer::failure(self.name(), status, code)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_name_is_no_part_of_another_host() {
        for name in ["manifests", "my.bucket-1", "0"] {
            assert!(is_host_name(name), "{name}");
        }
        let long = "a".repeat(64);
        for name in [
            "",
            "evil.example/",
            "evil.example:80",
            "2130706433:80/x",
            "a@b",
            "a?b",
            "a#b",
            "a\\b",
            "a b",
            "a%2fb",
            "A",
            ".a",
            "a.",
            "a..b",
            "-a",
            "a-",
            "a.-b",
            "größe",
            &long,
        ] {
            assert!(!is_host_name(name), "{name}");
        }
    }

    #[test]
    fn the_region_follows_from_the_endpoint() {
        assert_eq!(region_of("s3.eu-west-1.amazonaws.com"), "eu-west-1");
        assert_eq!(region_of("s3.dualstack.eu-west-1.amazonaws.com"), "eu-west-1");
        assert_eq!(region_of("s3.cn-north-1.amazonaws.com.cn"), "cn-north-1");
        assert_eq!(region_of("s3.amazonaws.com"), "us-east-1");
        assert_eq!(region_of("minio.example:9000"), "us-east-1");
    }
}
