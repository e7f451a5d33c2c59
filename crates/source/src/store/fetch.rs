//! Artifacts for consumers in other processes: over HTTP, with the digest checked.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::time::Duration;

use http::{StatusCode, header};
use model::Digest;
use model::digest::Algorithm;
use reqwest::{Client, Response, Url};

use crate::archive::Hashing;

/// How often and how long to try.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many times to try again when the server is not there or says that it cannot answer now.
    pub retries: u32,
    /// What to wait before the first retry. It doubles each time.
    pub shortest_wait: Duration,
    /// What to wait at most.
    pub longest_wait: Duration,
    /// How long the server may be silent.
    pub idle_timeout: Duration,
    /// How long all of it may take, with all retries.
    pub timeout: Duration,
    /// The bytes an artifact may have.
    pub largest: u64,
    /// The host, with its port, to ask instead of the one in the URL: for programs outside of the cluster.
    pub host: Option<String>,
}

impl Default for Options {
    /// As Flux has it, and no larger than anyone's artifact is.
    fn default() -> Self {
        Options {
            retries: 9,
            shortest_wait: Duration::from_secs(5),
            longest_wait: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(30),
            timeout: Duration::from_secs(15 * 60),
            largest: 4 << 30,
            host: None,
        }
    }
}

/// Why there is no artifact.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The URL is none.
    #[error("{url:?} is no URL of an artifact")]
    Url {
        /// The text.
        url: String,
    },
    /// The digest cannot be checked.
    #[error("the digest of the artifact {url} cannot be read")]
    Digest {
        /// The artifact.
        url: String,
        /// The cause.
        source: model::digest::Error,
    },
    /// The server has no such file: it was collected, or the source is being rebuilt after a restart. Wait for the source.
    #[error("the artifact {url} is not there (404): wait for its source to produce it")]
    NotFound {
        /// The artifact.
        url: String,
    },
    /// The server answers something else.
    #[error("the artifact {url} cannot be downloaded: the server answers {status}")]
    Status {
        /// The artifact.
        url: String,
        /// The answer.
        status: StatusCode,
    },
    /// The server cannot be reached, or breaks off.
    #[error("the artifact {url} cannot be downloaded{}", crate::http::remedy(.source))]
    Request {
        /// The artifact.
        url: String,
        /// The cause.
        source: reqwest::Error,
    },
    /// The server was silent, or all of it took too long.
    #[error(
        "the artifact {url} cannot be downloaded: {what} after {limit:?}: check that its server can be reached"
    )]
    Timeout {
        /// The artifact.
        url: String,
        /// What was missing.
        what: &'static str,
        /// How long was waited.
        limit: Duration,
    },
    /// It is larger than allowed.
    #[error("the artifact {url} is larger than {largest} bytes")]
    TooLarge {
        /// The artifact.
        url: String,
        /// The limit.
        largest: u64,
    },
    /// It is not what it should be.
    #[error("the artifact {url} has another digest than {wanted}")]
    Mismatch {
        /// The artifact.
        url: String,
        /// The digest it should have.
        wanted: Box<Digest>,
    },
    /// There is no room for it.
    #[error("the artifact {url} cannot be written to a temporary file")]
    Disk {
        /// The artifact.
        url: String,
        /// The cause.
        source: io::Error,
    },
}

/// Whether to try again, and when at the earliest.
enum Failure {
    Final(Error),
    Passing(Error, Option<Duration>),
}

/// Downloads an artifact to a temporary file that has no name, at its beginning.
///
/// The digest may be without its algorithm, which is SHA-256 then.
///
/// # Errors
/// Where it is not there, cannot be had within the retries, is too large, or has another digest.
pub async fn fetch(client: &Client, url: &str, digest: &str, options: &Options) -> Result<File, Error> {
    let wanted = parse_digest(digest).map_err(|source| Error::Digest {
        url: url.to_owned(),
        source,
    })?;
    let invalid = || Error::Url { url: url.to_owned() };
    let mut address = Url::parse(url).map_err(|_| invalid())?;
    if let Some(host) = &options.host {
        address = relocated(&address, host).ok_or_else(invalid)?;
    }
    let tries = try_often(client, &address, &wanted, options);
    match tokio::time::timeout(options.timeout, tries).await {
        Ok(result) => result,
        Err(_) => Err(Error::Timeout {
            url: address.to_string(),
            what: "not complete",
            limit: options.timeout,
        }),
    }
}

