//! Texts that are written as numbers. The Go programs read a file into the types of its fields, so `newTag: 1.10` is a text there,
//! and `true` may be the value of a label.

use model::Value;

/// Makes texts of what stands where the schema has texts.
pub(super) fn to_texts(value: &mut Value, schema: &Value) {
    if schema.str_at(&["type"]) == "string" {
        return to_text(value);
    }
    match value {
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else {
                return;
            };
            items.iter_mut().for_each(|item| to_texts(item, schema));
        }
        Value::Object(map) => {
            let any = schema.get("additionalProperties");
            let properties = schema.get("properties");
            // A field that is null is not there; an entry of that many is, and empty.
            map.retain(|_, value| !value.is_null() || any.is_some());
            for (key, value) in map.iter_mut() {
                let known = properties.and_then(|properties| properties.get(key));
                if let Some(schema) = known.or(any) {
                    to_texts(value, schema);
                }
            }
        }
        _ => {}
    }
}

fn to_text(value: &mut Value) {
    let text = match value {
        Value::Int(number) => number.to_string(),
        Value::Float(number) => yaml::go::float(*number),
        Value::Bool(is) => is.to_string(),
        Value::Null => String::new(),
        _ => return,
    };
    *value = Value::str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_texts_where_the_schema_has_texts() {
        let schema = r#"{"properties": {
            "tag": {"type": "string"}, "count": {"type": "integer"},
            "labels": {"additionalProperties": {"type": "string"}},
            "images": {"items": {"properties": {"newTag": {"type": "string"}}}}}}"#;
        let object = r#"{"tag": 3, "count": 3, "labels": {"a": true, "b": null}, "images": [{"newTag": 1.1}, {"newTag": 1e6}], "x": 1}"#;
        let schema = model::json::parse(schema.as_bytes()).unwrap();
        let mut object = model::json::parse(object.as_bytes()).unwrap();
        to_texts(&mut object, &schema);
        assert_eq!(
            model::json::to_string(&object),
            r#"{"count":3,"images":[{"newTag":"1.1"},{"newTag":"1e+06"}],"labels":{"a":"true","b":""},"tag":"3","x":1}"#
        );
    }
}
