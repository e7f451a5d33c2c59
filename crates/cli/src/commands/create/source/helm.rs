//! `sluice create source helm`

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

use super::{SourceArgs, credentials};
use crate::commands::create::object;
use crate::commands::create::secret::helm;
use crate::commands::create::secret::store::{Content, file};
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// The address of the repository, https://... or oci://...
    #[arg(long)]
    url: Option<String>,

    /// Who asks
    #[arg(long, short)]
    username: Option<String>,

    /// The password of who asks
    #[arg(long, short)]
    password: Option<String>,

    /// A file with the certificate that proves who asks
    #[arg(long, value_name = "FILE")]
    cert_file: Option<PathBuf>,

    /// A file with the key of that certificate
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// A file with the certificates of those who may vouch for the server
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// The Secret with the credentials
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,

    /// Who gives the credentials of a registry
    #[arg(long, value_name = "PROVIDER")]
    oci_provider: Option<String>,

    /// Give the credentials to other hosts too
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    pass_credentials: bool,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let mut spec = args.spec()?;
    if !args.source.common.export && args.secret_ref.is_none() {
        let content = args.content()?;
        let name = format!("helm-{}", args.source.common.name);
        if credentials(&mut args.source.common, &name, &content).await? {
            spec["secretRef"] = json!({"name": name});
            spec["passCredentials"] = args.pass_credentials.into();
        }
    }
    object::finish(&mut args.source.common, "HelmRepository", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let text = self.url.as_deref().context("url is required: --url")?;
        let url = url::Url::parse(text).context("url parse failed")?;
        let is_registry = match url.scheme() {
            "http" | "https" => false,
            "oci" => true,
            other => bail!("url scheme '{other}' not supported, can be: http, https and oci"),
        };
        ensure!(url.has_host(), "url host is required");
        let provider = self.oci_provider.as_deref().filter(|_| is_registry);
        let spec = self
            .source
            .fields()
            .with("url", text)
            .text("type", is_registry.then_some("oci"))
            .text("provider", provider)
            .named("secretRef", self.secret_ref.as_deref())
            .flag(
                "passCredentials",
                self.pass_credentials && self.secret_ref.is_some(),
            );
        Ok(spec.into())
    }

    fn content(&self) -> anyhow::Result<Content> {
        let (certificate, key) = match (&self.cert_file, &self.key_file) {
            (Some(certificate), Some(key)) => (file(Some(certificate), "cert")?, file(Some(key), "key")?),
            _ => (None, None),
        };
        let authority = file(self.ca_file.as_ref(), "TLS CA")?;
        let certificates = Content {
            kind: certificate.as_ref().map(|_| "kubernetes.io/tls"),
            ..Content::default()
        };
        let certificates = certificates
            .with("tls.crt", certificate.as_deref())
            .with("tls.key", key.as_deref())
            .with("ca.crt", authority.as_deref());
        helm::of(self.username.as_deref(), self.password.as_deref(), certificates)
    }
}
