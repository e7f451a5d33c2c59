//! Requests that were sent to a real API server (v1.35), and its answers.
//!
//! Each line of a recording is one request: the live object before it, what was sent, and the response. The recordings
//! in `recorded/` are part of the tests; a directory with more of them is replayed too when the variable
//! `SLUICE_SMD_RECORDINGS` names one.

mod compare;

use std::path::{Path, PathBuf};

use model::{Value, json};
use smd::managed::{self, ApplyError, OnConflict, Origin, Reset, Typing, Version, Write};
use smd::schema::{Gvk, UnknownFields};
use smd::{Schema, TypeRef};

/// One recorded request.
struct Exchange {
    record: Value,
}

impl Exchange {
    fn text(&self, name: &str) -> &str {
        self.record.str_at(&[name])
    }

    fn live(&self) -> Option<&Value> {
        self.record.get("live").filter(|live| !live.is_null())
    }

    fn request(&self) -> &Value {
        self.record.get("request").unwrap()
    }

    fn response(&self) -> &Value {
        self.record.get("response").unwrap()
    }

    fn code(&self) -> i64 {
        self.record.get("code").and_then(Value::as_i64).unwrap()
    }

    /// The time that the server took the request at, if it shows; else one that must not show.
    fn now(&self) -> &str {
        let times = self
            .response()
            .list_at(&["metadata", "managedFields"])
            .iter()
            .map(|entry| entry.str_at(&["time"]));
        let latest = times.max().unwrap_or_default();
        if latest >= self.text("started") {
            latest
        } else {
            "2099-01-01T00:00:00Z"
        }
    }
}

struct Kinds {
    builtin: Schema,
    gear_v1: Schema,
    gear_v2: Schema,
}

impl Kinds {
    fn new() -> Self {
        let builtin = Schema::builtin();
        let definition = json::parse(include_bytes!("gear.crd.json")).unwrap();
        let gear = |at: usize| {
            let version = &definition.list_at(&["spec", "versions"])[at];
            let gvk = gear_gvk(version.str_at(&["name"]));
            Schema::from_structural(
                version.at(&["schema", "openAPIV3Schema"]),
                gvk,
                UnknownFields::Prune,
                &builtin,
            )
        };
        let (gear_v1, gear_v2) = (gear(0), gear(1));
        Kinds {
            builtin,
            gear_v1,
            gear_v2,
        }
    }

    fn gear(&self, version: &str) -> TypeRef<'_> {
        let schema = if version == "v1" {
            &self.gear_v1
        } else {
            &self.gear_v2
        };
        TypeRef::new(schema, schema.kinds[&gear_gvk(version)])
    }
}

fn gear_gvk(version: &str) -> Gvk {
    Gvk {
        group: "smd.example.com".into(),
        version: version.into(),
        kind: "Gear".into(),
    }
}

fn reset(kind: &str, subresource: &str) -> Reset {
    match (kind, subresource) {
        ("Deployment", "status") => Reset::fields(&[&["spec"], &["metadata", "labels"]]),
        (_, "status") => Reset::fields(&[&["spec"]]),
        ("ConfigMap", _) => Reset::Nothing,
        _ => Reset::fields(&[&["status"]]),
    }
}

/// Replays one request; returns what differs.
fn replay(kinds: &Kinds, exchange: &Exchange) -> Result<(), String> {
    // The path of a request says what it is about, whatever its body says.
    let of = exchange.live().unwrap_or(exchange.request());
    let (api_version, kind) = (of.str_at(&["apiVersion"]), of.str_at(&["kind"]));
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let is_gear = kind == "Gear";
    let ty = match is_gear {
        true => kinds.gear(version),
        false => TypeRef::new(&kinds.builtin, kinds.builtin.kind(group, version, kind).unwrap()),
    };
    let gears = ["v1", "v2"].map(|name| (format!("smd.example.com/{name}"), kinds.gear(name)));
    let versions = gears
        .iter()
        .map(|(api_version, ty)| Version { api_version, ty: *ty });
    let other_versions: Vec<_> = versions
        .filter(|other| is_gear && other.api_version != api_version)
        .collect();
    let origin = if is_gear { Origin::Custom } else { Origin::BuiltIn };
    let typing = Typing {
        ty,
        api_version,
        kind,
        origin,
        other_versions: &other_versions,
    };
    let reset = reset(kind, exchange.text("subresource"));
    let write = Write {
        manager: exchange.text("manager"),
        subresource: exchange.text("subresource"),
        reset: &reset,
        now: exchange.now(),
    };
    match exchange.text("op") {
        "apply" => replay_apply(&typing, exchange, &write),
        _ => replay_update(&typing, exchange, &write),
    }
}

fn replay_apply(typing: &Typing<'_>, exchange: &Exchange, write: &Write<'_>) -> Result<(), String> {
    let force = exchange.record.get("force") == Some(&Value::Bool(true));
    let on_conflict = if force {
        OnConflict::Force
    } else {
        OnConflict::Fail
    };
    let result = managed::apply(typing, exchange.live(), exchange.request(), write, on_conflict);
    let code = match &result {
        Ok(_) => 200,
        Err(ApplyError::BadRequest(_)) => 400,
        Err(ApplyError::Conflicts(_)) => 409,
        Err(ApplyError::Untyped(_)) => 500,
    };
    let wanted = exchange.code();
    match (result, wanted) {
        (Ok(ours), 200 | 201) => {
            compare::managed_fields(exchange, &ours)?;
            compare::merged_object(typing, exchange, &ours)
        }
        // What later steps refuse is none of this crate's concern.
        (Ok(_), 403 | 404 | 422) => Ok(()),
        (Err(error), _) if code == wanted => compare::refusal(exchange.response(), &error),
        // The real server merges before it looks for unknown names of resources and the like.
        (result, _) => Err(format!("code {wanted}, ours {code}: {:?}", result.map(drop))),
    }
}

fn replay_update(typing: &Typing<'_>, exchange: &Exchange, write: &Write<'_>) -> Result<(), String> {
    if exchange.code() >= 300 {
        return Ok(());
    }
    let new = compare::before_preparation(exchange);
    let ours = managed::update(typing, exchange.live(), new, write);
    compare::managed_fields(exchange, &ours)
}

fn recordings() -> Vec<PathBuf> {
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/recorded");
    let more = std::env::var_os("SLUICE_SMD_RECORDINGS").map(PathBuf::from);
    let files = [Some(committed), more]
        .into_iter()
        .flatten()
        .flat_map(|place| std::fs::read_dir(place).unwrap());
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

#[test]
fn every_recorded_request_has_the_result_of_the_real_server() {
    let kinds = Kinds::new();
    let (mut count, mut failures) = (0, Vec::new());
    for file in recordings() {
        let text = std::fs::read(&file).unwrap();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let exchange = Exchange {
                record: json::parse(line).unwrap(),
            };
            count += 1;
            if let Err(difference) = replay(&kinds, &exchange) {
                let (name, step) = (exchange.text("name"), exchange.record.get("step"));
                failures.push(format!(
                    "{}: {name} step {step:?} {}: {difference}",
                    file.display(),
                    exchange.text("op")
                ));
            }
        }
    }
    assert!(count > 0, "no recordings");
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(
        failures.is_empty(),
        "{} of {count} requests differ:\n{shown}",
        failures.len()
    );
    println!("{count} requests agree");
}
