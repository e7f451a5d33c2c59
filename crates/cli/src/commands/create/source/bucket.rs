//! `sluice create source bucket`

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{SourceArgs, credentials};
use crate::commands::create::object;
use crate::commands::create::secret::store::Content;
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// The name of the bucket
    #[arg(long, value_name = "NAME")]
    bucket_name: Option<String>,

    /// The address of the storage
    #[arg(long, value_name = "ADDRESS")]
    endpoint: Option<String>,

    /// Whose storage it is
    #[arg(long, default_value = "generic", value_parser = ["generic", "aws", "azure", "gcp"])]
    provider: String,

    /// The access key
    #[arg(long, value_name = "KEY")]
    access_key: Option<String>,

    /// The secret key
    #[arg(long, value_name = "KEY")]
    secret_key: Option<String>,

    /// The region of the bucket
    #[arg(long)]
    region: Option<String>,

    /// Without TLS
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    insecure: bool,

    /// The Secret with the credentials
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,

    /// The Secret with the address of a proxy
    #[arg(long, value_name = "NAME")]
    proxy_secret_ref: Option<String>,

    /// Paths that are left out; may be repeated
    #[arg(long, value_name = "PATHS", value_delimiter = ',')]
    ignore_paths: Vec<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let mut spec = args.spec()?;
    if !args.source.common.export && args.secret_ref.is_none() {
        let content = match (&args.access_key, &args.secret_key) {
            (Some(access), Some(secret)) => Content::default()
                .with("accesskey", Some(access))
                .with("secretkey", Some(secret)),
            _ => Content::default(),
        };
        let name = format!("bucket-{}", args.source.common.name);
        if credentials(&mut args.source.common, &name, &content).await? {
            spec["secretRef"] = json!({"name": name});
        }
    }
    object::finish(&mut args.source.common, "Bucket", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let bucket = self
            .bucket_name
            .as_deref()
            .context("bucket-name is required: --bucket-name")?;
        let endpoint = self
            .endpoint
            .as_deref()
            .context("endpoint is required: --endpoint")?;
        let spec = self
            .source
            .fields()
            .with("bucketName", bucket)
            .with("provider", self.provider.as_str())
            .flag("insecure", self.insecure)
            .with("endpoint", endpoint)
            .text("region", self.region.as_deref())
            .lines("ignore", &self.ignore_paths)
            .named("secretRef", self.secret_ref.as_deref())
            .named("proxySecretRef", self.proxy_secret_ref.as_deref());
        Ok(spec.into())
    }
}
