//! From the bytes of an object to its [`Value`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use model::{Map, Str, Value, json};
use smd::schema::{Shape, StructType};
use smd::{Schema, TypeId};

use super::message::{Field, Kind, Messages, Repeat};
use super::wire::{Content, Piece, Pieces, Problem};

/// Reads objects of built-in kinds.
pub(crate) struct Reader(Messages);

const MAGIC: &[u8] = b"k8s\0";
/// Deeper nesting is refused; no built-in type comes near it but the schemas in CustomResourceDefinitions.
const DEPTH: usize = 100;

impl Reader {
    pub(crate) fn new() -> Self {
        Reader(Messages::load())
    }

    /// Reads an object. `type_of` finds the type of an `apiVersion` and a kind.
    pub(crate) fn read(
        &self,
        schema: &Schema,
        body: &[u8],
        type_of: impl Fn(&str, &str) -> Option<TypeId>,
    ) -> Result<Value, String> {
        if body.is_empty() {
            return Err("empty data".into());
        }
        let envelope = body.strip_prefix(MAGIC).ok_or(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]",
        )?;
        if envelope.is_empty() {
            return Err("empty body".into());
        }
        let (mut api_version, mut kind, mut raw) = (Str::default(), Str::default(), &[][..]);
        for piece in Pieces(envelope) {
            match piece? {
                Piece {
                    number: 1,
                    content: Content::Bytes(meta),
                } => {
                    for piece in Pieces(meta) {
                        match piece? {
                            Piece {
                                number: 1,
                                content: Content::Bytes(text),
                            } => api_version = string(text),
                            Piece {
                                number: 2,
                                content: Content::Bytes(text),
                            } => kind = string(text),
                            _ => {}
                        }
                    }
                }
                Piece {
                    number: 2,
                    content: Content::Bytes(bytes),
                } => raw = bytes,
                _ => {}
            }
        }
        let unknown = || format!("no kind \"{kind}\" is registered for version \"{api_version}\"");
        let ty = type_of(&api_version, &kind).ok_or_else(unknown)?;
        let name = message_name(&schema.get(ty).name);
        let mut value = Decoder {
            messages: &self.0,
            schema,
        }
        .message(&name, Some(ty), raw, 0)?;
        if let Some(map) = value.as_object_mut() {
            map.insert("apiVersion", api_version);
            map.insert("kind", kind);
        }
        Ok(value)
    }
}

/// `io.k8s.api.core.v1.Pod` as `k8s.io.api.core.v1.Pod`.
fn message_name(type_name: &str) -> String {
    match type_name.strip_prefix("io.k8s.") {
        Some(rest) => format!("k8s.io.{}", rest.replace('-', "_")),
        None => type_name.to_owned(),
    }
}

struct Decoder<'a> {
    messages: &'a Messages,
    schema: &'a Schema,
}

