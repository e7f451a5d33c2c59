//! Reading the committed table of types.
//!
//! The file is one JSON map from type names to types, one type to a line, so that a change of Kubernetes shows as a
//! short diff. Its notation:
//!
//! ```text
//! type   = "string" | "string:byte" | "integer:int32" | "number" | "boolean"     scalar, with its format
//!        | "any" | "atomic" | "object"                                           deduced, untyped, map of any
//!        | "quantity" | "int-or-string"
//!        | "io.k8s.api.core.v1.Container"                                        a named type; these hold dots
//!        | { "enum": [string, ...] }
//!        | { "list": type, "set": true, "keys": [string, ...], "mergeKey": string }
//!        | { "map": type, "atomic": true }
//!        | { "granular": name }                                                  that type, but not atomic
//!        | { "fields": { name: field, "required!": field, ... }, "atomic": true, "kinds": ["apps/v1/Deployment"] }
//! field  = type | [type, { "default": any, "patch": "merge,retainKeys" | "replace" }]
//! ```
//!
//! Defaults of list elements and map values are not kept: OpenAPI gives `""` for strings without a format, `0` for
//! whole numbers, `{}` for structs and nothing for all others, without exception.

use std::collections::HashMap;

use model::{Map, Str, Value, json};

use super::{
    Field, Fields, Gvk, ListType, Relation, Scalar, Schema, Shape, Strategy, StructType, Type, TypeId,
};

/// Why a table of types cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no JSON.
    #[error("the table of types is not JSON")]
    Json(#[source] json::Error),
    /// A type is not in the notation.
    #[error("type {name:?}: {problem}")]
    Type {
        /// The named type it stands in.
        name: String,
        /// What is wrong.
        problem: String,
    },
}

/// Reads a table of types.
pub(super) fn parse(text: &[u8]) -> Result<Schema, Error> {
    let table = json::parse(text).map_err(Error::Json)?;
    let Value::Object(table) = table else {
        return Err(Error::Type {
            name: String::new(),
            problem: "the table is no map".to_owned(),
        });
    };
    let mut reader = Reader::default();
    for (at, name) in table.keys().enumerate() {
        reader.schema.types.push(Type::default());
        reader.schema.names.insert(Str::new(name), TypeId(at as u32));
    }
    for (at, (name, text)) in table.iter().enumerate() {
        reader
            .named(TypeId(at as u32), name, text)
            .map_err(|problem| Error::Type {
                name: name.to_owned(),
                problem,
            })?;
    }
    reader.finish();
    Ok(reader.schema)
}

#[derive(Default)]
struct Reader {
    schema: Schema,
    /// Types that are written as one word are shared.
    words: HashMap<Str, TypeId>,
    /// Places that hold a variant of a named type, filled in when all of those are read.
    granular: Vec<(TypeId, TypeId)>,
}

impl Reader {
    fn named(&mut self, id: TypeId, name: &str, text: &Value) -> Result<(), String> {
        let mut ty = self.read(text)?;
        ty.name = Str::new(name);
        self.schema.types[id.0 as usize] = ty;
        for kind in text.list_at(&["kinds"]) {
            let gvk = gvk(kind.as_str().unwrap_or_default()).ok_or("a kind is not group/version/kind")?;
            self.schema.kinds.insert(gvk, id);
        }
        Ok(())
    }

    fn finish(&mut self) {
        for (place, target) in std::mem::take(&mut self.granular) {
            let mut ty = self.schema.get(target).clone();
            if let Shape::Struct(fields) = &mut ty.shape {
                fields.atomic = false;
            }
            self.schema.types[place.0 as usize] = ty;
        }
    }

    fn push(&mut self, ty: Type) -> TypeId {
        self.schema.types.push(ty);
        TypeId((self.schema.types.len() - 1) as u32)
    }

    /// The type that `text` describes or refers to.
    fn id(&mut self, text: &Value) -> Result<TypeId, String> {
        if let Some(name) = text.get("granular").and_then(Value::as_str) {
            let target = self
                .schema
                .named(name)
                .ok_or_else(|| format!("no type {name:?}"))?;
            let place = self.push(Type::default());
            self.granular.push((place, target));
            return Ok(place);
        }
        let Some(word) = text.as_str() else {
            let ty = self.read(text)?;
            return Ok(self.push(ty));
        };
        if word.contains('.') {
            return self.schema.named(word).ok_or_else(|| format!("no type {word:?}"));
        }
        if let Some(known) = self.words.get(word) {
            return Ok(*known);
        }
        let ty = self.word(word)?;
        let id = self.push(ty);
        self.words.insert(Str::new(word), id);
        Ok(id)
    }

    fn read(&mut self, text: &Value) -> Result<Type, String> {
        match text {
            Value::Str(word) => self.word(word),
            Value::Object(map) => self.composite(map),
            other => Err(format!("a type is text or a map, not {}", other.type_name())),
        }
    }

