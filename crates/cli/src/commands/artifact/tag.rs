//! `sluice tag artifact`

use std::process::ExitCode;

use anyhow::Context as _;
use source::oci::Reference;

use super::registry::RegistryArgs;
use super::{action, success};

/// Give an artifact of an OCI registry more tags
///
///   sluice tag artifact oci://ghcr.io/org/app:1.0.0 --tag latest
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// What to tag, such as oci://ghcr.io/org/app:1.0.0
    #[arg(value_name = "OCI_URL")]
    url: String,

    /// The new tag; several are separated by commas or given one by one
    #[arg(long, required = true, value_delimiter = ',', value_name = "TAG")]
    tag: Vec<String>,

    #[command(flatten)]
    registry: RegistryArgs,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let reference = Reference::parse(&args.url)?;
    let client = args.registry.client(&reference.repository).await?;
    action("tagging artifact");
    for tag in &args.tag {
        let tagged = async { Ok(client.tag(&reference, tag).await?) };
        let tagged = args
            .registry
            .limited(tagged)
            .await
            .context("tagging artifact failed")?;
        success(format!("artifact tagged as {tagged}"));
    }
    Ok(ExitCode::SUCCESS)
}
