//! How the cluster is reached: the flags that the flux client has for it.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kube::Client;
use kube::config::{Config, KubeConfigOptions, Kubeconfig, KubeconfigError};

use crate::commands::pflag;

/// Each flag names its heading: one for the whole of them would be that of all flags that follow them in a command, too.
const CLUSTER: &str = "Cluster";

#[derive(clap::Args, Default)]
pub(crate) struct Cluster {
    /// The kubeconfig file
    #[arg(help_heading = CLUSTER, long, value_name = "FILE")]
    pub(in crate::commands) kubeconfig: Option<PathBuf>,

    /// The context of the kubeconfig
    #[arg(help_heading = CLUSTER, long)]
    pub(in crate::commands) context: Option<String>,

    /// The cluster of the kubeconfig
    #[arg(help_heading = CLUSTER, long)]
    pub(in crate::commands) cluster: Option<String>,

    /// The user of the kubeconfig
    #[arg(help_heading = CLUSTER, long)]
    pub(in crate::commands) user: Option<String>,

    /// The address of the API server
    #[arg(help_heading = CLUSTER, long, value_name = "URL")]
    pub(in crate::commands) server: Option<String>,

    /// The name that the certificate of the server has to be for
    #[arg(help_heading = CLUSTER, long, value_name = "NAME")]
    pub(in crate::commands) tls_server_name: Option<String>,

    /// The certificates of those who may vouch for the server
    #[arg(help_heading = CLUSTER, long, value_name = "FILE")]
    pub(in crate::commands) certificate_authority: Option<PathBuf>,

    /// Trust any server
    #[arg(help_heading = CLUSTER, long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    pub(in crate::commands) insecure_skip_tls_verify: bool,

    /// The token that proves who asks
    #[arg(help_heading = CLUSTER, long, hide_env_values = true)]
    pub(in crate::commands) token: Option<String>,

    /// The certificate that proves who asks
    #[arg(help_heading = CLUSTER, long, value_name = "FILE")]
    pub(in crate::commands) client_certificate: Option<PathBuf>,

    /// The key of that certificate
    #[arg(help_heading = CLUSTER, long, value_name = "FILE")]
    pub(in crate::commands) client_key: Option<PathBuf>,

    /// Ask as this user
    #[arg(help_heading = CLUSTER, long = "as", value_name = "USER")]
    pub(in crate::commands) as_user: Option<String>,

    /// Ask as a member of this group; may be repeated
    #[arg(help_heading = CLUSTER, long, value_name = "GROUP")]
    pub(in crate::commands) as_group: Vec<String>,

    /// Ask as the user with this id
    #[arg(help_heading = CLUSTER, long, value_name = "ID")]
    pub(in crate::commands) as_uid: Option<String>,

    /// Ask as a user with this extra, KEY=VALUE; may be repeated
    #[arg(help_heading = CLUSTER, long, value_name = "EXTRA")]
    pub(in crate::commands) as_user_extra: Vec<String>,

    #[command(flatten)]
    pub(in crate::commands) _without_effect: WithoutEffect,
}

/// Flags of flux that change nothing here: a build asks for a handful of objects, and keeps nothing.
#[derive(clap::Args, Default)]
pub(in crate::commands) struct WithoutEffect {
    #[arg(long, hide = true)]
    cache_dir: Option<PathBuf>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    disable_compression: bool,
    #[arg(long, hide = true)]
    kube_api_burst: Option<u32>,
    #[arg(long, hide = true)]
    kube_api_qps: Option<f32>,
}

impl Cluster {
    /// Whether a cluster is named at all.
    pub(crate) fn is_named(&self) -> bool {
        let texts = [&self.context, &self.cluster, &self.server];
        self.kubeconfig.is_some() || texts.iter().any(|text| text.is_some())
    }

    /// A client, and the namespace of the kubeconfig's context.
    pub(crate) async fn client(&self) -> anyhow::Result<(Client, String)> {
        let mut config = self.config().await?;
        self.overrule(&mut config)?;
        let namespace = config.default_namespace.clone();
        Ok((engine::cluster::connect_patiently(config)?, namespace))
    }