    fn word(&mut self, word: &str) -> Result<Type, String> {
        let (kind, format) = word.split_once(':').unwrap_or((word, ""));
        let shape = match kind {
            "any" => Shape::Deduced,
            "atomic" => Shape::Atomic,
            "object" => Shape::Map {
                item: self.id(&Value::str("any"))?,
                atomic: false,
            },
            "string" => Shape::Scalar(Scalar::String),
            "integer" => Shape::Scalar(Scalar::Integer),
            "number" => Shape::Scalar(Scalar::Number),
            "boolean" => Shape::Scalar(Scalar::Boolean),
            "int-or-string" => Shape::Scalar(Scalar::IntOrString),
            "quantity" => Shape::Scalar(Scalar::Quantity),
            _ => return Err(format!("unknown type {word:?}")),
        };
        Ok(Type {
            shape,
            format: Str::new(format),
            ..Type::default()
        })
    }

    fn composite(&mut self, map: &Map) -> Result<Type, String> {
        let atomic = map.get("atomic").and_then(Value::as_bool).unwrap_or_default();
        let mut ty = Type::default();
        if let Some(fields) = map.get("fields").and_then(Value::as_object) {
            ty.shape = Shape::Struct(StructType {
                fields: self.fields(fields)?,
                atomic,
                open: false,
            });
        } else if let Some(item) = map.get("list") {
            ty.shape = Shape::List(self.list(item, map)?);
        } else if let Some(item) = map.get("map") {
            ty.shape = Shape::Map {
                item: self.id(item)?,
                atomic,
            };
        } else if let Some(values) = map.get("enum") {
            ty.shape = Shape::Scalar(Scalar::String);
            ty.values = words(values);
        } else {
            return Err("a type is none of fields, list, map and enum".to_owned());
        }
        Ok(ty)
    }

    fn list(&mut self, item: &Value, map: &Map) -> Result<ListType, String> {
        let relation = match (map.get("keys"), map.contains_key("set")) {
            (Some(keys), _) => Relation::Keys(words(keys)),
            (None, true) => Relation::Set,
            (None, false) => Relation::Atomic,
        };
        let merge_key = map.get("mergeKey").and_then(Value::as_str).unwrap_or_default();
        Ok(ListType {
            item: self.id(item)?,
            relation,
            merge_key: Str::new(merge_key),
        })
    }

    fn fields(&mut self, map: &Map) -> Result<Fields, String> {
        let mut fields = Vec::with_capacity(map.len());
        for (name, text) in map.iter() {
            let (name, required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
            let (text, extra) = match text {
                Value::Array(parts) if parts.len() == 2 => (&parts[0], Some(&parts[1])),
                text => (text, None),
            };
            let ty = self
                .id(text)
                .map_err(|problem| format!("field {name:?}: {problem}"))?;
            let default = extra.and_then(|extra| extra.get("default")).cloned();
            let patch = extra.map(|extra| extra.str_at(&["patch"])).unwrap_or_default();
            let strategy = Strategy {
                merge: patch.split(',').any(|word| word == "merge"),
                retain_keys: patch.split(',').any(|word| word == "retainKeys"),
                replace: patch == "replace",
            };
            fields.push(Field {
                name: Str::new(name),
                ty,
                required,
                default,
                strategy,
            });
        }
        Ok(Fields::new(fields))
    }
}

fn words(list: &Value) -> Vec<Str> {
    list.list_at(&[])
        .iter()
        .filter_map(Value::as_str)
        .map(Str::new)
        .collect()
}

fn gvk(text: &str) -> Option<Gvk> {
    let (rest, kind) = text.rsplit_once('/')?;
    let (group, version) = rest.split_once('/').unwrap_or(("", rest));
    Some(Gvk {
        group: group.into(),
        version: version.into(),
        kind: kind.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_is_read_in_full() {
        let text = br#"{
            "a.Pod":{"fields":{"containers!":[{"keys":["name"],"list":"a.C","mergeKey":"name"},{"patch":"merge,retainKeys"}],"ref":{"granular":"a.R"}},"kinds":["v1/Pod"]},
            "a.C":{"fields":{"name!":["string",{"default":""}],"size":"int-or-string"}},
            "a.R":{"fields":{"kind":{"enum":["A","B"]}},"atomic":true}
        }"#;
        let schema = parse(text).unwrap();
        let pod = schema.kind("", "v1", "Pod").unwrap();
        let Shape::Struct(pod) = &schema.get(pod).shape else {
            panic!("no struct")
        };
        let containers = pod.field("containers").unwrap();
        assert!(containers.required && containers.strategy.merge && containers.strategy.retain_keys);
        let Shape::List(list) = &schema.get(containers.ty).shape else {
            panic!("no list")
        };
        assert_eq!(list.relation, Relation::Keys(vec!["name".into()]));
        assert_eq!(schema.get(list.item).name, "a.C");
        let variant = pod.field("ref").unwrap().ty;
        assert_ne!(Some(variant), schema.named("a.R"));
        let Shape::Struct(variant) = &schema.get(variant).shape else {
            panic!("no struct")
        };
        assert!(!variant.atomic);
        assert_eq!(schema.get(variant.field("kind").unwrap().ty).values, ["A", "B"]);
    }

    #[test]
    fn an_unknown_name_is_an_error_that_names_the_type() {
        let error = parse(br#"{"a.B":{"fields":{"x":"a.Gone"}}}"#).unwrap_err();
        assert_eq!(error.to_string(), r#"type "a.B": field "x": no type "a.Gone""#);
    }
}
