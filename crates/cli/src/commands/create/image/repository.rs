//! `sluice create image repository`

use std::time::Duration;

use anyhow::Context as _;

use crate::commands::create::fields::Fields;
use crate::commands::create::{Common, go_duration, object};
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The image, without a tag
    #[arg(long)]
    image: Option<String>,

    /// The Secret with the credentials
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,

    /// The Secret with certificates
    #[arg(long, value_name = "NAME")]
    cert_ref: Option<String>,

    /// How long it may take to list the tags
    #[arg(long, value_name = "DURATION", value_parser = pflag::duration)]
    scan_timeout: Option<Duration>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let image = args.image.as_deref().filter(|image| !image.is_empty());
    let image = image.context("an image repository (--image) is required")?;
    let spec = Fields::default()
        .with("image", image)
        .with("interval", args.common.interval())
        .maybe(
            "timeout",
            args.scan_timeout.map(|timeout| go_duration(timeout).into()),
        )
        .named("secretRef", args.secret_ref.as_deref())
        .named("certSecretRef", args.cert_ref.as_deref());
    object::finish(&mut args.common, "ImageRepository", spec.into()).await
}