    async fn config(&self) -> anyhow::Result<Config> {
        let options = KubeConfigOptions {
            context: self.context.clone(),
            cluster: self.cluster.clone(),
            user: self.user.clone(),
        };
        let chosen = self.context.is_some() || self.cluster.is_some() || self.user.is_some();
        match &self.kubeconfig {
            Some(path) => {
                let unusable = |error| unusable(&error, &path.display().to_string());
                let kubeconfig = Kubeconfig::read_from(path).map_err(unusable)?;
                let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
                config.map_err(unusable)
            }
            None if chosen => {
                let config = Config::from_kubeconfig(&options).await;
                config.map_err(|error| unusable(&error, "the kubeconfig"))
            }
            None => match (Config::infer().await, &self.server) {
                (Ok(config), _) => Ok(config),
                (Err(_), Some(server)) => Ok(Config::new(server.parse().with_context(wrong_server)?)),
                (Err(_), None) => match Config::from_kubeconfig(&options).await {
                    Ok(config) => Ok(config),
                    Err(error) => Err(unusable(&error, "the kubeconfig")
                        .context("there is no cluster to ask: name a kubeconfig with --kubeconfig")),
                },
            },
        }
    }

    /// Puts what the flags say in the place of what the kubeconfig says.
    fn overrule(&self, config: &mut Config) -> anyhow::Result<()> {
        if let Some(server) = &self.server {
            config.cluster_url = server.parse().with_context(wrong_server)?;
        }
        config.tls_server_name = self.tls_server_name.clone().or(config.tls_server_name.take());
        config.accept_invalid_certs |= self.insecure_skip_tls_verify;
        if let Some(file) = &self.certificate_authority {
            let text = std::fs::read(file).with_context(|| format!("failed to read {}", file.display()))?;
            config.root_cert = Some(certificates(&text));
            let unusable = || format!("{} holds no certificate", file.display());
            ensure!(config.root_cert.iter().flatten().next().is_some(), unusable());
        }
        let user = &mut config.auth_info;
        if let Some(token) = &self.token {
            user.token = Some(token.clone().into());
        }
        let shown = |file: &PathBuf| file.display().to_string();
        if let Some(file) = &self.client_certificate {
            user.client_certificate = Some(shown(file));
            user.client_certificate_data = None;
        }
        if let Some(file) = &self.client_key {
            user.client_key = Some(shown(file));
            user.client_key_data = None;
        }
        if self.as_user.is_some() {
            user.impersonate.clone_from(&self.as_user);
        }
        if !self.as_group.is_empty() {
            user.impersonate_groups = Some(self.as_group.clone());
        }
        for (name, value) in self.impersonation()? {
            config.headers.push((
                name.parse()
                    .context("such a key cannot be sent: --as-user-extra")?,
                value
                    .parse()
                    .context("such a value cannot be sent: --as-uid or --as-user-extra")?,
            ));
        }
        Ok(())
    }

    /// The headers for what a kubeconfig has no words for.
    fn impersonation(&self) -> anyhow::Result<Vec<(String, String)>> {
        let id = self
            .as_uid
            .iter()
            .map(|id| Ok(("Impersonate-Uid".to_owned(), id.clone())));
        let extras = self.as_user_extra.iter().map(|extra| {
            let (key, value) = extra
                .split_once('=')
                .with_context(|| format!("{extra} must be formatted as KEY=VALUE"))?;
            Ok((format!("Impersonate-Extra-{key}"), value.to_owned()))
        });
        id.chain(extras).collect()
    }
}

/// Tells once what is wrong with a kubeconfig: the errors have their causes in their own texts.
fn unusable(error: &KubeconfigError, file: &str) -> anyhow::Error {
    match error {
        KubeconfigError::ReadConfig(error, path) => {
            anyhow::anyhow!("failed to read {}: {error}", path.display())
        }
        KubeconfigError::LoadContext(name) => anyhow::anyhow!("context {name:?} does not exist in {file}"),
        KubeconfigError::LoadClusterOfContext(name) => {
            anyhow::anyhow!("cluster {name:?} does not exist in {file}")
        }
        KubeconfigError::CurrentContextNotSet => {
            anyhow::anyhow!("{file} names no current context: choose one with --context")
        }
        error => anyhow::anyhow!("{file} cannot be used: {error}"),
    }
}

fn wrong_server() -> &'static str {
    "--server is no URL"
}

/// The certificates of a PEM file, each as its bytes.
fn certificates(pem: &[u8]) -> Vec<Vec<u8>> {
    let text = String::from_utf8_lossy(pem);
    let blocks = text.split("-----BEGIN CERTIFICATE-----").skip(1);
    let bodies = blocks.filter_map(|block| block.split("-----END").next());
    bodies
        .filter_map(|body| STANDARD.decode(body.split_whitespace().collect::<String>()).ok())
        .collect()
}
