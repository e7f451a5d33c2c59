//! Built-in types as the schemas of an OpenAPI document.
//!
//! **Deviation**: they carry no descriptions, as the table of types has none, and a list without a list type is said
//! to be `atomic`, which is what it means.

use std::collections::{BTreeMap, HashMap};

use model::{Map, Str, Value, value};
use smd::schema::{Field, Gvk, ListType, Relation, Scalar, Shape, StructType, Type};
use smd::{Schema, TypeId};

/// Collects the schemas that a document needs, each once.
pub(super) struct Components<'a> {
    schema: &'a Schema,
    kinds: HashMap<TypeId, Vec<&'a Gvk>>,
    found: BTreeMap<Str, Value>,
}

impl<'a> Components<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        let mut kinds: HashMap<TypeId, Vec<&Gvk>> = HashMap::new();
        for (gvk, id) in &schema.kinds {
            kinds.entry(*id).or_default().push(gvk);
        }
        for gvks in kinds.values_mut() {
            gvks.sort();
        }
        Components {
            schema,
            kinds,
            found: BTreeMap::new(),
        }
    }

    /// Adds the type of a kind and all types it is made of. Returns a reference to it; `None` for an unknown kind.
    pub(super) fn add_kind(&mut self, group: &str, version: &str, kind: &str) -> Option<Value> {
        let id = self.schema.kind(group, version, kind)?;
        Some(self.add(id))
    }

    /// Adds the type called `name` and all types it is made of. Returns a reference to it.
    pub(super) fn add_named(&mut self, name: &str) -> Option<Value> {
        let id = self.schema.named(name)?;
        Some(self.add(id))
    }

    /// Adds a schema that was made elsewhere. Returns a reference to it.
    pub(super) fn add_schema(&mut self, name: &str, schema: Value) -> Value {
        self.found.insert(name.into(), schema);
        reference(name)
    }

    /// Everything that was added, by name.
    pub(super) fn into_schemas(self) -> Value {
        Value::Object(self.found.into_iter().collect::<Map>())
    }

    fn add(&mut self, id: TypeId) -> Value {
        let name = self.schema.get(id).name.clone();
        // Types are added with an explicit stack: how deeply they are nested is not ours to say.
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let ty = self.schema.get(id);
            if self.found.contains_key(&ty.name) {
                continue;
            }
            let mut schema = self.define(ty, &mut pending);
            if let Some(gvks) = self.kinds.get(&id) {
                let gvks: Value = gvks
                    .iter()
                    .map(|gvk| gvk_value(&gvk.group, &gvk.version, &gvk.kind))
                    .collect();
                schema.insert("x-kubernetes-group-version-kind", gvks);
            }
            self.found.insert(ty.name.clone(), Value::Object(schema));
        }
        reference(&name)
    }

    /// A type where it stands: by reference if it has a name. Named types are put on `pending`.
    fn place(&self, id: TypeId, pending: &mut Vec<TypeId>) -> Map {
        let ty = self.schema.get(id);
        if ty.name.is_empty() {
            return self.define(ty, pending);
        }
        let mut map = Map::new();
        map.insert("allOf", value!([(reference(&ty.name))]));
        if let Some(original) = self.schema.named(&ty.name) {
            pending.push(original);
            if original != id {
                map.insert(
                    "x-kubernetes-map-type",
                    if is_atomic(ty) { "atomic" } else { "granular" },
                );
            }
        }
        map
    }

    fn define(&self, ty: &Type, pending: &mut Vec<TypeId>) -> Map {
        let mut map = Map::new();
        match &ty.shape {
            Shape::Deduced => {}
            Shape::Atomic => {
                map.insert("type", "object");
            }
            Shape::Scalar(scalar) => define_scalar(*scalar, ty, &mut map),
            Shape::List(list) => self.define_list(list, &mut map, pending),
            Shape::Map { item, atomic } => {
                map.insert("type", "object");
                let element = self.element(*item, pending);
                // Saying that an element may be anything says nothing.
                if element.as_object().is_some_and(|element| !element.is_empty()) {
                    map.insert("additionalProperties", element);
                }
                if *atomic {
                    map.insert("x-kubernetes-map-type", "atomic");
                }
            }
            Shape::Struct(fields) => self.define_struct(fields, &mut map, pending),
        }
        map
    }

    fn define_list(&self, list: &ListType, map: &mut Map, pending: &mut Vec<TypeId>) {
        map.insert("type", "array");
        map.insert("items", self.element(list.item, pending));
        let list_type = match &list.relation {
            Relation::Atomic => "atomic",
            Relation::Set => "set",
            Relation::Keys(keys) => {
                map.insert(
                    "x-kubernetes-list-map-keys",
                    keys.iter().cloned().collect::<Value>(),
                );
                "map"
            }
        };
        map.insert("x-kubernetes-list-type", list_type);
        if !list.merge_key.is_empty() {
            map.insert("x-kubernetes-patch-merge-key", list.merge_key.clone());
        }
    }

    fn define_struct(&self, fields: &StructType, map: &mut Map, pending: &mut Vec<TypeId>) {
        map.insert("type", "object");
        let properties: Map = fields
            .fields
            .iter()
            .map(|field| (field.name.clone(), self.define_field(field, pending)))
            .collect();
        if !properties.is_empty() {
            map.insert("properties", properties);
        }
        let required: Vec<Value> = fields
            .fields
            .iter()
            .filter(|field| field.required)
            .map(|field| field.name.clone().into())
            .collect();
        if !required.is_empty() {
            map.insert("required", required);
        }
        if fields.atomic {
            map.insert("x-kubernetes-map-type", "atomic");
        }
        if fields.open {
            map.insert("x-kubernetes-preserve-unknown-fields", true);
        }
    }

    fn define_field(&self, field: &Field, pending: &mut Vec<TypeId>) -> Value {
        let mut map = self.place(field.ty, pending);
        if let Some(default) = &field.default {
            map.insert("default", default.clone());
        }
        let strategy = field.strategy;
        let words = [
            (strategy.merge, "merge"),
            (strategy.retain_keys, "retainKeys"),
            (strategy.replace, "replace"),
        ];
        let words: Vec<&str> = words
            .into_iter()
            .filter(|(set, _)| *set)
            .map(|(_, word)| word)
            .collect();
        if !words.is_empty() {
            map.insert("x-kubernetes-patch-strategy", words.join(","));
        }
        Value::Object(map)
    }

    /// A type as an element of a list or map. Elements have the zero of their type as default, as they are no
    /// pointers in the real server.
    fn element(&self, id: TypeId, pending: &mut Vec<TypeId>) -> Value {
        let ty = self.schema.get(id);
        let zero = match &ty.shape {
            Shape::Struct(_) => Some(Value::object()),
            Shape::Scalar(Scalar::String) if ty.format.is_empty() => Some(Value::str("")),
            Shape::Scalar(Scalar::Integer | Scalar::Number) => Some(Value::Int(0)),
            Shape::Scalar(Scalar::Boolean) => Some(Value::Bool(false)),
            _ => None,
        };
        let mut map = self.place(id, pending);
        match zero {
            Some(zero) => {
                map.insert("default", zero);
            }
            None if !ty.name.is_empty() && map.len() == 1 => return reference(&ty.name),
            None => {}
        }
        Value::Object(map)
    }
}

