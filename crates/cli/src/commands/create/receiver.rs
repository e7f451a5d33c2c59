//! `sluice create receiver`

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::fields::Fields;
use super::{Common, object};

const TYPES: [&str; 12] = [
    "generic",
    "generic-hmac",
    "github",
    "gitlab",
    "bitbucket",
    "harbor",
    "dockerhub",
    "quay",
    "gcr",
    "nexus",
    "acr",
    "cdevents",
];

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// Who calls
    #[arg(long = "type", value_name = "TYPE", value_parser = TYPES)]
    kind: Option<String>,

    /// The Secret with the token that callers know
    #[arg(long, value_name = "NAME")]
    secret_ref: Option<String>,

    /// Only these events; may be repeated
    #[arg(long, value_name = "EVENTS", value_delimiter = ',')]
    event: Vec<String>,

    /// What is looked at when somebody calls, KIND/NAME; may be repeated
    #[arg(long, value_name = "OBJECTS", value_delimiter = ',')]
    resource: Vec<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let spec = args.spec()?;
    object::finish(&mut args.common, "Receiver", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let kind = self
            .kind
            .as_deref()
            .context("Receiver type is required: --type")?;
        let secret = self.secret_ref.as_deref().filter(|name| !name.is_empty());
        let secret = secret.context("secret ref is required: --secret-ref")?;
        ensure!(
            !self.resource.is_empty(),
            "at least one resource is required: --resource"
        );
        let mut resources = Vec::new();
        for text in &self.resource {
            let parts = text
                .split_once('/')
                .filter(|(kind, name)| !kind.is_empty() && !name.contains('/'));
            let (kind, name) = parts
                .with_context(|| format!("invalid event source '{text}', must be in format <kind>/<name>"))?;
            resources.push(json!({"kind": kind, "name": name}));
        }
        let events = (!self.event.is_empty()).then(|| json!(self.event));
        let spec = Fields::default()
            .with("type", kind)
            .maybe("events", events)
            .with("resources", resources)
            .named("secretRef", Some(secret));
        Ok(spec.into())
    }
}
