//! CustomResourceDefinitions: checked, established, served, and cleaned up after.
use std::sync::Arc;
use crate::server::State;
use crate::store::Change;
pub(super) fn observe(_state: &Arc<State>, _change: &Change) {}
