//! `sluice create secret githubapp`

use std::path::PathBuf;

use anyhow::{Context as _, ensure};

use super::store::{self, Content};
use crate::commands::create::Common;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// GitHub App ID
    #[arg(long, value_name = "ID")]
    app_id: Option<String>,

    /// GitHub App installation owner (user or organization)
    #[arg(long, value_name = "NAME")]
    app_installation_owner: Option<String>,

    /// GitHub App installation ID
    #[arg(long, value_name = "ID")]
    app_installation_id: Option<String>,

    /// File with the private key of the GitHub App
    #[arg(long, value_name = "FILE")]
    app_private_key: Option<PathBuf>,

    /// Base URL of the GitHub API, for GitHub Enterprise Server
    #[arg(long, value_name = "URL")]
    app_base_url: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let key = store::file(args.app_private_key.as_ref(), "private key")?
        .context("unable to read private key file: --app-private-key is required")?;
    let content = Content {
        kind: Some("Opaque"),
        ..Content::default()
    };
    let content = content
        .with("githubAppID", args.app_id.as_deref())
        .with("githubAppPrivateKey", Some(&key))
        .with(OWNER, args.app_installation_owner.as_deref())
        .with(INSTALLATION, args.app_installation_id.as_deref())
        .with("githubAppBaseURL", args.app_base_url.as_deref());
    for required in ["githubAppID", "githubAppPrivateKey"] {
        ensure!(content.entries.contains_key(required), "{required} is required");
    }
    ensure!(
        content.entries.contains_key(OWNER) != content.entries.contains_key(INSTALLATION),
        "exactly one of {OWNER} or {INSTALLATION} must be provided"
    );
    store::finish(&mut args.common, "githubapp", &content).await
}

const OWNER: &str = "githubAppInstallationOwner";
const INSTALLATION: &str = "githubAppInstallationID";
