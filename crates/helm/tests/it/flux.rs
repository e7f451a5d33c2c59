//! What Flux's own code makes of the same: `tests/data/flux/golden_test.go` wrote the answers.

use std::fs;

use helm::chart::{Chart, Limits, MemoryTree};
use helm::digest;
use helm::record::{Record, StoredChart};
use helm::values::references::{Found, Reference, compose};
use helm::{HelmVersion, dependencies, values};
use model::digest::Algorithm;
use model::{Map, Value};

pub(crate) fn data(name: &str) -> Value {
    let path = format!("{}/tests/data/flux/{name}", env!("CARGO_MANIFEST_DIR"));
    model::json::parse(&fs::read(path).unwrap()).unwrap()
}

fn map(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        other => panic!("{other:?} is no map"),
    }
}

fn given(text: &str) -> Map {
    let mut read = values::read(text.as_bytes()).unwrap();
    values::floats(&mut read);
    map(read)
}

#[test]
fn digests_of_values_are_those_of_flux() {
    let cases = data("values.json");
    let cases = cases.as_array().unwrap();
    assert!(cases.len() > 100);
    let mut wrong = Vec::new();
    for case in cases {
        let values = given(case.str_at(&["values"]));
        let encoded = digest::encode_values(&values);
        if encoded != case.str_at(&["encoded"]) {
            wrong.push(format!(
                "{:?}: {encoded:?}, not {:?}",
                case.str_at(&["values"]),
                case.str_at(&["encoded"])
            ));
            continue;
        }
        let found = digest::of_values(Algorithm::Sha256, &values).to_string();
        assert_eq!(found, case.str_at(&["digest"]));
        assert!(digest::values_match(&found, &values));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn releases_are_stored_and_observed_as_by_helm_and_flux() {
    for case in data("releases.json").as_array().unwrap() {
        let record = Record::from_json(case.str_at(&["release"]).as_bytes()).unwrap();
        let oci_digest = case.str_at(&["ociDigest"]);
        // A release without any info is none that Helm writes.
        if record.name != "bare" {
            assert_eq!(
                String::from_utf8(record.to_json()).unwrap(),
                case.str_at(&["stored"])
            );
        }
        let stored = Record::from_json(case.str_at(&["stored"]).as_bytes()).unwrap();
        assert_eq!(stored, record);
        let observed = digest::observed_json(&record, oci_digest);
        assert_eq!(String::from_utf8(observed).unwrap(), case.str_at(&["observed"]));
        let found = digest::of_record(Algorithm::Sha256, &record, oci_digest).to_string();
        assert_eq!(found, case.str_at(&["digest"]));
        assert_eq!(digest::record_matches(&found, &record, oci_digest), Some(true));
        assert_eq!(digest::record_matches(&found, &record, "other"), Some(false));
        assert_eq!(digest::record_matches("nonsense", &record, oci_digest), None);
    }
}

#[test]
fn digests_of_post_renderers_and_common_metadata_are_those_of_flux() {
    let cases = data("postrender.json");
    for case in cases.list_at(&["postRenderers"]) {
        let value = model::json::parse(case.str_at(&["value"]).as_bytes()).unwrap();
        let found = digest::of_post_renderers(Some(&value));
        assert_eq!(found, case.str_at(&["digest"]), "{}", case.str_at(&["value"]));
    }
    for case in cases.list_at(&["commonMetadata"]) {
        let value = model::json::parse(case.str_at(&["value"]).as_bytes()).unwrap();
        let found = digest::of_common_metadata(Some(&value));
        assert_eq!(found, case.str_at(&["digest"]), "{}", case.str_at(&["value"]));
    }
    assert_eq!(digest::of_post_renderers(None), "");
    assert_eq!(digest::of_common_metadata(None), "");
}

#[test]
fn charts_are_stored_as_by_helm() {
    for case in data("charts.json").as_array().unwrap() {
        let files = case.get("files").and_then(Value::as_object).unwrap();
        let tree = MemoryTree::new(files.iter().map(|(path, text)| (path, text.as_str().unwrap())));
        let mut chart = Chart::from_tree(&tree, "", &Limits::default()).unwrap();
        let mut values = case.get("values").cloned().unwrap();
        values::floats(&mut values);
        dependencies::process(&mut chart, &map(values), HelmVersion::V4, &mut Vec::new()).unwrap();
        let record = Record {
            chart: Some(StoredChart::from(&chart)),
            ..Record::default()
        };
        let stored = String::from_utf8(record.to_json()).unwrap();
        let wanted = format!(r#"{{"info":{{}},"chart":{}}}"#, case.str_at(&["chart"]));
        assert_eq!(stored, wanted);
    }
}

#[test]
fn values_of_references_are_composed_as_by_flux() {
    let cases = data("references.json");
    let objects = cases.get("objects").unwrap();
    let mut wrong = Vec::new();
    for case in cases.list_at(&["cases"]) {
        let flag = |value: &Value, key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
        let references: Vec<Reference> = case
            .list_at(&["from"])
            .iter()
            .map(|from| {
                let mut reference = Reference {
                    kind: from.str_at(&["kind"]).to_owned(),
                    name: from.str_at(&["name"]).to_owned(),
                    key: from.str_at(&["valuesKey"]).to_owned(),
                    target_path: from.str_at(&["targetPath"]).to_owned(),
                    optional: flag(from, "optional"),
                    literal: flag(from, "literal"),
                    found: Found::NoObject,
                };
                let object = format!("{}/{}", reference.kind, reference.name);
                if let Some(object) = objects.get(&object) {
                    reference.found = match object.get(reference.key()).and_then(Value::as_str) {
                        Some(text) => Found::Text(text.as_bytes().to_vec()),
                        None => Found::NoKey,
                    };
                }
                reference
            })
            .collect();
        let inline = given(case.str_at(&["values"]));
        let found = match compose("shop", &references, &inline) {
            Ok(values) if values.is_empty() => "{}\n".to_owned(),
            Ok(values) => digest::encode_values(&values),
            Err(error) => error.to_string(),
        };
        let wanted = match case.str_at(&["error"]) {
            "" => case.str_at(&["result"]),
            error => error,
        };
        if found != wanted {
            let from = model::json::to_string(case.get("from").unwrap());
            wrong.push(format!(
                "{:?} {from}:\n{found}, not\n{wanted}",
                case.str_at(&["values"])
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
