//! `sluice create helmrelease`

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::fields::Fields;
use super::reference::{Reference, dependencies};
use super::{Common, go_duration, object};
use crate::commands::pflag;

const SOURCES: [&str; 3] = ["HelmRepository", "GitRepository", "Bucket"];

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The name of the release, [TARGET-NAMESPACE-]NAME if it is not said
    #[arg(long, value_name = "NAME")]
    release_name: Option<String>,

    /// The source of the chart, KIND/NAME[.NAMESPACE]; the kind is HelmRepository, GitRepository or Bucket
    #[arg(long)]
    source: Option<String>,

    /// The name of the chart, or its path in the source
    #[arg(long)]
    chart: Option<String>,

    /// The version of the chart, or a range
    #[arg(long, value_name = "VERSION")]
    chart_version: Option<String>,

    /// A chart that is there, KIND/NAME[.NAMESPACE]; the kind is OCIRepository or HelmChart
    #[arg(long, value_name = "REFERENCE")]
    chart_ref: Option<String>,

    /// How often to look for a new version of the chart
    #[arg(long, value_name = "DURATION", value_parser = pflag::duration)]
    chart_interval: Option<Duration>,

    /// When there is a new chart: ChartVersion or Revision
    #[arg(long, value_name = "STRATEGY", default_value = "ChartVersion", value_parser = ["ChartVersion", "Revision"])]
    reconcile_strategy: String,

    /// HelmReleases that have to be ready before, [NAMESPACE/]NAME; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    depends_on: Vec<String>,

    /// The namespace to install into
    #[arg(long, value_name = "NAMESPACE")]
    target_namespace: Option<String>,

    /// The namespace in which Helm keeps the release, the target namespace if it is not said
    #[arg(long, value_name = "NAMESPACE")]
    storage_namespace: Option<String>,

    /// Create the target namespace if it is missing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    create_target_namespace: bool,

    /// The service account to install as
    #[arg(long, value_name = "NAME")]
    service_account: Option<String>,

    /// Files with values; of equal ones the last counts; may be repeated
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    values: Vec<PathBuf>,

    /// Secrets or ConfigMaps with values, KIND/NAME; may be repeated
    #[arg(long, value_name = "REFERENCES", value_delimiter = ',')]
    values_from: Vec<String>,

    /// What an upgrade does with definitions
    #[arg(long, value_name = "POLICY", value_parser = ["Skip", "Create", "CreateReplace"])]
    crds: Option<String>,

    /// The Secret with the kubeconfig of another cluster to install into
    #[arg(long, value_name = "NAME")]
    kubeconfig_secret_ref: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let spec = args.spec()?;
    object::finish(&mut args.common, "HelmRelease", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let target = self.target_namespace.as_deref();
        let storage = self.storage_namespace.as_deref().or(target);
        let remote = self.kubeconfig_secret_ref.as_deref();
        let remote = remote.map(|name| json!({"secretRef": {"name": name}}));
        let spec = Fields::default()
            .with("interval", self.common.interval())
            .text("releaseName", self.release_name.as_deref())
            .text("targetNamespace", target)
            .text("storageNamespace", storage)
            .maybe("dependsOn", dependencies(&self.depends_on))
            .maybe("kubeConfig", remote)
            .text("serviceAccountName", self.service_account.as_deref())
            .maybe("install", self.install())
            .maybe(
                "upgrade",
                self.crds.as_deref().map(|policy| json!({"crds": policy})),
            )
            .maybe("values", self.values()?)
            .maybe("valuesFrom", self.values_from()?);
        let spec = match (self.chart.as_deref(), self.chart_ref.as_deref()) {
            (None, None) => bail!("chart or chart-ref is required"),
            (Some(_), Some(_)) => bail!("cannot use --chart in combination with --chart-ref"),
            (Some(chart), None) => spec.with("chart", self.chart(chart)?),
            (None, Some(reference)) => spec.with("chartRef", chart_ref(reference)?),
        };
        Ok(spec.into())
    }

    fn chart(&self, chart: &str) -> anyhow::Result<Value> {
        let source = self
            .source
            .as_deref()
            .context("the source of the chart is required: --source")?;
        let source = Reference::of(source, "helm chart source", &SOURCES, None)?;
        let spec = Fields::default()
            .with("chart", chart)
            .text("version", self.chart_version.as_deref())
            .with("sourceRef", source.value())
            .with("reconcileStrategy", self.reconcile_strategy.as_str())
            .maybe(
                "interval",
                self.chart_interval.map(|interval| go_duration(interval).into()),
            );
        Ok(json!({"spec": Value::from(spec)}))
    }

    fn install(&self) -> Option<Value> {
        let crds = self.crds.as_deref().map(|_| "Create");
        let install = Fields::default().flag("createNamespace", self.create_target_namespace);
        let is_said = self.create_target_namespace || crds.is_some();
        is_said.then(|| install.text("crds", crds).into())
    }

    /// All files together.
    fn values(&self) -> anyhow::Result<Option<Value>> {
        let mut all = json!({});
        for file in &self.values {
            let text = std::fs::read(file)
                .with_context(|| format!("reading values from {} failed", file.display()))?;
            let unusable = || format!("the values in {} cannot be used", file.display());
            let values = serde_json::to_value(yaml::parse(&text).with_context(unusable)?)?;
            match values {
                Value::Null => {}
                Value::Object(_) => merge(&mut all, values),
                _ => return Err(anyhow::anyhow!("they are no mapping")).with_context(unusable),
            }
        }
        Ok((!self.values.is_empty()).then_some(all))
    }

    fn values_from(&self) -> anyhow::Result<Option<Value>> {
        let mut all = Vec::new();
        for text in &self.values_from {
            let Some((kind, name)) = text.split_once('/').filter(|(_, name)| !name.contains('/')) else {
                bail!("invalid Kubernetes object reference '{text}', must be in format <kind>/<name>");
            };
            let known = ["Secret", "ConfigMap"]
                .into_iter()
                .find(|known| known.eq_ignore_ascii_case(kind));
            let Some(known) = known else {
                bail!("reference kind '{kind}' is not supported, must be one of: Secret, ConfigMap");
            };
            all.push(json!({"kind": known, "name": name}));
        }
        Ok((!all.is_empty()).then(|| all.into()))
    }
}

fn chart_ref(text: &str) -> anyhow::Result<Value> {
    let reference = Reference::parse(text);
    if !matches!(reference.kind.as_str(), "OCIRepository" | "HelmChart") {
        bail!(
            "chart reference kind '{}' is not supported, must be one of: OCIRepository, HelmChart",
            reference.kind
        );
    }
    Ok(reference.value())
}

/// Mappings in mappings come together; of everything else the later counts.
fn merge(all: &mut Value, more: Value) {
    match (all, more) {
        (Value::Object(all), Value::Object(more)) => {
            for (key, value) in more {
                merge(all.entry(key).or_insert(Value::Null), value);
            }
        }
        (all, more) => *all = more,
    }
}
