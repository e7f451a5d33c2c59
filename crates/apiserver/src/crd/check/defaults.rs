//! Whether defaults are values of what they are defaults of.

use crate::crd::schema::Node;
use crate::crd::{cel, prune, validate};
use crate::field::Error;

/// All defaults that their own schema does not allow.
pub(super) fn check(schema: &Node, path: &str) -> Vec<Error> {
    let functions = cel::Functions::new();
    let mut errors = Vec::new();
    walk(schema, path, true, &functions, &mut errors);
    errors
}

fn walk(schema: &Node, path: &str, resource: bool, functions: &cel::Functions, errors: &mut Vec<Error>) {
    if let Some(default) = &schema.default {
        let path = format!("{path}.default");
        if !prune::is_pruned(default, schema) {
            errors.push(Error::invalid(
                path.as_str(),
                default,
                "must not have unknown fields",
            ));
        }
        let mut wrong = validate::default(default, schema, &path);
        if wrong.is_empty() {
            wrong = cel::update(default, default, schema, functions, &path);
        }
        if wrong.is_empty() {
            wrong = cel::create(default, schema, functions, &path);
        }
        errors.extend(wrong);
    }
    if let Some(items) = &schema.items {
        walk(items, &format!("{path}.items"), items.embedded, functions, errors);
    }
    for (name, field) in &schema.fields {
        // What is inside of metadata is checked when objects are.
        if resource && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") {
            continue;
        }
        walk(
            field,
            &format!("{path}.properties[{name}]"),
            field.embedded,
            functions,
            errors,
        );
    }
}
