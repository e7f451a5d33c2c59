//! Objects of Flux in a cluster that is there, which are none of ours.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use kube::api::{Api, DynamicObject, ListParams};
use model::{ObjectKey, Value, convert};

use super::ground::{Ground, resource_of};
use super::root::Root;
use super::unit::Unit;

/// So many are named.
const NAMED: usize = 5;

/// What the controllers of this process would work on though it is neither the root nor has come from it. What is suspended is left
/// alone by them anyway.
pub(super) async fn worked_on(ground: &Ground, root: &Root) -> anyhow::Result<Vec<ObjectKey>> {
    let mut units = BTreeMap::new();
    for definition in api::definitions() {
        let names = definition.names();
        if ![api::source::GROUP, api::kustomize::GROUP, api::helm::GROUP].contains(&names.group) {
            continue;
        }
        let resource = resource_of(names.group, names.kind);
        let api: Api<DynamicObject> = Api::all_with(ground.client.clone(), &resource);
        let listed = api.list(&ListParams::default()).await;
        let listed = listed.with_context(|| format!("failed to list {}", names.plural))?;
        for object in listed.items {
            let mut object: Value = convert::from_serde(&object)?;
            object.set_at(&["apiVersion"], resource.api_version.as_str());
            object.set_at(&["kind"], resource.kind.as_str());
            let unit = Unit::of(&object);
            units.insert(unit.key.clone(), unit);
        }
    }
    let roots = [root.source_key(), root.key_of_kustomization()];
    let own = own(roots.iter(), |key| units.get(key));
    let others = units.into_iter().filter(|(key, unit)| {
        let is_idle = unit.detail == "suspended" || key.kind == "ExternalArtifact";
        !own.contains(key) && !is_idle
    });
    Ok(others.map(|(key, _)| key).collect())
}

/// The roots and all units that have come from them.
pub(super) fn own<'u>(
    roots: impl Iterator<Item = &'u ObjectKey>,
    unit: impl Fn(&ObjectKey) -> Option<&'u Unit>,
) -> BTreeSet<ObjectKey> {
    let mut own = BTreeSet::new();
    let mut next: Vec<&ObjectKey> = roots.collect();
    while let Some(key) = next.pop() {
        let Some(unit) = unit(key) else { continue };
        if own.insert(key.clone()) {
            next.extend(unit.objects.iter().map(|(key, _)| key));
            next.extend(&unit.made);
        }
    }
    own
}

/// Some of them by name, and how many more there are.
pub(super) fn named(keys: &[ObjectKey]) -> String {
    let mut names: Vec<String> = keys.iter().take(NAMED).map(ObjectKey::to_string).collect();
    if keys.len() > NAMED {
        names.push(format!("and {} more", keys.len() - NAMED));
    }
    names.join(", ")
}
