//! `sluice plan kustomization`: what the controller would do, to the letter.

use serde_json::Value;

use super::bed::{APP, Bed, LABELS, text};

fn map(name: &str, data: &str) -> String {
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: NAMESPACE, labels: {LABELS}}}\ndata: {data}\n"
    )
}

/// The steps with their reasons; no values; the code says whether there is something to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_of_the_controller_is_shown_and_not_carried_out() {
    let bed = Bed::start().await;
    bed.apply(APP).await;
    for live in [map("one", "{a: geheim}"), map("gone", "{a: geheim}")] {
        bed.apply(&live).await;
    }
    bed.write("app/1.yaml", &map("one", "{a: heimlich}"));
    bed.write("app/2.yaml", &map("new", "{a: x}"));
    let before = bed.version("v1", "ConfigMap", "one").await;
    let path = bed.path("app");
    let output = bed
        .sluice(&["plan", "kustomization", "app", "--path", &path])
        .await;
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}{}", text(&output.stderr));
    for (sign, name) in [("~", "one"), ("+", "new"), ("-", "gone")] {
        let part = format!("    {sign} ConfigMap/{}/{name} ", bed.namespace);
        assert!(said.contains(&part), "{part}\n{said}");
    }
    assert!(said.contains("it differs: /data/a\n"), "{said}");
    assert!(said.ends_with("1 to create, 1 to change, 1 to prune\n"), "{said}");
    assert!(!said.contains("geheim") && !said.contains("heimlich"), "{said}");
    let output = bed
        .sluice(&["plan", "ks", "app", "--path", &path, "--output=json"])
        .await;
    assert_eq!(output.status.code(), Some(1));
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(plan["unit"], format!("{}/app", bed.namespace).as_str());
    let output = bed
        .sluice(&["plan", "ks", "app", "--path", &path, "-o", "yaml"])
        .await;
    let yaml = yaml::documents(&text(&output.stdout))
        .next()
        .unwrap()
        .unwrap()
        .value;
    assert_eq!(serde_json::to_value(yaml).unwrap()["unit"], plan["unit"]);
    assert_eq!(bed.version("v1", "ConfigMap", "one").await, before);
    // As it should be.
    bed.write("same/1.yaml", &map("one", "{a: geheim}"));
    bed.write("same/2.yaml", &map("gone", "{a: geheim}"));
    let path = bed.path("same");
    let output = bed.sluice(&["plan", "ks", "app", "--path", &path]).await;
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    // What the cluster refuses is told.
    bed.write(
        "bad/1.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: bad, namespace: NAMESPACE}\nspec: {ports: [{port: 99999}]}\n",
    );
    let path = bed.path("bad");
    let output = bed.sluice(&["plan", "ks", "app", "--path", &path]).await;
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("/bad"), "{}", text(&output.stderr));
}
