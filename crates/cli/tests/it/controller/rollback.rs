//! `sluice rollback`, `pin` and `unpin` with the controllers at work.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;

use super::all::deployed;
use super::bed::{Bed, eventually};
use super::kustomize::kustomization_ready;
use super::own_client::sluice;

fn text(value: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: {value}\n")
}

/// From a bad commit back to the one before, kept there by hand, and on to the next.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kustomization_goes_back_to_an_earlier_revision_and_on_again() {
    let bed = Bed::start().await;
    let server = deployed(&bed).await;
    let program = bed
        .program()
        .with_all()
        .with(&["--storage-adv-addr=127.0.0.1:1", "--http-retry=0"])
        .start();
    program.serves().await;
    kustomization_ready(&bed, "app").await;
    let maps: Api<ConfigMap> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let has = async |value: &str| {
        let one = maps.get("one").await.unwrap();
        one.data.is_some_and(|data| data["a"] == value)
    };
    let said = async |arguments: &[&str]| {
        let output = sluice(&bed, arguments).await;
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    let (good, told) = said(&["rollback", "kustomization", "app"]).await;
    assert!(
        !good && told.contains("no earlier revision in its history"),
        "{told}"
    );

    let bad = server
        .repository("app")
        .commit("main", "Bad", [("one.yaml", text("bad").as_str())]);
    let (good, told) = said(&["reconcile", "kustomization", "app", "--with-source"]).await;
    assert!(good && told.contains(&bad.to_string()), "{told}");
    assert!(has("bad").await);
    let (good, told) = said(&["rollback", "ks", "app"]).await;
    assert!(good, "{told}");
    assert!(
        told.contains(&format!("until there is a newer revision than main@sha1:{bad}")),
        "{told}"
    );
    assert!(has("b").await, "{told}");
    let (good, told) = said(&["rollback", "ks", "app", "--to", "0000"]).await;
    assert!(
        !good && told.contains("is none of the revisions of its history"),
        "{told}"
    );

    // A newer one ends it.
    server
        .repository("app")
        .commit("main", "Good", [("one.yaml", text("better").as_str())]);
    let (good, told) = said(&["reconcile", "source", "git", "app"]).await;
    assert!(good, "{told}");
    eventually("the newer revision", &program, async || has("better").await).await;

    // A pin is there until it is taken away.
    let (good, told) = said(&["pin", "ks", "app", "--to", &bad.to_string()[..8]]).await;
    assert!(
        good && told.contains(&format!("✔ applied revision main@sha1:{bad}")),
        "{told}"
    );
    assert!(has("bad").await);
    let (good, told) = said(&["unpin", "ks", "app"]).await;
    assert!(good, "{told}");
    assert!(has("better").await, "{told}");
    program.stop().await;
}
