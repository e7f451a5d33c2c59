//! What a controller says against objects, in words for the person who wrote the files: with file and line, with a remedy, and
//! without what is secret.

use std::path::Path;

use model::{ObjectKey, Value};
use yaml::Step;

use super::index::Index;

/// Messages are cut here: some quote whole objects.
const LONGEST: usize = 600;

/// The words by which a controller goes on after the name of an object.
const REFUSALS: [&str; 3] = ["dry-run failed", "not found: ", "namespace not specified: "];

/// All that a message says, one text for each thing that is wrong.
pub(super) fn problems(message: &str, folder: Option<&Path>, index: &Index) -> Vec<String> {
    let mut pieces = pieces(message);
    let mut told = Vec::new();
    let overlays = index.overlays();
    if overlays.len() > 1 && pieces.iter().any(|piece| is_clash_of_overlays(piece)) {
        pieces.retain(|piece| !is_clash_of_overlays(piece));
        told.push(format!(
            "there are several kustomizations here which make the same objects; choose one: --path {}",
            overlays.join("|")
        ));
    }
    told.extend(pieces.into_iter().map(|piece| match about(piece) {
        Some((key, why)) => refusal(&key, why, folder, index),
        None => shortened(&placed(piece, folder, index)),
    }));
    told
}

/// Whether two kustomizations are in each other's way that nobody but we have put together.
fn is_clash_of_overlays(piece: &str) -> bool {
    piece.contains("already registered id")
        && piece.contains("kustomization that is generated for the directory")
}

/// The single things that a message is about: lines of a build, and refusals one after the other.
fn pieces(message: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for line in message.lines().filter(|line| !line.trim().is_empty()) {
        let mut start = 0;
        for (at, separator) in line.match_indices("; ") {
            let after = at + separator.len();
            if about(&line[after..]).is_some() {
                pieces.push(&line[start..at]);
                start = after;
            }
        }
        pieces.push(&line[start..]);
    }
    pieces
}

/// The object that a refusal is about, and what is said of it.
fn about(text: &str) -> Option<(ObjectKey, &str)> {
    let (name, why) = text.split_once(' ')?;
    if !REFUSALS.iter().any(|words| why.starts_with(words)) {
        return None;
    }
    let mut parts = name.split('/');
    let kind = parts.next()?;
    let (namespace, name) = match (parts.next()?, parts.next()) {
        (namespace, Some(name)) => (namespace, name),
        (name, None) => ("", name),
    };
    let key = ObjectKey {
        group: "".into(),
        kind: kind.into(),
        namespace: namespace.into(),
        name: name.into(),
    };
    Some((key, why))
}

fn refusal(key: &ObjectKey, why: &str, folder: Option<&Path>, index: &Index) -> String {
    let names = fields(why);
    let place = index.place_of_kind(key, |object| {
        let steps = names.iter().map(|name| path(name, object));
        steps.max_by_key(Vec::len).unwrap_or_default()
    });
    let place = place.map(|place| format!("{}: ", in_folder(&place, folder)));
    let place = place.unwrap_or_default();
    if key.kind == "Secret" && !why.starts_with("not found") {
        return format!("{place}{key}: {}", without_values(&names));
    }
    let mut text = shortened(why);
    if why.contains("field is immutable") {
        text.push_str(
            "\n  it cannot be changed in place: give it another name, or delete it in the cluster, and it is made anew",
        );
    }
    if why.starts_with("namespace not specified") {
        text.push_str("\n  write metadata.namespace into the file");
    }
    format!("{place}{key}: {text}")
}

/// What is wrong with a Secret. The API quotes what it refuses, so its own words are not shown.
fn without_values(fields: &[String]) -> String {
    if fields.is_empty() {
        return "the API refuses it; what it says may hold secret values and is not shown".into();
    }
    let fields: Vec<String> = fields.iter().map(|name| plain(name)).collect();
    format!(
        "the API refuses {}; what it says may hold secret values and is not shown. Values of `stringData` must be \
         strings (quote numbers and booleans), those of `data` base64",
        fields.join(", ")
    )
}

/// The name of a field without what may be quoted in it.
fn plain(name: &str) -> String {
    let end = name.find(|letter: char| !(letter.is_alphanumeric() || "._-/[]".contains(letter)));
    name[..end.unwrap_or(name.len())].to_owned()
}

/// The fields that a message is about.
fn fields(why: &str) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(rest) = why.split_once(" is invalid: ").map(|(_, rest)| rest) {
        let rest = rest.trim_start_matches('[');
        let parts = rest.split(", ").filter_map(|part| part.split_once(": "));
        let found = parts.map(|(name, _)| name).filter(|name| is_field(name));
        names.extend(found.map(str::to_owned));
    }
    names.extend(between(why, "): .", ": ").map(str::to_owned));
    names.extend(between(why, "unknown field \"", "\"").map(str::to_owned));
    names.dedup();
    names
}

