//! `sluice pin`, `rollback` and `unpin`: an earlier revision instead of what the source has.

mod history;
mod release;

use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use api::kustomize::Kustomization;
use controllers::kustomizations::{PINNED_TO, ROLLED_BACK_FROM};
use serde_json::{Value, json};

use super::objects::{Kind, Objects, Place, named, wait};

/// Keep a Kustomization at a revision
#[derive(clap::Subcommand)]
pub(crate) enum Pin {
    #[command(visible_alias = "ks")]
    Kustomization(Box<PinArgs>),
}

/// Take a Kustomization or a release back to an earlier state, until there is a newer one
#[derive(clap::Subcommand)]
pub(crate) enum Rollback {
    #[command(visible_alias = "hr")]
    Helmrelease(Box<release::ReleaseRollbackArgs>),
    #[command(visible_alias = "ks")]
    Kustomization(Box<RollbackArgs>),
}

/// Have a Kustomization or a release follow its source again
#[derive(clap::Subcommand)]
pub(crate) enum Unpin {
    #[command(visible_alias = "hr")]
    Helmrelease(Box<release::ReleaseUnpinArgs>),
    #[command(visible_alias = "ks")]
    Kustomization(Box<UnpinArgs>),
}

/// Keep a Kustomization at a revision, whatever its source has
///
/// Without --to it is the revision that was applied last. `sluice unpin` ends it.
///
///   sluice pin kustomization my-app
///   sluice pin kustomization my-app --to 3b2f1c0
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct PinArgs {
    #[command(flatten)]
    which: Which,

    /// The revision, or the beginning of its commit or digest
    #[arg(long, value_name = "REVISION")]
    to: Option<String>,
}

/// Take a Kustomization back to an earlier revision
///
/// Without --to it is the one before the last of its history that was applied with success. When the source has a newer revision than the one
/// that was bad, that is applied, and the Kustomization follows its source again.
///
///   sluice rollback kustomization my-app
///   sluice rollback kustomization my-app --to 3b2f1c0
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    which: Which,

    /// The revision, or the beginning of its commit or digest
    #[arg(long, value_name = "REVISION")]
    to: Option<String>,
}

/// Have a Kustomization follow its source again
#[derive(clap::Args)]
pub(crate) struct UnpinArgs {
    #[command(flatten)]
    which: Which,
}

#[derive(clap::Args)]
struct Which {
    /// The name of the Kustomization
    name: String,

    #[command(flatten)]
    place: Place,
}

pub(crate) async fn pin(Pin::Kustomization(args): Pin) -> anyhow::Result<ExitCode> {
    let PinArgs { mut which, to } = *args;
    which
        .change(|object| {
            let to = match &to {
                Some(to) => history::resolved(object, to)?,
                None => applied(object)?,
            };
            Ok((Some(to), None))
        })
        .await
}

pub(crate) async fn rollback(rollback: Rollback) -> anyhow::Result<ExitCode> {
    let args = match rollback {
        Rollback::Kustomization(args) => args,
        Rollback::Helmrelease(args) => return release::rollback(*args).await,
    };
    let RollbackArgs { mut which, to } = *args;
    which
        .change(|object| {
            let to = match &to {
                Some(to) => history::resolved(object, to)?,
                None => history::earlier(object)?,
            };
            let from = history::bad(object)?;
            ensure!(
                to != from,
                "the source has revision {to} itself: name an earlier one with --to"
            );
            Ok((Some(to), Some(from)))
        })
        .await
}

pub(crate) async fn unpin(unpin: Unpin) -> anyhow::Result<ExitCode> {
    let args = match unpin {
        Unpin::Kustomization(args) => args,
        Unpin::Helmrelease(args) => return release::unpin(*args).await,
    };
    let mut which = args.which;
    which.change(|_| Ok((None, None))).await
}

fn applied(object: &Kustomization) -> anyhow::Result<String> {
    let status = object.status.as_ref();
    let applied = status.and_then(|status| status.last_applied_revision.clone());
    applied.context("nothing was applied yet: name a revision with --to")
}

impl Which {
    /// Sets or takes away the annotations, and waits for what comes of it.
    async fn change(
        &mut self,
        pins: impl Fn(&Kustomization) -> anyhow::Result<(Option<String>, Option<String>)>,
    ) -> anyhow::Result<ExitCode> {
        let client = self.place.reach().await?;
        let kind: &'static Kind = named("Kustomization").context("Kustomizations are one of the kinds")?;
        let objects = Objects::new(client, kind, Some(&self.place.namespace));
        self.place.limited(self.changed(&objects, pins)).await?;
        Ok(ExitCode::SUCCESS)
    }

    async fn changed(
        &self,
        objects: &Objects,
        pins: impl Fn(&Kustomization) -> anyhow::Result<(Option<String>, Option<String>)>,
    ) -> anyhow::Result<()> {
        let (name, namespace) = (&self.name, &self.place.namespace);
        let object = objects.get(name).await?;
        ensure!(
            object["spec"]["suspend"] != Value::Bool(true),
            "resource is suspended: resume it with `sluice resume kustomization {name} -n {namespace}`"
        );
        let typed: Kustomization = serde_json::from_value(object).context("the object cannot be read")?;
        let (to, from) = pins(&typed)?;
        let token = jiff::Timestamp::now().to_string();
        let annotations = json!({
            PINNED_TO: to, ROLLED_BACK_FROM: from, "reconcile.fluxcd.io/requestedAt": token,
        });
        objects
            .patch(name, &json!({"metadata": {"annotations": annotations}}))
            .await?;
        match (&to, &from) {
            (Some(to), Some(from)) => {
                eprintln!(
                    "► rolling Kustomization {name} back to {to} until there is a newer revision than {from}"
                );
            }
            (Some(to), None) => eprintln!("► pinning Kustomization {name} to {to}"),
            (None, _) => eprintln!("► unpinning Kustomization {name}"),
        }
        eprintln!("◎ waiting for Kustomization reconciliation");
        let is_done = |object: &Value| match &to {
            Some(to) => object["status"]["lastAttemptedRevision"] == to.as_str() || cannot_be_had(object),
            None => object["status"]["lastHandledReconcileAt"] == token.as_str(),
        };
        let object = wait::until_ready(objects, name, is_done).await?;
        eprintln!("✔ {}", wait::told(&object));
        Ok(())
    }
}

/// Whether the controller says that there is no way to the revision.
fn cannot_be_had(object: &Value) -> bool {
    let ready = super::objects::condition(object, "Ready");
    let message = ready.and_then(|ready| ready["message"].as_str());
    message
        .is_some_and(|message| message.contains("cannot be had") || message.contains("configuration error"))
}
