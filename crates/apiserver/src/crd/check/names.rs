//! The names a definition asks for.

use model::Value;

use super::label;
use crate::builtin::validate::name;
use crate::field::Error;

/// A definition is named after what it defines.
pub(super) fn of_object(crd: &Value, errors: &mut Vec<Error>) {
    let found = crd.str_at(&["metadata", "name"]);
    let wanted = format!(
        "{}.{}",
        crd.str_at(&["spec", "names", "plural"]),
        crd.str_at(&["spec", "group"])
    );
    // Names that are none at all are told by whoever checks the metadata.
    if found != wanted && !found.is_empty() {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        errors.push(Error::invalid("metadata.name", &Value::str(found), detail));
    }
}

/// The names in the spec: some must be there, all must be well formed.
pub(super) fn of_spec(crd: &Value, errors: &mut Vec<Error>) {
    let Some(names) = crd.at(&["spec", "names"]).filter(|names| !names.is_null()) else {
        for field in ["plural", "singular", "kind", "listKind"] {
            errors.push(Error::required(format!("spec.names.{field}"), ""));
        }
        return;
    };
    for field in ["plural", "singular", "kind", "listKind"] {
        if names.str_at(&[field]).is_empty() {
            errors.push(Error::required(format!("spec.names.{field}"), ""));
        }
    }
    check(names, "spec.names", errors);
}

/// The names that were accepted.
pub(super) fn accepted(crd: &Value, errors: &mut Vec<Error>) {
    if let Some(names) = crd.at(&["status", "acceptedNames"]) {
        check(names, "status.acceptedNames", errors);
    }
}

fn check(names: &Value, path: &str, errors: &mut Vec<Error>) {
    for field in ["plural", "singular"] {
        let text = names.str_at(&[field]);
        if !text.is_empty() {
            label(&format!("{path}.{field}"), text, errors);
        }
    }
    for field in ["kind", "listKind"] {
        let text = names.str_at(&[field]);
        let problems = name::label_1035(&text.to_lowercase());
        if !text.is_empty() && !problems.is_empty() {
            let detail = format!(
                "may have mixed case, but should otherwise match: {}",
                problems.join(",")
            );
            errors.push(Error::invalid(
                format!("{path}.{field}"),
                &Value::str(text),
                detail,
            ));
        }
    }
    let all = |field: &str, errors: &mut Vec<Error>| {
        for (at, name) in names.list_at(&[field]).iter().enumerate() {
            label(
                &format!("{path}.{field}[{at}]"),
                name.as_str().unwrap_or_default(),
                errors,
            );
        }
    };
    all("shortNames", errors);
    let (kind, list_kind) = (names.str_at(&["kind"]), names.str_at(&["listKind"]));
    if !kind.is_empty() && kind == list_kind {
        let detail = "kind and listKind may not be the same";
        errors.push(Error::invalid(
            format!("{path}.listKind"),
            &Value::str(list_kind),
            detail,
        ));
    }
    all("categories", errors);
}
