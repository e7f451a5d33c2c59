//! What a cluster tells people and programs of our kinds: their names, the columns of `kubectl get`, labels of definitions.

use serde_json::{Value, json};

use crate::served::Served;

/// A kind, its current version, its short name and the category of its own, and an object of it.
struct Kind {
    name: &'static str,
    version: &'static str,
    short: Option<&'static str>,
    category: &'static str,
    spec: Value,
    /// What is shown of the object beside its age and whether it is ready, by column.
    columns: &'static [(&'static str, &'static str)],
}

fn kinds() -> Vec<Kind> {
    let source = |name, short, spec, columns| Kind {
        name,
        version: "v1",
        short,
        category: "fluxcd-sources",
        spec,
        columns,
    };
    let applier = |name, version, short, spec| Kind {
        name,
        version,
        short: Some(short),
        category: "fluxcd-appliers",
        spec,
        columns: &[],
    };
    let reference = json!({"kind": "GitRepository", "name": "it"});
    vec![
        source(
            "GitRepository",
            Some("gitrepo"),
            json!({"url": "https://example.com/app", "interval": "1m"}),
            &[("URL", "https://example.com/app")],
        ),
        source(
            "OCIRepository",
            Some("ocirepo"),
            json!({"url": "oci://example.com/app", "interval": "1m"}),
            &[("URL", "oci://example.com/app")],
        ),
        source(
            "HelmRepository",
            Some("helmrepo"),
            json!({"url": "https://example.com/charts"}),
            &[("URL", "https://example.com/charts")],
        ),
        source(
            "HelmChart",
            Some("hc"),
            json!({"chart": "app", "version": "1.x", "interval": "1m", "sourceRef": reference}),
            &[
                ("Chart", "app"),
                ("Version", "1.x"),
                ("Source Kind", "GitRepository"),
                ("Source Name", "it"),
            ],
        ),
        source(
            "Bucket",
            None,
            json!({"bucketName": "app", "endpoint": "example.com:9000", "interval": "1m"}),
            &[("Endpoint", "example.com:9000")],
        ),
        source(
            "ExternalArtifact",
            Some("ea"),
            json!({"sourceRef": {"apiVersion": "example.com/v1", "kind": "Thing", "name": "maker"}}),
            &[("Source", "maker")],
        ),
        applier(
            "Kustomization",
            "v1",
            "ks",
            json!({"interval": "1m", "prune": true, "sourceRef": reference}),
        ),
        applier(
            "HelmRelease",
            "v2",
            "hr",
            json!({"interval": "1m", "chart": {"spec": {"chart": "app", "sourceRef": reference}}}),
        ),
    ]
}

/// X1: a cluster knows each kind by its short name and lists it with the others of its categories
#[tokio::test]
async fn kinds_are_found_by_short_names_and_categories() {
    for kind in kinds() {
        let served = Served::start(kind.name).await;
        let resources = served.resources(kind.version).await;
        let resources = resources["resources"].as_array().unwrap();
        // The status has the same kind.
        let is_object =
            |one: &&Value| one["kind"] == kind.name && !one["name"].as_str().unwrap().contains('/');
        let found = resources.iter().find(is_object);
        let found = found.unwrap_or_else(|| panic!("{} is not served: {resources:?}", kind.name));
        let short = found.get("shortNames").cloned().unwrap_or_else(|| json!([]));
        let expected: Vec<&str> = kind.short.into_iter().collect();
        assert_eq!(short, json!(expected), "{}", kind.name);
        assert_eq!(
            found["categories"],
            json!(["all", "fluxcd", kind.category]),
            "{}",
            kind.name
        );
        assert_eq!(found["namespaced"], true, "{}", kind.name);
        served.finish().await;
    }
}

