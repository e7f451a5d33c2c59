//! Services: one that balances load has an address inside of the cluster. Its address outside is not waited for.

use model::Health;

use super::super::object::{Object, healthy, progressing};

pub(super) fn assess(object: Object<'_>) -> Health {
    let balances = object.text(&["spec", "type"]) == "LoadBalancer";
    match balances && object.text(&["spec", "clusterIP"]).is_empty() {
        true => progressing("ClusterIP not set. Service type: LoadBalancer"),
        false => healthy("Service is ready"),
    }
}
