//! `sluice create secret notation`

use std::path::PathBuf;

use anyhow::{Context as _, bail, ensure};
use source::verify::notation::{PolicyError, check_policy};

use super::store::{self, Content};
use crate::commands::create::Common;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// File with the Notation trust policy
    #[arg(long, value_name = "FILE")]
    trust_policy_file: Option<PathBuf>,

    /// File with a root certificate, .crt or .pem; may be repeated
    #[arg(long, value_name = "FILE", value_delimiter = ',')]
    ca_cert_file: Vec<PathBuf>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    ensure!(!args.ca_cert_file.is_empty(), "--ca-cert-file is required");
    let policy = args
        .trust_policy_file
        .as_ref()
        .context("--trust-policy-file is required")?;
    let text = std::fs::read_to_string(policy)
        .with_context(|| format!("unable to read trust policy file {}", policy.display()))?;
    check_policy(text.as_bytes()).map_err(|error| match error {
        PolicyError::Malformed(reason) => {
            anyhow::anyhow!("failed to unmarshal trust policy {}: {reason}", policy.display())
        }
        PolicyError::Invalid(_) => error.into(),
    })?;
    let mut content = Content::default();
    let mut problems = Vec::new();
    for path in &args.ca_cert_file {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !name.ends_with(".crt") && !name.ends_with(".pem") {
            problems.push(format!("{name} must end with either .crt or .pem"));
            continue;
        }
        match std::fs::read_to_string(path) {
            Ok(text) => {
                content.entries.insert(name.into(), text);
            }
            Err(error) => problems.push(format!("unable to read TLS CA file {}: {error}", path.display())),
        }
    }
    if !problems.is_empty() {
        bail!(problems.join("\n"));
    }
    content.entries.insert("trustpolicy.json".into(), text);
    store::finish(&mut args.common, "notation configuration", &content).await
}
