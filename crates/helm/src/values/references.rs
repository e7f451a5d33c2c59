//! Values out of ConfigMaps and Secrets, as the `valuesFrom` of a HelmRelease names them, with values written inline.
//!
//! The order is that of Flux: references one after the other, later ones over earlier ones, and at last the inline values. A reference with a
//! path sets one value in what there is so far, the inline values included.
//!
//! What then wins at such a path is not what one would think, nor what Flux documents, but it is in the digests of all clusters:
//! inline values are merged once more at the end, so that at the top they win over a path. Below, Go's maps are shared between what there is so far and the
//! inline values wherever no reference had brought a map before, and what a path sets there is set in both. [`Shared`] keeps book of that.

use model::{Map, Value};

use super::{floats, merge, set};

/// Where a value comes from, with what was found there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// `ConfigMap` or `Secret`.
    pub kind: String,
    /// The name of the object.
    pub name: String,
    /// The key in its data, `values.yaml` if empty.
    pub key: String,
    /// Where the text is put, in the words of `--set`; if empty the text is YAML with values.
    pub target_path: String,
    /// Whether it may be missing.
    pub optional: bool,
    /// Whether the text is taken as it is.
    pub literal: bool,
    /// What was found.
    pub found: Found,
}

/// What was found at a reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Found {
    /// There is no such object.
    #[default]
    NoObject,
    /// The object has no such key.
    NoKey,
    /// This.
    Text(Vec<u8>),
}

/// Why there are no values, in Flux's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not resolve{} {kind} chart values reference '{namespace}/{name}' with key '{key}': {problem}", if *.optional { " optional" } else { "" })]
pub struct ReferenceError {
    /// The kind of the object.
    pub kind: String,
    /// Where it is.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The key in its data.
    pub key: String,
    /// Whether it may be missing.
    pub optional: bool,
    /// What is wrong.
    pub problem: String,
}

impl Reference {
    /// The key in the data of the object.
    pub fn key(&self) -> &str {
        if self.key.is_empty() {
            "values.yaml"
        } else {
            &self.key
        }
    }
}

/// All values as one map.
pub fn compose(namespace: &str, references: &[Reference], inline: &Map) -> Result<Map, Box<ReferenceError>> {
    let mut inline = inline.clone();
    let mut result = Map::new();
    for (at, reference) in references.iter().enumerate() {
        let failed = |problem: String| {
            Box::new(ReferenceError {
                kind: reference.kind.clone(),
                namespace: namespace.to_owned(),
                name: reference.name.clone(),
                key: reference.key().to_owned(),
                optional: reference.optional,
                problem,
            })
        };
        let resource = match reference.kind.as_str() {
            "ConfigMap" => "configmaps",
            "Secret" => "secrets",
            _ => return Err(failed("unsupported values reference kind".to_owned())),
        };
        let text = match &reference.found {
            Found::Text(text) => text,
            Found::NoObject | Found::NoKey if reference.optional => continue,
            Found::NoKey => return Err(failed("key not found".to_owned())),
            Found::NoObject => {
                // The API is asked once for an object, and only its answer names it.
                let is_known =
                    |other: &Reference| other.kind == reference.kind && other.name == reference.name;
                let problem = if references[..at].iter().any(is_known) {
                    "resource not found".to_owned()
                } else {
                    format!("{resource} {} not found", model::quote::quote(&reference.name))
                };
                return Err(failed(problem));
            }
        };
        if reference.target_path.is_empty() {
            let values = read(text).map_err(failed)?;
            merge_maps(&mut result, values);
        } else {
            let shared = Shared::merge(&mut result, &inline);
            put(reference, text, &mut result).map_err(failed)?;
            shared.give_back(&result, &mut inline);
        }
    }
    merge_maps(&mut result, inline);
    Ok(result)
}

fn merge_maps(base: &mut Map, over: Map) {
    let mut value = Value::Object(std::mem::take(base));
    merge(&mut value, Value::Object(over));
    if let Value::Object(merged) = value {
        *base = merged;
    }
}

fn read(text: &[u8]) -> Result<Map, String> {
    let mut value = yaml::parse(text).map_err(|error| format!("error converting YAML to JSON: {error}"))?;
    floats(&mut value);
    let found = match value {
        Value::Object(map) => return Ok(map),
        Value::Null => return Ok(Map::new()),
        Value::Array(_) => "array",
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) => "number",
    };
    Err(format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type common.Values"
    ))
}

/// Sets the value at the path of a reference.
fn put(reference: &Reference, text: &[u8], values: &mut Map) -> Result<(), String> {
    let path = &reference.target_path;
    let text = String::from_utf8_lossy(text);
    let is_in = |quote: char| text.starts_with(quote) && text.ends_with(quote);
    let result = if reference.literal {
        let mut quoted = String::with_capacity(text.len());
        for character in text.chars() {
            if r"\,[]{}".contains(character) {
                quoted.push('\\');
            }
            quoted.push(character);
        }
        set::string(&format!("{path}={quoted}"), values)
    } else if is_in('\'') || is_in('"') {
        let text = text.trim_matches(['\'', '"']);
        set::string(&format!("{path}={text}"), values)
    } else {
        set::plain(&format!("{path}={text}"), values)
    };
    result.map_err(|error| error.to_string())
}

/// The places at which what there is so far and the inline values are one and the same map or list.
struct Shared(Vec<Vec<String>>);

impl Shared {
    /// Merges the inline values over what there is so far.
    fn merge(result: &mut Map, inline: &Map) -> Shared {
        fn walk(result: &mut Map, inline: &Map, path: &mut Vec<String>, shared: &mut Vec<Vec<String>>) {
            for (key, value) in inline.iter() {
                path.push(key.to_owned());
                match (result.get_mut(key), value) {
                    (Some(Value::Object(below)), Value::Object(value)) => walk(below, value, path, shared),
                    _ => {
                        if matches!(value, Value::Object(_) | Value::Array(_)) {
                            shared.push(path.clone());
                        }
                        result.insert(key, value.clone());
                    }
                }
                path.pop();
            }
        }
        let mut shared = Vec::new();
        walk(result, inline, &mut Vec::new(), &mut shared);
        Shared(shared)
    }

    /// Sets in the inline values what was set at these places. A list that grew is another one since.
    fn give_back(self, result: &Map, inline: &mut Map) {
        for path in self.0 {
            let Some(found) = at(result, &path) else {
                continue;
            };
            let Some(known) = at_mut(inline, &path) else {
                continue;
            };
            let is_same = match (found, &*known) {
                (Value::Object(_), Value::Object(_)) => true,
                (Value::Array(found), Value::Array(known)) => found.len() == known.len(),
                _ => false,
            };
            if is_same {
                *known = found.clone();
            }
        }
    }
}

fn at<'m>(map: &'m Map, path: &[String]) -> Option<&'m Value> {
    let (first, rest) = path.split_first()?;
    let value = map.get(first)?;
    match rest {
        [] => Some(value),
        rest => at(value.as_object()?, rest),
    }
}

fn at_mut<'m>(map: &'m mut Map, path: &[String]) -> Option<&'m mut Value> {
    let (first, rest) = path.split_first()?;
    let value = map.get_mut(first)?;
    match rest {
        [] => Some(value),
        rest => at_mut(value.as_object_mut()?, rest),
    }
}
