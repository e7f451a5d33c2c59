//! JSON to records.

use model::{Map, Value};
use serde::de::DeserializeOwned;

use super::{Execution, Hook, Info, Record, Status, StoredChart, StoredFile, Time, time};
use crate::values::floats;

/// Why a text is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not in base64.
    #[error("the release is not in base64: the object was changed or is of another program")]
    Base64,
    /// What is in it cannot be unpacked.
    #[error("the release cannot be unpacked: the object was changed or is of another program")]
    Gzip,
    /// It is larger than what is read.
    #[error("the release is larger than {0} bytes: delete the object, or the release with 'helm uninstall'")]
    Large(usize),
    /// It is no JSON.
    #[error("the release is no JSON: {0}")]
    Json(String),
    /// A field is not what it must be.
    #[error("the field {field} of the release is no {expected}")]
    Field {
        /// The field, with those around it.
        field: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A field does not hold what is expected.
    #[error("the field {field} of the release cannot be read: {problem}")]
    Content {
        /// The field, with those around it.
        field: String,
        /// What is wrong.
        problem: String,
    },
    /// The object holds no release.
    #[error("{object} holds no release: it has no data.release")]
    NoRelease {
        /// Which object.
        object: String,
    },
    /// The release in an object cannot be read.
    #[error("{object}: {source}")]
    Object {
        /// Which object.
        object: String,
        /// Why not.
        #[source]
        source: Box<Error>,
    },
}

impl Record {
    /// Reads the JSON of a release. Numbers of values become floats, as with Helm.
    pub fn from_json(json: &[u8]) -> Result<Record, Error> {
        let value = model::json::parse(json).map_err(|error| Error::Json(error.to_string()))?;
        let fields = Fields::of(value, String::new())?;
        record(fields)
    }
}

fn record(mut fields: Fields) -> Result<Record, Error> {
    Ok(Record {
        name: fields.text("name")?,
        info: fields.below("info")?.map(info).transpose()?.unwrap_or_default(),
        chart: fields.below("chart")?.map(chart).transpose()?,
        config: fields.values("config")?.filter(|config| !config.is_empty()),
        manifest: fields.text("manifest")?,
        hooks: fields.list("hooks", hook)?.unwrap_or_default(),
        version: fields.number("version")?,
        namespace: fields.text("namespace")?,
        apply_method: fields.text("apply_method")?,
        labels: std::collections::BTreeMap::new(),
    })
}

fn info(mut fields: Fields) -> Result<Info, Error> {
    Ok(Info {
        first_deployed: fields.time("first_deployed")?,
        last_deployed: fields.time("last_deployed")?,
        deleted: fields.time("deleted")?,
        description: fields.text("description")?,
        status: Status::parse(&fields.text("status")?),
        notes: fields.text("notes")?,
    })
}

fn chart(mut fields: Fields) -> Result<StoredChart, Error> {
    Ok(StoredChart {
        metadata: fields.typed("metadata")?,
        lock: fields.typed("lock")?,
        templates: fields.list("templates", file)?,
        values: fields.values("values")?,
        schema: fields.optional_text("schema")?,
        schema_modified: fields.time("schemamodtime")?,
        files: fields.list("files", file)?,
        modified: fields.time("modtime")?,
    })
}

fn file(mut fields: Fields) -> Result<StoredFile, Error> {
    Ok(StoredFile {
        name: fields.text("name")?,
        data: fields.optional_text("data")?,
        modified: fields.time("modtime")?,
    })
}

fn hook(mut fields: Fields) -> Result<Hook, Error> {
    Ok(Hook {
        name: fields.text("name")?,
        kind: fields.text("kind")?,
        path: fields.text("path")?,
        manifest: fields.text("manifest")?,
        events: fields.texts("events")?,
        last_run: fields
            .below("last_run")?
            .map(execution)
            .transpose()?
            .unwrap_or_default(),
        weight: fields.number("weight")?,
        delete_policies: fields.texts("delete_policies")?,
        output_log_policies: fields.texts("output_log_policies")?,
    })
}

