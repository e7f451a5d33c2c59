//! The key of an SSH server, as `known_hosts` has it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context as _, bail};
use russh::client::{Config, Handler, connect};
use russh::keys::PublicKeyOrCertificate;

/// How long a server may take to show its key.
const PATIENCE: Duration = Duration::from_secs(30);

/// Takes down the key that a server shows, and goes.
struct Looker(Arc<Mutex<Option<String>>>);

impl Handler for Looker {
    type Error = russh::Error;

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        if let PublicKeyOrCertificate::PublicKey { key, .. } = shown {
            let mut key = key.clone();
            key.set_comment("");
            if let (Ok(mut seen), Ok(text)) = (self.0.lock(), key.to_openssh()) {
                *seen = Some(text);
            }
        }
        Ok(false)
    }
}

/// The line of `known_hosts` for the server of an address.
pub(super) async fn key(url: &url::Url) -> anyhow::Result<String> {
    let host = url.host_str().context("the address has no host")?;
    let port = url.port().unwrap_or(22);
    let seen = Arc::new(Mutex::new(None));
    let config = Arc::new(Config::default());
    let name = host.trim_matches(['[', ']']);
    let connecting = connect(config, (name, port), Looker(seen.clone()));
    let connected = tokio::time::timeout(PATIENCE, connecting).await;
    let seen = seen.lock().ok().and_then(|mut seen| seen.take());
    let Some(key) = seen else {
        let failed = || format!("SSH key scan for host {name}:{port} failed");
        match connected {
            Ok(Err(error)) => return Err(error).with_context(failed),
            Ok(Ok(_)) => return Err(anyhow::anyhow!("it shows no key")).with_context(failed),
            Err(_) => bail!("{}: it does not answer", failed()),
        }
    };
    Ok(match port {
        22 => format!("{name} {key}"),
        port => format!("[{name}]:{port} {key}"),
    })
}
