//! Releases that the real `helm` makes and reads.
//!
//! `SLUICE_HELM_KUBECONFIG=FILE cargo test -p helm --test it program::releases` installs, reads and uninstalls releases in the
//! namespace `default` of a cluster, with the `helm` 4 and `kubectl` in the path. `sluice apiserver` is cluster enough. Without the variable there is
//! nothing to do.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gotemplate::FixedWorld;
use helm::chart::{Chart, Limits};
use helm::record::{self, Change, Driver, Making, Record, Status, Time, description};
use helm::release;
use helm::render::Engine;
use helm::{hooks, manifest, ownership};
use model::Value;

use super::Disk;
use crate::charts::request;

const FILES: [(&str, &str); 7] = [
    (
        "Chart.yaml",
        "apiVersion: v2\nname: app\nversion: 1.2.3\nappVersion: \"4.5\"\nannotations: {b: <x>, a: '1'}\nmaintainers:\n- name: me\n",
    ),
    ("values.yaml", "count: 1\nsize: 1.5\nlist: [1, {a: b}]\n"),
    ("values.schema.json", "{\"type\": \"object\"}\n"),
    (
        "templates/config.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config\ndata:\n  count: {{ .Values.count | quote }}\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: kept\n  annotations: {helm.sh/resource-policy: keep}\n",
    ),
    (
        "templates/test.yaml",
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: test\n  annotations:\n    helm.sh/hook: test\n    helm.sh/hook-weight: '2'\n    helm.sh/hook-delete-policy: hook-succeeded\nspec:\n  containers:\n  - {name: c, image: i}\n",
    ),
    ("templates/NOTES.txt", "count is <{{ .Values.count }}>\n"),
    ("README.md", "# App\n"),
];

struct Cluster {
    kubeconfig: String,
}

impl Cluster {
    fn run(&self, program: &str, arguments: &[&str], input: &[u8]) -> Result<String, String> {
        let mut child = Command::new(program)
            .args(arguments)
            .env("KUBECONFIG", &self.kubeconfig)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        if !output.status.success() {
            return Err(String::from_utf8(output.stderr).unwrap());
        }
        Ok(String::from_utf8(output.stdout).unwrap())
    }

    fn helm(&self, arguments: &[&str]) -> Result<String, String> {
        self.run("helm", arguments, b"")
    }

    fn json(&self, program: &str, arguments: &[&str]) -> Value {
        let text = self.run(program, arguments, b"").unwrap();
        model::json::parse(text.as_bytes()).unwrap()
    }

    /// The objects of a release, the first version first.
    fn stored(&self, release: &str) -> Vec<Value> {
        let selector = record::selector(release);
        let list = self.json(
            "kubectl",
            &["get", "secrets", "-n", "default", "-l", &selector, "-o", "json"],
        );
        let mut items = list.list_at(&["items"]).to_vec();
        items.sort_by_key(|item| record::from_object(item).unwrap().version);
        items
    }
}

