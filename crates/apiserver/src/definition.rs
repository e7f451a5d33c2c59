//! What the verbs ask of a CustomResourceDefinition. There are none yet, so nobody can ask.

use std::sync::Arc;

use model::Value;
use smd::{Schema, TypeId};

use crate::catalog::CustomDefinition;
use crate::strategy::Strategy;

/// A compiled definition.
pub(crate) enum Definition {}

impl Definition {
    /// What the catalog needs to know.
    pub(crate) fn catalog_entry(&self) -> CustomDefinition {
        match *self {}
    }

    /// How objects of a version are handled.
    pub(crate) fn version(&self, _name: &str) -> Option<(Arc<dyn Strategy>, Arc<Schema>, TypeId)> {
        match *self {}
    }

    /// The schema of a version as the definition has it.
    pub(crate) fn schema(&self, _version: &str) -> Option<Value> {
        match *self {}
    }

    /// Where the number of wanted replicas is.
    pub(crate) fn replicas_path(&self, _version: &str) -> Vec<&str> {
        match *self {}
    }

    /// Sets the replicas of an object.
    pub(crate) fn set_replicas(&self, _version: &str, _object: &mut Value, _replicas: i64) {
        match *self {}
    }

    /// Wanted replicas, actual replicas and selector of an object.
    pub(crate) fn scale(&self, _version: &str, _object: &Value) -> (i64, i64, String) {
        match *self {}
    }
}
