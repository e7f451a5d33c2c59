//! `sluice diff kustomization`

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{bail, ensure};
use api::kustomize::Kustomization;
use controllers::kustomizations::ignore_rules;
use engine::cluster::Cluster;
use engine::diff::Normaliser;
use engine::plan::Order;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use kube::Client;
use model::{Inventory, ObjectKey, Value};

use super::found::{Found, tell};
use super::object::{Change, How, change};
use crate::commands::build::{Builds, Flags, Unit, from_cluster, is_kustomization, own_namespace};
use crate::commands::failure::WithCode;
use crate::commands::pflag;

/// Show what a Kustomization would change in the cluster if it had these files
///
/// Builds as `sluice build kustomization` does, has the cluster say what applying it would do, and changes nothing. Values of
/// Secrets are not shown. Ends with 0 if nothing differs, with 1 if something does, and with 2 if that cannot be told.
///
///   sluice diff kustomization my-app --path ./apps
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The name of the Kustomization
    name: String,

    /// The directory with the manifests
    #[arg(long, value_name = "DIR")]
    path: PathBuf,

    /// Tell what is being done, where that is seen by a person
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    progress_bar: bool,

    /// Compare also where the cluster does not have the Kustomization of --kustomization-file
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    ignore_not_found: bool,

    #[command(flatten)]
    flags: Flags,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let found = compared(args).await.map_err(WithCode::wrong)?;
    found.ended()
}

async fn compared(mut args: Args) -> anyhow::Result<Found> {
    ensure!(args.path.is_dir(), "invalid resource path {:?}", args.path);
    if let Some(file) = &args.flags.kustomization_file {
        ensure!(file.is_file(), "invalid kustomization file {file:?}");
    }
    let client = args.flags.at.reach().await?;
    let builds = Builds::new(&args.flags, Some(client.clone()))?;
    let progress = Progress(args.progress_bar && std::io::stderr().is_terminal());
    let differ = Differ {
        args: &args,
        cluster: Cluster::new(client.clone()),
        normaliser: Normaliser::new(Arc::new(smd::schema::Schema::builtin())),
        client,
        progress,
        builds: &builds,
    };
    let first = builds.first(&args.name, &args.path);
    let found = differ.one(first, BTreeSet::new());
    args.flags.at.limited(found).await
}

/// What is being done, in a line that goes when it is done.
struct Progress(bool);

impl Progress {
    fn tell(&self, what: &str) {
        if self.0 {
            eprint!("\r\x1b[2K◎ {what}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.0 {
            eprint!("\r\x1b[2K");
        }
    }
}

struct Differ<'a> {
    args: &'a Args,
    builds: &'a Builds<'a>,
    client: Client,
    cluster: Cluster,
    normaliser: Normaliser,
    progress: Progress,
}

impl Differ<'_> {
    /// Compares a Kustomization, and those among its objects if that is wanted. `above` are those that it is among.
    fn one(&self, unit: Unit, mut above: BTreeSet<(String, String)>) -> BoxFuture<'_, anyhow::Result<Found>> {
        let comparison = async move {
            self.progress.tell(&format!("building {}", unit.name));
            let definition = self.definition(&unit).await?;
            let how = How {
                manager: "kustomize-controller",
                force: definition.spec.force,
                heeds_marks: true,
                ignored: ignore_rules(&definition.spec)?,
            };
            let objects = self.builds.build(&definition, &unit.path).await?;
            above.insert((own_namespace(&definition), unit.name.clone()));
            let mut found = Found::default();
            let mut keys: BTreeSet<ObjectKey> = BTreeSet::new();
            for mut object in objects {
                self.normaliser.normalise(&mut object);
                let key = ObjectKey::of(&object);
                self.progress.tell(&format!("running dry-run of {key}"));
                let change = match change(&self.cluster, &mut object, &how).await {
                    Ok(change) => change,
                    // The others are looked at all the same.
                    Err(error) => {
                        found.errors.push(error);
                        continue;
                    }
                };
                tell(&mut found, &key, &change);
                keys.insert(key.clone());
                let is_new = matches!(change, Change::Created);
                if self.args.flags.recursive && !is_new && is_kustomization(&object) {
                    self.inner(&object, &key, &above, &mut found).await;
                }
            }
            if definition.spec.prune.unwrap_or_default() && found.errors.is_empty() {
                let inventory = definition.status.and_then(|status| status.inventory);
                tell_deleted(&mut found, inventory.unwrap_or_default(), &keys);
            }
            Ok(found)
        };
        comparison.boxed()
    }

    /// The Kustomization, with what the cluster says that it has applied.
    async fn definition(&self, unit: &Unit) -> anyhow::Result<Kustomization> {
        let mut definition = self.builds.definition(unit).await?;
        if unit.found.is_some() || self.args.flags.kustomization_file.is_none() {
            return Ok(definition);
        }
        match from_cluster(&self.client, &unit.name, &unit.namespace).await? {
            Some(live) => definition.status = live.status,
            None if self.args.ignore_not_found => definition.status = None,
            None => bail!(
                "failed to get kustomization object: {}/{} not found: create it, or compare all the same with \
                 --ignore-not-found",
                unit.namespace,
                unit.name
            ),
        }
        Ok(definition)
    }

    /// Compares a Kustomization that is among the objects of another one.
    async fn inner(
        &self,
        object: &Value,
        key: &ObjectKey,
        above: &BTreeSet<(String, String)>,
        found: &mut Found,
    ) {
        if above.contains(&(key.namespace.to_string(), key.name.to_string())) {
            return;
        }
        if object.at(&["spec", "kubeConfig"]).is_some() {
            found.text += &format!("⚠️ {key} skipped: diff not supported for remote clusters\n");
            return;
        }
        let unit = match self.builds.inner(object) {
            Ok(unit) => unit,
            Err(error) => return found.errors.push(error),
        };
        match self.one(unit, above.clone()).await {
            Ok(inner) => {
                if inner.differs {
                    found.differs = true;
                    found.text += &format!("📁 {key} changed\n{}", inner.text);
                }
                found.errors.extend(inner.errors);
            }
            Err(error) => found.errors.push(error.context(key.to_string())),
        }
    }
}

/// Tells of what was applied before and is not built any more.
fn tell_deleted(found: &mut Found, before: Inventory, now: &BTreeSet<ObjectKey>) {
    let stale = before.entries.into_iter().map(|entry| entry.id.0);
    let mut stale: Vec<ObjectKey> = stale.filter(|key| !now.contains(key)).collect();
    let order = Order::Flux { custom: Vec::new() };
    stale.sort_by(|a, b| order.compare(a, b));
    for key in stale {
        tell(found, &key, &Change::Deleted);
    }
}
