//! `sluice create secret git`

use std::path::PathBuf;

use anyhow::{Context as _, bail};

use super::key::Keys;
use super::store::{self, Content};
use crate::commands::create::Common;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The address of the repository
    #[arg(long)]
    url: Option<String>,

    /// Who asks, over HTTP
    #[arg(long, short)]
    username: Option<String>,

    /// The password of who asks, or of the private key
    #[arg(long, short)]
    password: Option<String>,

    /// A token that proves who asks, over HTTP
    #[arg(long, value_name = "TOKEN")]
    bearer_token: Option<String>,

    /// A file with the certificates of those who may vouch for the server
    #[arg(long, value_name = "FILE")]
    ca_crt_file: Option<PathBuf>,

    #[command(flatten)]
    keys: Keys,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let url = args.url.as_deref().context("url is required: --url")?;
    let url = url::Url::parse(url).context("git URL parse failed")?;
    let content = match url.scheme() {
        "ssh" => args.keys.content(&url, args.password.as_deref()).await?,
        "http" | "https" => args.over_http()?,
        other => bail!("git URL scheme '{other}' not supported, can be: ssh, http and https"),
    };
    if let Some(key) = content
        .entries
        .get("identity.pub")
        .filter(|_| !args.common.export)
    {
        eprintln!("✚ deploy key: {key}");
    }
    store::finish(&mut args.common, "git", &content).await
}

impl Args {
    fn over_http(&self) -> anyhow::Result<Content> {
        let content = Content::default();
        let content = match (&self.username, &self.password, &self.bearer_token) {
            (Some(_), Some(_), Some(_)) => bail!("user credentials and bearer token cannot be used together"),
            (Some(_), Some(_), None) => content
                .with("username", self.username.as_deref())
                .with("password", self.password.as_deref()),
            (_, _, Some(token)) => content.with("bearerToken", Some(token)),
            _ => bail!("for Git over HTTP/S the username and password, or a bearer token is required"),
        };
        let authority = store::file(self.ca_crt_file.as_ref(), "TLS CA")?;
        Ok(content.with("ca.crt", authority.as_deref()))
    }
}