async fn try_often(client: &Client, url: &Url, wanted: &Digest, options: &Options) -> Result<File, Error> {
    let mut wait = options.shortest_wait;
    let mut tries = 0;
    loop {
        match attempt(client, url, wanted, options).await {
            Ok(file) => return Ok(file),
            Err(Failure::Passing(_, asked)) if tries < options.retries => {
                tries += 1;
                let pause = asked.unwrap_or(wait).min(options.longest_wait);
                tokio::time::sleep(pause).await;
                wait = (wait * 2).min(options.longest_wait);
            }
            Err(Failure::Passing(error, _) | Failure::Final(error)) => return Err(error),
        }
    }
}

async fn attempt(client: &Client, url: &Url, wanted: &Digest, options: &Options) -> Result<File, Failure> {
    let response = in_time(client.get(url.clone()).send(), url, options).await?;
    let status = response.status();
    let url_text = || url.to_string();
    match status {
        StatusCode::OK => download(response, url, wanted, options).await,
        StatusCode::NOT_FOUND => Err(Failure::Final(Error::NotFound { url: url_text() })),
        status => {
            let passing = status == StatusCode::TOO_MANY_REQUESTS
                || status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED;
            let asked = retry_after(&response);
            let error = Error::Status {
                url: url_text(),
                status,
            };
            Err(match passing {
                true => Failure::Passing(error, asked),
                false => Failure::Final(error),
            })
        }
    }
}

async fn download(
    mut response: Response,
    url: &Url,
    wanted: &Digest,
    options: &Options,
) -> Result<File, Failure> {
    let disk = |source| {
        Failure::Final(Error::Disk {
            url: url.to_string(),
            source,
        })
    };
    let file = tempfile::tempfile().map_err(disk)?;
    let mut hashing = Hashing::new(wanted.algorithm(), file);
    let mut size = 0_u64;
    while let Some(chunk) = in_time(response.chunk(), url, options).await? {
        size += chunk.len() as u64;
        if size > options.largest {
            return Err(Failure::Final(Error::TooLarge {
                url: url.to_string(),
                largest: options.largest,
            }));
        }
        // Some kilobytes to the page cache: not worth a thread.
        hashing.write_all(&chunk).map_err(disk)?;
    }
    let (mut file, found, _) = hashing.finish();
    if found != *wanted {
        return Err(Failure::Final(Error::Mismatch {
            url: url.to_string(),
            wanted: Box::new(*wanted),
        }));
    }
    file.rewind().map_err(disk)?;
    Ok(file)
}

/// Waits for the server, but not while it is silent.
async fn in_time<T>(
    answer: impl Future<Output = Result<T, reqwest::Error>>,
    url: &Url,
    options: &Options,
) -> Result<T, Failure> {
    match tokio::time::timeout(options.idle_timeout, answer).await {
        Ok(answer) => answer.map_err(|error| unreachable(url, error)),
        Err(_) => {
            let error = Error::Timeout {
                url: url.to_string(),
                what: "no answer",
                limit: options.idle_timeout,
            };
            Err(Failure::Passing(error, None))
        }
    }
}

/// A request that cannot even be made will not be better the next time.
fn unreachable(url: &Url, error: reqwest::Error) -> Failure {
    let hopeless = error.is_builder() || error.is_redirect();
    let error = Error::Request {
        url: url.to_string(),
        source: error.without_url(),
    };
    match hopeless {
        true => Failure::Final(error),
        false => Failure::Passing(error, None),
    }
}

fn retry_after(response: &Response) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?;
    let seconds = value.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn parse_digest(digest: &str) -> Result<Digest, model::digest::Error> {
    match digest.contains(':') {
        true => digest.parse(),
        false => Digest::from_hex(Algorithm::Sha256, digest),
    }
}

fn relocated(url: &Url, host: &str) -> Option<Url> {
    let path = &url[url::Position::BeforePath..];
    Url::parse(&format!("{}://{host}{path}", url.scheme())).ok()
}
