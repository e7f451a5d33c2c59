//! Ingresses: get an address after a while.

use model::{Value, value};

use super::event::Level;
use super::outcome::Outcome;
use super::step::deleting;
use super::{Step, service};

pub(super) fn advance(step: &mut Step<'_>) {
    let Some(ingress) = step.own() else { return };
    let has_address = !ingress.list_at(&["status", "loadBalancer", "ingress"]).is_empty();
    let outcome = step.outcome(&ingress);
    let fails = outcome != Outcome::Fine;
    step.complain(&ingress, outcome);
    if fails && has_address {
        step.change_status(|ingress| ingress.set_at(&["status", "loadBalancer"], Value::object()));
    }
    if fails || has_address || deleting(&ingress) {
        return;
    }
    if step.lasts("provision", step.options.provision_delay) {
        return;
    }
    let address = service::address(step.key.text());
    step.change_status(|ingress| {
        let list = value!([{"ip": (address.as_str())}]);
        ingress.set_at(&["status", "loadBalancer", "ingress"], list);
    });
    step.event(&ingress, Level::Normal, "Sync", "Scheduled for sync");
}
