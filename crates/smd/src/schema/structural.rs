//! Types of custom resources, from the structural schema of their definition.

use std::collections::HashMap;

use model::{Map, Str, Value};

use super::{Field, Gvk, ListType, Relation, Scalar, Schema, Shape, Strategy, StructType, Type, TypeId};

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// How a custom resource treats fields that its schema does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownFields {
    /// They are dropped, except where the schema says otherwise.
    Prune,
    /// They are kept everywhere (`spec.preserveUnknownFields`, from the time before structural schemas).
    Preserve,
}

impl Schema {
    /// The type of the custom resource `gvk` with this `openAPIV3Schema`, or of any content where it has none. The
    /// type of `metadata` is taken from `builtin`, the types of Kubernetes itself.
    ///
    /// What the schema demands of values (patterns, limits, rules) is not kept.
    pub fn from_structural(
        schema: Option<&Value>,
        gvk: Gvk,
        unknown: UnknownFields,
        builtin: &Schema,
    ) -> Schema {
        let mut reader = Reader {
            schema: Schema::default(),
            builtin,
            imported: HashMap::new(),
        };
        let open = unknown == UnknownFields::Preserve;
        let root = match schema {
            Some(schema) => {
                let mut root = reader.object(schema, open || preserves(schema));
                reader.add_object_fields(&mut root);
                Type {
                    shape: Shape::Struct(root),
                    ..Type::default()
                }
            }
            None => {
                let item = reader.push(Shape::Deduced);
                Type {
                    shape: Shape::Map { item, atomic: false },
                    ..Type::default()
                }
            }
        };
        let id = reader.push_type(root);
        let mut schema = reader.schema;
        schema.kinds.insert(gvk, id);
        schema
    }
}

struct Reader<'b> {
    schema: Schema,
    builtin: &'b Schema,
    /// Types that were copied from `builtin`, by their place there.
    imported: HashMap<TypeId, TypeId>,
}

impl Reader<'_> {
    fn push_type(&mut self, ty: Type) -> TypeId {
        self.schema.types.push(ty);
        TypeId((self.schema.types.len() - 1) as u32)
    }

    fn push(&mut self, shape: Shape) -> TypeId {
        self.push_type(Type {
            shape,
            ..Type::default()
        })
    }

    /// The type of `schema`. `open` is what was said above it: unknown fields are kept in all that is below.
    fn read(&mut self, schema: &Value, open: bool) -> TypeId {
        let open = open || preserves(schema);
        let shape = match schema.str_at(&["type"]) {
            "object" => self.object_shape(schema, open),
            "array" => Shape::List(self.list(schema, open)),
            "string" => Shape::Scalar(Scalar::String),
            "integer" => Shape::Scalar(Scalar::Integer),
            "number" => Shape::Scalar(Scalar::Number),
            "boolean" => Shape::Scalar(Scalar::Boolean),
            _ if is_true(schema, "x-kubernetes-int-or-string") => Shape::Scalar(Scalar::IntOrString),
            _ if schema.get("properties").is_some() => self.object_shape(schema, open),
            _ => Shape::Deduced,
        };
        let values = schema
            .list_at(&["enum"])
            .iter()
            .filter_map(Value::as_str)
            .map(Str::new)
            .collect();
        let format = Str::new(schema.str_at(&["format"]));
        self.push_type(Type {
            shape,
            format,
            values,
            ..Type::default()
        })
    }

    fn object_shape(&mut self, schema: &Value, open: bool) -> Shape {
        let atomic = is_atomic(schema);
        let is_embedded = is_true(schema, "x-kubernetes-embedded-resource");
        let has_fields = schema
            .get("properties")
            .and_then(Value::as_object)
            .is_some_and(|map| !map.is_empty());
        if has_fields || is_embedded {
            let mut fields = self.object(schema, open);
            if is_embedded {
                self.add_object_fields(&mut fields);
            }
            return Shape::Struct(fields);
        }
        match schema.get("additionalProperties") {
            Some(item @ Value::Object(_)) => Shape::Map {
                item: self.read(item, open),
                atomic,
            },
            Some(Value::Bool(false)) => Shape::Struct(StructType {
                atomic,
                ..StructType::default()
            }),
            _ => Shape::Map {
                item: self.push(Shape::Deduced),
                atomic,
            },
        }
    }

    fn object(&mut self, schema: &Value, open: bool) -> StructType {
        let empty = Map::new();
        let properties = schema
            .get("properties")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        let required = schema.list_at(&["required"]);
        let mut fields = Vec::with_capacity(properties.len());
        for (name, property) in properties.iter() {
            fields.push(Field {
                name: Str::new(name),
                ty: self.read(property, open),
                required: required.iter().any(|other| other.as_str() == Some(name)),
                default: property.get("default").cloned(),
                strategy: Strategy::default(),
            });
        }
        StructType {
            fields: fields.into(),
            atomic: is_atomic(schema),
            open,
        }
    }

    fn list(&mut self, schema: &Value, open: bool) -> ListType {
        let item = match schema.get("items") {
            Some(items) => self.read(items, open),
            None => self.push(Shape::Atomic),
        };
        let relation = match schema.str_at(&["x-kubernetes-list-type"]) {
            "set" => Relation::Set,
            "map" => {
                let keys = schema.list_at(&["x-kubernetes-list-map-keys"]);
                Relation::Keys(keys.iter().filter_map(Value::as_str).map(Str::new).collect())
            }
            _ => Relation::Atomic,
        };
        ListType {
            item,
            relation,
            merge_key: Str::default(),
        }
    }

    /// Every object has these fields, whatever its schema says about them.
    fn add_object_fields(&mut self, fields: &mut StructType) {
        let text = self.push(Shape::Scalar(Scalar::String));
        let meta = match self.builtin.named(OBJECT_META) {
            Some(id) => self.import(id),
            None => self.push(Shape::Deduced),
        };
        let own = [("apiVersion", text), ("kind", text), ("metadata", meta)];
        let others = fields
            .fields
            .iter()
            .filter(|field| own.iter().all(|(name, _)| field.name != name));
        let mut list: Vec<_> = others.cloned().collect();
        list.extend(own.map(|(name, ty)| Field {
            name: Str::new(name),
            ty,
            required: false,
            default: None,
            strategy: Strategy::default(),
        }));
        fields.fields = list.into();
    }

    /// Copies a type and all that it refers to.
    fn import(&mut self, id: TypeId) -> TypeId {
        if let Some(known) = self.imported.get(&id) {
            return *known;
        }
        let place = self.push(Shape::Deduced);
        self.imported.insert(id, place);
        let mut ty = self.builtin.get(id).clone();
        match &mut ty.shape {
            Shape::List(list) => list.item = self.import(list.item),
            Shape::Map { item, .. } => *item = self.import(*item),
            Shape::Struct(fields) => {
                let import = |field: &Field| Field {
                    ty: self.import(field.ty),
                    ..field.clone()
                };
                fields.fields = fields.fields.iter().map(import).collect();
            }
            Shape::Deduced | Shape::Atomic | Shape::Scalar(_) => {}
        }
        self.schema.types[place.0 as usize] = ty;
        place
    }
}

fn is_true(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or_default()
}

fn preserves(schema: &Value) -> bool {
    is_true(schema, "x-kubernetes-preserve-unknown-fields")
}

fn is_atomic(schema: &Value) -> bool {
    schema.str_at(&["x-kubernetes-map-type"]) == "atomic"
}
