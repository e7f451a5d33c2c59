//! What the annotations of an object ask for: a run, and what is beyond Flux. An object is worked on when they change; all other annotations
//! say nothing to a controller.

use std::collections::BTreeMap;

use api::{Object, Spec};

/// The annotation that asks for a run.
pub(super) const REQUESTED_AT: &str = "reconcile.fluxcd.io/requestedAt";

/// What begins the names of the annotations that ask for what is beyond Flux.
pub(crate) const ASKS: &str = "sluice.dev/";

/// The token of the last request for a run.
pub(crate) fn requested_at<S: Spec>(object: &Object<S>) -> Option<&str> {
    let annotations = object.metadata.annotations.as_ref()?;
    annotations.get(REQUESTED_AT).map(String::as_str)
}

/// All that the annotations ask for.
pub(super) fn asked<S: Spec>(object: &Object<S>) -> BTreeMap<String, String> {
    let annotations = object.metadata.annotations.iter().flatten();
    let asks = annotations.filter(|(name, _)| *name == REQUESTED_AT || name.starts_with(ASKS));
    asks.map(|(name, value)| (name.clone(), value.clone())).collect()
}
