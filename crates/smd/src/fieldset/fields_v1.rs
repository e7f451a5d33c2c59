//! FieldsV1: field sets as `metadata.managedFields` holds them.
//!
//! ```json
//! {"f:spec":{"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}},"f:finalizers":{"v:\"a\"":{}}}}
//! ```
//!
//! A map without entries is a member; a member with fields below it has the entry `.`.

use model::{Map, Str, Value, json};

use super::{Branch, FieldSet, PathElement};

/// Why FieldsV1 cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Neither a map nor null where a set is expected.
    #[error("fields must be a map, not {0}")]
    NoMap(&'static str),
    /// A key is too short to say what it is.
    #[error("key must be 2 characters long")]
    TooShort,
    /// A key has no colon after its first letter.
    #[error("missing colon: {0}")]
    NoColon(String),
    /// What follows the colon cannot be read.
    #[error("cannot read path element {0:?}")]
    Content(String),
}

impl FieldSet {
    /// Reads FieldsV1. Keys of a kind that is not known are left out, as a newer server may have written them.
    pub fn from_value(fields: &Value) -> Result<FieldSet, Error> {
        Ok(read(fields)?.below)
    }

    /// Writes FieldsV1, its keys in the order in which Kubernetes sorts path elements.
    pub fn to_value(&self) -> Value {
        Value::Object(self.write(Map::with_capacity(self.nodes.len())))
    }

    /// FieldsV1 as text, byte for byte what Kubernetes writes.
    pub fn to_json(&self) -> String {
        json::to_string(&self.to_value())
    }

    fn write(&self, mut map: Map) -> Map {
        for node in &self.nodes {
            let below = match node.below.nodes.len() {
                0 => Map::new(),
                count => {
                    let mut below = Map::with_capacity(count + 1);
                    if node.member {
                        below.push(Str::const_new("."), Value::object());
                    }
                    node.below.write(below)
                }
            };
            map.push(node.element.to_key(), Value::Object(below));
        }
        map
    }
}

fn read(fields: &Value) -> Result<Branch, Error> {
    let map = match fields {
        Value::Object(map) => map,
        Value::Null => return Ok(Branch::leaf()),
        other => return Err(Error::NoMap(other.type_name())),
    };
    let mut branch = Branch::default();
    branch.below.nodes.reserve_exact(map.len());
    for (key, below) in map.iter() {
        if key == "." {
            branch.member = true;
        } else if let Some(element) = PathElement::from_key(key)? {
            branch.below.add(element, read(below)?);
        }
    }
    branch.member |= branch.below.is_empty();
    Ok(branch)
}

impl PathElement {
    /// The key of FieldsV1 for this element.
    pub fn to_key(&self) -> Str {
        let mut key = Str::const_new("");
        match self {
            PathElement::Field(name) => {
                key.reserve(name.len() + 2);
                key.push_str("f:");
                key.push_str(name);
            }
            PathElement::Key(fields) => {
                let mut text = Vec::with_capacity(48);
                text.extend_from_slice(b"k:{");
                for (at, (name, value)) in fields.iter().enumerate() {
                    if at > 0 {
                        text.push(b',');
                    }
                    json::write(&Value::Str(name.clone()), &mut text);
                    text.push(b':');
                    json::write(value, &mut text);
                }
                text.push(b'}');
                key.push_str(&String::from_utf8_lossy(&text));
            }
            PathElement::Value(value) => {
                key.push_str("v:");
                key.push_str(&json::to_string(value));
            }
            PathElement::Index(index) => {
                key.push_str("i:");
                key.push_str(&index.to_string());
            }
        }
        key
    }

    /// Reads a key of FieldsV1; `None` where its kind is not known.
    pub fn from_key(key: &str) -> Result<Option<PathElement>, Error> {
        let unreadable = || Error::Content(key.to_owned());
        match key.as_bytes() {
            [] | [_] => return Err(Error::TooShort),
            [_, b':', ..] => {}
            _ => return Err(Error::NoColon(key.to_owned())),
        }
        let (kind, content) = (key.as_bytes()[0], &key[2..]);
        let element = match kind {
            b'f' => PathElement::Field(Str::new(content)),
            b'k' => PathElement::Key(key_fields(content).ok_or_else(unreadable)?),
            b'v' => PathElement::Value(json::parse(content.as_bytes()).map_err(|_| unreadable())?),
            b'i' => PathElement::Index(content.parse().map_err(|_| unreadable())?),
            _ => return Ok(None),
        };
        Ok(Some(element))
    }
}

