//! The types of built-in kinds as Go's JSON sees them: the schema joined with what only the Go sources tell.

use std::sync::Arc;

use crate::schema::{Scalar, Schema, Shape, TypeId};
use model::{Map, Str, Value, json};

use super::time::Precision;

/// All types, at the same places as in the schema they were made from.
#[derive(Debug)]
pub struct GoTypes {
    types: Vec<Type>,
}

/// One type.
#[derive(Debug)]
pub(super) struct Type {
    /// Its form.
    pub(super) form: Form,
    /// What Go calls it in messages: `v1.Container`, `[]string`.
    pub(super) name: Str,
}

/// What values of a type look like to Go.
#[derive(Debug)]
pub(super) enum Form {
    /// Any JSON, kept as it is.
    Raw,
    Text,
    Bool,
    Int {
        /// `int32` rather than `int64`.
        short: bool,
    },
    Float,
    Bytes,
    Time(Precision),
    Quantity,
    IntOrString,
    List(TypeId),
    Map(TypeId),
    Struct(Struct),
    /// A JSON schema, or something simpler in its place.
    Schema {
        schema: TypeId,
        or: SchemaOr,
    },
}

/// What may stand in place of a JSON schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaOr {
    Bool,
    Schemas,
    Names,
}

/// A Go struct.
#[derive(Debug)]
pub(super) struct Struct {
    /// Its name without the package.
    pub(super) name: Str,
    /// Its fields, sorted by name.
    pub(super) fields: Vec<Field>,
    /// The places of the fields that are written even when they are missing.
    pub(super) always: Vec<usize>,
}

/// A field of a [`Struct`].
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: Str,
    pub(super) ty: TypeId,
    /// The inlined structs it comes from, each with a dot, as messages name them.
    pub(super) inlined: Str,
    /// What Go calls its type; empty where the type says it.
    pub(super) go: Str,
    pub(super) empty: Empty,
}

/// What becomes of a field that has Go's zero value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Empty {
    /// It is a pointer: left out only when it is `null`.
    Kept,
    /// It is left out.
    Dropped,
    /// It is written as this, even when it was not given.
    Written(Value),
}

impl GoTypes {
    /// Joins the built-in types of `schema` with what is known of them in Go.
    pub fn new(schema: &Schema) -> Arc<Self> {
        let facts =
            json::parse(include_bytes!("../../data/go-types.json")).expect("a test reads the embedded table");
        let mut types: Vec<Type> = schema.types.iter().map(|ty| plain(schema, ty)).collect();
        for (at, ty) in schema.types.iter().enumerate() {
            if let Shape::Struct(fields) = &ty.shape {
                let known = facts.get(&ty.name).and_then(Value::as_object);
                let fields = fields
                    .fields
                    .iter()
                    .map(|field| join(&types, field, known))
                    .collect();
                let name = ty.name.rsplit('.').next().unwrap_or_default();
                types[at].form = Form::Struct(Struct {
                    name: name.into(),
                    fields,
                    always: Vec::new(),
                });
            }
        }
        let mut this = GoTypes { types };
        this.fill_zeros();
        this.fill_names();
        Arc::new(this)
    }

    pub(super) fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// Go's zero value of a type, as JSON.
    pub fn zero(&self, id: TypeId) -> Value {
        match &self.get(id).form {
            Form::Raw | Form::List(_) | Form::Map(_) | Form::Time(_) | Form::Schema { .. } => Value::Null,
            Form::Text | Form::Bytes => Value::str(""),
            Form::Bool => Value::Bool(false),
            Form::Int { .. } | Form::Float | Form::IntOrString => Value::Int(0),
            Form::Quantity => Value::str("0"),
            Form::Struct(fields) => {
                let mut map = Map::new();
                for field in &fields.fields {
                    match &field.empty {
                        // Structs are not filled in yet while the table is made.
                        Empty::Written(Value::Object(_)) => {
                            drop(map.insert(&field.name, self.zero(field.ty)))
                        }
                        Empty::Written(zero) => drop(map.insert(&field.name, zero.clone())),
                        Empty::Kept | Empty::Dropped => {}
                    }
                }
                map.into()
            }
        }
    }

