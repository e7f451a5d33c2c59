//! `sluice create source chart`

use anyhow::Context as _;
use serde_json::Value;

use super::SourceArgs;
use super::verify::Verify;
use crate::commands::create::fields::Fields;
use crate::commands::create::object;
use crate::commands::create::reference::Reference;

const SOURCES: [&str; 3] = ["HelmRepository", "GitRepository", "Bucket"];

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: SourceArgs,

    /// The name of the chart, or its path in the source
    #[arg(long)]
    chart: Option<String>,

    /// The version of the chart, or a range
    #[arg(long, value_name = "VERSION")]
    chart_version: Option<String>,

    /// The source, KIND/NAME; the kind is HelmRepository, GitRepository or Bucket
    #[arg(long)]
    source: Option<String>,

    /// When there is a new chart: ChartVersion or Revision
    #[arg(long, value_name = "STRATEGY", default_value = "ChartVersion")]
    reconcile_strategy: String,

    #[command(flatten)]
    verify: Verify,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let spec = args.spec()?;
    object::finish(&mut args.common.common, "HelmChart", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let source = self
            .source
            .as_deref()
            .context("chart source is required: --source")?;
        // Charts are of sources in their own namespace: what looks like another is part of the name.
        let whole = Reference::of(source, "helm chart source", &SOURCES, None)?;
        let name = source
            .trim()
            .split_once('/')
            .map_or(source, |(_, name)| name)
            .to_owned();
        let source = Reference {
            name,
            namespace: String::new(),
            ..whole
        };
        let chart = self
            .chart
            .as_deref()
            .context("chart name or path is required: --chart")?;
        let spec = Fields::default()
            .with("interval", self.common.common.interval())
            .with("chart", chart)
            .text("version", self.chart_version.as_deref())
            .text("reconcileStrategy", Some(&self.reconcile_strategy))
            .with("sourceRef", source.value())
            .maybe("verify", self.verify.value()?);
        Ok(spec.into())
    }
}