fn write_chart(directory: &Path) {
    for (path, text) in FILES {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The JSON that is in an object.
fn json_of(object: &Value) -> String {
    let text = STANDARD.decode(object.str_at(&["data", "release"])).unwrap();
    let packed = STANDARD.decode(text).unwrap();
    let mut json = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut json).unwrap();
    json
}

/// The release that we make of the chart.
fn ours(directory: &Path, count: i64) -> Record {
    let chart = Chart::from_tree(&Disk(directory.to_owned()), "", &Limits::default()).unwrap();
    let request = request(chart, &format!("count={count}"));
    let given = request.given.clone();
    let mut world = FixedWorld::new("2026-01-02T03:04:05Z".parse().unwrap(), 1);
    let rendered = release::render(&Engine::new(), request, &mut world, &mut Vec::new()).unwrap();
    let at: Time = "2026-01-02T03:04:05Z".parse().unwrap();
    let making = Making {
        name: "ours".into(),
        namespace: "default".into(),
        version: 1,
        status: Status::Deployed,
        description: description::INSTALLED.into(),
        first_deployed: Some(at),
        last_deployed: Some(at),
        server_side: true,
        ..Making::default()
    };
    making.record(&rendered, &given)
}

/// Takes out what differs from one release to the next: its name and times.
fn alike(mut record: Record) -> Record {
    record.name.clear();
    record.labels.clear();
    record.info.first_deployed = None;
    record.info.last_deployed = None;
    if let Some(chart) = &mut record.chart {
        (chart.modified, chart.schema_modified) = (None, None);
        let files = chart.templates.iter_mut().chain(&mut chart.files).flatten();
        files.for_each(|file| file.modified = None);
        // Directories are read in an order of their own.
        chart
            .templates
            .iter_mut()
            .for_each(|files| files.sort_by(|a, b| a.name.cmp(&b.name)));
    }
    record
}

#[test]
fn helm_and_we_read_each_others_releases() {
    let Ok(kubeconfig) = env::var("SLUICE_HELM_KUBECONFIG") else {
        return super::skip("SLUICE_HELM_KUBECONFIG names no kubeconfig");
    };
    let cluster = Cluster { kubeconfig };
    let directory: PathBuf = env::temp_dir().join(format!("sluice-releases-{}", std::process::id()));
    write_chart(&directory);
    let chart = directory.to_str().unwrap();

    // What helm writes is read, and written again with the same bytes.
    cluster
        .helm(&["install", "theirs", chart, "-n", "default", "--set", "count=2"])
        .unwrap();
    let first = record::from_object(&cluster.stored("theirs")[0]).unwrap();
    cluster
        .helm(&["upgrade", "theirs", chart, "-n", "default", "--set", "count=3"])
        .unwrap();
    let stored = cluster.stored("theirs");
    assert_eq!(stored.len(), 2);
    for object in &stored {
        let record = record::from_object(object).unwrap();
        assert_eq!(String::from_utf8(record.to_json()).unwrap(), json_of(object));
        let written = record::to_object(&record, "default", Driver::Secret, Change::Update(1)).unwrap();
        for label in ["name", "owner", "status", "version", "createdAt"] {
            let path = ["metadata", "labels", label];
            assert_eq!(written.str_at(&path), object.str_at(&path), "{label}");
        }
        assert_eq!(
            written.str_at(&["metadata", "name"]),
            object.str_at(&["metadata", "name"])
        );
        assert_eq!(written.str_at(&["type"]), object.str_at(&["type"]));
    }

    // Its objects are seen to be its own, and those of others are refused in its words.
    // The Secret is the first that is installed.
    let live = cluster.json(
        "kubectl",
        &["get", "secret", "kept", "-n", "default", "-o", "json"],
    );
    assert_eq!(ownership::check(&live, "theirs", "default"), Ok(()));
    let refused = ownership::check_import(&live, "clash", "default").unwrap_err();
    let said = cluster
        .helm(&["install", "clash", chart, "-n", "default"])
        .unwrap_err();
    assert!(said.contains(&refused), "{said}\n{refused}");

    // Uninstalled, it leaves what it is to keep, and says so in our words.
    let newest = record::from_object(&stored[1]).unwrap();
    let plan = manifest::uninstall(&newest.manifest, helm::HelmVersion::V4).unwrap();
    let said = cluster.helm(&["uninstall", "theirs", "-n", "default"]).unwrap();
    assert!(said.contains(&manifest::kept_text(&plan.keep)), "{said}");
    cluster
        .run("kubectl", &["delete", "secret", "kept", "-n", "default"], b"")
        .unwrap();

    // What we make is what it makes, and it reads it.
    let ours = ours(&directory, 2);
    assert_eq!(alike(ours.clone()), alike(first));
    assert_eq!(hooks::order(&ours.hooks, manifest::Event::Test), [0]);
    let object = record::to_object(&ours, "default", Driver::Secret, Change::Create(1_767_323_045)).unwrap();
    cluster
        .run("kubectl", &["create", "-f", "-"], &model::json::to_vec(&object))
        .unwrap();
    assert!(
        cluster
            .helm(&["list", "-n", "default", "-q"])
            .unwrap()
            .contains("ours")
    );
    let history = cluster.json("helm", &["history", "ours", "-n", "default", "-o", "json"]);
    let version = &history.as_array().unwrap()[0];
    assert_eq!(version.str_at(&["status"]), "deployed");
    assert_eq!(version.str_at(&["chart"]), "app-1.2.3");
    assert_eq!(version.str_at(&["description"]), "Install complete");
    let manifest = cluster
        .helm(&["get", "manifest", "ours", "-n", "default"])
        .unwrap();
    assert_eq!(manifest.trim_end(), ours.manifest.trim_end());
    let values = cluster.json("helm", &["get", "values", "ours", "-n", "default", "-o", "json"]);
    assert_eq!(model::json::to_string(&values), r#"{"count":2}"#);
    let notes = cluster.helm(&["get", "notes", "ours", "-n", "default"]).unwrap();
    assert!(notes.contains("count is <2>"), "{notes}");

    // It goes on with it, goes back, and ends it.
    cluster
        .helm(&["upgrade", "ours", chart, "-n", "default", "--set", "count=5"])
        .unwrap();
    cluster.helm(&["rollback", "ours", "1", "-n", "default"]).unwrap();
    let stored = cluster.stored("ours");
    let records: Vec<Record> = stored
        .iter()
        .map(|object| record::from_object(object).unwrap())
        .collect();
    let statuses: Vec<&str> = records.iter().map(|record| record.info.status.as_str()).collect();
    assert_eq!(statuses, ["superseded", "superseded", "deployed"]);
    // A rollback of ours would be the same.
    let at = records[2].info.last_deployed.unwrap();
    let mut back = records[0].rolled_back(&records[1], at, true);
    back.set_status(Status::Deployed, records[2].info.description.clone());
    assert_eq!(alike(back), alike(records[2].clone()));
    cluster.helm(&["uninstall", "ours", "-n", "default"]).unwrap();
    assert!(cluster.stored("ours").is_empty());
    cluster
        .run("kubectl", &["delete", "secret", "kept", "-n", "default"], b"")
        .unwrap();
    let _ = fs::remove_dir_all(&directory);
}