    /// Gives structs that are always written the fields that they always have.
    fn fill_zeros(&mut self) {
        for at in 0..self.types.len() {
            let Form::Struct(fields) = &self.types[at].form else {
                continue;
            };
            let zeros: Vec<Option<Value>> = fields
                .fields
                .iter()
                .map(|field| {
                    matches!(field.empty, Empty::Written(Value::Object(_))).then(|| self.zero(field.ty))
                })
                .collect();
            let Form::Struct(fields) = &mut self.types[at].form else {
                continue;
            };
            for (field, zero) in fields.fields.iter_mut().zip(zeros) {
                if let Some(zero) = zero {
                    field.empty = Empty::Written(zero);
                }
            }
            let written =
                |(at, field): (usize, &Field)| matches!(field.empty, Empty::Written(_)).then_some(at);
            fields.always = fields.fields.iter().enumerate().filter_map(written).collect();
        }
    }

    /// Lists and maps are called after what they hold, which may be a list or map in turn.
    fn fill_names(&mut self) {
        for at in 0..self.types.len() {
            self.types[at].name = self.spell(TypeId(at as u32)).into();
        }
    }

    fn spell(&self, id: TypeId) -> String {
        let ty = self.get(id);
        match ty.form {
            Form::List(item) => format!("[]{}", self.spell(item)),
            Form::Map(item) => format!("map[string]{}", self.spell(item)),
            _ => ty.name.to_string(),
        }
    }
}

/// A type without its fields.
fn plain(schema: &Schema, ty: &crate::schema::Type) -> Type {
    let form = special(schema, &ty.name).unwrap_or_else(|| match &ty.shape {
        Shape::Deduced | Shape::Atomic => Form::Raw,
        Shape::Scalar(Scalar::String) if ty.format == "byte" => Form::Bytes,
        Shape::Scalar(Scalar::String) => Form::Text,
        Shape::Scalar(Scalar::Integer) => Form::Int {
            short: ty.format == "int32",
        },
        Shape::Scalar(Scalar::Number) => Form::Float,
        Shape::Scalar(Scalar::Boolean) => Form::Bool,
        Shape::Scalar(Scalar::IntOrString) => Form::IntOrString,
        Shape::Scalar(Scalar::Quantity) => Form::Quantity,
        Shape::List(list) => Form::List(list.item),
        Shape::Map { item, .. } => Form::Map(*item),
        Shape::Struct(_) => Form::Struct(Struct {
            name: Str::default(),
            fields: Vec::new(),
            always: Vec::new(),
        }),
    });
    let name = match form {
        Form::Text | Form::Time(_) => "string".into(),
        Form::Bool => "bool".into(),
        Form::Int { short: true } | Form::IntOrString => "int32".into(),
        Form::Int { short: false } => "int64".into(),
        Form::Float => "float64".into(),
        Form::Bytes => "[]uint8".into(),
        // `io.k8s.api.core.v1.Container` is `v1.Container`.
        _ => ty
            .name
            .rsplitn(3, '.')
            .take(2)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join(".")
            .into(),
    };
    Type { form, name }
}

/// The types that Go reads with code of their own.
fn special(schema: &Schema, name: &str) -> Option<Form> {
    let (package, name) = name.rsplit_once('.')?;
    let or = match (package, name) {
        ("io.k8s.apimachinery.pkg.apis.meta.v1", "Time") => return Some(Form::Time(Precision::Seconds)),
        ("io.k8s.apimachinery.pkg.apis.meta.v1", "MicroTime") => return Some(Form::Time(Precision::Micros)),
        ("io.k8s.apimachinery.pkg.apis.meta.v1", "FieldsV1") => return Some(Form::Raw),
        ("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1", "JSON") => return Some(Form::Raw),
        (_, "JSONSchemaPropsOrBool") => SchemaOr::Bool,
        (_, "JSONSchemaPropsOrArray") => SchemaOr::Schemas,
        (_, "JSONSchemaPropsOrStringArray") => SchemaOr::Names,
        _ => return None,
    };
    let schema = schema.named(&format!("{package}.JSONSchemaProps"))?;
    Some(Form::Schema { schema, or })
}

