//! `sluice create secret oci`

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::store::{self, Content};
use crate::commands::create::Common;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The registry, such as ghcr.io
    #[arg(long)]
    url: Option<String>,

    /// Who asks
    #[arg(long, short)]
    username: Option<String>,

    /// The password of who asks
    #[arg(long, short)]
    password: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let url = args.url.as_deref().context("--url is required")?;
    let username = args.username.as_deref().context("--username is required")?;
    let password = args.password.as_deref().context("--password is required")?;
    let content = content(url, username, password)?;
    store::finish(&mut args.common, "oci", &content).await
}

/// The credentials of a registry, as kubelets and sources take them.
pub(crate) fn content(url: &str, username: &str, password: &str) -> anyhow::Result<Content> {
    let content = Content {
        kind: Some("kubernetes.io/dockerconfigjson"),
        ..Content::default()
    };
    let configuration = configuration(url, username, password)?;
    Ok(content.with(".dockerconfigjson", Some(&configuration)))
}

/// Docker's `config.json`, with the fields in the order in which the flux client has them.
fn configuration(url: &str, username: &str, password: &str) -> serde_json::Result<String> {
    // Go writes these three as numbers.
    let quoted = |text: &str| {
        let text = serde_json::to_string(text)?;
        let text = text.replace('&', "\\u0026").replace('<', "\\u003c");
        serde_json::Result::Ok(text.replace('>', "\\u003e"))
    };
    let auth = STANDARD.encode(format!("{username}:{password}"));
    Ok(format!(
        "{{\n  \"auths\": {{\n    {}: {{\n      \"username\": {},\n      \"password\": {},\n      \"auth\": {}\n    }}\n  }}\n}}",
        quoted(url)?,
        quoted(username)?,
        quoted(password)?,
        quoted(&auth)?,
    ))
}
