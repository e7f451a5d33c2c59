//! Built-in kinds against what a real API server (v1.35.8) answered to the same requests.
//!
//! The requests are files in `tests/data/builtin`; `cargo xtask generate answers` asks a real server anew and writes
//! `answers.json` there.

mod hostile;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use apiserver::builtin::{Kinds, admission, convert, service};
use apiserver::catalog::Catalog;
use apiserver::strategy::{Part, Strategy};
use model::{Value, json};
use smd::Schema;
use smd::schema::Gvk;

/// All requests with their answers, by name.
fn cases() -> BTreeMap<String, (Value, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/builtin");
    let answers = json::parse(&std::fs::read(folder.join("answers.json")).unwrap()).unwrap();
    let mut cases = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name != "answers" {
            let case = json::parse(&std::fs::read(&path).unwrap()).unwrap();
            let answer = answers
                .get(&name)
                .unwrap_or_else(|| panic!("no answer to {name}"))
                .clone();
            cases.insert(name, (case, answer));
        }
    }
    assert_eq!(
        cases.len(),
        answers.as_object().unwrap().len(),
        "there are answers that nothing asks for"
    );
    cases
}

/// Hands out the addresses and ports that stand in the answers.
struct Fixed(i64);

impl service::Allocator for Fixed {
    fn address(&mut self) -> String {
        "10.0.0.1".to_owned()
    }

    fn node_port(&mut self) -> i64 {
        self.0 += 1;
        30000 + self.0
    }
}

/// The kind that requests to a path are about, and whether it lives in a namespace.
fn kind(catalog: &Catalog, path: &str) -> (Gvk, bool) {
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (group, version, rest) = match parts[..] {
        ["api", version, ref rest @ ..] => ("", version, rest),
        ["apis", group, version, ref rest @ ..] => (group, version, rest),
        _ => panic!("{path} is no path of an API"),
    };
    let plural = rest.last().unwrap();
    let resource = catalog
        .lookup(group, version, plural)
        .unwrap_or_else(|| panic!("no resource {plural}"));
    let gvk = Gvk {
        group: group.into(),
        version: version.into(),
        kind: resource.kind.clone(),
    };
    (gvk, resource.namespaced)
}

/// One kind with what the server around it does.
struct Server {
    catalog: Catalog,
    kinds: Kinds,
}

impl Server {
    fn new() -> Self {
        Server {
            catalog: Catalog::builtin(),
            kinds: Kinds::new(&Schema::builtin()),
        }
    }

    fn strategy(&self, gvk: &Gvk) -> Arc<dyn Strategy> {
        self.kinds.strategy(&gvk.group, &gvk.version, &gvk.kind).unwrap()
    }

    /// Reads what a client sent to `path`.
    fn read(&self, path: &str, given: &Value, strict: bool) -> Result<Value, String> {
        let (gvk, namespaced) = kind(&self.catalog, path);
        let mut object = given.clone();
        let unknown = self
            .strategy(&gvk)
            .decode(&mut object)
            .map_err(|error| error.message)?;
        if strict && !unknown.is_empty() {
            let unknown: Vec<_> = unknown
                .iter()
                .map(|path| format!("unknown field {path:?}"))
                .collect();
            let Gvk { kind, version, .. } = &gvk;
            return Err(format!(
                "{kind} in version {version:?} cannot be handled as a {kind}: strict decoding error: {}",
                unknown.join(", ")
            ));
        }
        object.set_at(&["kind"], gvk.kind.as_str());
        let api_version = apiserver::catalog::api_version(&gvk.group, &gvk.version);
        object.set_at(&["apiVersion"], api_version.as_str());
        if namespaced {
            object.set_at(&["metadata", "namespace"], "default");
        }
        self.strategy(&gvk).default(&mut object);
        Ok(object)
    }

    fn create(&self, path: &str, mut object: Value) -> Value {
        let (gvk, _) = kind(&self.catalog, path);
        object.set_at(&["metadata", "uid"], "UID");
        object.set_at(&["metadata", "creationTimestamp"], "TIME");
        match gvk.kind.as_str() {
            "Pod" => {
                admission::service_account(&mut object, None);
                admission::default_tolerations(&mut object);
                admission::priority(&mut object, None).unwrap();
            }
            "Node" => admission::not_ready_taint(&mut object),
            kind => admission::storage_protection(kind, &mut object),
        }
        self.strategy(&gvk).prepare_create(&mut object);
        if gvk.kind == "Service" {
            service::allocate(&mut object, &mut Fixed(0));
        }
        object
    }

