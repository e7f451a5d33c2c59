//! A Helm repository over HTTP.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use model::Digest;
use reqwest::header::AUTHORIZATION;
use reqwest::{Client, Response, StatusCode};
use secrecy::ExposeSecret;
use sha2::{Digest as _, Sha256};
use tempfile::{NamedTempFile, TempPath};
use tokio::io::AsyncWriteExt;
use tokio::sync::OnceCell;
use url::Url;

use super::address::{self, AddressError};
use super::fetcher::{ChartFetcher, FetchError, Found};
use super::index::{self, Index};
use crate::http::redirect::{self, Failure, Landed, Shown};
use crate::http::{self, Login};
use crate::trust::{Fingerprint, TrustScope};

/// How large an index may be, unless said otherwise: 50 MiB.
pub const MAX_INDEX_SIZE: u64 = 50 << 20;
/// How large a packed chart may be, unless said otherwise: 10 MiB.
pub const MAX_CHART_SIZE: u64 = 10 << 20;

/// How to reach a repository.
#[derive(Clone, Debug)]
pub struct Options {
    /// The address, without `index.yaml`.
    pub url: String,
    /// Authorities, client certificate, time limit.
    pub http: http::Options,
    /// The user; see [`login`] about halves.
    pub login: Option<Login>,
    /// Send the credentials also to other servers that the index names.
    pub pass_credentials: bool,
    /// How large an index may be.
    pub max_index_size: u64,
    /// How large a packed chart may be.
    pub max_chart_size: u64,
    /// Where an index is kept while charts are looked up in it.
    pub scratch: PathBuf,
}

impl Options {
    /// A repository that anyone may read, with the usual limits.
    pub fn new(url: impl Into<String>) -> Self {
        Options {
            url: url.into(),
            http: http::Options::default(),
            login: None,
            pass_credentials: false,
            max_index_size: MAX_INDEX_SIZE,
            max_chart_size: MAX_CHART_SIZE,
            scratch: std::env::temp_dir(),
        }
    }
}

/// A Helm repository over HTTP.
#[derive(Debug)]
pub struct Repository {
    url: Url,
    client: Client,
    options: Options,
    /// The index that was stored before.
    stored: Option<PathBuf>,
    index: OnceCell<Arc<Loaded>>,
}

#[derive(Debug)]
struct Loaded {
    index: Index,
    /// Removes the file, where we made it, when the index is dropped.
    _file: Option<TempPath>,
}

/// An index as it was fetched.
#[derive(Debug)]
pub struct FetchedIndex {
    /// Where it is. The file goes when this is dropped.
    pub file: TempPath,
    /// The digest of its bytes: the revision of the repository.
    pub digest: Digest,
    /// How many bytes it has.
    pub size: u64,
}

/// Why something was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is none.
    #[error("the address of the Helm repository cannot be used")]
    Address(#[from] AddressError),
    /// The scheme is another one.
    #[error("the Helm repository '{0}' must begin with http:// or https://")]
    Scheme(String),
    /// Certificates or proxy are not what they must be.
    #[error("no HTTP client can be made for the Helm repository")]
    Client(#[from] http::Error),
    /// The server did not answer.
    #[error("failed to fetch {url}{}", http::remedy(.source))]
    Request {
        /// What was fetched.
        url: String,
        /// Why not.
        source: reqwest::Error,
    },
    /// The proxy does not lead to the server.
    #[error("failed to fetch {url}")]
    Proxy {
        /// What was fetched.
        url: String,
        /// What is wrong with the proxy.
        source: http::ProxyFailure,
    },
    /// The server leads nowhere.
    #[error("failed to fetch {url}")]
    Redirect {
        /// What was fetched.
        url: String,
        /// Where to.
        source: http::Lost,
    },
    /// The server answered something else.
    #[error("failed to fetch {url}{detour} : {status}{}", remedy(.status))]
    Status {
        /// What was fetched.
        url: String,
        /// Where we were led to, if we were.
        detour: String,
        /// What the server said.
        status: StatusCode,
    },
    /// There was more than is taken.
    #[error(
        "{what} {url} exceeds the maximum size of {limit} bytes: make it smaller, or have the limit raised"
    )]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// What was fetched.
        url: String,
        /// How much is taken.
        limit: u64,
    },
    /// The index could not be kept on disk.
    #[error("failed to write the index of {url} to a temporary file")]
    Disk {
        /// What was fetched.
        url: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The index cannot be used.
    #[error("failed to load the index of {url}")]
    Index {
        /// The repository.
        url: String,
        /// Why not.
        source: index::Error,
    },
    /// The index names no archive.
    #[error("chart '{0}' has no downloadable URLs: add them to its entry in the index")]
    NoUrls(String),
}

