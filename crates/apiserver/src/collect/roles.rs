//! Cluster roles that are the sum of others.

use std::sync::Arc;

use model::Value;

use crate::auth::rbac::aggregate;
use crate::server::State;
use crate::store::Change;
use crate::strategy::Part;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn observe(state: &Arc<State>, change: &Change) {
    if change.storage.group != GROUP || change.storage.plural != "clusterroles" {
        return;
    }
    let kinds = state.kinds();
    let Some(served) = kinds.get(GROUP, "v1", "clusterroles") else {
        return;
    };
    let objects = state.store.all(&served.resource.storage);
    let roles: Vec<Value> = objects.iter().map(|object| served.show(object)).collect();
    for (object, role) in objects.iter().zip(&roles) {
        let Some(rules) = aggregate(role, &roles) else {
            continue;
        };
        // The role may be gone meanwhile, which is as good.
        let _ = state.update_inside(
            served,
            &object.key,
            Part::Main,
            "kube-controller-manager",
            |role| {
                role.set_at(&["rules"], rules.clone());
            },
        );
    }
}
