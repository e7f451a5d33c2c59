//! The end of namespaces: their content goes first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{Str, Value, value};

use crate::kinds::Served;
use crate::metadata;
use crate::server::State;
use crate::store::{Change, Key, Window};
use crate::strategy::Part;
use crate::verbs::delete::{DeleteOptions, Propagation};

const MANAGER: &str = "kube-controller-manager";

/// Knows which namespaces are ending.
#[derive(Default)]
pub(super) struct Terminator {
    ending: BTreeSet<Str>,
    /// Those of them in which something changed since the last look.
    changed: BTreeSet<Str>,
}

impl Terminator {
    pub(super) fn observe(&mut self, change: &Change) {
        let key = change.key();
        let is_namespace = change.storage.group.is_empty() && change.storage.plural == "namespaces";
        if is_namespace {
            match &change.new {
                Some(new) if new.meta.deleting => {
                    if self.ending.insert(key.name().into()) {
                        self.changed.insert(key.name().into());
                    }
                }
                _ => {
                    self.ending.remove(key.name());
                    self.changed.remove(key.name());
                }
            }
        } else if self.ending.contains(key.namespace()) {
            // Something is gone, or was created by a request that passed admission before the deletion.
            let counts = change.new.is_none() || change.old.is_none();
            if counts {
                self.changed.insert(key.namespace().into());
            }
        }
    }

    /// Looks once at each namespace in which something changed, however much that was.
    pub(super) fn work(&mut self, state: &Arc<State>) {
        for namespace in std::mem::take(&mut self.changed) {
            self.advance(state, &namespace);
        }
    }

    /// Deletes what is left; ends the namespace when nothing is.
    fn advance(&self, state: &Arc<State>, namespace: &str) {
        let kinds = state.kinds();
        let prefix = format!("{namespace}/");
        let mut left = Remains::default();
        for served in kinds.stored().filter(|served| served.resource.namespaced) {
            let window = Window {
                prefix: &prefix,
                start: None,
                limit: 0,
                at: None,
            };
            let Ok(page) = state.store.list(&served.resource.storage, &window, &|_| true) else {
                continue;
            };
            for object in &page.objects {
                if !object.meta.deleting {
                    let options = DeleteOptions {
                        propagation: Some(Propagation::Background),
                        ..DeleteOptions::default()
                    };
                    state.delete_inside(served, &object.key, &options);
                }
                if let Some(rest) = state.store.get(&served.resource.storage, &object.key) {
                    left.add(served, &rest.value());
                }
            }
        }
        let Some(served) = kinds.get("", "v1", "namespaces") else {
            return;
        };
        let key = Key::new("", namespace);
        match left.is_empty() {
            true => finish(state, served, &key),
            false => left.report(state, served, &key),
        }
    }
}

fn finish(state: &Arc<State>, served: &Served, key: &Key) {
    // It may be gone meanwhile, which is as good.
    let Some(object) = state.store.get(&served.resource.storage, key) else {
        return;
    };
    let mut value = served.show(&object);
    if let Some(finalizers) = value
        .at_mut(&["spec", "finalizers"])
        .and_then(Value::as_array_mut)
    {
        finalizers.retain(|name| name.as_str() != Some("kubernetes"));
        if !finalizers.is_empty() {
            return;
        }
    }
    if metadata::finalizers(&value).next().is_none() {
        let _ = state.remove_inside(served, &object);
    } else {
        value.set_at(&["spec"], Value::object());
        let _ = state.store_inside(served, &object, value);
    }
}

/// What is left of a namespace's content.
#[derive(Default)]
struct Remains {
    objects: BTreeMap<String, usize>,
    finalizers: BTreeMap<String, usize>,
}

impl Remains {
    fn add(&mut self, served: &Served, object: &Value) {
        let resource = &served.resource;
        *self
            .objects
            .entry(format!("{}.{}", resource.plural, resource.group))
            .or_default() += 1;
        for name in metadata::finalizers(object) {
            *self.finalizers.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Says in the namespace's status what its end waits for.
    fn report(&self, state: &Arc<State>, served: &Served, key: &Key) {
        let list = |counts: &BTreeMap<String, usize>, has: &str| {
            let texts: Vec<String> = counts
                .iter()
                .map(|(name, count)| format!("{name} {has} {count} resource instances"))
                .collect();
            texts.join(", ")
        };
        let resources = format!("Some resources are remaining: {}", list(&self.objects, "has"));
        let finalizers = format!(
            "Some content in the namespace has finalizers remaining: {}",
            list(&self.finalizers, "in")
        );
        let waits = !self.finalizers.is_empty();
        let conditions = [
            (
                "NamespaceDeletionDiscoveryFailure",
                false,
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            (
                "NamespaceDeletionGroupVersionParsingFailure",
                false,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            (
                "NamespaceDeletionContentFailure",
                false,
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            (
                "NamespaceContentRemaining",
                true,
                "SomeResourcesRemain",
                resources.as_str(),
            ),
            (
                "NamespaceFinalizersRemaining",
                waits,
                if waits {
                    "SomeFinalizersRemain"
                } else {
                    "ContentHasNoFinalizers"
                },
                if waits {
                    finalizers.as_str()
                } else {
                    "All content-preserving finalizers finished"
                },
            ),
        ];
        let now = state.now_text();
        let _ = state.update_inside(served, key, Part::Status, MANAGER, |object| {
            let old = object.list_at(&["status", "conditions"]).to_vec();
            let list = conditions.iter().map(|(kind, status, reason, message)| {
                let status = if *status { "True" } else { "False" };
                let before = old.iter().find(|condition| condition.str_at(&["type"]) == *kind);
                let since = before.filter(|condition| condition.str_at(&["status"]) == status);
                let time = since.map_or(now.as_str(), |condition| condition.str_at(&["lastTransitionTime"]));
                value!({
                    "type": (*kind), "status": status, "reason": (*reason), "message": (*message), "lastTransitionTime": time,
                })
            });
            let list: Value = list.collect();
            object.set_at(&["status", "conditions"], list);
        });
    }
}
