//! Values: files of them, one merged over the other.

use model::Value;

/// Why values cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no YAML.
    #[error("the values are no YAML")]
    Yaml(#[source] yaml::Error),
    /// It is not UTF-8.
    #[error("the values are not UTF-8")]
    Encoding,
    /// It is something else than a map.
    #[error("the values must be a map (found: {0}): write 'key: value' lines")]
    NoMap(&'static str),
}

/// Reads the first document of a values file, as Flux reads those it merges. Nothing is an empty map.
pub fn read(text: &[u8]) -> Result<Value, Error> {
    map(yaml::parse(text).map_err(Error::Yaml)?)
}

/// Reads all documents of `values.yaml`, each merged over those before it, as Helm reads that of a chart.
pub fn read_all(text: &[u8]) -> Result<Value, Error> {
    let text = std::str::from_utf8(text).map_err(|_| Error::Encoding)?;
    let mut values = Value::object();
    for document in yaml::documents(text) {
        let document = document.map_err(Error::Yaml)?;
        merge(&mut values, map(document.value)?);
    }
    Ok(values)
}

fn map(value: Value) -> Result<Value, Error> {
    match value {
        Value::Null => Ok(Value::object()),
        Value::Object(_) => Ok(value),
        other => Err(Error::NoMap(other.type_name())),
    }
}

/// Merges values over others: maps key by key, everything else as a whole. A `null` replaces what was there and stays, so
/// that the chart's own default is taken away when it is rendered.
pub fn merge(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (key, value) in over {
                match base.get_mut(&key) {
                    Some(here) if here.as_object().is_some() && value.as_object().is_some() => {
                        merge(here, value)
                    }
                    Some(here) => *here = value,
                    None => {
                        base.insert(key, value);
                    }
                }
            }
        }
        (base, over) => *base = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_merged_and_lists_and_nulls_replace() {
        let mut base = read(b"a: {b: 1, c: {d: 1}}\nl: [1]\nm: {x: 1}\nn: 1").unwrap();
        merge(
            &mut base,
            read(b"a: {c: {e: 2}}\nl: [2, 3]\nm: null\nn: {y: 1}").unwrap(),
        );
        let expected = read(b"a: {b: 1, c: {d: 1, e: 2}}\nl: [2, 3]\nm: null\nn: {y: 1}").unwrap();
        assert_eq!(base, expected);
    }

    #[test]
    fn later_documents_are_merged_over_earlier_ones() {
        assert_eq!(
            read_all(b"a: 1\nb: 1\n---\nb: 2\n").unwrap(),
            read(b"{a: 1, b: 2}").unwrap()
        );
        assert_eq!(read_all(b"").unwrap(), Value::object());
        assert!(matches!(read(b"[1]"), Err(Error::NoMap(_))));
    }
}
