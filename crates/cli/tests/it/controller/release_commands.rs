//! The commands about releases, beside controllers at work.

use base64::Engine as _;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};
use testkit::cluster::object_settled;

use super::bed::{Bed, LIMIT};
use super::release::{chart, create, ready, releases, until};

/// Runs a command about the release `web`: its exit code, what it prints, and what it says.
async fn sluice(bed: &Bed, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
    command
        .args(arguments)
        .args(["--namespace", &bed.namespace, "--timeout=60s"])
        .arg(format!("--kubeconfig={}", bed.kubeconfig.display()))
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

async fn change(bed: &Bed, spec: Value) {
    let patch = Patch::Merge(json!({ "spec": spec }));
    releases(bed)
        .patch("web", &PatchParams::default(), &patch)
        .await
        .unwrap();
}

/// Waits until the ConfigMap of the release has this value.
async fn value(bed: &Bed, value: &str) {
    let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let settled = object_settled(maps, "web", LIMIT, |object| {
        let found = object.and_then(|object| object.data.as_ref()?.get("a").cloned());
        match found.as_deref() == Some(value) {
            true => Ok(()),
            false => Err(format!("{found:?}")),
        }
    });
    settled.await.unwrap();
}

/// Nothing is changed by asking, and what is told is what is done then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diff_is_what_the_controller_does_next() {
    let bed = Bed::start().await;
    let _server = chart(&bed).await;
    let program = bed.program().with_all().start();
    create(&bed, "web", json!({})).await;
    ready(&bed, "web").await;
    for verb in ["diff", "plan"] {
        let (code, printed, said) = sluice(&bed, &[verb, "helmrelease", "web"]).await;
        assert_eq!(code, Some(0), "{verb}: {printed}{said}");
        assert!(said.contains("is what is wanted"), "{said}");
    }
    change(&bed, json!({"suspend": true, "values": {"a": "another"}})).await;
    // Manifests leave out the namespace that is meant.
    for (flags, place) in [
        (&[][..], format!("{}/", bed.namespace)),
        (&["--manifest"], String::new()),
    ] {
        let (code, printed, said) = sluice(&bed, &[&["diff", "hr", "web"], flags].concat()).await;
        assert_eq!(code, Some(1), "{printed}{said}");
        let head = format!(
            "► upgrade of release {}/web.v2 with chart app@1.0.0",
            bed.namespace
        );
        assert!(said.contains(&head), "{said}");
        let map = format!("► ConfigMap/{place}web drifted\n\ndata.a\n± value change\n- one\n+ another\n");
        assert!(printed.contains(&map), "{printed}");
        assert!(
            printed.contains(&format!("► Secret/{place}web drifted\n")),
            "{printed}"
        );
        let encoded = base64::engine::general_purpose::STANDARD.encode("another");
        assert!(
            !printed.contains(&encoded),
            "no value of a Secret is shown: {printed}"
        );
    }
    let (code, printed, said) = sluice(&bed, &["plan", "hr", "web"]).await;
    assert_eq!(code, Some(1), "{printed}{said}");
    for kind in ["ConfigMap", "Secret"] {
        assert!(
            printed.contains(&format!("{kind}/{}/web", bed.namespace)),
            "{printed}"
        );
    }
    assert_eq!(
        releases(&bed)
            .get("web")
            .await
            .unwrap()
            .status
            .unwrap()
            .history
            .len(),
        1
    );
    value(&bed, "one").await;
    change(&bed, json!({"suspend": false})).await;
    value(&bed, "another").await;
    let done = ready(&bed, "web").await;
    assert_eq!(done.status.unwrap().history[0].version, 2);
    program.stop().await;
}

