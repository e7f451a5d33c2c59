//! The end in a cluster that stays: what was made is deleted, what was there before is left.
//!
//! A Kustomization that goes prunes all that it has applied, also what it has merely changed. So each is let go of without that, and
//! what is younger than the first of our own objects is deleted here, as the Kustomization would have done it.

use std::collections::VecDeque;
use std::sync::Mutex;

use anyhow::{Context as _, bail};
use engine::cluster::{Cluster, Error};
use futures::future::try_join_all;
use jiff::Timestamp;
use kube::ResourceExt as _;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, Preconditions};
use kube::core::GroupVersionKind;
use kube::runtime::wait::{await_condition, conditions};
use model::object_key::split_api_version;
use model::{ObjectKey, Value, convert};
use serde_json::json;

use super::ground::{Ground, MANAGER, is_not_found};
use super::root::Root;
use super::unit::Unit;

const OWNER: [&str; 2] = [
    "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace",
];
/// Whoever asks for this keeps an object from being pruned.
const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
const RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";

/// What is about to be deleted, in the order in which it goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Object,
    /// It takes objects along.
    Definition,
    /// It takes everything along.
    Namespace,
}

struct Doomed {
    key: ObjectKey,
    turn: Turn,
    api: Api<DynamicObject>,
    uid: String,
}

struct End<'g> {
    ground: &'g Ground,
    cluster: Cluster,
    /// What is no younger was there before.
    since: Option<Timestamp>,
    doomed: Vec<Doomed>,
    left: Vec<String>,
}

/// Deletes what was made through the root, and the root. What is to be said of what is left.
pub(super) async fn clear(ground: &Ground, root: &Root, objects: &[Value]) -> anyhow::Result<Vec<String>> {
    let source = ground.find(&root.source_key()).await?;
    let first = match source {
        Some(source) => Some(source),
        None => ground.find(&root.key_of_kustomization()).await?,
    };
    let mut end = End {
        ground,
        cluster: Cluster::new(ground.client.clone()),
        since: first.and_then(|first| Some(first.metadata.creation_timestamp?.0)),
        doomed: Vec::new(),
        left: Vec::new(),
    };
    end.let_go(root).await?;
    end.delete().await?;
    for object in objects.iter().rev() {
        ground.remove(object).await?;
    }
    Ok(end.left)
}

impl End<'_> {
    /// Takes away the Kustomizations, first those that others come from: nothing puts right any more what is deleted then.
    async fn let_go(&mut self, root: &Root) -> anyhow::Result<()> {
        let mut units = VecDeque::from([root.key_of_kustomization()]);
        while let Some(unit) = units.pop_front() {
            for (key, api_version) in self.released(&unit).await? {
                let Some((api, object)) = self.look(&key, &api_version).await? else {
                    continue;
                };
                if !is_pruned(&object, &unit) {
                    continue;
                }
                let made = object.metadata.creation_timestamp.as_ref().map(|time| time.0);
                let is_younger = matches!((made, self.since), (Some(made), Some(since)) if made > since);
                if !is_younger {
                    self.left.push(format!("left      {key}: it was there before"));
                } else if is_kustomization(&key) {
                    units.push_back(key);
                } else {
                    self.doomed.push(Doomed {
                        turn: turn(&key),
                        uid: object.metadata.uid.unwrap_or_default(),
                        key,
                        api,
                    });
                }
            }
        }
        Ok(())
    }

    /// Deletes a Kustomization but nothing that it has applied: what that is, where it would have been pruned.
    async fn released(&self, key: &ObjectKey) -> anyhow::Result<Vec<(ObjectKey, String)>> {
        let Some(found) = self.ground.find(key).await? else {
            return Ok(Vec::new());
        };
        let api = self.ground.api_of(key);
        let failed = || format!("failed to delete {key}");
        let prunes = prunes(&found);
        let mut last = found;
        if prunes {
            // Where the definition is too old to know the one, the other says the same.
            let patch = json!({"spec": {"deletionPolicy": "Orphan", "prune": false}});
            let params = PatchParams {
                field_manager: Some(MANAGER.to_owned()),
                ..PatchParams::default()
            };
            let patched = api.patch(&key.name, &params, &Patch::Merge(&patch)).await;
            last = patched.with_context(failed)?;
        }
        // What was under way comes to its end first, and may have applied more.
        let latest = Mutex::new(None);
        let is_gone = |object: Option<&DynamicObject>| {
            if let (Some(object), Ok(mut latest)) = (object, latest.lock()) {
                *latest = Some(object.clone());
            }
            object.is_none()
        };
        let delete = async {
            match api.delete(&key.name, &DeleteParams::default()).await {
                Err(error) if is_not_found(&error) => Ok(()),
                deleted => deleted.map(drop).with_context(failed),
            }
        };
        let gone = async {
            let gone = await_condition(api.clone(), &key.name, is_gone).await;
            gone.map(drop).context("the cluster cannot be reached")
        };
        tokio::try_join!(gone, delete)?;
        if !prunes {
            return Ok(Vec::new());
        }
        if let Some(latest) = latest.into_inner().ok().flatten() {
            last = latest;
        }
        let last: Value = convert::from_serde(&last).with_context(failed)?;
        Ok(Unit::of(&last).objects)
    }

    /// An object as it is, if it is there.
    async fn look(
        &self,
        key: &ObjectKey,
        api_version: &str,
    ) -> anyhow::Result<Option<(Api<DynamicObject>, DynamicObject)>> {
        let (group, version) = split_api_version(api_version);
        let found = match self.cluster.resource(group, version, &key.kind).await {
            Err(Error::NoSuchKind { .. }) => return Ok(None),
            found => found.with_context(|| format!("{key} cannot be looked for"))?,
        };
        let kind = GroupVersionKind::gvk(group, version, &key.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, &found.plural);
        let client = self.ground.client.clone();
        let api: Api<DynamicObject> = match found.namespaced {
            true => Api::namespaced_with(client, &key.namespace, &resource),
            false => Api::all_with(client, &resource),
        };
        let object = api.get_opt(&key.name).await;
        let object = object.with_context(|| format!("{key} cannot be looked for"))?;
        Ok(object.map(|object| (api, object)))
    }

    /// Deletes what was made, and waits for what would be in the way of a next run.
    async fn delete(&mut self) -> anyhow::Result<()> {
        // Controllers have to clear up after their objects while they run, and while what they need is there.
        let (of_flux, others): (Vec<Doomed>, Vec<Doomed>) = std::mem::take(&mut self.doomed)
            .into_iter()
            .partition(|doomed| is_of_flux(&doomed.key.group));
        delete(of_flux).await?;
        delete(others).await
    }
}

