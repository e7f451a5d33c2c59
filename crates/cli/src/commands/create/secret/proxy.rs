//! `sluice create secret proxy`

use anyhow::Context as _;

use super::store::{self, Content};
use crate::commands::create::Common;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The address of the proxy
    #[arg(long)]
    address: Option<String>,

    /// Who asks
    #[arg(long, short)]
    username: Option<String>,

    /// The password of who asks
    #[arg(long, short)]
    password: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let address = args
        .address
        .as_deref()
        .context("address is required: --address")?;
    url::Url::parse(address).context("invalid proxy address")?;
    let content = Content {
        kind: Some("Opaque"),
        ..Content::default()
    };
    let content = content
        .with("address", Some(address))
        .with("username", args.username.as_deref())
        .with("password", args.password.as_deref());
    store::finish(&mut args.common, "proxy", &content).await
}
