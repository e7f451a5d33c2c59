//! What a user gives on the command line, in the order Helm merges it.

use model::{Map, Value};

use super::set::{self, ReadFile};
use super::{floats, merge, read_all};

/// The values of `-f` and of the `--set` family.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// `-f`: names and contents; later ones win.
    pub files: Vec<(String, Vec<u8>)>,
    /// `--set-json`
    pub json: Vec<String>,
    /// `--set`
    pub set: Vec<String>,
    /// `--set-string`
    pub strings: Vec<String>,
    /// `--set-file`
    pub set_files: Vec<String>,
    /// `--set-literal`
    pub literals: Vec<String>,
}

/// Why there are no values.
#[derive(Debug, thiserror::Error)]
pub enum GivenError {
    /// A file is no map.
    #[error("failed to parse {name}")]
    File {
        /// The file.
        name: String,
        /// What is wrong.
        source: super::Error,
    },
    /// JSON was expected.
    #[error("failed parsing --set-json data {0}")]
    Json(String),
    /// A map was expected.
    #[error("failed parsing --set-json data JSON: {0}")]
    JsonMap(String),
    /// A text of the `--set` family is not of its grammar.
    #[error("failed parsing --{flag} data: {source}")]
    Set {
        /// The flag.
        flag: &'static str,
        /// What is wrong.
        source: set::Error,
    },
}

impl Given {
    /// All of it as one map: files first, then JSON, plain ones, strings, files and literals.
    pub fn merge(&self, read_file: ReadFile<'_>) -> Result<Map, GivenError> {
        let mut values = Value::object();
        for (name, text) in &self.files {
            let mut read = read_all(text).map_err(|source| GivenError::File {
                name: name.clone(),
                source,
            })?;
            floats(&mut read);
            merge(&mut values, read);
        }
        for text in &self.json {
            merge_json(&mut values, text)?;
        }
        let Value::Object(mut values) = values else {
            return Ok(Map::new());
        };
        let failed = |flag| move |source| GivenError::Set { flag, source };
        for text in &self.set {
            set::plain(text, &mut values).map_err(failed("set"))?;
        }
        for text in &self.strings {
            set::string(text, &mut values).map_err(failed("set-string"))?;
        }
        for text in &self.set_files {
            set::file(text, &mut values, read_file).map_err(failed("set-file"))?;
        }
        for text in &self.literals {
            set::literal(text, &mut values).map_err(failed("set-literal"))?;
        }
        Ok(values)
    }
}

/// A whole map, or `key=json` pairs.
fn merge_json(values: &mut Value, text: &str) -> Result<(), GivenError> {
    let trimmed = text.trim();
    if trimmed.starts_with('{') {
        let read = model::json::parse(trimmed.as_bytes());
        let Ok(mut map @ Value::Object(_)) = read else {
            return Err(GivenError::JsonMap(text.to_owned()));
        };
        floats(&mut map);
        merge(values, map);
    } else if let Value::Object(values) = values {
        set::json(text, values).map_err(|_| GivenError::Json(text.to_owned()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::read;

    #[test]
    fn later_kinds_win_over_earlier_ones() {
        let given = Given {
            files: vec![
                ("a".into(), b"a: 1\nb: {c: 1, d: 1}".to_vec()),
                ("b".into(), b"b: {d: 2}".to_vec()),
            ],
            json: vec!["b={\"c\": [1]}".into(), "{\"e\": {\"f\": true}}".into()],
            set: vec!["a=2,g=null".into()],
            strings: vec!["h=1".into()],
            set_files: vec!["i=name".into()],
            literals: vec!["j=a,b={c}".into()],
        };
        let values = given.merge(&mut |name| Ok(format!("content of {name}"))).unwrap();
        let wanted = "a: 2\nb: {c: [1]}\ne: {f: true}\ng: null\nh: '1'\ni: content of name\nj: 'a,b={c}'";
        assert_eq!(Value::Object(values), read(wanted.as_bytes()).unwrap());
    }

    #[test]
    fn numbers_of_files_are_floats_and_those_of_set_are_whole() {
        let given = Given {
            files: vec![("a".into(), b"a: 1".to_vec())],
            set: vec!["b=1".into()],
            ..Given::default()
        };
        let values = given.merge(&mut |_| Err(String::new())).unwrap();
        assert!(matches!(values.get("a"), Some(Value::Float(_))));
        assert!(matches!(values.get("b"), Some(Value::Int(1))));
    }

    #[test]
    fn what_is_no_value_is_refused_with_the_flag() {
        let given = Given {
            set: vec!["a".into()],
            ..Given::default()
        };
        let error = given.merge(&mut |_| Err(String::new())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "failed parsing --set data: key \"a\" has no value"
        );
    }
}
