//! `sluice diff helmrelease`

use std::collections::BTreeMap;
use std::process::ExitCode;

use controllers::helm_releases::{Look, Preview};
use engine::cluster::Cluster;
use engine::diff::{IgnoreRules, mask};
use engine::plan::{Action, Objects, Step};
use model::object_key::split_api_version;
use model::{ObjectKey, Value};

use super::found::{Found, tell};
use super::object::{Change, How, change};
use crate::commands::failure::WithCode;
use crate::commands::release::{self, Which};

/// Show what the controller would change for a HelmRelease, in the cluster or in its manifest
///
/// The chart is rendered with its values and planned as the controller does it, and nothing is changed. Values of Secrets are not shown. Where there
/// is nothing to release but --drift is given, what differs from the newest release is shown, whether the object has drift detected or not. Ends
/// with 0 if nothing differs, with 1 if something does, and with 2 if that cannot be told.
///
///   sluice diff helmrelease podinfo
///   sluice diff helmrelease podinfo --manifest
///   sluice diff helmrelease podinfo --helmrelease-file ./podinfo.yaml
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    which: Which,

    /// Compare the manifest of what is installed with the one that would be, instead of the cluster
    #[arg(long, conflicts_with = "drift")]
    manifest: bool,

    /// Where there is nothing to release, compare the cluster with the newest release
    #[arg(long)]
    drift: bool,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let found = compared(args).await.map_err(WithCode::wrong)?;
    found.ended()
}

async fn compared(mut args: Args) -> anyhow::Result<Found> {
    let look = match args.drift {
        true => Look::RunOrDrift,
        false => Look::Run,
    };
    let preview = args.which.preview(look).await?;
    release::announce(&preview);
    match args.manifest {
        true => manifests(&preview),
        false => args.which.limited(live(&preview)).await,
    }
}

/// What differs between what is installed and what would be.
fn manifests(preview: &Preview) -> anyhow::Result<Found> {
    let objects = |text: &str| -> anyhow::Result<BTreeMap<ObjectKey, Value>> {
        let objects = helm::inventory::objects(text).map_err(anyhow::Error::msg)?;
        Ok(objects
            .into_iter()
            .map(|object| (ObjectKey::of(&object), object))
            .collect())
    };
    let (mut before, mut found) = (objects(&preview.before)?, Found::default());
    for (key, mut after) in objects(&preview.after)? {
        let change = match before.remove(&key) {
            None => Change::Created,
            Some(before) if before == after => Change::Unchanged,
            Some(mut before) => {
                mask(Some(&mut before), Some(&mut after));
                Change::Drifted(Box::new((before, after)))
            }
        };
        tell(&mut found, &key, &change);
    }
    for key in before.keys() {
        tell(&mut found, key, &Change::Deleted);
    }
    Ok(found)
}

/// What the plans would change in the cluster.
async fn live(preview: &Preview) -> anyhow::Result<Found> {
    let cluster = Cluster::new(preview.client.clone());
    let mut found = Found::default();
    for (plan, objects) in &preview.plans {
        for step in plan.steps() {
            match changed(&cluster, step, objects).await {
                Ok(change) => tell(&mut found, &step.key, &change),
                // The others are looked at all the same.
                Err(error) => found.errors.push(error),
            }
        }
    }
    Ok(found)
}

/// What a step would change.
async fn changed(cluster: &Cluster, step: &Step, objects: &Objects) -> anyhow::Result<Change> {
    match &step.action {
        Action::Prune { .. } => return Ok(Change::Deleted),
        Action::Create | Action::Patch | Action::Replace(_) | Action::Recreate(_) => {}
        Action::Fail { error } => anyhow::bail!("{} {error}", step.key),
        Action::DeleteHook { .. }
        | Action::Gone
        | Action::Unchanged
        | Action::Skip
        | Action::Yield { .. } => {
            return Ok(Change::Unchanged);
        }
    }
    let object = step.object.as_ref().and_then(|object| objects.get(object));
    // A hook is made anew each time.
    let Some(object) = object.filter(|_| step.hook.is_none()) else {
        return Ok(Change::Created);
    };
    if step.action == Action::Create && !is_there(cluster, step).await? {
        return Ok(Change::Created);
    }
    let how = How {
        manager: "helm-controller",
        force: matches!(step.action, Action::Recreate(_)),
        heeds_marks: false,
        ignored: IgnoreRules::default(),
    };
    let mut object = Value::clone(object);
    change(cluster, &mut object, &how).await
}

/// Whether an object that is to be made is there already, as definitions of a chart can be.
async fn is_there(cluster: &Cluster, step: &Step) -> anyhow::Result<bool> {
    let (group, version) = split_api_version(&step.api_version);
    let resource = cluster.resource(group, version, &step.key.kind).await?;
    let live = cluster
        .get(&resource, &step.key.namespace, &step.key.name)
        .await?;
    Ok(live.is_some())
}
