//! Reads the OpenAPI definitions that `crds` names: marks on properties say which of them hold names and labels.

use std::collections::BTreeMap;

use model::{Map, Value};

use super::{BackReferences, Specs};
use crate::field::{FieldSpec, merge_specs};
use crate::id::Gvk;

/// So many properties are looked at in one document, as often as definitions lead to them, and so far from the first one.
/// Definitions that all refer to each other would have no end otherwise.
const MAX_PROPERTIES: usize = 200_000;
const MAX_DEPTH: usize = 100;

/// The field specs that definitions imply.
pub(crate) fn from_crds(document: &Value) -> Result<Specs, String> {
    let mut specs = Specs::default();
    let mut left = MAX_PROPERTIES;
    let definitions = match document {
        Value::Object(definitions) => definitions,
        Value::Null => return Ok(specs),
        other => return Err(wrong_type(other, "nameToApiMap")),
    };
    let is_wrong = |definition: &&Value| !matches!(definition, Value::Object(_) | Value::Null);
    if let Some(wrong) = definitions
        .iter()
        .map(|(_, definition)| definition)
        .find(is_wrong)
    {
        return Err(wrong_type(wrong, "OpenAPIDefinition"));
    }
    for (name, definition) in definitions.iter() {
        let properties = properties(definition);
        let has = |field: &str| properties.is_some_and(|properties| properties.contains_key(field));
        if !has("kind") || !has("apiVersion") || !has("metadata") {
            continue;
        }
        let gvk = Gvk {
            kind: name.rsplit('.').next().unwrap_or_default().into(),
            ..Gvk::default()
        };
        let mut found = Finder {
            definitions,
            gvk,
            specs: Specs::default(),
            referrers: BTreeMap::new(),
            open: Vec::new(),
            left,
        };
        found.definition(name, &[])?;
        left = found.left;
        specs
            .merge(&found.into_specs()?)
            .map_err(|conflict| conflict.to_string())?;
    }
    Ok(specs)
}

fn wrong_type(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Int(_) | Value::Float(_) => "number",
        other => other.type_name(),
    };
    format!(
        "unable to parse open API definition: json: cannot unmarshal {found} into Go value of type accumulator.{wanted}"
    )
}

fn properties(definition: &Value) -> Option<&Map> {
    let schema = definition.get("Schema").or_else(|| definition.get("schema"))?;
    schema.get("properties")?.as_object()
}

struct Finder<'d> {
    definitions: &'d Map,
    gvk: Gvk,
    specs: Specs,
    /// The properties that name an object of a kind.
    referrers: BTreeMap<Gvk, Vec<FieldSpec>>,
    /// The definitions on the way, so that those that refer to themselves come to an end.
    open: Vec<String>,
    /// How many more properties may be looked at.
    left: usize,
}

impl Finder<'_> {
    /// What was found, each once.
    fn into_specs(mut self) -> Result<Specs, String> {
        for (target, found) in self.referrers {
            let mut referrers = Vec::new();
            merge_specs(&mut referrers, &found)?;
            let references = BackReferences { target, referrers };
            self.specs.name_reference.push(references);
        }
        Ok(self.specs)
    }

    fn definition(&mut self, name: &str, path: &[&str]) -> Result<(), String> {
        let found = self.definitions.get(name).and_then(properties);
        let Some(properties) = found else {
            return Ok(());
        };
        if self.open.iter().any(|open| open == name) {
            return Ok(());
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(format!(
                "definitions refer to each other more than {MAX_DEPTH} deep"
            ));
        }
        self.open.push(name.to_owned());
        self.left = self
            .left
            .checked_sub(properties.len())
            .ok_or_else(|| format!("definitions lead to more than {MAX_PROPERTIES} properties"))?;
        for (name, property) in properties.iter() {
            let path = [path, &[name]].concat();
            self.property(property, &path)?;
        }
        self.open.pop();
        Ok(())
    }

    fn property(&mut self, property: &Value, path: &[&str]) -> Result<(), String> {
        let mark = |name: &str| property.get(name).and_then(Value::as_str);
        let spec = |path: &[&str]| FieldSpec {
            gvk: self.gvk.clone(),
            path: path.join("/").into(),
            create: false,
        };
        if mark("x-kubernetes-annotation").is_some() {
            self.specs.common_annotations.push(spec(path));
        }
        if mark("x-kubernetes-label-selector").is_some() {
            self.specs.common_labels.push(spec(path));
        }
        if mark("x-kubernetes-identity").is_some() {
            self.specs.name_prefix.push(spec(path));
        }
        if let (Some(version), Some(kind)) = (
            mark("x-kubernetes-object-ref-api-version"),
            mark("x-kubernetes-object-ref-kind"),
        ) {
            let key = mark("x-kubernetes-object-ref-name-key").unwrap_or("name");
            let target = Gvk {
                version: version.into(),
                kind: kind.into(),
                ..Gvk::default()
            };
            let referrer = spec(&[path, &[key]].concat());
            self.referrers.entry(target).or_default().push(referrer);
        }
        match mark("$ref") {
            Some(name) => self.definition(name, path),
            None => Ok(()),
        }
    }
}
