//! What a fresh cluster has.

use std::sync::Arc;

use model::Value;

use crate::auth::bootstrap;
use crate::server::State;

/// The port that the service of the API forwards to. Nobody connects through it: no network is simulated.
const API_PORT: u16 = 6443;

/// Creates the objects every cluster starts with.
pub(crate) fn create(state: &Arc<State>) {
    let kinds = state.kinds();
    for object in bootstrap::objects(API_PORT) {
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        let served = kinds
            .by_kind(object.str_at(&["apiVersion"]), kind)
            .expect("bootstrap objects are of built-in kinds");
        let name = object.str_at(&["metadata", "name"]).to_owned();
        if let Err(error) = state.create_inside(served, object, "kube-apiserver") {
            unreachable!("the bootstrap object {name} is refused: {error}");
        }
    }
}
