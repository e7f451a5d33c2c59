//! What is done to desired objects before anybody looks at the cluster.

use std::sync::Arc;

use model::{ObjectKey, Value};

use super::hooks::{self, Role};
use super::input::Desired;
use super::options::Options;
use super::steps::Phase;
use super::strategy::Strategy;

/// Makes the desired objects what they will be in the cluster, so that they can be looked up there: what needs a namespace and
/// has none gets the unit's, what lives in none loses it, hooks without a name get one, and the unit's namespace is added if it is to be created.
///
/// The same objects, strategy and options give the same result, with the same digests: it is done again when an
/// operation goes on after a crash.
pub fn prepare(
    desired: Vec<Desired>,
    strategy: &Strategy,
    options: &Options,
    revision: &str,
) -> Vec<Desired> {
    let mut prepared = Vec::with_capacity(desired.len());
    for desired in desired {
        let desired = in_its_namespace(desired, &options.namespace);
        if strategy.hooks && desired.object.str_at(&["metadata", "name"]).is_empty() {
            prepared.extend(named_hooks(&desired, options, revision));
        } else {
            prepared.push(desired);
        }
    }
    if strategy.hooks {
        prepared.extend(namespace_to_create(&prepared, options));
    }
    prepared
}

fn in_its_namespace(mut desired: Desired, default_namespace: &str) -> Desired {
    let namespace = desired.object.str_at(&["metadata", "namespace"]);
    match desired.namespaced {
        Some(true) if namespace.is_empty() && !default_namespace.is_empty() => {
            edit(&mut desired, |object| {
                object.set_at(&["metadata", "namespace"], default_namespace);
            });
        }
        Some(false) if !namespace.is_empty() => {
            edit(&mut desired, |object| {
                object.remove_at(&["metadata", "namespace"]);
            });
        }
        _ => {}
    }
    desired
}

fn edit(desired: &mut Desired, change: impl FnOnce(&mut Value)) {
    let mut object = Arc::unwrap_or_clone(std::mem::take(&mut desired.object));
    change(&mut object);
    desired.object = Arc::new(object);
    desired.digest = super::objects::digest(&desired.object);
}

/// A hook with a `generateName` is one object for each of its phases: its name says in which phase of which operation it ran.
/// What is no hook stays as it is, for the server to refuse.
fn named_hooks(desired: &Desired, options: &Options, revision: &str) -> Vec<Desired> {
    let phases = match hooks::role(&*desired.object) {
        Role::Hook(phases) => phases,
        _ => hooks::deletion_phases(&*desired.object),
    };
    if phases.is_empty() {
        return vec![desired.clone()];
    }
    let named = |phase| {
        let mut hook = desired.clone();
        let prefix = hook.object.str_at(&["metadata", "generateName"]).to_owned();
        let name = format!("{prefix}{}", hook_suffix(phase, options, revision));
        edit(&mut hook, |object| {
            object.remove_at(&["metadata", "generateName"]);
            object.set_at(&["metadata", "name"], name.as_str());
            object.set_at(&["metadata", "annotations", hooks::HOOK], format!("{phase:?}"));
        });
        hook
    };
    phases.into_iter().map(named).collect()
}

/// `<revision>-<phase>-<start>`, with the first seven characters of the revision's hash; where there is no revision, without it.
fn hook_suffix(phase: Phase, options: &Options, revision: &str) -> String {
    let hash = revision.rsplit(':').next().unwrap_or_default();
    let short: String = match hash.len() {
        0..8 => hash.to_owned(),
        _ => hash.chars().take(7).collect(),
    };
    let started = options.started.map_or(0, |time| time.timestamp().as_second());
    let dash = if short.is_empty() { "" } else { "-" };
    let suffix = format!("{short}{dash}{phase:?}-{started}").to_lowercase();
    // A revision may hold what a name may not, such as the slash of a branch.
    suffix
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '.' {
                c
            } else {
                '-'
            }
        })
        .collect()
}

fn namespace_to_create(desired: &[Desired], options: &Options) -> Option<Desired> {
    let wanted = options.argo.create_namespace.as_ref()?;
    let name = options.namespace.as_str();
    let is_it = |desired: &Desired| {
        let key = ObjectKey::of(&desired.object);
        key.group.is_empty() && key.kind == "Namespace" && key.name == name
    };
    if name.is_empty() || desired.iter().any(is_it) {
        return None;
    }
    let mut object = Value::object();
    object.set_at(&["apiVersion"], "v1");
    object.set_at(&["kind"], "Namespace");
    object.set_at(&["metadata", "name"], name);
    for (key, value) in &wanted.labels {
        object.set_at(&["metadata", "labels", key], value.as_str());
    }
    for (key, value) in &wanted.annotations {
        object.set_at(&["metadata", "annotations", key], value.as_str());
    }
    Some(Desired {
        implied: true,
        namespaced: Some(false),
        ..Desired::of(Arc::new(object))
    })
}
