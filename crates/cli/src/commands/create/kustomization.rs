//! `sluice create kustomization`

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::fields::Fields;
use super::reference::{Reference, dependencies};
use super::{Common, go_duration, object};
use crate::commands::pflag;

const SOURCES: [&str; 3] = ["OCIRepository", "GitRepository", "Bucket"];

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// The source, [KIND/]NAME[.NAMESPACE]; the kind is OCIRepository, GitRepository (if it is not said) or Bucket
    #[arg(long)]
    source: Option<String>,

    /// The directory in the source
    #[arg(long, default_value = "./")]
    path: String,

    /// Delete what is no longer in the source
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    prune: bool,

    /// Wait until all that is applied is healthy
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    wait: bool,

    /// Wait until these are healthy, KIND/NAME.NAMESPACE; may be repeated
    #[arg(long, value_name = "OBJECTS", value_delimiter = ',')]
    health_check: Vec<String>,

    /// How long that may take
    #[arg(long, default_value = "2m", value_parser = pflag::duration)]
    health_check_timeout: Duration,

    /// Kustomizations that have to be ready before, [NAMESPACE/]NAME; may be repeated
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    depends_on: Vec<String>,

    /// The service account to apply as
    #[arg(long, value_name = "NAME")]
    service_account: Option<String>,

    /// What decrypts secrets: sops
    #[arg(long, value_name = "PROVIDER", value_parser = ["sops"])]
    decryption_provider: Option<String>,

    /// The Secret with the keys for that
    #[arg(long, value_name = "NAME")]
    decryption_secret: Option<String>,

    /// The namespace of all that is applied
    #[arg(long, value_name = "NAMESPACE")]
    target_namespace: Option<String>,

    /// The Secret with the kubeconfig of another cluster to apply to
    #[arg(long, value_name = "NAME")]
    kubeconfig_secret_ref: Option<String>,

    /// When to try again after a failure
    #[arg(long, value_name = "DURATION", value_parser = pflag::duration)]
    retry_interval: Option<Duration>,

    /// Changes nothing: the cluster validates what is applied
    #[arg(long, hide = true)]
    validation: Option<String>,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    if args.validation.is_some() {
        eprintln!("--validation changes nothing: the cluster validates what is applied");
    }
    let spec = args.spec()?;
    object::finish(&mut args.common, "Kustomization", spec).await
}

impl Args {
    fn spec(&self) -> anyhow::Result<Value> {
        let source = self.source.as_deref().context("source is required: --source")?;
        let source = Reference::of(source, "Kustomization source", &SOURCES, Some("GitRepository"))?;
        let checks = match self.wait {
            true => Vec::new(),
            false => self
                .health_check
                .iter()
                .map(|text| check(text))
                .collect::<anyhow::Result<_>>()?,
        };
        let waits = self.wait || !checks.is_empty();
        let decryption = self.decryption_provider.as_deref().map(|provider| {
            let provider = Fields::default().with("provider", provider);
            provider
                .named("secretRef", self.decryption_secret.as_deref())
                .into()
        });
        let remote = self.kubeconfig_secret_ref.as_deref();
        let remote = remote.map(|name| json!({"secretRef": {"name": name}}));
        let spec = Fields::default()
            .with("interval", self.common.interval())
            .with("path", inside(&self.path))
            .with("prune", self.prune)
            .with("sourceRef", source.value())
            .text("targetNamespace", self.target_namespace.as_deref())
            .maybe("dependsOn", dependencies(&self.depends_on))
            .maybe("kubeConfig", remote)
            .flag("wait", self.wait)
            .maybe(
                "timeout",
                waits.then(|| go_duration(self.health_check_timeout).into()),
            )
            .maybe("healthChecks", (!checks.is_empty()).then(|| checks.into()))
            .text("serviceAccountName", self.service_account.as_deref())
            .maybe("decryption", decryption)
            .maybe(
                "retryInterval",
                self.retry_interval.map(|interval| go_duration(interval).into()),
            );
        Ok(spec.into())
    }
}

/// An object whose health counts.
fn check(text: &str) -> anyhow::Result<Value> {
    let parts = text.split_once('/').and_then(|(kind, name)| {
        let (name, namespace) = name.split_once('.')?;
        let is_whole = !name.contains('/') && !namespace.contains(['.', '/']);
        is_whole.then_some((kind, name, namespace))
    });
    let Some((kind, name, namespace)) = parts else {
        bail!("invalid health check '{text}' must be in the format 'kind/name.namespace'");
    };
    let version = match kind {
        "Deployment" | "DaemonSet" | "StatefulSet" => None,
        "HelmRelease" => Some("helm.toolkit.fluxcd.io/v2"),
        _ => bail!(
            "invalid health check kind '{kind}' can be HelmRelease, Deployment, DaemonSet or StatefulSet"
        ),
    };
    let fields = Fields::default().text("apiVersion", version).with("kind", kind);
    Ok(fields.with("name", name).with("namespace", namespace).into())
}

/// A path that does not lead out of the source.
fn inside(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.trim().split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    format!("./{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for (path, expected) in [
            ("./", "./"),
            ("", "./"),
            ("a", "./a"),
            ("/a/./b//", "./a/b"),
            ("../../a/../b", "./b"),
        ] {
            assert_eq!(inside(path), expected);
        }
    }
}
