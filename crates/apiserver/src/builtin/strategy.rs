//! The built-in kinds as [`Strategy`].

use std::collections::HashMap;
use std::sync::Arc;

use model::{Str, Value};
use smd::schema::Gvk;
use smd::{Schema, TypeId};

use smd::go::GoTypes;

use super::counter;
use super::{default, prepare, select, validate};
use crate::crd;
use crate::error::{Error, Result};
use crate::field;
use crate::strategy::{Part, Strategy};

/// All built-in kinds.
pub struct Kinds {
    types: Arc<GoTypes>,
    kinds: HashMap<Gvk, TypeId>,
}

impl Kinds {
    /// The kinds that `schema` has types for.
    pub fn new(schema: &Schema) -> Self {
        Kinds {
            types: GoTypes::new(schema),
            kinds: schema.kinds.clone(),
        }
    }

    /// What Go's JSON knows of the types.
    pub fn types(&self) -> Arc<GoTypes> {
        Arc::clone(&self.types)
    }

    /// How objects of this kind are read, completed and checked.
    pub fn strategy(&self, group: &str, version: &str, kind: &str) -> Option<Arc<dyn Strategy>> {
        let gvk = Gvk {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        };
        let ty = *self.kinds.get(&gvk)?;
        Some(Arc::new(Builtin {
            types: Arc::clone(&self.types),
            ty,
            gvk,
        }))
    }
}

/// One built-in kind in one version.
struct Builtin {
    types: Arc<GoTypes>,
    ty: TypeId,
    gvk: Gvk,
}

impl Builtin {
    /// Definitions of custom resources are checked where they are understood.
    fn is_definition(&self) -> bool {
        self.gvk.group == "apiextensions.k8s.io" && self.gvk.kind == "CustomResourceDefinition"
    }
}

impl Strategy for Builtin {
    fn decode(&self, object: &mut Value) -> Result<Vec<String>> {
        let decoded = self.types.decode(self.ty, object).and_then(|unknown| {
            counter::check(&self.gvk, object)?;
            Ok(unknown)
        });
        decoded.map_err(|message| {
            let Gvk { version, kind, .. } = &self.gvk;
            Error::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: {message}"
            ))
        })
    }

    fn default(&self, object: &mut Value) {
        default::apply(&self.gvk, object);
    }

    fn prepare_create(&self, object: &mut Value) {
        prepare::create(&self.types, self.ty, &self.gvk, object);
    }

    fn prepare_update(&self, part: Part, object: &mut Value, old: &Value) {
        prepare::update(&self.gvk, part, object, old);
    }

    fn validate_create(&self, object: &Value) -> Vec<field::Error> {
        match self.is_definition() {
            true => crd::check::create(object),
            false => validate::create(&self.gvk, object),
        }
    }

    fn validate_update(&self, part: Part, object: &Value, old: &Value) -> Vec<field::Error> {
        match self.is_definition() {
            true if part == Part::Status => Vec::new(),
            true => crd::check::update(object, old),
            false => validate::update(&self.gvk, part, object, old),
        }
    }

    fn validate_name(&self, name: &str) -> Vec<String> {
        validate::name(&self.gvk, name)
    }

    fn selectable(&self, object: &Value) -> Vec<(Str, Str)> {
        select::values(&self.gvk, object)
    }

    fn field_label<'a>(&self, label: &'a str) -> std::result::Result<&'a str, String> {
        select::label(&self.gvk, label)
    }
}
