//! Records of charts that were rendered.

use helm::record::{self, Change, Driver, Making, Record, Status, description};
use model::{Map, Value};

use proptest::prelude::*;

use crate::charts::{load, make, request};

fn made() -> Record {
    let files = [
        (
            "templates/b.yaml",
            "kind: Service\nname: {{ .Values.name }}\n---\nkind: ConfigMap\n",
        ),
        (
            "templates/a.yaml",
            "kind: Job\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: pre-install, helm.sh/hook-weight: '3'}\n",
        ),
        ("templates/NOTES.txt", "Hello {{ .Chart.Name }}"),
        ("values.yaml", "name: web\n"),
        ("README.md", "# App\n"),
    ];
    let rendered = make(request(load(&files), "count=2")).unwrap();
    let given: Map = [("count", Value::Int(2))].into_iter().collect();
    let at = "2026-01-02T03:04:05Z".parse().unwrap();
    let making = Making {
        name: "r".into(),
        namespace: "default".into(),
        version: 1,
        status: Status::PendingInstall,
        description: description::INSTALLING.into(),
        first_deployed: Some(at),
        last_deployed: Some(at),
        server_side: true,
        ..Making::default()
    };
    making.record(&rendered, &given)
}

#[test]
fn a_record_holds_what_was_rendered() {
    let record = made();
    assert_eq!(
        record.manifest,
        "---\n# Source: app/templates/b.yaml\nkind: ConfigMap\n\n---\n# Source: app/templates/b.yaml\nkind: Service\nname: web\n\n"
    );
    assert_eq!(record.info.notes, "Hello app");
    assert_eq!((record.chart_name(), record.chart_version()), ("app", "1.2.3"));
    assert!(record.is_server_side());
    let hook = &record.hooks[0];
    assert_eq!(
        (hook.name.as_str(), hook.weight, hook.events.as_slice()),
        ("a", 3, &["pre-install".to_owned()][..])
    );
    let chart = record.chart.as_ref().unwrap();
    let names: Vec<&str> = chart
        .templates
        .iter()
        .chain(&chart.files)
        .flatten()
        .map(|file| file.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "templates/NOTES.txt",
            "templates/a.yaml",
            "templates/b.yaml",
            "README.md"
        ]
    );
}

#[test]
fn a_record_comes_back_from_its_object_as_it_was() {
    let record = made();
    for driver in [Driver::Secret, Driver::ConfigMap] {
        let object = record::to_object(&record, "store", driver, Change::Update(1)).unwrap();
        assert_eq!(record::from_object(&object).unwrap(), record);
    }
}

#[test]
fn a_release_that_is_brought_back_is_a_new_one() {
    let first = made();
    let mut newest = made();
    newest.version = 4;
    newest.manifest.clear();
    let at = "2026-05-06T07:08:09Z".parse().unwrap();
    let back = first.rolled_back(&newest, at, false);
    assert_eq!((back.version, back.apply_method.as_str()), (5, "csa"));
    assert_eq!(back.manifest, first.manifest);
    assert_eq!(back.info.description, "Rollback to 1");
    assert_eq!(back.info.status, Status::PendingRollback);
    assert_eq!(back.info.first_deployed, first.info.first_deployed);
    assert_eq!(back.info.last_deployed, Some(at));
}

#[test]
fn a_release_that_was_left_behind_is_unlocked_once() {
    let mut record = made();
    assert_eq!(record.unlock(), Some(Status::PendingInstall));
    assert_eq!(record.info.status, Status::Failed);
    assert_eq!(
        record.info.description,
        "Release unlocked from stale 'pending-install' state"
    );
    assert_eq!(record.unlock(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whoever can write Secrets can write anything into them.
    #[test]
    fn records_of_strangers_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>()) {
        let _ = record::decode(&bytes);
        let _ = Record::from_json(&bytes);
        let mut json = made().to_json();
        let at = at.index(json.len());
        json.splice(at..at, bytes);
        if let Ok(read) = Record::from_json(&json) {
            prop_assert_eq!(Record::from_json(&read.to_json()).unwrap(), read);
        }
    }
}