/// Of what is to be installed the namespace is told too, and nothing of it is made.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diff_of_what_is_not_installed_yet_shows_all_of_it() {
    let bed = Bed::start().await;
    let _server = chart(&bed).await;
    let program = bed.program().with_all().start();
    let namespace = format!("{}-target", bed.namespace);
    let waiting = json!({
        "dependsOn": [{"name": "never"}], "targetNamespace": namespace, "releaseName": "web", "install": {"createNamespace": true},
    });
    create(&bed, "web", waiting).await;
    bed.ready("HelmChart", &format!("{}-web", bed.namespace)).await;
    let (code, printed, said) = sluice(&bed, &["diff", "helmrelease", "web"]).await;
    assert_eq!(code, Some(1), "{printed}{said}");
    for object in [
        format!("Namespace/{namespace}"),
        format!("ConfigMap/{namespace}/web"),
        format!("Secret/{namespace}/web"),
    ] {
        assert!(
            printed.contains(&format!("► {object} created\n")),
            "{object}: {printed}{said}"
        );
    }
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(bed.cluster.client());
    assert!(namespaces.get_opt(&namespace).await.unwrap().is_none());
    program.stop().await;
}

/// What somebody has changed by hand is shown on demand, though the object does not have it detected.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diff_shows_what_others_have_changed_if_that_is_asked_for() {
    let bed = Bed::start().await;
    let _server = chart(&bed).await;
    let program = bed.program().with_all().start();
    create(&bed, "web", json!({})).await;
    ready(&bed, "web").await;
    let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let patch = Patch::Merge(json!({"data": {"a": "by hand"}}));
    maps.patch("web", &PatchParams::default(), &patch).await.unwrap();
    let (code, printed, said) = sluice(&bed, &["diff", "helmrelease", "web"]).await;
    assert_eq!(code, Some(0), "{printed}{said}");
    let (code, printed, said) = sluice(&bed, &["diff", "helmrelease", "web", "--drift"]).await;
    assert_eq!(code, Some(1), "{printed}{said}");
    assert!(printed.contains("- by hand\n+ one\n"), "{printed}");
    value(&bed, "by hand").await;
    program.stop().await;
}

/// A release that would fail is told as the controller tells it; a file stands for the object.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_diff_of_a_file_that_would_fail_says_why() {
    let bed = Bed::start().await;
    let _server = chart(&bed).await;
    let program = bed.program().with_all().start();
    create(&bed, "web", json!({})).await;
    let object = ready(&bed, "web").await;
    let mut object = serde_json::to_value(object).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("web.yaml");
    let flag = format!("--helmrelease-file={}", file.display());
    object["spec"]["values"] = json!({"a": "another"});
    std::fs::write(&file, object.to_string()).unwrap();
    let (code, printed, said) = sluice(&bed, &["diff", "hr", "web", &flag]).await;
    assert_eq!(code, Some(1), "{printed}{said}");
    assert!(printed.contains("+ another"), "{printed}");
    object["spec"]["values"] = json!({"a": {"b": "c"}});
    std::fs::write(&file, object.to_string()).unwrap();
    let (code, printed, said) = sluice(&bed, &["diff", "hr", "web", &flag]).await;
    assert_eq!(code, Some(2), "{printed}{said}");
    assert!(said.contains("app/templates/secret.yaml"), "{said}");
    object["spec"]["chart"]["spec"]["version"] = json!("9.9.9");
    std::fs::write(&file, object.to_string()).unwrap();
    let (code, _, said) = sluice(&bed, &["diff", "hr", "web", &flag]).await;
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the chart has to be fetched first"), "{said}");
    value(&bed, "one").await;
    program.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn debug_shows_values_status_and_history() {
    let bed = Bed::start().await;
    let _server = chart(&bed).await;
    let program = bed.program().with_all().start();
    bed.secret("values", json!({"values.yaml": "z: 1\na: of the Secret\n"}))
        .await;
    let values = json!({"values": {"b": {"c": true}}, "valuesFrom": [{"kind": "Secret", "name": "values"}]});
    create(&bed, "web", values).await;
    ready(&bed, "web").await;
    let (code, printed, said) = sluice(&bed, &["debug", "helmrelease", "web", "--show-values"]).await;
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(printed, "a: of the Secret\nb:\n  c: true\nz: 1\n");
    let (_, printed, _) = sluice(&bed, &["debug", "hr", "web", "--show-history"]).await;
    assert!(
        printed.starts_with("# History documentation: ") && printed.contains("chartVersion: 1.0.0"),
        "{printed}"
    );
    let (_, printed, _) = sluice(&bed, &["debug", "hr", "web", "--show-status"]).await;
    assert!(
        printed.starts_with("# Status documentation: ") && printed.contains("reason: InstallSucceeded"),
        "{printed}"
    );
    let (code, ..) = sluice(&bed, &["debug", "hr", "web", "--show-status", "--show-values"]).await;
    assert_ne!(code, Some(0));
    program.stop().await;
}