/// The fields of a key. All keys are short maps of plain strings and whole numbers, which are read here without
/// building a map; anything else is left to the JSON reader.
fn key_fields(text: &str) -> Option<Box<[(Str, Value)]>> {
    plain_key_fields(text).or_else(|| match json::parse(text.as_bytes()).ok()? {
        Value::Object(fields) => Some(fields.into_iter().collect()),
        _ => None,
    })
}

fn plain_key_fields(text: &str) -> Option<Box<[(Str, Value)]>> {
    let mut rest = text.strip_prefix('{')?;
    let mut fields: Vec<(Str, Value)> = Vec::with_capacity(1);
    loop {
        let (name, after) = plain_string(rest)?;
        let after = after.strip_prefix(':')?;
        let (value, after) = match plain_string(after) {
            Some((text, after)) => (Value::str(text), after),
            None => {
                let end = after.find([',', '}'])?;
                (Value::Int(whole_number(&after[..end])?), &after[end..])
            }
        };
        if fields.last().is_some_and(|(last, _)| last.as_str() >= name) {
            return None;
        }
        fields.push((Str::new(name), value));
        match after.as_bytes() {
            b"}" => return Some(fields.into()),
            [b',', ..] => rest = &after[1..],
            _ => return None,
        }
    }
}

/// A JSON string without escapes at the start of `text`, and what follows it.
fn plain_string(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let end = text
        .bytes()
        .position(|byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
    (text.as_bytes()[end] == b'"').then(|| (&text[..end], &text[end + 1..]))
}

/// A whole number as JSON writes one.
fn whole_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = digits == "0" || digits.starts_with(|char| ('1'..='9').contains(&char));
    is_plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> String {
        FieldSet::from_value(&json::parse(text.as_bytes()).unwrap())
            .unwrap()
            .to_json()
    }

    #[test]
    fn keys_come_out_in_the_order_of_path_elements() {
        // As text, "443" and "i:" would come first.
        let text = r#"{"f:a":{},"k:{\"port\":80}":{".":{},"f:port":{}},"k:{\"port\":443}":{},"v:2":{},"v:10":{},"i:0":{}}"#;
        assert_eq!(round_trip(text), text);
    }

    #[test]
    fn an_empty_map_is_a_member_and_a_dot_alone_is_one_too() {
        assert_eq!(
            round_trip(r#"{"f:a":{".":{}},"f:b":null}"#),
            r#"{"f:a":{},"f:b":{}}"#
        );
        assert_eq!(round_trip("{}"), "{}");
    }

    #[test]
    fn unknown_kinds_of_keys_are_left_out() {
        assert_eq!(round_trip(r#"{"f:a":{"x:new":{}},"z:b":{}}"#), r#"{"f:a":{}}"#);
    }

    #[test]
    fn keys_are_read_the_same_with_and_without_the_short_cut() {
        let texts = [
            r#"{"name":"nginx"}"#,
            r#"{"containerPort":80,"protocol":"TCP"}"#,
            r#"{"protocol":"TCP","containerPort":80}"#,
            r#"{"a":-0}"#,
            r#"{"a":01}"#,
            r#"{"a":1.5,"b":true,"c":null}"#,
            r#"{"a":"x\ny"}"#,
            r#"{"a":"x","a":"y"}"#,
            r#"{"a":"x"}}"#,
            r#"{"a":"x",}"#,
            r#"{"a" : 1 }"#,
            r#"{}"#,
            r#"{"é":"ü"}"#,
            r#"{"a":9223372036854775808}"#,
        ];
        for text in texts {
            let through_json = match json::parse(text.as_bytes()) {
                Ok(Value::Object(fields)) => Some(PathElement::Key(fields.into_iter().collect())),
                _ => None,
            };
            assert_eq!(key_fields(text).map(PathElement::Key), through_json, "{text}");
        }
    }

    #[test]
    fn malformed_keys_are_errors() {
        let read = |text: &str| FieldSet::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap_err();
        assert_eq!(read(r#"{"f":{}}"#), Error::TooShort);
        assert_eq!(read(r#"{"spec":{}}"#), Error::NoColon("spec".to_owned()));
        assert_eq!(read(r#"{"k:[]":{}}"#), Error::Content("k:[]".to_owned()));
        assert_eq!(read(r#"{"i:x":{}}"#), Error::Content("i:x".to_owned()));
        assert_eq!(read(r#"{"f:a":1}"#), Error::NoMap("integer"));
        assert_eq!(read(r#"{"éa":{}}"#), Error::NoColon("éa".to_owned()));
    }
}
