//! `sluice create alert-provider`

use anyhow::Context as _;

use super::fields::Fields;
use super::{Common, object};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// What it is, such as slack
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    /// The channel that messages go to
    #[arg(long)]
    channel: Option<String>,

    /// The name that messages come from
    #[arg(long)]
    username: Option<String>,

    /// Where messages are sent
    #[arg(long)]
    address: Option<String>,

    /// The Secret with the credentials
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let kind = args
        .kind
        .as_deref()
        .context("Provider type is required: --type")?;
    let spec = Fields::default()
        .with("type", kind)
        .text("channel", args.channel.as_deref())
        .text("username", args.username.as_deref())
        .text("address", args.address.as_deref())
        .named("secretRef", args.secret_ref.as_deref());
    object::finish(&mut args.common, "Provider", spec.into()).await
}
