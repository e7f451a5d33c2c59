//! The claims of a StatefulSet's pods, which outlive the pods unless the set says otherwise.

use model::{Value, value};

use super::View;
use crate::metadata;
use crate::simulator::event::Level;
use crate::simulator::facts::PodFacts;
use crate::simulator::step::deleting;
use crate::simulator::{Kind, Step};
use crate::store::Key;

/// Names of templates and of the claims made after them for the pod of this number.
pub(super) fn names(set: &Value, name: &str, ordinal: i64) -> Vec<(String, String)> {
    let templates = set.list_at(&["spec", "volumeClaimTemplates"]).iter();
    let name = |template: &Value| {
        let own = template.str_at(&["metadata", "name"]);
        (own.to_owned(), format!("{own}-{name}-{ordinal}"))
    };
    templates.map(name).collect()
}

impl View<'_> {
    fn claim_key(&self, step: &Step<'_>, template: &Value, ordinal: i64) -> Key {
        let own = template.str_at(&["metadata", "name"]);
        Key::new(step.key.namespace(), &format!("{own}-{}-{ordinal}", self.name))
    }

    /// Makes the claims that are missing; tells whether all are there to be used.
    pub(super) fn make_claims(&self, step: &mut Step<'_>, ordinal: i64) -> bool {
        let mut usable = true;
        for template in self.set.list_at(&["spec", "volumeClaimTemplates"]) {
            let key = self.claim_key(step, template, ordinal);
            if let Some(claim) = step.read(Kind::Claim, &key) {
                usable &= !deleting(&claim);
                continue;
            }
            let pod = self.pod_name(ordinal);
            match step.create(Kind::Claim, self.claim(template, &key)) {
                Ok(_) => {
                    let message = format!(
                        "Create Claim {} Pod {pod} in StatefulSet {} success",
                        key.name(),
                        self.name
                    );
                    step.event(self.set, Level::Normal, "SuccessfulCreate", &message);
                }
                Err(error) => {
                    let message = format!(
                        "Create Claim {} for Pod {pod} in StatefulSet {} failed error: {}",
                        key.name(),
                        self.name,
                        error.message
                    );
                    step.event(self.set, Level::Warning, "FailedCreate", &message);
                    usable = false;
                }
            }
        }
        usable
    }

    fn claim(&self, template: &Value, key: &Key) -> Value {
        let mut claim = value!({
            "metadata": (template.get("metadata").cloned().unwrap_or_default()),
            "spec": (template.get("spec").cloned().unwrap_or_default()),
        });
        claim.set_at(&["metadata", "name"], key.name());
        claim.set_at(&["metadata", "namespace"], key.namespace());
        claim.remove_at(&["metadata", "creationTimestamp"]);
        let selected = self.set.at(&["spec", "selector", "matchLabels"]);
        let selected = selected.and_then(Value::as_object);
        for (label, text) in selected.into_iter().flat_map(|labels| labels.iter()) {
            claim.set_at(&["metadata", "labels", label], text.clone());
        }
        claim
    }

    fn policy(&self, when: &str) -> &str {
        self.set
            .str_at(&["spec", "persistentVolumeClaimRetentionPolicy", when])
    }

    /// Whether a claim waits to go with an earlier pod of this name.
    pub(super) fn has_stale_claim(&self, step: &Step<'_>, ordinal: i64) -> bool {
        if self.policy("whenScaled") != "Delete" {
            return false;
        }
        let pod = self.pod_name(ordinal);
        self.set
            .list_at(&["spec", "volumeClaimTemplates"])
            .iter()
            .any(|template| {
                let claim = step.find(Kind::Claim, &self.claim_key(step, template, ordinal));
                claim.is_some_and(|claim| {
                    let mut owners = claim.meta.owners.iter();
                    owners.any(|owner| owner.kind == "Pod" && owner.name == pod)
                })
            })
    }

    /// Makes the claims of a pod go with the set, with the pod, or with neither, as the set says.
    pub(super) fn own_claims(&self, step: &Step<'_>, ordinal: i64, pod: Option<&PodFacts>) {
        let (deleted, scaled) = (self.policy("whenDeleted"), self.policy("whenScaled"));
        if !matches!((deleted, scaled), ("Delete", _) | (_, "Delete")) {
            return;
        }
        let condemned = !self.is_wanted(ordinal);
        let owner = match pod {
            Some(pod) if condemned && scaled == "Delete" => Some(pod_reference(pod)),
            _ if deleted == "Delete" && !(condemned && scaled == "Delete") => {
                Some(crate::simulator::children::reference(self.set))
            }
            _ => None,
        };
        let set_uid = self.set.str_at(&["metadata", "uid"]);
        let pod_name = self.pod_name(ordinal);
        for template in self.set.list_at(&["spec", "volumeClaimTemplates"]) {
            let key = self.claim_key(step, template, ordinal);
            let wrong = step.find(Kind::Claim, &key).is_some_and(|claim| {
                let uid = owner.as_ref().map_or("", |owner| owner.str_at(&["uid"]));
                let ours = claim.meta.owners.iter();
                let ours = ours.filter(|other| other.uid == set_uid || other.name == pod_name);
                let ours: Vec<&str> = ours.map(|other| other.uid.as_str()).collect();
                ours != Vec::from_iter((!uid.is_empty()).then_some(uid))
            });
            if !wrong {
                continue;
            }
            step.change(Kind::Claim, &key, |claim| {
                let mut owners = claim.list_at(&["metadata", "ownerReferences"]).to_vec();
                owners
                    .retain(|other| other.str_at(&["uid"]) != set_uid && other.str_at(&["name"]) != pod_name);
                owners.extend(owner.clone());
                match owners.is_empty() {
                    true => drop(metadata::of_mut(claim).remove("ownerReferences")),
                    false => claim.set_at(&["metadata", "ownerReferences"], owners),
                }
            });
        }
    }
}

fn pod_reference(pod: &PodFacts) -> Value {
    value!({
        "apiVersion": "v1", "kind": "Pod", "name": (pod.key().name()), "uid": (pod.uid().clone()),
        "controller": true, "blockOwnerDeletion": true,
    })
}
