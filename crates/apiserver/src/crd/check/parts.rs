//! What a version has besides its schema.

use model::Value;

use super::is;
use crate::crd::path::follow;
use crate::crd::schema::{Kind, Node};
use crate::field::Error;

/// A warning for clients of a version that is on its way out.
pub(super) fn deprecation(version: &Value, path: &str, errors: &mut Vec<Error>) {
    let Some(text) = version.get("deprecationWarning").and_then(Value::as_str) else {
        return;
    };
    let path = format!("{path}.deprecationWarning");
    let mut problem = |detail: &str| errors.push(Error::invalid(path.as_str(), &Value::str(text), detail));
    if !is(version, "deprecated") {
        problem("can only be set for deprecated versions");
        return;
    }
    if text.len() > 256 {
        problem("must be <= 256 characters long");
    }
    if text.is_empty() {
        problem("must not be an empty string");
    }
    if let Some((at, _)) = text.char_indices().find(|(_, char)| char.is_control()) {
        problem(&format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        ));
    }
}

/// The paths of the `scale` subresource.
pub(super) fn subresources(version: &Value, path: &str, errors: &mut Vec<Error>) {
    let Some(scale) = version
        .at(&["subresources", "scale"])
        .filter(|scale| !scale.is_null())
    else {
        return;
    };
    let mut check = |name: &str, required: bool, roots: &[&str], detail: &str| {
        let text = scale.str_at(&[name]);
        let path = format!("{path}.scale.{name}");
        if text.is_empty() {
            if required {
                errors.push(Error::required(path, ""));
            }
        } else if let Some(error) = simple_path(text, &path) {
            errors.push(error);
        } else if !roots.iter().any(|root| text.starts_with(root)) {
            errors.push(Error::invalid(path, &Value::str(text), detail));
        }
    };
    check(
        "specReplicasPath",
        true,
        &[".spec."],
        "should be a json path under .spec",
    );
    check(
        "statusReplicasPath",
        true,
        &[".status."],
        "should be a json path under .status",
    );
    let both = "should be a json path under either .spec or .status";
    check("labelSelectorPath", false, &[".spec.", ".status."], both);
}

/// Columns of tables.
pub(super) fn columns(version: &Value, path: &str, errors: &mut Vec<Error>) {
    const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
    const FORMATS: [&str; 8] = [
        "byte",
        "date",
        "date-time",
        "double",
        "float",
        "int32",
        "int64",
        "password",
    ];
    for (at, column) in version.list_at(&["additionalPrinterColumns"]).iter().enumerate() {
        let path = format!("{path}[{at}]");
        if column.str_at(&["name"]).is_empty() {
            errors.push(Error::required(format!("{path}.name"), ""));
        }
        let kind = column.str_at(&["type"]);
        let detail = format!("must be one of {}", TYPES.join(","));
        if kind.is_empty() {
            errors.push(Error::required(format!("{path}.type"), detail));
        } else if !TYPES.contains(&kind) {
            errors.push(Error::invalid(format!("{path}.type"), &Value::str(kind), detail));
        }
        let format = column.str_at(&["format"]);
        if !format.is_empty() && !FORMATS.contains(&format) {
            let detail = format!("must be one of {}", FORMATS.join(","));
            errors.push(Error::invalid(
                format!("{path}.format"),
                &Value::str(format),
                detail,
            ));
        }
        match column.str_at(&["jsonPath"]) {
            "" => errors.push(Error::required(format!("{path}.JSONPath"), "")),
            text => errors.extend(simple_path(text, &format!("{path}.JSONPath"))),
        }
    }
}

/// Fields that can be selected by.
pub(super) fn selectable(version: &Value, path: &str, errors: &mut Vec<Error>) {
    const MOST: usize = 8;
    let fields = version.list_at(&["selectableFields"]);
    let Some(schema) = version
        .at(&["schema", "openAPIV3Schema"])
        .filter(|_| !fields.is_empty())
    else {
        return;
    };
    let schema = Node::read(schema);
    let mut seen: Vec<String> = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let path = format!("{path}[{at}].jsonPath");
        let text = field.str_at(&["jsonPath"]);
        let mut invalid =
            |detail: String| errors.push(Error::invalid(path.as_str(), &Value::str(text), detail));
        if text.is_empty() {
            errors.push(Error::required(path, ""));
            continue;
        }
        let (found, node) = match follow(text, &schema, false) {
            Ok(found) => found,
            Err(why) => {
                invalid(format!("is an invalid path: {why}"));
                continue;
            }
        };
        if found.split('.').next() == Some("metadata") {
            invalid("must not point to fields in metadata".into());
        }
        if !node.is_some_and(|node| matches!(node.kind, Kind::String | Kind::Boolean | Kind::Integer)) {
            invalid(
                "must point to a field of type string, boolean or integer. Enum string fields and strings with \
                 formats are allowed."
                    .into(),
            );
        }
        match seen.contains(&found) {
            true => errors.push(Error::duplicate(path, &Value::str(text))),
            false => seen.push(found),
        }
    }
    if seen.len() > MOST {
        errors.push(Error::too_many(path, seen.len() as i64, MOST as i64));
    }
}

fn simple_path(text: &str, path: &str) -> Option<Error> {
    let detail = "must be a simple json path starting with .";
    (!text.starts_with('.')).then(|| Error::invalid(path, &Value::str(text), detail))
}
