//! `sluice create secret helm`

use anyhow::bail;

use super::store::{self, Content};
use super::tls::Certificates;
use crate::commands::create::Common;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// Who asks
    #[arg(long, short)]
    username: Option<String>,

    /// The password of who asks
    #[arg(long, short)]
    password: Option<String>,

    #[command(flatten)]
    certificates: Certificates,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let certificates = args.certificates.content()?;
    let content = of(args.username.as_deref(), args.password.as_deref(), certificates)?;
    store::finish(&mut args.common, "helm", &content).await
}

/// A certificate that proves who asks goes before a password.
pub(in crate::commands::create) fn of(
    username: Option<&str>,
    password: Option<&str>,
    certificates: Content,
) -> anyhow::Result<Content> {
    if certificates.entries.contains_key("tls.crt") {
        return Ok(certificates);
    }
    match (username, password) {
        (None, None) if certificates.entries.is_empty() => Ok(Content::default()),
        (None, None) => Ok(certificates),
        (Some(_), Some(_)) => {
            let both = Content {
                kind: Some("kubernetes.io/basic-auth"),
                ..certificates
            };
            Ok(both.with("username", username).with("password", password))
        }
        (Some(_), None) => bail!("password is required: --password"),
        (None, Some(_)) => bail!("username is required: --username"),
    }
}
