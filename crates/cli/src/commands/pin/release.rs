//! `sluice rollback helmrelease` and `sluice unpin helmrelease`

use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use api::helm::HelmRelease;
use controllers::helm_releases::{ROLLED_BACK_TO, tried};
use controllers::kustomizations::ROLLED_BACK_FROM;
use helm::record::Status;
use serde_json::{Value, json};

use crate::commands::objects::{Objects, Place, named, wait};
use crate::commands::release::records;

/// Take a release back to an earlier version
///
/// Without a version it is the last before the newest that went well; `sluice history helmrelease` lists them. The release stays
/// there until its object, its chart or its values are others than they are now; `sluice unpin helmrelease` ends it at once.
///
///   sluice rollback helmrelease podinfo
///   sluice rollback helmrelease podinfo 3
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ReleaseRollbackArgs {
    /// The name of the HelmRelease
    name: String,

    /// The version of the release
    version: Option<i64>,

    #[command(flatten)]
    place: Place,
}

/// Have a release be what its object wants again
#[derive(clap::Args)]
pub(crate) struct ReleaseUnpinArgs {
    /// The name of the HelmRelease
    name: String,

    #[command(flatten)]
    place: Place,
}

pub(super) async fn rollback(mut args: ReleaseRollbackArgs) -> anyhow::Result<ExitCode> {
    let client = args.place.reach().await?;
    let (name, namespace) = (&args.name, &args.place.namespace);
    let kind = named("HelmRelease").context("there is no such kind")?;
    let objects = Objects::new(client.clone(), kind, Some(namespace));
    let work = async {
        let object = objects.get(name).await?;
        ensure!(
            object["spec"]["suspend"] != Value::Bool(true),
            "resource is suspended: resume it with `sluice resume helmrelease {name} -n {namespace}`"
        );
        let typed: HelmRelease =
            serde_json::from_value(object.clone()).context("the object cannot be read")?;
        let status = typed.status.unwrap_or_default();
        let newest = status
            .history
            .first()
            .context("nothing was released yet: there is nothing to go back to")?;
        let storage = status.storage_namespace.clone().unwrap_or_default();
        let to = match args.version {
            Some(version) => {
                if typed.spec.kube_config.is_none() {
                    check(&client, &storage, &newest.name, version).await?;
                }
                version
            }
            None if typed.spec.kube_config.is_some() => {
                bail!("the release is in another cluster: name the version to go back to")
            }
            None => earlier(&client, &storage, &newest.name).await?,
        };
        let from = tried(&status);
        eprintln!("► rolling HelmRelease {name} back to version {to} until there is something newer");
        changed(&objects, name, Some((to, &from))).await
    };
    args.place.limited(work).await?;
    Ok(ExitCode::SUCCESS)
}

/// Refuses a version that there is no record of.
async fn check(client: &kube::Client, storage: &str, release: &str, version: i64) -> anyhow::Result<()> {
    let records = records(client, storage, release).await?;
    let known: Vec<String> = records.iter().map(|record| record.version.to_string()).collect();
    ensure!(
        records.iter().any(|record| record.version == version),
        "release {storage}/{release} has no version {version}: choose from {}",
        known.join(", ")
    );
    Ok(())
}

/// The last version before the newest that went well, and is another one.
async fn earlier(client: &kube::Client, storage: &str, release: &str) -> anyhow::Result<i64> {
    let records = records(client, storage, release).await?;
    let mut all = records.iter();
    let newest = all.next();
    let same = |record: &&helm::record::Record| {
        newest.is_none_or(|newest| newest.manifest != record.manifest || newest.config != record.config)
    };
    let went_well = |status: &Status| matches!(status, Status::Superseded | Status::Deployed);
    let mut earlier = all.filter(same).filter(|record| went_well(&record.info.status));
    let found = earlier.next().map(|record| record.version);
    found.with_context(|| format!("release {storage}/{release} has no earlier version that went well"))
}

pub(super) async fn unpin(mut args: ReleaseUnpinArgs) -> anyhow::Result<ExitCode> {
    let client = args.place.reach().await?;
    let kind = named("HelmRelease").context("there is no such kind")?;
    let objects = Objects::new(client, kind, Some(&args.place.namespace));
    eprintln!("► unpinning HelmRelease {}", args.name);
    args.place.limited(changed(&objects, &args.name, None)).await?;
    Ok(ExitCode::SUCCESS)
}

/// Sets the annotations, or takes them away, and waits for what comes of it.
async fn changed(objects: &Objects, name: &str, to: Option<(i64, &str)>) -> anyhow::Result<()> {
    let token = jiff::Timestamp::now().to_string();
    let annotations = json!({
        ROLLED_BACK_TO: to.map(|(version, _)| version.to_string()),
        ROLLED_BACK_FROM: to.map(|(_, from)| from),
        "reconcile.fluxcd.io/requestedAt": token,
    });
    objects
        .patch(name, &json!({"metadata": {"annotations": annotations}}))
        .await?;
    eprintln!("◎ waiting for HelmRelease reconciliation");
    let is_done = |object: &Value| object["status"]["lastHandledReconcileAt"] == token.as_str();
    let object = wait::until_ready(objects, name, is_done).await?;
    eprintln!("✔ {}", wait::told(&object));
    Ok(())
}