impl Decoder<'_> {
    /// A message; `ty` is its type in JSON, where that is known.
    fn message(&self, name: &str, ty: Option<TypeId>, bytes: &[u8], depth: usize) -> Result<Value, Problem> {
        if depth > DEPTH {
            return Err("exceeded max depth");
        }
        if let Some(value) = self.special(name, bytes, depth)? {
            return Ok(value);
        }
        let fields = self.messages.get(name).ok_or("unknown message")?;
        let shape = ty.map(|ty| &self.schema.get(ty).shape);
        let structure = match shape {
            Some(Shape::Struct(structure)) => Some(structure),
            _ => None,
        };
        let mut map = Map::new();
        for piece in Pieces(bytes) {
            let piece = piece?;
            let Some(field) = fields.iter().find(|field| field.number == piece.number) else {
                continue;
            };
            self.field(field, structure, piece.content, &mut map, depth)?;
        }
        // A named list type (`Verbs`) is a message with one list.
        if matches!(shape, Some(Shape::List(_))) || is_wrapped_list(name) {
            return Ok(map
                .remove("items")
                .unwrap_or_else(|| Value::Array(Default::default())));
        }
        Ok(Value::Object(map))
    }

    fn field(
        &self,
        field: &Field,
        structure: Option<&StructType>,
        content: Content<'_>,
        map: &mut Map,
        depth: usize,
    ) -> Result<(), Problem> {
        let name = json_name(field.name);
        let known = structure
            .and_then(|structure| structure.field(&name))
            .map(|field| field.ty);
        match field.repeat {
            Repeat::Once => {
                let value = self.value(field.kind, known, content, depth)?;
                let inline = structure.is_some() && known.is_none() && matches!(field.kind, Kind::Message(_));
                match value {
                    // Fields of an embedded Go struct stand in the JSON of the struct around it.
                    Value::Object(inner) if inline => inner
                        .into_iter()
                        .for_each(|(key, value)| drop(map.insert(key, value))),
                    value => drop(map.insert(&name, value)),
                }
            }
            Repeat::List => {
                let item = known.and_then(|ty| match &self.schema.get(ty).shape {
                    Shape::List(list) => Some(list.item),
                    _ => None,
                });
                let value = self.value(field.kind, item, content, depth)?;
                let list = map.entry(&name);
                if list.is_null() {
                    *list = Value::Array(Default::default());
                }
                list.as_array_mut()
                    .ok_or("a list and a value have one name")?
                    .push(value);
            }
            Repeat::Map => {
                let item = known.and_then(|ty| match &self.schema.get(ty).shape {
                    Shape::Map { item, .. } => Some(*item),
                    _ => None,
                });
                let Content::Bytes(entry) = content else {
                    return Err("illegal wireType");
                };
                let (mut key, mut value) = (Str::default(), None);
                for piece in Pieces(entry) {
                    match piece? {
                        Piece {
                            number: 1,
                            content: Content::Bytes(text),
                        } => key = string(text),
                        Piece { number: 2, content } => {
                            value = Some(self.value(field.kind, item, content, depth)?)
                        }
                        _ => {}
                    }
                }
                let value = match (value, field.kind) {
                    (Some(value), _) => value,
                    (None, Kind::String | Kind::Bytes) => "".into(),
                    (None, _) => Value::Null,
                };
                map.entry(&name).make_object().insert(key, value);
            }
        }
        Ok(())
    }

    fn value(
        &self,
        kind: Kind,
        ty: Option<TypeId>,
        content: Content<'_>,
        depth: usize,
    ) -> Result<Value, Problem> {
        match (kind, content) {
            (Kind::String, Content::Bytes(text)) => Ok(Value::Str(string(text))),
            // Negative numbers are written as if they had 64 bits, whatever their type.
            (Kind::Integer, Content::Varint(number)) => Ok(Value::Int(number.cast_signed())),
            (Kind::Bool, Content::Varint(number)) => Ok(Value::Bool(number != 0)),
            (Kind::Bytes, Content::Bytes(bytes)) => Ok(STANDARD.encode(bytes).into()),
            (Kind::Double, Content::Fixed64(bits)) => Ok(Value::Float(f64::from_bits(bits))),
            (Kind::Message(name), Content::Bytes(bytes)) => self.message(name, ty, bytes, depth + 1),
            _ => Err("illegal wireType"),
        }
    }

    /// Messages that are not maps in JSON.
    fn special(&self, name: &str, bytes: &[u8], depth: usize) -> Result<Option<Value>, Problem> {
        let name = name.rsplit_once('.').map_or(name, |(_, short)| short);
        let value = match name {
            "Time" => time(bytes, 0)?,
            "MicroTime" => time(bytes, 6)?,
            "Quantity" => Value::Str(first_string(bytes)?),
            "IntOrString" => int_or_string(bytes)?,
            "RawExtension" | "FieldsV1" | "JSON" => raw_json(bytes)?,
            "Duration" => duration(bytes)?,
            "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrBool" | "JSONSchemaPropsOrStringArray" => {
                self.alternative(name, bytes, depth)?
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// A schema, or what may stand in its place.
    fn alternative(&self, name: &str, bytes: &[u8], depth: usize) -> Result<Value, Problem> {
        const SCHEMA: &str = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
        let ty = self
            .schema
            .named("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
        let (mut schema, mut list, mut allows) = (None, Vec::new(), false);
        for piece in Pieces(bytes) {
            match (name, piece?) {
                (
                    "JSONSchemaPropsOrBool",
                    Piece {
                        number: 1,
                        content: Content::Varint(flag),
                    },
                ) => allows = flag != 0,
                (
                    "JSONSchemaPropsOrBool",
                    Piece {
                        number: 2,
                        content: Content::Bytes(bytes),
                    },
                )
                | (
                    _,
                    Piece {
                        number: 1,
                        content: Content::Bytes(bytes),
                    },
                ) => {
                    schema = Some(self.message(SCHEMA, ty, bytes, depth + 1)?);
                }
                (
                    "JSONSchemaPropsOrArray",
                    Piece {
                        number: 2,
                        content: Content::Bytes(bytes),
                    },
                ) => {
                    list.push(self.message(SCHEMA, ty, bytes, depth + 1)?);
                }
                (
                    _,
                    Piece {
                        number: 2,
                        content: Content::Bytes(text),
                    },
                ) => list.push(Value::Str(string(text))),
                _ => {}
            }
        }
        Ok(match (schema, name) {
            (Some(schema), _) => schema,
            (None, "JSONSchemaPropsOrBool") => Value::Bool(allows),
            (None, _) => list.into(),
        })
    }
}

/// Named types that are lists in JSON.
fn is_wrapped_list(name: &str) -> bool {
    ["Verbs", "ExtraValue", "OptionalNames"]
        .iter()
        .any(|list| name.ends_with(&format!(".{list}")))
}

/// The JSON name of a field, which is the protobuf name but for the schemas of custom resources.
fn json_name(name: &str) -> Str {
    let Some(rest) = name.strip_prefix("xKubernetes") else {
        return Str::new(name);
    };
    let mut text = Str::new("x-kubernetes");
    for c in rest.chars() {
        if c.is_ascii_uppercase() {
            text.push('-');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

fn string(bytes: &[u8]) -> Str {
    Str::from(String::from_utf8_lossy(bytes))
}

fn first_string(bytes: &[u8]) -> Result<Str, Problem> {
    for piece in Pieces(bytes) {
        if let Piece {
            number: 1,
            content: Content::Bytes(text),
        } = piece?
        {
            return Ok(string(text));
        }
    }
    Ok(Str::default())
}

fn numbers(bytes: &[u8]) -> Result<[i64; 2], Problem> {
    let mut numbers = [0; 2];
    for piece in Pieces(bytes) {
        if let Piece {
            number: number @ (1 | 2),
            content: Content::Varint(value),
        } = piece?
        {
            numbers[number as usize - 1] = value.cast_signed();
        }
    }
    Ok(numbers)
}

/// A time with so many digits after the second; the zero time is `null`.
fn time(bytes: &[u8], digits: usize) -> Result<Value, Problem> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let [seconds, nanos] = numbers(bytes)?;
    // Go's zero time, the year 1, is what an unset time is written as.
    if seconds == -62_135_596_800 {
        return Ok(Value::Null);
    }
    let nanos = i32::try_from(nanos).map_err(|_| "illegal time")?;
    let time = Timestamp::new(seconds, nanos).map_err(|_| "illegal time")?;
    let text = time.strftime(if digits == 0 {
        "%Y-%m-%dT%H:%M:%SZ"
    } else {
        "%Y-%m-%dT%H:%M:%S.%6fZ"
    });
    Ok(text.to_string().into())
}

fn int_or_string(bytes: &[u8]) -> Result<Value, Problem> {
    let (mut is_string, mut number, mut text) = (false, 0, Str::default());
    for piece in Pieces(bytes) {
        match piece? {
            Piece {
                number: 1,
                content: Content::Varint(kind),
            } => is_string = kind == 1,
            Piece {
                number: 2,
                content: Content::Varint(value),
            } => number = value.cast_signed(),
            Piece {
                number: 3,
                content: Content::Bytes(bytes),
            } => text = string(bytes),
            _ => {}
        }
    }
    Ok(if is_string {
        Value::Str(text)
    } else {
        Value::Int(number)
    })
}

fn raw_json(bytes: &[u8]) -> Result<Value, Problem> {
    for piece in Pieces(bytes) {
        if let Piece {
            number: 1,
            content: Content::Bytes(text),
        } = piece?
        {
            return json::parse(text).map_err(|_| "a raw value is not JSON");
        }
    }
    Ok(Value::Null)
}

/// A Go duration as the seconds it has, with a unit.
fn duration(bytes: &[u8]) -> Result<Value, Problem> {
    let [nanos, _] = numbers(bytes)?;
    let whole = nanos / 1_000_000_000;
    let rest = (nanos % 1_000_000_000).abs();
    let text = match rest {
        0 => format!("{whole}s"),
        rest => format!("{whole}.{}s", format!("{rest:09}").trim_end_matches('0')),
    };
    Ok(text.into())
}