    fn update(&self, path: &str, part: Part, mut object: Value, old: &Value) -> Value {
        let (gvk, _) = kind(&self.catalog, path);
        for key in ["uid", "creationTimestamp"] {
            object.set_at(&["metadata", key], old.at(&["metadata", key]).unwrap().clone());
        }
        self.strategy(&gvk).prepare_update(part, &mut object, old);
        if gvk.kind == "Service" && part == Part::Main {
            service::reallocate(&mut object, old, &mut Fixed(10));
        }
        object
    }
}

/// Where two trees differ.
fn differences(ours: &Value, theirs: &Value, path: &str, found: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&str> = a.keys().chain(b.keys()).collect();
            for key in keys {
                let path = format!("{path}.{key}");
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => differences(a, b, &path, found),
                    (Some(a), None) => found.push(format!("{path}: we have {}", json::to_string(a))),
                    (None, Some(b)) => found.push(format!("{path}: we lack {}", json::to_string(b))),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differences(a, b, &format!("{path}[{at}]"), found);
            }
        }
        (a, b) if a == b => {}
        (a, b) => found.push(format!(
            "{path}: {} and not {}",
            json::to_string(a),
            json::to_string(b)
        )),
    }
}

#[test]
fn the_answers_are_those_of_the_real_server() {
    let server = Server::new();
    let mut wrong = Vec::new();
    let cases = cases();
    for (name, (case, answer)) in &cases {
        let path = case.str_at(&["path"]);
        if case.get("as").is_some() {
            continue;
        }
        let read = server.read(path, case.get("given").unwrap(), case.get("strict").is_some());
        let mut found = Vec::new();
        match (read, answer.get("error")) {
            (Err(ours), Some(theirs)) if Some(ours.as_str()) == theirs.as_str() => {}
            (Err(ours), theirs) => found.push(format!("we refuse: {ours}, they: {theirs:?}")),
            (Ok(_), Some(theirs)) => found.push(format!("we do not refuse: {theirs:?}")),
            (Ok(object), None) => {
                let ours = match (answer.get("old"), case.str_at(&["subresource"])) {
                    (None, _) => server.create(path, object),
                    (Some(old), "status") => server.update(path, Part::Status, object, old),
                    (Some(old), _) => server.update(path, Part::Main, object, old),
                };
                differences(&ours, answer.get("answer").unwrap(), "", &mut found);
            }
        }
        if !found.is_empty() {
            wrong.push(format!("{name}\n  {}", found.join("\n  ")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} agree:\n{}",
        cases.len() - wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

#[test]
fn other_versions_are_those_of_the_real_server() {
    let catalog = Catalog::builtin();
    let mut wrong = Vec::new();
    for (name, (case, answer)) in cases() {
        let Some(other) = case.get("as").and_then(Value::as_str) else {
            continue;
        };
        let (from, to) = (kind(&catalog, case.str_at(&["path"])).0, kind(&catalog, other).0);
        let mut object = answer.get("old").unwrap().clone();
        assert!(convert::convert(&mut object, &from, &to), "{name}");
        let mut found = Vec::new();
        differences(&object, answer.get("answer").unwrap(), "", &mut found);
        if !found.is_empty() {
            wrong.push(format!("{name}\n  {}", found.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn decoding_and_defaulting_again_changes_nothing() {
    let server = Server::new();
    for (name, (case, answer)) in cases() {
        let Some(answer) = answer.get("answer") else {
            continue;
        };
        let path = case
            .get("as")
            .or(case.get("path"))
            .and_then(Value::as_str)
            .unwrap();
        let strategy = server.strategy(&kind(&server.catalog, path).0);
        let mut again = answer.clone();
        blank_times(&mut again);
        let before = again.clone();
        let unknown = strategy
            .decode(&mut again)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        strategy.default(&mut again);
        let mut found = Vec::new();
        differences(&again, &before, "", &mut found);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

/// Puts a real time where the recorder masked one.
fn blank_times(value: &mut Value) {
    match value {
        Value::Str(text) if text == "TIME" => *value = Value::str("2024-01-01T00:00:00Z"),
        Value::Array(items) => items.iter_mut().for_each(blank_times),
        Value::Object(map) => map.iter_mut().for_each(|(_, value)| blank_times(value)),
        _ => {}
    }
}