/// A field of the schema with what Go knows of it. Its mark is read from left to right: inlined structs with a slash,
/// `*` for a pointer, `!` for no `omitempty`, `0` for `omitzero`, and the name of the type.
fn join(types: &[Type], field: &crate::schema::Field, known: Option<&Map>) -> Field {
    let mark = known
        .and_then(|known| known.get(&field.name))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let (inlined, mark) = mark
        .rsplit_once('/')
        .map_or(("", mark), |(inlined, mark)| (inlined, mark));
    let inlined = if inlined.is_empty() {
        String::new()
    } else {
        format!("{}.", inlined.replace('/', "."))
    };
    let (pointer, mark) = mark.strip_prefix('*').map_or((false, mark), |mark| (true, mark));
    let (keep, mark) = mark.strip_prefix('!').map_or((false, mark), |mark| (true, mark));
    let (omit_zero, go) = mark.strip_prefix('0').map_or((false, mark), |mark| (true, mark));
    let empty = match &types[field.ty.0 as usize].form {
        _ if pointer && keep => Empty::Written(Value::Null),
        _ if pointer || omit_zero => Empty::Kept,
        Form::Struct(_) => Empty::Written(Value::object()),
        Form::Time(_) | Form::Raw | Form::Schema { .. } => Empty::Written(Value::Null),
        Form::Quantity => Empty::Written(Value::str("0")),
        Form::IntOrString => Empty::Written(Value::Int(0)),
        _ if !keep => Empty::Dropped,
        Form::List(_) | Form::Map(_) | Form::Bytes => Empty::Written(Value::Null),
        Form::Text => Empty::Written(Value::str("")),
        Form::Bool => Empty::Written(Value::Bool(false)),
        Form::Int { .. } | Form::Float => Empty::Written(Value::Int(0)),
    };
    Field {
        name: field.name.clone(),
        ty: field.ty,
        inlined: inlined.into(),
        go: go.into(),
        empty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    #[test]
    fn zero_values_hold_what_go_always_writes() {
        let schema = Schema::builtin();
        let types = GoTypes::new(&schema);
        let zero = |name: &str| types.zero(schema.named(name).unwrap());
        assert_eq!(
            zero("io.k8s.api.core.v1.ServiceStatus"),
            value!({ "loadBalancer": {} })
        );
        let container = value!({ "name": "", "resources": {} });
        assert_eq!(zero("io.k8s.api.core.v1.Container"), container);
        let status = value!({
            "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
        });
        assert_eq!(zero("io.k8s.api.apps.v1.DaemonSetStatus"), status);
        let definition =
            zero("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition");
        assert_eq!(
            definition.at(&["status", "acceptedNames"]),
            Some(&value!({ "kind": "", "plural": "" }))
        );
    }

    #[test]
    fn every_struct_of_the_table_is_in_the_schema() {
        let schema = Schema::builtin();
        let facts = json::parse(include_bytes!("../../data/go-types.json")).unwrap();
        for (name, fields) in facts.as_object().unwrap().iter() {
            let id = schema.named(name).unwrap_or_else(|| panic!("no type {name}"));
            let Shape::Struct(known) = &schema.get(id).shape else {
                panic!("{name} is no struct")
            };
            for field in fields.as_object().unwrap().keys() {
                assert!(known.field(field).is_some(), "{name} has no field {field}");
            }
        }
    }
}