/// Deletes objects, and waits for what would be in the way of what comes next.
async fn delete(mut all: Vec<Doomed>) -> anyhow::Result<()> {
    all.sort_by_key(|doomed| doomed.turn);
    let mut problems = Vec::new();
    for doomed in &all {
        let params = DeleteParams {
            preconditions: Some(Preconditions {
                uid: Some(doomed.uid.clone()),
                resource_version: None,
            }),
            ..DeleteParams::background()
        };
        match doomed.api.delete(&doomed.key.name, &params).await {
            // It is gone, or another by now.
            Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => {}
            Err(error) => problems.push(format!("{}: {error}", doomed.key)),
            Ok(_) => {}
        }
    }
    if !problems.is_empty() {
        bail!("{}", problems.join("; "));
    }
    let is_slow = |doomed: &&Doomed| doomed.turn != Turn::Object || is_of_flux(&doomed.key.group);
    let gone = all.iter().filter(is_slow).map(|doomed| {
        let is_gone = conditions::is_deleted(&doomed.uid);
        await_condition(doomed.api.clone(), &doomed.key.name, is_gone)
    });
    try_join_all(gone)
        .await
        .context("the cluster cannot be reached")?;
    Ok(())
}

/// Whether a group is one of Flux.
pub(super) fn is_of_flux(group: &str) -> bool {
    group.ends_with(".fluxcd.io")
}

fn is_kustomization(key: &ObjectKey) -> bool {
    key.group == api::kustomize::GROUP && key.kind == "Kustomization"
}

/// Whether a Kustomization would delete what it has applied, and in this cluster.
fn prunes(object: &DynamicObject) -> bool {
    let spec = &object.data["spec"];
    let asked = match spec["deletionPolicy"].as_str() {
        Some("Orphan") => false,
        None | Some("" | "MirrorPrune") => spec["prune"] == true,
        Some(_) => true,
    };
    asked && spec["suspend"] != true && spec["kubeConfig"].is_null()
}

/// Whether a Kustomization would prune an object: it is still its own, and nobody asks to keep it.
fn is_pruned(object: &DynamicObject, unit: &ObjectKey) -> bool {
    let owner = OWNER.map(|label| object.labels().get(label).map(String::as_str));
    let is_kept = |annotation: &str| {
        let asked = object.annotations().get(annotation);
        let asked = asked.or_else(|| object.labels().get(annotation));
        asked.is_some_and(|asked| asked.eq_ignore_ascii_case("disabled"))
    };
    owner == [Some(unit.name.as_str()), Some(unit.namespace.as_str())]
        && !is_kept(PRUNE)
        && !is_kept(RECONCILE)
}

fn turn(key: &ObjectKey) -> Turn {
    match (key.group.as_str(), key.kind.as_str()) {
        ("", "Namespace") => Turn::Namespace,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Turn::Definition,
        _ => Turn::Object,
    }
}
