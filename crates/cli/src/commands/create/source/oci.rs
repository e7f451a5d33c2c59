//! `sluice create source oci`

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::SourceArgs;
use super::verify::Verify;
use crate::commands::create::fields::Fields;
use crate::commands::create::object;
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// The address of the repository, oci://...
    #[arg(long)]
    url: Option<String>,

    /// The tag
    #[arg(long)]
    tag: Option<String>,

    /// A range of versions that the tag must be in
    #[arg(long, value_name = "RANGE")]
    tag_semver: Option<String>,

    /// The digest
    #[arg(long)]
    digest: Option<String>,

    /// Who gives the credentials
    #[arg(long, default_value = "generic", value_parser = ["generic", "aws", "azure", "gcp"])]
    provider: String,

    /// The Secret with the credentials
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,

    /// The Secret with the address of a proxy
    #[arg(long, value_name = "NAME")]
    proxy_secret_ref: Option<String>,

    /// The service account whose credentials are taken
    #[arg(long, value_name = "NAME")]
    service_account: Option<String>,

    /// The Secret with certificates
    #[arg(long, value_name = "NAME")]
    cert_ref: Option<String>,

    #[command(flatten)]
    verify: Verify,

    /// Paths that are left out; may be repeated
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    ignore_paths: Vec<String>,

    /// Without TLS
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    insecure: bool,

    /// The layer to take, MEDIA-TYPE:OPERATION; the operation is extract or copy
    #[arg(long, value_name = "SELECTOR")]
    layer_selector: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let spec = args.spec()?;
    object::finish(&mut args.source.common, "OCIRepository", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let url = self.url.as_deref().context("url is required: --url")?;
        if self.tag.is_none() && self.tag_semver.is_none() && self.digest.is_none() {
            bail!("--tag, --tag-semver or --digest is required");
        }
        let reference = Fields::default()
            .text("digest", self.digest.as_deref())
            .text("semver", self.tag_semver.as_deref())
            .text("tag", self.tag.as_deref());
        let layer = self.layer_selector.as_deref().map(layer).transpose()?;
        let spec = self
            .source
            .fields()
            .with("provider", self.provider.as_str())
            .with("url", url)
            .flag("insecure", self.insecure)
            .with("ref", Value::from(reference))
            .lines("ignore", &self.ignore_paths)
            .maybe("layerSelector", layer)
            .text("serviceAccountName", self.service_account.as_deref())
            .named("secretRef", self.secret_ref.as_deref())
            .named("proxySecretRef", self.proxy_secret_ref.as_deref())
            .named("certSecretRef", self.cert_ref.as_deref())
            .maybe("verify", self.verify.value()?);
        Ok(spec.into())
    }
}

fn layer(text: &str) -> anyhow::Result<Value> {
    match text.split_once(':') {
        Some((media_type, operation @ ("extract" | "copy"))) if !media_type.is_empty() => {
            Ok(json!({"mediaType": media_type, "operation": operation}))
        }
        _ => bail!(
            "invalid --layer-selector \"{text}\": must be in the format '<media-type>:<operation>', with the operation extract or copy"
        ),
    }
}
