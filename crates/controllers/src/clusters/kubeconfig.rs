//! The kubeconfigs of other clusters, which are in Secrets. Whoever wrote one need not be allowed what this process is: it must hold
//! all that it needs.

use std::fmt;

use engine::unit::Failure;
use k8s_openapi::api::core::v1::Secret;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest as _, Sha256};

use crate::kit::{chain, named};

/// The keys of a Secret that are looked for, in this order.
const KEYS: [&str; 2] = ["value", "value.yaml"];

/// What kubeconfigs are let do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// They may run programs for credentials: the flag `--insecure-kubeconfig-exec`.
    pub exec: bool,
    /// They may turn the check of certificates off: the flag `--insecure-kubeconfig-tls`.
    pub insecure_tls: bool,
}

/// Tells apart kubeconfigs, and nothing of what is in them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint([u8; 8]);

impl Fingerprint {
    /// That of a text.
    pub(super) fn of(text: &[u8]) -> Self {
        let digest = Sha256::digest(text);
        let mut start = [0; 8];
        start.copy_from_slice(&digest[..8]);
        Fingerprint(start)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A kubeconfig as it is in a Secret.
pub(super) struct Found {
    secret: String,
    text: SecretString,
}

/// Reads the kubeconfig of a Secret.
pub(super) async fn read(
    client: &Client,
    namespace: &str,
    name: &str,
    key: Option<&str>,
) -> Result<Found, Failure> {
    let secret = format!("{namespace}/{name}");
    let read = named::get::<Secret>(client, namespace, name).await;
    let read = read.map_err(|error| {
        Failure::new(format!(
            "unable to read KubeConfig secret '{secret}' error: {}",
            chain(&error)
        ))
    })?;
    let data = read.data.unwrap_or_default();
    let found = match key {
        Some(key) => data.get(key),
        None => KEYS.iter().find_map(|key| data.get(*key)),
    };
    let text = found.ok_or_else(|| {
        let key = key.unwrap_or(KEYS[0]);
        Failure::new(format!(
            "KubeConfig secret '{secret}' does not contain a '{key}' key with a kubeconfig"
        ))
    })?;
    let text = std::str::from_utf8(&text.0).map_err(|_| {
        Failure::new(format!(
            "KubeConfig secret '{secret}': the kubeconfig is not UTF-8"
        ))
    })?;
    Ok(Found {
        text: text.into(),
        secret,
    })
}

impl Found {
    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(self.text.expose_secret().as_bytes())
    }

    /// The cluster it leads to.
    pub(super) async fn connect(&self, rules: Rules) -> Result<(String, Client), Failure> {
        let failed = |why: String| Failure::new(format!("KubeConfig secret '{}': {why}", self.secret));
        // What a parser says may quote what it could not read.
        let unread = |_| failed("its text is no kubeconfig: correct it".to_owned());
        let mut kubeconfig = Kubeconfig::from_yaml(self.text.expose_secret()).map_err(unread)?;
        restrict(&mut kubeconfig, rules);
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        let config = config.map_err(|error| failed(error.to_string()))?;
        let endpoint = config.cluster_url.to_string();
        Ok((endpoint, engine::cluster::connect_guarded(config)?))
    }
}

/// Drops what would read files here or act as somebody else, and, unless it is allowed, run programs or trust anyone.
fn restrict(kubeconfig: &mut Kubeconfig, rules: Rules) {
    for named in &mut kubeconfig.auth_infos {
        if let Some(user) = &mut named.auth_info {
            if !rules.exec {
                user.exec = None;
            }
            user.auth_provider = None;
            user.client_certificate = None;
            user.client_key = None;
            user.token_file = None;
            user.impersonate = None;
            user.impersonate_groups = None;
        }
    }
    for named in &mut kubeconfig.clusters {
        if let Some(cluster) = &mut named.cluster {
            cluster.certificate_authority = None;
            if !rules.insecure_tls {
                cluster.insecure_skip_tls_verify = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
clusters:
- name: c
  cluster: {server: https://elsewhere, insecure-skip-tls-verify: true, certificate-authority: /etc/ca}
users:
- name: u
  user: {tokenFile: /var/run/token, token: own, as: admin, client-key: /key, exec: {command: id, apiVersion: v1}}
";

    /// §2.10
    #[test]
    fn kubeconfigs_may_not_do_what_is_not_allowed() {
        for (exec, insecure_tls) in [(false, false), (true, false), (false, true)] {
            let mut kubeconfig = Kubeconfig::from_yaml(TEXT).unwrap();
            restrict(&mut kubeconfig, Rules { exec, insecure_tls });
            let user = kubeconfig.auth_infos[0].auth_info.as_ref().unwrap();
            let cluster = kubeconfig.clusters[0].cluster.as_ref().unwrap();
            assert_eq!(user.exec.is_some(), exec);
            assert_eq!(cluster.insecure_skip_tls_verify.is_some(), insecure_tls);
            assert!(user.token.is_some() && user.token_file.is_none() && user.impersonate.is_none());
            assert!(user.client_key.is_none() && cluster.certificate_authority.is_none());
        }
    }
}