fn is_field(name: &str) -> bool {
    !name.is_empty() && !name.contains(' ') && name.starts_with(|letter: char| letter.is_ascii_lowercase())
}

/// A text in which files are named as the user knows them.
fn placed(text: &str, folder: Option<&Path>, index: &Index) -> String {
    let mut shown = String::with_capacity(text.len());
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 {
            shown.push(' ');
        }
        let inner = word.trim_start_matches(['(', '\'', '"']);
        let path = inner.split(':').next().unwrap_or_default();
        let path = path.trim_end_matches([')', '\'', '"', ',', ';']);
        if index.has_file(path) {
            shown.push_str(&word[..word.len() - inner.len()]);
            shown.push_str(&in_folder(&within(inner, path, index), folder));
        } else {
            shown.push_str(word);
        }
    }
    shown
}

/// `web.yaml:58: no`, with a line that is there: where a file ends too early, the one after its last is named.
fn within(word: &str, path: &str, index: &Index) -> String {
    let rest = word[path.len()..].strip_prefix(':').unwrap_or_default();
    let end = rest.find(|letter: char| !letter.is_ascii_digit());
    let (digits, after) = rest.split_at(end.unwrap_or(rest.len()));
    match (digits.parse::<usize>(), index.lines(path)) {
        (Ok(line), Some(lines)) if line > lines => format!("{path}:{}{after}", lines.max(1)),
        _ => word.to_owned(),
    }
}

pub(super) fn in_folder(place: &str, folder: Option<&Path>) -> String {
    match folder {
        Some(folder) if folder != Path::new(".") => folder.join(place).display().to_string(),
        _ => place.to_owned(),
    }
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
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

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn shown(name: &str, object: &Value) -> String {
        let mut text = String::new();
        for step in path(name, object) {
            match step {
                Step::Key(key) => text.push_str(&format!(".{key}")),
                Step::Item(at) => text.push_str(&format!("[{at}]")),
            }
        }
        text
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
    fn a_message_is_taken_apart() {
        let message = "Deployment/shop/web dry-run failed (Invalid): no; really; no; ConfigMap/shop/page dry-run failed: x\nsecond line";
        assert_eq!(
            pieces(message),
            [
                "Deployment/shop/web dry-run failed (Invalid): no; really; no",
                "ConfigMap/shop/page dry-run failed: x",
                "second line"
            ]
        );
    }

    #[test]
    fn no_line_is_named_that_a_file_does_not_have() {
        let index = Index::of_texts(&[("web.yaml", "a:\n  b: [1,\n")]);
        for (message, told) in [
            ("web.yaml:3: it ends too early", "web.yaml:2: it ends too early"),
            ("web.yaml:2: no", "web.yaml:2: no"),
            ("('web.yaml:9')", "('web.yaml:2')"),
            ("other.yaml:9: no", "other.yaml:9: no"),
        ] {
            assert_eq!(problems(message, None, &index), [told]);
        }
    }

    #[test]
    fn the_fields_that_a_refusal_names_are_found() {
        for (why, names) in [
            (
                "dry-run failed (Invalid): Deployment.apps \"web\" is invalid: spec.replicas: Invalid value: -1: must be positive",
                vec!["spec.replicas"],
            ),
            (
                "dry-run failed (Invalid): Service \"a\" is invalid: [spec.ports[0].port: Required value, spec.type: Unsupported value: \"x\"]",
                vec!["spec.ports[0].port", "spec.type"],
            ),
            (
                "dry-run failed: failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.imagee: field not declared in schema",
                vec!["spec.imagee"],
            ),
            ("dry-run failed (Forbidden): no", vec![]),
        ] {
            assert_eq!(fields(why), names, "{why}");
        }
    }

    #[test]
    fn no_value_of_a_secret_is_told() {
        let message = "Secret/d/a dry-run failed: failed to create typed patch object (d/a; /v1, Kind=Secret): .stringData.password: expected string, got &value.valueUnstructured{Value:12345678}";
        let told = problems(message, None, &Index::default()).join("\n");
        assert!(
            told.contains("stringData.password") && !told.contains("12345678"),
            "{told}"
        );
        let told = problems(
            "Secret/d/a dry-run failed (Invalid): expected map, got &{geheim}",
            None,
            &Index::default(),
        );
        assert!(!told[0].contains("geheim"), "{told:?}");
    }
}