/// What to do about an answer, where that is known.
fn remedy(status: &StatusCode) -> &'static str {
    match *status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ": check the credentials",
        StatusCode::NOT_FOUND => ": check the URL",
        _ => ": if that comes again, look at the log of the server",
    }
}

impl Error {
    /// Whether the credentials or the certificates are to blame.
    pub fn is_authentication(&self) -> bool {
        match self {
            Error::Status { status, .. } => *status == StatusCode::UNAUTHORIZED,
            Error::Client(_) => true,
            Error::Request { source, .. } => http_is_tls(source),
            _ => false,
        }
    }
}

/// Whether the connection failed because a certificate was not accepted.
fn http_is_tls(error: &reqwest::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        let text = error.to_string();
        if text.contains("certificate") || text.contains("TLS") || text.contains("tls") {
            return true;
        }
        cause = error.source();
    }
    false
}

impl From<Error> for FetchError {
    fn from(error: Error) -> Self {
        if error.is_authentication() {
            FetchError::Authentication(Box::new(error))
        } else {
            FetchError::external(error)
        }
    }
}

/// Half a pair of credentials was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("basic authentication needs both 'username' and 'password', and only '{0}' is given")]
pub struct HalfLogin(pub &'static str);

/// The credentials that a user name and a password make: both or none, but not half of them.
pub fn login(
    user: Option<String>,
    password: Option<secrecy::SecretString>,
) -> Result<Option<Login>, HalfLogin> {
    match (user, password) {
        (Some(user), Some(password)) => Ok(Some(Login { user, password })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(HalfLogin("username")),
        (None, Some(_)) => Err(HalfLogin("password")),
    }
}

impl Repository {
    /// A repository; nothing is fetched yet.
    pub fn new(options: Options) -> Result<Self, Error> {
        let url = address::parse(&options.url)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Error::Scheme(address::without_secrets(&options.url)));
        }
        // Archives are compressed themselves: a server that calls this an encoding must not have it undone.
        let client = options
            .http
            .client_with("helm", |builder| redirect::by_hand(builder.no_gzip()))?;
        Ok(Repository {
            url,
            client,
            options,
            stored: None,
            index: OnceCell::new(),
        })
    }

    /// Looks charts up in an index that was stored before instead of fetching it.
    #[must_use]
    pub fn with_index(mut self, path: impl Into<PathBuf>) -> Self {
        self.stored = Some(path.into());
        self
    }

    /// Fetches the index into a file of this directory, piece by piece.
    pub async fn fetch_index(&self, directory: &Path) -> Result<FetchedIndex, Error> {
        let url = address::of_index(&self.url);
        let shown = address::without_secrets(url.as_str());
        let disk = |source| Error::Disk {
            url: shown.clone(),
            source,
        };
        let mut response = self.get(&url).await?;
        let (file, path) = NamedTempFile::new_in(directory).map_err(disk)?.into_parts();
        let mut file = tokio::fs::File::from_std(file);
        let mut hash = Sha256::new();
        let mut size = 0u64;
        let limit = self.options.max_index_size;
        while let Some(piece) = next(&mut response, &shown).await? {
            size += piece.len() as u64;
            if size > limit {
                return Err(Error::TooLarge {
                    what: "the index",
                    url: shown,
                    limit,
                });
            }
            hash.update(&piece);
            file.write_all(&piece).await.map_err(disk)?;
        }
        file.flush().await.map_err(disk)?;
        Ok(FetchedIndex {
            file: path,
            digest: Digest::sha256(hash.finalize().into()),
            size,
        })
    }

    /// The provenance file of a chart, if the repository has one.
    pub async fn provenance(&self, chart: &Found) -> Result<Option<Bytes>, Error> {
        let mut url = self.chart_url(chart)?;
        url.set_path(&format!("{}.prov", url.path()));
        match self.get_whole("the provenance", &url).await {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Error::Status {
                status: StatusCode::NOT_FOUND,
                ..
            }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn chart_url(&self, chart: &Found) -> Result<Url, Error> {
        let reference = chart
            .urls
            .first()
            .ok_or_else(|| Error::NoUrls(chart.name.clone()))?;
        Ok(address::of_chart(&self.url, reference)?)
    }

    async fn loaded(&self) -> Result<Arc<Loaded>, Error> {
        let load = async || {
            let (path, file) = match &self.stored {
                Some(path) => (path.clone(), None),
                None => {
                    let fetched = self.fetch_index(&self.options.scratch).await?;
                    (fetched.file.to_path_buf(), Some(fetched.file))
                }
            };
            let index = tokio::task::spawn_blocking(move || Index::open(path)).await;
            let index = index.unwrap_or_else(|_| Err(index::Error::Shape("reading it ended early")));
            let index = index.map_err(|source| Error::Index {
                url: address::without_secrets(self.url.as_str()),
                source,
            })?;
            Ok(Arc::new(Loaded { index, _file: file }))
        };
        self.index.get_or_try_init(load).await.cloned()
    }

    async fn get_whole(&self, what: &'static str, url: &Url) -> Result<Bytes, Error> {
        let shown = address::without_secrets(url.as_str());
        let mut response = self.get(url).await?;
        let limit = self.options.max_chart_size;
        let mut whole = BytesMut::new();
        while let Some(piece) = next(&mut response, &shown).await? {
            if (whole.len() + piece.len()) as u64 > limit {
                return Err(Error::TooLarge {
                    what,
                    url: shown,
                    limit,
                });
            }
            whole.extend_from_slice(&piece);
        }
        Ok(whole.freeze())
    }

    async fn get(&self, url: &Url) -> Result<Response, Error> {
        let shown = address::without_secrets(url.as_str());
        let http = &self.options.http;
        let failed = |error| match http.blame(error) {
            Ok(source) => Error::Proxy {
                url: shown.clone(),
                source,
            },
            Err(source) => Error::Request {
                url: shown.clone(),
                source,
            },
        };
        let allowed = self.options.pass_credentials || address::same_server(&self.url, url);
        let login = self.options.login.as_ref().filter(|_| allowed);
        let mut request = self.client.get(url.clone());
        if let Some(login) = login {
            request = request.basic_auth(&login.user, Some(login.password.expose_secret()));
        }
        let mut request = request.build().map_err(&failed)?;
        let authorization = request.headers_mut().remove(AUTHORIZATION);
        let credentials = Shown {
            home: url,
            authorization: authorization.as_ref(),
            may_leave_tls: true,
        };
        let sent = redirect::send(&self.client, request, credentials).await;
        let Landed { response, detour } = sent.map_err(|error| match error {
            Failure::Request(error) => failed(error),
            Failure::Lost(source) => Error::Redirect {
                url: shown.clone(),
                source,
            },
        })?;
        if let Some(source) = http.refusal(&response) {
            return Err(Error::Proxy { url: shown, source });
        }
        match response.status() {
            StatusCode::OK => Ok(response),
            status => Err(Error::Status {
                url: shown,
                detour,
                status,
            }),
        }
    }
}

async fn next(response: &mut Response, shown: &str) -> Result<Option<Bytes>, Error> {
    response.chunk().await.map_err(|source| Error::Request {
        url: shown.to_owned(),
        source: source.without_url(),
    })
}

impl ChartFetcher for Repository {
    fn scope(&self, _: &Found) -> Option<TrustScope> {
        let Options {
            http,
            login,
            pass_credentials,
            ..
        } = &self.options;
        let password = login
            .as_ref()
            .map(|login| login.password.expose_secret().as_bytes());
        let identity = Fingerprint::builder("helm identity")
            // The address may hold a user and a password too.
            .text(&self.options.url)
            .optional(login.as_ref().map(|login| login.user.as_bytes()))
            .optional(password)
            .flag(*pass_credentials)
            .build();
        Some(TrustScope::new(&identity, &http.trust()))
    }

    fn find<'a>(&'a self, chart: &'a str, version: &'a str) -> BoxFuture<'a, Result<Found, FetchError>> {
        Box::pin(async move {
            let loaded = self.loaded().await?;
            let (name, wanted) = (chart.to_owned(), version.to_owned());
            let found = tokio::task::spawn_blocking(move || loaded.index.find(&name, &wanted)).await;
            let found = found.unwrap_or(Err(index::Error::Shape("reading it ended early")));
            let picked = found.map_err(|source| Error::Index {
                url: address::without_secrets(self.url.as_str()),
                source,
            })?;
            let picked = picked.map_err(FetchError::reference)?;
            Ok(Found {
                name: picked.metadata.name,
                version: picked.metadata.version,
                urls: picked.urls,
            })
        })
    }

    fn download<'a>(&'a self, chart: &'a Found) -> BoxFuture<'a, Result<Bytes, FetchError>> {
        Box::pin(async move {
            let url = self.chart_url(chart)?;
            Ok(self.get_whole("the chart", &url).await?)
        })
    }
}
