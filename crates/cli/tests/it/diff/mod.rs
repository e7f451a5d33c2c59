//! `sluice diff kustomization` and `sluice plan kustomization`.

mod bed;
mod plan;
mod program;

use bed::{APP, Bed, LABELS, text};

/// D: each object that differs, in the order of the build, with what differs; the code says whether any does. Nothing is
/// changed, and no value of a Secret is shown.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_change_is_told_and_nothing_is_changed() {
    let bed = Bed::start().await;
    bed.apply(APP).await;
    let map = |name: &str, data: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: NAMESPACE, labels: {LABELS}}}\ndata: {data}\n"
        )
    };
    let secret = |value: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: two, namespace: NAMESPACE, labels: {LABELS}}}\nstringData: {{password: {value}}}\n"
        )
    };
    for live in [
        map("one", "{a: x, b: w}"),
        map("same", "{a: x}"),
        map("gone", "{a: x}"),
        secret("geheim"),
    ] {
        bed.apply(&live).await;
    }
    bed.write("app/1.yaml", &map("one", "{a: z, c: w}"));
    bed.write("app/2.yaml", &secret("heimlich"));
    bed.write("app/3.yaml", &map("same", "{a: x}"));
    bed.write("app/4.yaml", &map("new", "{a: x}"));
    let before = bed.version("v1", "ConfigMap", "one").await;
    let path = bed.path("app");
    let output = bed
        .sluice(&["diff", "kustomization", "app", "--path", &path])
        .await;
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let wanted = "\
► ConfigMap/NAMESPACE/one drifted

data
- one map entry removed:   + one map entry added:
b: w                         c: w

data.a
± value change
- x
+ z

► Secret/NAMESPACE/two drifted

data.password
± value change
- *** (before)
+ *** (after)

► ConfigMap/NAMESPACE/new created
► ConfigMap/NAMESPACE/gone deleted
"
    .replace("NAMESPACE", &bed.namespace);
    assert_eq!(text(&output.stdout), wanted);
    assert!(text(&output.stderr).contains("identified at least one change"));
    assert_eq!(bed.version("v1", "ConfigMap", "one").await, before);
    // As it should be.
    bed.write("same/3.yaml", &map("same", "{a: x}"));
    bed.write("same/gone.yaml", &map("gone", "{a: x}"));
    bed.write("same/one.yaml", &map("one", "{a: x, b: w}"));
    let path = bed.path("same");
    let output = bed.sluice(&["diff", "ks", "app", "--path", &path]).await;
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "");
}

/// What cannot be told ends with 2; what can be is told all the same, and nothing is said to be deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_told_ends_with_two() {
    let bed = Bed::start().await;
    bed.apply(APP).await;
    bed.write(
        "app/one.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: NAMESPACE}\ndata: {a: x}\n\
         ---\napiVersion: v1\nkind: Service\nmetadata: {name: bad, namespace: NAMESPACE}\nspec: {ports: [{port: 99999}]}\n\
         ---\napiVersion: example.com/v1\nkind: Nothing\nmetadata: {name: unknown, namespace: NAMESPACE}\n",
    );
    let path = bed.path("app");
    let output = bed.sluice(&["diff", "ks", "app", "--path", &path]).await;
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    for part in [
        "Service/",
        "/bad dry-run failed",
        "Nothing/",
        "/unknown dry-run failed",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert_eq!(
        text(&output.stdout),
        format!("► ConfigMap/{}/one created\n", bed.namespace)
    );
    for (arguments, why) in [
        (vec!["diff", "ks", "none", "--path", &path], "not found"),
        (
            vec!["diff", "ks", "app", "--path", "/nowhere"],
            "invalid resource path",
        ),
        (vec!["diff", "ks", "app"], "--path"),
        (
            vec!["plan", "ks", "none", "--path", &path],
            "there is no Kustomization",
        ),
        (
            vec!["plan", "ks", "app", "--path", "/nowhere"],
            "invalid resource path",
        ),
    ] {
        let output = bed.sluice(&arguments).await;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
}

/// A Kustomization among the objects is compared with the files of its own source.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kustomizations_among_the_objects_are_compared_too() {
    let bed = Bed::start().await;
    bed.apply(APP).await;
    let inner = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: inner, namespace: NAMESPACE, labels: {LABELS}}}\n\
         spec: {{interval: 1h, prune: true, path: ./deep, sourceRef: {{kind: GitRepository, name: other}}}}\n"
    );
    bed.apply(&inner).await;
    bed.write("app/inner.yaml", &inner);
    bed.write(
        "other/deep/map.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: deep, namespace: NAMESPACE}\n",
    );
    let (path, source) = (bed.path("app"), bed.path("other"));
    let source = format!("GitRepository/{}/other={source}", bed.namespace);
    let file = bed.write("app.yaml", APP);
    let mut arguments = vec!["diff", "ks", "app", "--path", &path, "--recursive"];
    arguments.extend(["--kustomization-file", file.to_str().unwrap()]);
    let output = bed
        .sluice(&[&arguments[..], &["--local-sources", &source]].concat())
        .await;
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let wanted = "\
📁 Kustomization/NAMESPACE/inner changed
► ConfigMap/NAMESPACE/deep created
► ConfigMap/NAMESPACE/gone deleted
► ConfigMap/NAMESPACE/one deleted
"
    .replace("NAMESPACE", &bed.namespace);
    assert_eq!(text(&output.stdout), wanted);
    // Nobody knows where its files are.
    let output = bed.sluice(&arguments).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--local-sources"));
}
