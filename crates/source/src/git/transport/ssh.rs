//! Git over SSH, in this process: no `ssh` program is needed.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use russh::client::{Config, Handle, Handler, Msg, connect_stream};
use russh::keys::{HashAlg, PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{Channel, ChannelMsg, Disconnect, Preferred};
use tokio::net::TcpStream;

use super::Chunks;
use super::algorithms::SshAlgorithms;
use super::known_hosts::{KnownHosts, Verdict};
use super::{private_key, socks};
use crate::git::error::Cause;
use crate::git::protocol::refusal;
use crate::git::settings::Settings;
use crate::http::{self, Proxy};

/// How much of what the server complains about is kept.
const MAX_COMPLAINT: usize = 4096;

/// A running `git-upload-pack` on a server.
pub(super) struct Link {
    handle: Handle<HostKey>,
    channel: Channel<Msg>,
    complaint: Vec<u8>,
    has_answered: bool,
}

/// Looks at the key that a server shows.
struct HostKey {
    host: String,
    port: u16,
    known: KnownHosts,
    /// Why the key was not taken: the library only tells that it was not.
    refused: Arc<Mutex<Option<Cause>>>,
}

impl Handler for HostKey {
    type Error = russh::Error;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = shown else {
            return Ok(false);
        };
        let verdict = self.known.check(&self.host, self.port, key);
        let host = format!("{}:{}", self.host, self.port);
        let key = format!(
            "{} {}",
            key.algorithm().as_str(),
            key.fingerprint(HashAlg::Sha256)
        );
        *self.refused.lock() = match verdict {
            Verdict::Known => None,
            Verdict::Unknown => Some(Cause::HostKeyUnknown { host, key }),
            Verdict::Mismatch => Some(Cause::HostKeyMismatch { host, key }),
        };
        Ok(verdict == Verdict::Known)
    }
}

impl Link {
    /// Connects, logs in and starts the program.
    pub(super) async fn connect(settings: &Settings) -> Result<Self, Cause> {
        let auth = settings.auth.ssh()?;
        let key = {
            let auth = auth.clone();
            let read = tokio::task::spawn_blocking(move || private_key::read(&auth)).await;
            read.map_err(|_| Cause::PrivateKey("it could not be read"))??
        };
        let known = KnownHosts::parse(&auth.known_hosts).map_err(Cause::KnownHosts)?;
        let (host, port) = (settings.url.host().to_owned(), settings.url.port());
        let config = Config {
            preferred: preferred(&settings.ssh, &known, &host, port),
            // Whoever waits has gone by then; the connection goes too.
            inactivity_timeout: Some(settings.timeout),
            ..Config::default()
        };
        let refused = Arc::new(Mutex::new(None));
        let handler = HostKey {
            host: host.clone(),
            port,
            known,
            refused: refused.clone(),
        };
        let stream = stream(settings.http.proxy.as_ref(), &host, port).await?;
        let connected = connect_stream(Arc::new(config), stream, handler).await;
        let mut handle = match connected {
            Ok(handle) => handle,
            Err(error) => {
                let refused = refused.lock().take();
                return Err(refused.unwrap_or_else(|| connect_failure(error)));
            }
        };
        let user = settings.url.user().or(auth.user.as_deref()).unwrap_or("git");
        log_in(&mut handle, user, key).await?;
        let channel = handle.channel_open_session().await.map_err(broken)?;
        channel
            .set_env(false, "GIT_PROTOCOL", "version=2")
            .await
            .map_err(broken)?;
        let path = settings
            .url
            .server_path()
            .replace('\'', r"'\''")
            .replace('!', r"'\!'");
        let command = format!("git-upload-pack '{path}'");
        channel.exec(true, command).await.map_err(broken)?;
        Ok(Link {
            handle,
            channel,
            complaint: Vec::new(),
            has_answered: false,
        })
    }

    pub(super) async fn send(&mut self, request: Vec<u8>) -> Result<(), Cause> {
        self.channel.data_bytes(request).await.map_err(broken)
    }

