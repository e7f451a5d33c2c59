//! What every namespace has: the default service account and the certificate of the API.

use std::sync::Arc;

use model::value;

use crate::server::State;
use crate::store::Change;

const MANAGER: &str = "kube-controller-manager";
const ACCOUNT: &str = "default";
const CERTIFICATE: &str = "kube-root-ca.crt";

pub(super) fn observe(state: &Arc<State>, change: &Change) {
    if !change.storage.group.is_empty() {
        return;
    }
    let key = change.key();
    match (change.storage.plural.as_str(), &change.new) {
        ("namespaces", Some(new)) if change.old.is_none() && !new.meta.deleting => {
            account(state, key.name());
            certificate(state, key.name());
        }
        ("serviceaccounts", None) if key.name() == ACCOUNT => account(state, key.namespace()),
        ("configmaps", None) if key.name() == CERTIFICATE => certificate(state, key.namespace()),
        _ => {}
    }
}

fn account(state: &Arc<State>, namespace: &str) {
    let kinds = state.kinds();
    let Some(served) = kinds.get("", "v1", "serviceaccounts") else {
        return;
    };
    let object = value!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": namespace},
    });
    // It may be there already, or the namespace may be ending.
    let _ = state.create_inside(served, object, MANAGER);
}

fn certificate(state: &Arc<State>, namespace: &str) {
    let kinds = state.kinds();
    let Some(served) = kinds.get("", "v1", "configmaps") else {
        return;
    };
    let description = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints \
                       such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across \
                       distributions of Kubernetes clusters.";
    let object = value!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": CERTIFICATE,
            "namespace": namespace,
            "annotations": {"kubernetes.io/description": description},
        },
        "data": {"ca.crt": (state.authority.pem())},
    });
    let _ = state.create_inside(served, object, MANAGER);
}
