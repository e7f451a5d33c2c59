//! `sluice reconcile`

use std::process::ExitCode;

use anyhow::{bail, ensure};
use kube::Client;
use serde_json::{Value, json};

use super::api::{Objects, Place};
use super::choice::{Choice, Verb};
use super::kinds::{KINDS, Kind, named};
use super::wait;
use crate::commands::pflag;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The name of the object
    name: String,

    /// First have its source looked at
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    with_source: bool,

    /// Install or upgrade a release although nothing has changed
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    force: bool,

    /// Forget how often a release has failed
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    reset: bool,

    #[command(flatten)]
    place: Place,
}

impl Verb for Args {
    const DOES: &'static str = "Reconcile";

    fn suits(kind: &Kind) -> bool {
        kind.is_worked_on
    }
}

pub(crate) async fn run(choice: Choice<Args>) -> anyhow::Result<ExitCode> {
    let Choice { kinds, mut args, .. } = choice;
    let client = args.place.reach().await?;
    for kind in kinds {
        args.place.limited(one(&client, kind, &args)).await?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn one(client: &Client, kind: &'static Kind, args: &Args) -> anyhow::Result<()> {
    let is_release = kind.names.kind == "HelmRelease";
    ensure!(
        is_release || !(args.force || args.reset),
        "--force and --reset are about HelmReleases"
    );
    let objects = Objects::new(client.clone(), kind, Some(&args.place.namespace));
    let object = objects.get(&args.name).await?;
    if args.with_source {
        let source = source_of(&object, &args.place.namespace)?;
        source_requested(client, source).await?;
    }
    let mut also = Vec::new();
    if args.force {
        also.push("reconcile.fluxcd.io/forceAt");
    }
    if args.reset {
        also.push("reconcile.fluxcd.io/resetAt");
    }
    requested(&objects, &args.place.namespace, &args.name, &also).await
}

/// Has a source looked at; that of a HelmChart first.
async fn source_requested(client: &Client, (kind, namespace, name): Source) -> anyhow::Result<()> {
    let sources = Objects::new(client.clone(), kind, Some(&namespace));
    if kind.names.kind == "HelmChart" {
        let chart = sources.get(&name).await?;
        Box::pin(source_requested(client, source_of(&chart, &namespace)?)).await?;
    }
    requested(&sources, &namespace, &name, &[]).await
}

/// Asks for a run and waits for its end.
async fn requested(objects: &Objects, namespace: &str, name: &str, also: &[&str]) -> anyhow::Result<()> {
    let kind = objects.kind.names.kind;
    let object = objects.get(name).await?;
    if kind == "HelmRepository" && object["spec"]["type"] == "oci" {
        eprintln!("✔ reconciliation not supported by the object");
        return Ok(());
    }
    if object["spec"]["suspend"] == Value::Bool(true) {
        bail!(
            "resource is suspended: resume it with `sluice resume {} {name} -n {namespace}`",
            objects.kind.human
        );
    }
    eprintln!("► annotating {kind} {name} in {namespace} namespace");
    let token = jiff::Timestamp::now().to_string();
    let mut annotations = serde_json::Map::new();
    for annotation in ["reconcile.fluxcd.io/requestedAt"].iter().chain(also) {
        annotations.insert((*annotation).to_owned(), token.clone().into());
    }
    objects
        .patch(name, &json!({"metadata": {"annotations": annotations}}))
        .await?;
    eprintln!("✔ {kind} annotated");
    eprintln!("◎ waiting for {kind} reconciliation");
    let handled = |object: &Value| object["status"]["lastHandledReconcileAt"] == token.as_str();
    let object = wait::until_ready(objects, name, handled).await?;
    eprintln!("✔ {}", wait::told(&object));
    Ok(())
}

/// A kind, a namespace and a name.
type Source = (&'static Kind, String, String);

/// What an object is made of. That of a release without a reference is the HelmChart that is made for it.
fn source_of(object: &Value, own: &str) -> anyhow::Result<Source> {
    let spec = &object["spec"];
    let template = &spec["chart"]["spec"];
    if let Some(kind) = named("HelmChart").filter(|_| template.is_object()) {
        let namespace = template["sourceRef"]["namespace"].as_str();
        let namespace = namespace.filter(|name| !name.is_empty());
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        return Ok((kind, namespace.unwrap_or(own).to_owned(), format!("{own}-{name}")));
    }
    let references = [&spec["chartRef"], &spec["sourceRef"]];
    let found = references.into_iter().find(|reference| reference.is_object());
    let known = found.and_then(|reference| {
        let kind = KINDS.iter().find(|kind| reference["kind"] == kind.names.kind)?;
        Some((kind, reference))
    });
    let Some((kind, reference)) = known else {
        bail!("the object has no source that could be looked at: leave out --with-source");
    };
    let text = |field: &str| reference[field].as_str().map(str::to_owned);
    let namespace = text("namespace").unwrap_or_else(|| own.to_owned());
    Ok((kind, namespace, text("name").unwrap_or_default()))
}
