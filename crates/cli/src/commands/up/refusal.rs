//! What the API says against an object, in words for the person who wrote the file: with the line, with a remedy, and
//! without what is secret.

use kube::core::Status;
use model::{ObjectKey, Value};
use yaml::Step;

use super::files::Place;

/// Messages are cut here: some quote whole objects.
const LONGEST: usize = 500;

/// Why an object was not taken.
pub(super) fn of(error: &kube::Error, key: &ObjectKey, object: &Value, place: &Place) -> String {
    let kube::Error::Api(status) = error else {
        return format!("{place}: {error}");
    };
    let fields = fields(status, object);
    let place = place.of_field(fields.first().map_or(&[], Vec::as_slice));
    if key.group.is_empty() && key.kind == "Secret" {
        return format!("{place}: {}", without_values(status, &fields));
    }
    let mut text: String = status.message.chars().take(LONGEST).collect();
    if text.len() < status.message.len() {
        text.push('…');
    }
    if status.message.contains("field is immutable") {
        text.push_str("\n          it cannot be changed in place: give it another name, or delete it in the cluster, and it is made anew");
    }
    format!("{place}: {text}")
}

/// What is wrong with a Secret. The API quotes what it refuses, so its own words are not shown.
fn without_values(status: &Status, fields: &[Vec<Step>]) -> String {
    if !matches!(status.code, 400 | 422 | 500) {
        return status.message.clone();
    }
    let fields: Vec<String> = fields.iter().map(|path| show(path)).collect();
    if fields.is_empty() {
        return "the API refuses it; what it says may hold secret values and is not shown".into();
    }
    format!(
        "the API refuses {}; what it says may hold secret values and is not shown. Values of `stringData` must be \
         strings (quote numbers and booleans), those of `data` base64",
        fields.join(", ")
    )
}

/// The fields that the answer is about, as far as they are in the object or just below something that is.
fn fields(status: &Status, object: &Value) -> Vec<Vec<Step>> {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut names: Vec<&str> = causes
        .map(|cause| cause.field.as_str())
        .filter(|field| !field.is_empty() && *field != "<nil>")
        .collect();
    if names.is_empty() {
        names.extend(between(&status.message, "): .", ": "));
        names.extend(between(&status.message, "unknown field \"", "\""));
    }
    let mut paths: Vec<Vec<Step>> = names.iter().map(|name| path(name, object)).collect();
    paths.retain(|path| !path.is_empty());
    paths.dedup();
    paths
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

/// Reads `spec.containers[name="web"].ports[0]`: as far as the object has what it names, and one step more.
fn path(name: &str, object: &Value) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut here = Some(object);
    let mut rest = name.trim_start_matches('.');
    while let (Some(value), false) = (here, rest.is_empty()) {
        let step = if let Some(inside) = rest.strip_prefix('[') {
            let Some((index, after)) = inside.split_once(']') else {
                break;
            };
            rest = after.trim_start_matches('.');
            bracket(index, value)
        } else {
            // Keys may hold dots: the longest one that is there is meant.
            let known = value.as_object().into_iter().flat_map(|map| map.iter());
            let longest = known
                .map(|(key, _)| key)
                .filter(|key| {
                    rest.strip_prefix(*key)
                        .is_some_and(|after| after.is_empty() || after.starts_with(['.', '[']))
                })
                .max_by_key(|key| key.len());
            let end = longest.map_or_else(|| rest.find(['.', '[']).unwrap_or(rest.len()), str::len);
            let (key, after) = rest.split_at(end);
            rest = after.trim_start_matches('.');
            Some(Step::Key(key.to_owned()))
        };
        let Some(step) = step else { break };
        here = match &step {
            Step::Key(key) => value.get(key),
            Step::Item(at) => value.as_array().and_then(|list| list.get(*at)),
        };
        steps.push(step);
    }
    steps
}

/// What stands in brackets: a number, the keys of an element, or the key of a map.
fn bracket(text: &str, value: &Value) -> Option<Step> {
    let Some(list) = value.as_array() else {
        return Some(Step::Key(text.trim_matches('"').to_owned()));
    };
    if let Ok(number) = text.parse() {
        return Some(Step::Item(number));
    }
    let wanted: Vec<(&str, &str)> = text
        .split(',')
        .filter_map(|pair| pair.split_once('='))
        .map(|(key, value)| (key, value.trim_matches('"')))
        .collect();
    let at = list.iter().position(|item| {
        let shown = |key: &str| {
            item.get(key).map(|value| match value {
                Value::Str(text) => text.to_string(),
                other => model::json::to_string(other),
            })
        };
        // Defaults, such as a protocol, need not be in the object.
        wanted
            .iter()
            .all(|(key, value)| shown(key).is_none_or(|shown| shown == *value))
    })?;
    Some(Step::Item(at))
}

fn show(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
            Step::Item(at) => text.push_str(&format!("[{at}]")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn shown(name: &str, object: &Value) -> String {
        show(&path(name, object))
    }

    #[test]
    fn names_of_fields_are_read_along_the_object() {
        let object = value!({
            "metadata": {"labels": {"a.b/c": "x"}},
            "spec": {"containers": [{"name": "a"}, {"name": "web", "ports": [{"containerPort": 80}]}]},
        });
        for (name, expected) in [
            ("spec.containers[1].ports[0].x", ".spec.containers[1].ports[0].x"),
            (
                ".spec.containers[name=\"web\"].imagee",
                ".spec.containers[1].imagee",
            ),
            (
                "spec.containers[1].ports[containerPort=80,protocol=\"TCP\"].x",
                ".spec.containers[1].ports[0].x",
            ),
            ("metadata.labels.a.b/c", ".metadata.labels.a.b/c"),
            ("metadata.labels[a.b/c]", ".metadata.labels.a.b/c"),
            ("spec.nothing.below.it", ".spec.nothing"),
            ("spec.containers[9].x", ".spec.containers[9]"),
            ("", ""),
        ] {
            assert_eq!(shown(name, &object), expected, "{name}");
        }
    }

    #[test]
    fn no_value_of_a_secret_is_told() {
        let object = value!({"stringData": {"password": 12345678}});
        let message = "failed to create typed patch object (d/a; /v1, Kind=Secret): .stringData.password: expected string, got &value.valueUnstructured{Value:12345678}";
        let status = Status {
            code: 500,
            ..Status::failure(message, "")
        };
        let text = without_values(&status, &fields(&status, &object));
        assert!(
            text.contains(".stringData.password") && !text.contains("12345678"),
            "{text}"
        );
        let status = Status {
            code: 500,
            ..Status::failure("expected map, got &{geheim}", "")
        };
        let text = without_values(&status, &fields(&status, &object));
        assert!(!text.contains("geheim"), "{text}");
    }
}
