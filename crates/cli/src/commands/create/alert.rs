//! `sluice create alert`

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::fields::Fields;
use super::reference::Reference;
use super::{Common, object};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The alert provider that is told
    #[arg(long, value_name = "NAME")]
    provider_ref: Option<String>,

    /// Events of this severity and above: info or error
    #[arg(long, value_name = "SEVERITY")]
    event_severity: Option<String>,

    /// What events are about, KIND/NAME[.NAMESPACE]; may be repeated
    #[arg(long, value_name = "OBJECTS", value_delimiter = ',')]
    event_source: Vec<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let spec = args.spec()?;
    object::finish(&mut args.common, "Alert", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let provider = self.provider_ref.as_deref().filter(|name| !name.is_empty());
        let provider = provider.context("provider ref is required: --provider-ref")?;
        ensure!(
            !self.event_source.is_empty(),
            "at least one event source is required: --event-source"
        );
        let mut sources = Vec::new();
        for text in &self.event_source {
            let source = Reference::parse(text);
            ensure!(
                !source.kind.is_empty(),
                "invalid event source '{text}', must be in format <kind>/<name>"
            );
            sources.push(source.value());
        }
        let spec = Fields::default()
            .named("providerRef", Some(provider))
            .text("eventSeverity", self.event_severity.as_deref())
            .with("eventSources", sources);
        Ok(spec.into())
    }
}