fn execution(mut fields: Fields) -> Result<Execution, Error> {
    Ok(Execution {
        started_at: fields.time("started_at")?,
        completed_at: fields.time("completed_at")?,
        phase: fields.text("phase")?,
    })
}

/// The fields of one map, which are taken out one after the other. `null` is as good as nothing.
struct Fields {
    map: Map,
    /// Where the map is.
    path: String,
}

impl Fields {
    fn of(value: Value, path: String) -> Result<Fields, Error> {
        match value {
            Value::Object(map) => Ok(Fields { map, path }),
            _ => Err(wrong(
                if path.is_empty() {
                    "release".to_owned()
                } else {
                    path
                },
                "map",
            )),
        }
    }

    fn path(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key).filter(|value| !value.is_null())
    }

    fn optional_text(&mut self, key: &str) -> Result<Option<String>, Error> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Str(text)) => Ok(Some(text.into())),
            Some(_) => Err(wrong(self.path(key), "string")),
        }
    }

    fn text(&mut self, key: &str) -> Result<String, Error> {
        Ok(self.optional_text(key)?.unwrap_or_default())
    }

    fn texts(&mut self, key: &str) -> Result<Vec<String>, Error> {
        let Some(value) = self.take(key) else {
            return Ok(Vec::new());
        };
        let texts = value.as_array().map(|items| items.iter().map(Value::as_str));
        let texts: Option<Option<Vec<&str>>> = texts.map(Iterator::collect);
        match texts.flatten() {
            Some(texts) => Ok(texts.into_iter().map(str::to_owned).collect()),
            None => Err(wrong(self.path(key), "list of strings")),
        }
    }

    fn number(&mut self, key: &str) -> Result<i64, Error> {
        match self.take(key) {
            None => Ok(0),
            Some(Value::Int(number)) => Ok(number),
            Some(_) => Err(wrong(self.path(key), "whole number")),
        }
    }

    fn time(&mut self, key: &str) -> Result<Option<Time>, Error> {
        let text = self.text(key)?;
        Time::read(&text).map_err(|error: time::NoTime| Error::Content {
            field: self.path(key),
            problem: error.to_string(),
        })
    }

    fn values(&mut self, key: &str) -> Result<Option<Map>, Error> {
        match self.take(key) {
            None => Ok(None),
            Some(mut value @ Value::Object(_)) => {
                floats(&mut value);
                match value {
                    Value::Object(map) => Ok(Some(map)),
                    _ => Ok(None),
                }
            }
            Some(_) => Err(wrong(self.path(key), "map")),
        }
    }

    fn below(&mut self, key: &str) -> Result<Option<Fields>, Error> {
        let path = self.path(key);
        self.take(key).map(|value| Fields::of(value, path)).transpose()
    }

    fn list<T>(
        &mut self,
        key: &str,
        read: impl Fn(Fields) -> Result<T, Error>,
    ) -> Result<Option<Vec<T>>, Error> {
        let path = self.path(key);
        let items = match self.take(key) {
            None => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(wrong(path, "list")),
        };
        let items = items.into_iter().enumerate();
        let items = items.map(|(at, item)| read(Fields::of(item, format!("{path}[{at}]"))?));
        items.collect::<Result<_, _>>().map(Some)
    }

    fn typed<T: DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, Error> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        match model::convert::to_serde(&value) {
            Ok(typed) => Ok(Some(typed)),
            Err(error) => Err(Error::Content {
                field: self.path(key),
                problem: error.to_string(),
            }),
        }
    }
}

fn wrong(field: String, expected: &'static str) -> Error {
    Error::Field { field, expected }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (json, message) in [
            ("1", "the field release of the release is no map"),
            (r#"{"name":1}"#, "the field name of the release is no string"),
            (
                r#"{"hooks":[{},{"weight":"x"}]}"#,
                "the field hooks[1].weight of the release is no whole number",
            ),
            (
                r#"{"info":{"deleted":"never"}}"#,
                "the field info.deleted of the release cannot be read: \"never\" is no time: write one like 2026-01-02T03:04:05Z",
            ),
        ] {
            assert_eq!(
                Record::from_json(json.as_bytes()).unwrap_err().to_string(),
                message
            );
        }
    }
}
