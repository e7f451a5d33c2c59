//! The suffix that names of generated ConfigMaps and Secrets get: a hash of their content.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use yaml::node::{Meaning, Node};

use crate::resmap::ResMap;
use crate::resource::Resource;
use crate::schema::Schema;

/// Adds the hashes to the names of all resources that need one. What has none cannot be printed: the first such one is the
/// error.
pub(crate) fn add_to_names(resources: &mut ResMap, schema: &Schema) -> Result<(), String> {
    let mut added = Ok(());
    for resource in resources.as_mut_slice() {
        if !resource.needs_hash {
            continue;
        }
        match of(resource) {
            Ok(hash) => {
                resource.remember_id(schema);
                let name = format!("{}-{hash}", resource.name());
                resource.set_name(&name);
            }
            Err(problem) => added = added.and(Err(format!("{}: {problem}", resource.plain_id()))),
        }
    }
    added
}

/// Ten characters that stand for the content; digits and vowels that could spell something are replaced.
fn of(resource: &Resource) -> Result<String, String> {
    let hash = Sha256::digest(encoded(resource)?);
    let mut hex = String::with_capacity(10);
    for byte in &hash[..5] {
        let _ = write!(hex, "{byte:02x}");
    }
    let replaced = hex.chars().map(|digit| match digit {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        other => other,
    });
    Ok(replaced.collect())
}

/// The JSON that is hashed. The name is not in it: kustomize looks for it in the wrong place.
fn encoded(resource: &Resource) -> Result<String, String> {
    let mut out = String::new();
    let field = |name: &str| resource.node.get(name);
    let map = |name: &str| field(name).filter(|node| !matches!(node, Node::Scalar(_)));
    match resource.kind() {
        "ConfigMap" => {
            out.push('{');
            if let Some(data) = map("binaryData") {
                out.push_str("\"binaryData\":");
                json(data, &mut out)?;
                out.push(',');
            }
            out.push_str("\"data\":");
            json_or_empty(field("data"), &mut out)?;
            out.push_str(",\"kind\":\"ConfigMap\",\"name\":\"\"}");
        }
        "Secret" => {
            out.push_str("{\"data\":");
            json_or_empty(field("data"), &mut out)?;
            out.push_str(",\"kind\":\"Secret\",\"name\":\"\"");
            if let Some(data) = map("stringData") {
                out.push_str(",\"stringData\":");
                json(data, &mut out)?;
            }
            out.push_str(",\"type\":");
            json_or_empty(field("type"), &mut out)?;
            out.push('}');
        }
        _ => json(&resource.node, &mut out)?,
    }
    Ok(out)
}

fn json_or_empty(node: Option<&Node>, out: &mut String) -> Result<(), String> {
    match node {
        None => out.push_str("\"\""),
        Some(Node::Scalar(scalar)) => string(&scalar.text, out),
        Some(other) => json(other, out)?,
    }
    Ok(())
}

/// Writes JSON as Go does: keys sorted, `<`, `>` and `&` escaped.
fn json(node: &Node, out: &mut String) -> Result<(), String> {
    match node {
        Node::Scalar(scalar) => match scalar.meaning()? {
            Meaning::Null => out.push_str("null"),
            Meaning::Bool(flag) => out.push_str(if flag { "true" } else { "false" }),
            Meaning::Int(number) => {
                let _ = write!(out, "{number}");
            }
            Meaning::Uint(number) => {
                let _ = write!(out, "{number}");
            }
            Meaning::Float(number) => out.push_str(&model::json::to_string(&model::Value::Float(number))),
            Meaning::Str(text) => string(&text, out),
            Meaning::Text => string(&scalar.text, out),
        },
        Node::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                json(item, out)?;
            }
            out.push(']');
        }
        Node::Map(map) => {
            out.push('{');
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            for (index, (key, value)) in pairs.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                string(key, out);
                out.push(':');
                json(value, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(text: &str) -> String {
        let parsed = crate::resource::from_text(text, &mut Default::default()).unwrap();
        of(&parsed[0].resource).unwrap()
    }

    /// The hashes are what kustomize 5.8.1 gives.
    #[test]
    fn the_hash_is_that_of_kustomize() {
        let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
        assert_eq!(hash(config), "6ct58987ht");
        let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: Opaque\ndata: {a: eA==}\n";
        assert_eq!(hash(secret).len(), 10);
    }
}