fn define_scalar(scalar: Scalar, ty: &Type, map: &mut Map) {
    let either = |first: &str, second: &str| value!([{ "type": first }, { "type": second }]);
    match scalar {
        Scalar::String => map.insert("type", "string"),
        Scalar::Integer => map.insert("type", "integer"),
        Scalar::Number => map.insert("type", "number"),
        Scalar::Boolean => map.insert("type", "boolean"),
        Scalar::IntOrString => {
            map.insert("format", "int-or-string");
            map.insert("oneOf", either("integer", "string"))
        }
        Scalar::Quantity => map.insert("oneOf", either("string", "number")),
    };
    if !ty.format.is_empty() && !matches!(scalar, Scalar::IntOrString | Scalar::Quantity) {
        map.insert("format", ty.format.clone());
    }
    if !ty.values.is_empty() {
        map.insert("enum", ty.values.iter().cloned().collect::<Value>());
    }
}

fn is_atomic(ty: &Type) -> bool {
    matches!(
        &ty.shape,
        Shape::Struct(StructType { atomic: true, .. }) | Shape::Map { atomic: true, .. }
    )
}

/// `{"$ref": "#/components/schemas/..."}`.
pub(super) fn reference(name: &str) -> Value {
    value!({ "$ref": (format!("#/components/schemas/{name}")) })
}

/// A kind as extensions name it.
pub(super) fn gvk_value(group: &str, version: &str, kind: &str) -> Value {
    value!({ "group": group, "version": version, "kind": kind })
}