/// X8: the columns of `kubectl get`, with what they show of an object
#[tokio::test]
async fn tables_show_whether_an_object_is_ready_and_why() {
    for kind in kinds() {
        let served = Served::start(kind.name).await;
        served.create(kind.version, "one", &kind.spec).await.unwrap();
        let ready = json!({
            "type": "Ready", "status": "False", "reason": "Failed", "message": "it is broken",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let other = json!({
            "type": "Other", "status": "True", "reason": "Good", "message": "it is whole",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let status = json!({"conditions": [other, ready]});
        served.set_status(kind.version, "one", &status).await.unwrap();
        let table = served.table(kind.version, "one").await;
        let columns = table["columnDefinitions"].as_array().unwrap().iter();
        let columns: Vec<&str> = columns.map(|column| column["name"].as_str().unwrap()).collect();
        let cells = table["rows"][0]["cells"].as_array().unwrap();
        assert_eq!(columns.len(), cells.len(), "{}", kind.name);
        let mut expected = vec![("Name", "one"), ("Ready", "False"), ("Status", "it is broken")];
        expected.extend(kind.columns);
        for (column, cell) in &expected {
            let at = columns.iter().position(|one| one == column);
            let at = at.unwrap_or_else(|| panic!("{}: no column {column} in {columns:?}", kind.name));
            assert_eq!(cells[at], *cell, "{}: {column}", kind.name);
        }
        let age = columns.iter().position(|column| *column == "Age").unwrap();
        let text = cells[age].as_str().unwrap();
        assert!(text.ends_with(['s', 'm']), "{}: Age is {text:?}", kind.name);
        assert_eq!(columns.len(), expected.len() + 1, "{}: {columns:?}", kind.name);
        served.finish().await;
    }
}

/// X4, X5: definitions are not substituted into, and say that they are of Flux and of which version
#[tokio::test]
async fn served_definitions_have_what_the_flux_program_looks_for() {
    for kind in kinds() {
        let served = Served::start(kind.name).await;
        let definition = served.definition().await;
        let metadata = &definition["metadata"];
        let substitute = &metadata["annotations"]["kustomize.toolkit.fluxcd.io/substitute"];
        assert_eq!(substitute, "disabled", "{}", kind.name);
        let labels = &metadata["labels"];
        assert_eq!(labels["app.kubernetes.io/part-of"], "flux", "{}", kind.name);
        let version = concat!("v", env!("CARGO_PKG_VERSION"));
        assert_eq!(labels["app.kubernetes.io/version"], version, "{}", kind.name);
        // Only what a Kustomization has applied is bootstrapped.
        assert!(
            labels.get("kustomize.toolkit.fluxcd.io/name").is_none(),
            "{}",
            kind.name
        );
        served.finish().await;
    }
}

/// X6: durations are Go's, without days, and those of sources' timeouts have no hours
#[tokio::test]
async fn durations_are_those_of_go() {
    let served = Served::start("GitRepository").await;
    let spec = |interval: &str, timeout: &str| json!({"url": "https://example.com/app", "interval": interval, "timeout": timeout});
    let good = [("1h30m5s500ms", "1m30s"), ("1.5h", "0.5m"), ("10ms", "500ms")];
    for (number, (interval, timeout)) in good.into_iter().enumerate() {
        let name = format!("good-{number}");
        let created = served
            .create("v1", &name, &spec(interval, timeout))
            .await
            .unwrap();
        assert_eq!(created["spec"]["interval"], interval);
        assert_eq!(created["spec"]["timeout"], timeout);
    }
    for (interval, timeout, field) in [
        ("1d", "1m", "spec.interval"),
        ("", "1m", "spec.interval"),
        ("-1m", "1m", "spec.interval"),
        ("1m ", "1m", "spec.interval"),
        ("60", "1m", "spec.interval"),
        ("1us", "1m", "spec.interval"),
        ("1m", "1h", "spec.timeout"),
        ("1m", "1d", "spec.timeout"),
    ] {
        let refused = served.create("v1", "bad", &spec(interval, timeout)).await;
        let refused = refused.expect_err(&format!("{interval:?} {timeout:?} is taken"));
        assert!(refused.contains(field), "{refused}");
    }
    served.finish().await;
}
