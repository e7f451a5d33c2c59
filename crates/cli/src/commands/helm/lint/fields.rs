//! Fields of `Chart.yaml` that nobody knows, and such that stand twice.

use helm::chart::metadata;
use model::Value;
use model::quote::quote;

/// What a strict reader says of the text, if anything.
pub(super) fn problem(text: &[u8]) -> Option<String> {
    let read = yaml::parse_strict(text);
    match read {
        Err(error) => Some(format!("error converting YAML to JSON: {error}")),
        Ok(chart) => {
            let field = quote(unknown(&chart, metadata::FIELDS)?);
            Some(format!(
                "error unmarshaling JSON: while decoding JSON: json: unknown field {field}"
            ))
        }
    }
}

/// Versions that are no texts: `version: 1.10` is a number, and another one than it looks.
pub(super) fn mistyped(text: &[u8]) -> Vec<String> {
    let Ok(chart) = yaml::parse(text) else {
        return Vec::new();
    };
    let problem = |name: &&str| {
        let kind = match chart.get(name)? {
            Value::Str(_) => return None,
            Value::Null => "<nil>",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::Float(_) => "float64",
            Value::Array(_) => "[]interface {}",
            Value::Object(_) => "map[string]interface {}",
        };
        Some(format!("{name} should be of type string but it's of type {kind}"))
    };
    ["version", "appVersion"].iter().filter_map(problem).collect()
}

/// The first field that is not known, in the order of names, with those of lists in their place.
fn unknown<'c>(value: &'c Value, known: &[&str]) -> Option<&'c str> {
    let map = value.as_object()?;
    map.iter().find_map(|(key, value)| {
        // Go does not tell small letters from large ones here.
        let name = known.iter().find(|name| name.eq_ignore_ascii_case(key));
        match name.copied() {
            None => Some(key),
            Some("maintainers") => below(value, metadata::MAINTAINER_FIELDS),
            Some("dependencies") => below(value, metadata::DEPENDENCY_FIELDS),
            Some(_) => None,
        }
    })
}

fn below<'c>(value: &'c Value, known: &[&str]) -> Option<&'c str> {
    value.as_array()?.iter().find_map(|item| unknown(item, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_texts() {
        let told = mistyped(b"name: app\nversion: 1.10\nappVersion: 7\n");
        assert_eq!(
            told,
            [
                "version should be of type string but it's of type float64",
                "appVersion should be of type string but it's of type float64",
            ]
        );
        assert!(mistyped(b"name: app\nversion: 1.10.0\nappVersion: \"7\"\n").is_empty());
    }
}