/// The release stays where somebody has taken it, until something else is wanted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_is_rolled_back_stays_there_until_something_newer_is_wanted() {
    let bed = Bed::start().await;
    let _server = chart(&bed).await;
    let program = bed.program().with_all().start();
    create(&bed, "web", json!({"values": {"a": "first"}})).await;
    ready(&bed, "web").await;
    change(&bed, json!({"values": {"a": "second"}})).await;
    value(&bed, "second").await;
    ready(&bed, "web").await;
    let (code, _, said) = sluice(&bed, &["rollback", "helmrelease", "web"]).await;
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("rolling HelmRelease web back to version 1"),
        "{said}"
    );
    value(&bed, "first").await;
    let (code, printed, said) = sluice(&bed, &["history", "helmrelease", "web"]).await;
    assert_eq!(code, Some(0), "{said}");
    let rows: Vec<&str> = printed.lines().skip(1).collect();
    assert_eq!(rows.len(), 3, "{printed}");
    for (row, part) in rows
        .iter()
        .zip(["Rollback to 1", "Upgrade complete", "Install complete"])
    {
        assert!(row.contains(part) && row.contains("app@1.0.0"), "{printed}");
    }
    assert!(
        rows[0].starts_with("3 ") && rows[0].contains("deployed"),
        "{printed}"
    );
    // Whoever asks for a run does not end it.
    let (code, _, said) = sluice(&bed, &["reconcile", "helmrelease", "web"]).await;
    assert_eq!(code, Some(0), "{said}");
    value(&bed, "first").await;
    let held = releases(&bed).get("web").await.unwrap();
    assert_eq!(held.status.unwrap().history[0].version, 3);
    change(&bed, json!({"values": {"a": "third"}})).await;
    value(&bed, "third").await;
    let object = until(&bed, "web", |object| {
        object
            .metadata
            .annotations
            .as_ref()
            .is_none_or(|all| !all.contains_key("sluice.dev/rolled-back-to"))
    })
    .await;
    assert!(
        !object
            .metadata
            .annotations
            .unwrap_or_default()
            .contains_key("sluice.dev/rolled-back-from")
    );
    ready(&bed, "web").await;
    // To a version of one's choice, and back at once.
    let (code, _, said) = sluice(&bed, &["rollback", "hr", "web", "2"]).await;
    assert_eq!(code, Some(0), "{said}");
    value(&bed, "second").await;
    let (code, _, said) = sluice(&bed, &["unpin", "hr", "web"]).await;
    assert_eq!(code, Some(0), "{said}");
    value(&bed, "third").await;
    let (code, _, said) = sluice(&bed, &["rollback", "hr", "web", "77"]).await;
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("has no version 77: choose from"), "{said}");
    program.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_source_the_chart_is_made_anew_before_the_release() {
    let bed = Bed::start().await;
    let server = chart(&bed).await;
    let program = bed.program().with_all().start();
    create(&bed, "web", json!({})).await;
    ready(&bed, "web").await;
    let changed = [("app/values.yaml", "a: of the commit\n")];
    let files = super::release::CHART
        .into_iter()
        .filter(|(path, _)| *path != "app/values.yaml");
    server
        .repository("charts")
        .commit("main", "Change", files.chain(changed));
    let (code, _, said) = sluice(&bed, &["reconcile", "helmrelease", "web", "--with-source"]).await;
    assert_eq!(code, Some(0), "{said}");
    for kind in ["GitRepository charts", "HelmChart", "HelmRelease web"] {
        assert!(said.contains(&format!("► annotating {kind}")), "{said}");
    }
    value(&bed, "of the commit").await;
    let before = releases(&bed).get("web").await.unwrap().status.unwrap().history[0].version;
    let (code, _, said) = sluice(&bed, &["reconcile", "helmrelease", "web", "--force", "--reset"]).await;
    assert_eq!(code, Some(0), "{said}");
    let after = releases(&bed).get("web").await.unwrap().status.unwrap().history[0].version;
    assert_eq!(after, before + 1, "it is upgraded though nothing has changed");
    program.stop().await;
}
