//! What a document says it is.

use model::Value;

/// The fields that matter here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// `metadata.name`
    pub name: String,
    /// `metadata.annotations`
    pub annotations: Vec<(String, String)>,
}

impl Head {
    /// Reads the head of a document. Scalars become strings, as everywhere that Go expects strings in YAML.
    ///
    /// # Errors
    /// It is no YAML, or a field is of another kind, in the words of Go's libraries.
    pub fn read(document: &str) -> Result<Head, String> {
        let value = yaml::parse_fields(document.as_bytes(), &["apiVersion", "kind", "metadata"])
            .map_err(|error| format!("error converting YAML to JSON: {error}"))?;
        let map = match &value {
            Value::Null => return Ok(Head::default()),
            Value::Object(map) => map,
            other => return Err(mistyped(other, "", "util.SimpleHead")),
        };
        let text = |value: Option<&Value>, field: &str| match value {
            None => Ok(String::new()),
            Some(value) => scalar(value).ok_or_else(|| mistyped(value, field, "string")),
        };
        let mut head = Head {
            api_version: text(map.get("apiVersion"), "SimpleHead.apiVersion")?,
            kind: text(map.get("kind"), "SimpleHead.kind")?,
            ..Head::default()
        };
        let metadata = match map.get("metadata") {
            None | Some(Value::Null) => return Ok(head),
            Some(Value::Object(metadata)) => metadata,
            Some(other) => return Err(mistyped(other, "SimpleHead.metadata", METADATA)),
        };
        head.name = text(metadata.get("name"), "SimpleHead.metadata.name")?;
        match metadata.get("annotations") {
            None | Some(Value::Null) => {}
            Some(Value::Object(annotations)) => {
                for (key, value) in annotations.iter() {
                    let value = text(Some(value), "SimpleHead.metadata.annotations")?;
                    head.annotations.push((key.to_owned(), value));
                }
            }
            Some(other) => {
                let field = "SimpleHead.metadata.annotations";
                return Err(mistyped(other, field, "map[string]string"));
            }
        }
        Ok(head)
    }

    /// An annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        let found = self.annotations.iter().find(|(known, _)| known == key);
        found.map(|(_, value)| value.as_str())
    }
}

const METADATA: &str = "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }";

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Int(number) => Some(number.to_string()),
        Value::Float(number) => Some(yaml::go::format_float32(*number)),
        Value::Str(text) => Some(text.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// What Go's JSON decoder says about a value of another kind.
fn mistyped(found: &Value, field: &str, wanted: &str) -> String {
    let found = match found {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    let place = match field {
        "" => "Go value".to_owned(),
        field => format!("Go struct field {field}"),
    };
    format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into {place} of type {wanted}"
    )
}