    pub(super) fn answer(&mut self) -> Answer<'_> {
        Answer(self)
    }

    pub(super) async fn close(self) {
        // Whether the server still hears this does not matter.
        let _ = self.channel.eof().await;
        let _ = self.handle.disconnect(Disconnect::ByApplication, "", "").await;
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, Cause> {
        loop {
            match self.channel.wait().await {
                Some(ChannelMsg::Data { data }) => {
                    self.has_answered = true;
                    return Ok(Some(data));
                }
                Some(ChannelMsg::ExtendedData { data, .. }) => {
                    let room = MAX_COMPLAINT.saturating_sub(self.complaint.len());
                    self.complaint.extend_from_slice(&data[..data.len().min(room)]);
                }
                Some(ChannelMsg::Failure) => {
                    return Err(Cause::Refused("it does not run git-upload-pack".to_owned()));
                }
                Some(ChannelMsg::Close) | None => return self.end(),
                // After the end of the data the complaint may still come.
                Some(_) => {}
            }
        }
    }

    fn end(&mut self) -> Result<Option<Bytes>, Cause> {
        let complaint = String::from_utf8_lossy(&self.complaint).trim().to_owned();
        match self.has_answered || complaint.is_empty() {
            true => Ok(None),
            false => Err(refusal(complaint)),
        }
    }
}

/// What the program says.
pub(super) struct Answer<'a>(&'a mut Link);

impl Chunks for Answer<'_> {
    fn chunk(&mut self) -> BoxFuture<'_, Result<Option<Bytes>, Cause>> {
        Box::pin(self.0.chunk())
    }
}

async fn stream(proxy: Option<&Proxy>, host: &str, port: u16) -> Result<TcpStream, Cause> {
    let stream = match proxy {
        Some(proxy) => {
            reach::guard::check_host(host).map_err(|refused| Cause::Connect(Box::new(refused)))?;
            let connected = socks::connect(proxy, host, port).await;
            connected.map_err(|error| Cause::Proxy(error.told_of(proxy)))?
        }
        None => {
            let connected = http::connect(host, port).await;
            connected.map_err(|error| Cause::Connect(Box::new(error)))?
        }
    };
    // A socket that cannot be hurried works all the same.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// Asks first for the kinds of host keys that are known: a server with several would else show one that is not.
fn preferred(allowed: &SshAlgorithms, known: &KnownHosts, host: &str, port: u16) -> Preferred {
    let mut preferred = Preferred::DEFAULT;
    if !allowed.kex.is_empty() {
        preferred.kex = allowed.kex.clone().into();
    }
    let mut keys = match allowed.host_keys.is_empty() {
        true => preferred.key.to_vec(),
        false => allowed.host_keys.clone(),
    };
    keys.sort_by_key(|algorithm| !known.prefers(host, port, algorithm));
    preferred.key = keys.into();
    preferred
}

async fn log_in(handle: &mut Handle<HostKey>, user: &str, key: PrivateKey) -> Result<(), Cause> {
    let key = Arc::new(key);
    let mut hashes = vec![None];
    if key.algorithm().is_rsa() {
        hashes = match handle.best_supported_rsa_hash().await.map_err(broken)? {
            Some(best) => vec![best],
            None => vec![Some(HashAlg::Sha512), Some(HashAlg::Sha256)],
        };
    }
    for hash in hashes {
        let key = PrivateKeyWithHashAlg::new(key.clone(), hash);
        if handle
            .authenticate_publickey(user, key)
            .await
            .map_err(broken)?
            .success()
        {
            return Ok(());
        }
    }
    let fingerprint = key.public_key().fingerprint(HashAlg::Sha256);
    Err(Cause::Authentication(format!(
        "the server does not take key {fingerprint} for user '{user}'"
    )))
}

fn connect_failure(error: russh::Error) -> Cause {
    match error {
        russh::Error::IO(error) => Cause::Connect(Box::new(error)),
        error => Cause::Connect(Box::new(error)),
    }
}

fn broken(error: russh::Error) -> Cause {
    Cause::Disconnected(Some(Box::new(error)))
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[tokio::test]
    async fn ssh_reaches_no_metadata_server() {
        let at = |address: &str| Proxy {
            address: address.to_owned(),
            login: None,
        };
        let (refused, near) = (at("socks5://169.254.169.254:80"), at("socks5://127.0.0.1:9"));
        for (proxy, host) in [
            (None, "169.254.169.254"),
            (None, "::ffff:169.254.169.254"),
            (Some(&refused), "git.example"),
            (Some(&near), "169.254.169.254"),
        ] {
            let error = stream(proxy, host, 22).await.unwrap_err();
            let causes = std::iter::successors(Some(&error as &dyn Error), |error| (*error).source());
            let shown: String = causes.map(ToString::to_string).collect();
            assert!(shown.contains("link-local addresses"), "{host}: {shown}");
        }
    }
}
