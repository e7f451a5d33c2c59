//! What the verbs do to objects, and what they say to mistakes.

use std::process::Output;

use serde_json::Value;

use super::bed::Bed;

fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_suspended_resumed_and_deleted() {
    let bed = Bed::start().await;
    let suspended = bed
        .sluice(&["suspend", "source", "git", "told", "new", "told", "gone"])
        .await;
    let text = said(&suspended);
    assert!(!suspended.status.success(), "{text}");
    assert!(text.contains("✗ GitRepository gone not found in"), "{text}");
    assert_eq!(text.matches("✔ source git suspended").count(), 2, "{text}");
    assert_eq!(bed.source("told").await["spec"]["suspend"], Value::Bool(true));
    let asked = bed.sluice(&["reconcile", "source", "git", "told"]).await;
    assert!(
        said(&asked).contains("resource is suspended: resume it with `sluice resume source git told -n ")
    );

    let resumed = bed.sluice(&["resume", "source", "git", "--all"]).await;
    assert!(resumed.status.success(), "{}", said(&resumed));
    assert_eq!(bed.source("new").await["spec"]["suspend"], Value::Bool(false));

    // Nobody can be asked here.
    let refused = bed.sluice(&["delete", "source", "git", "new"]).await;
    assert!(!refused.status.success());
    assert!(
        said(&refused).contains("--silent deletes without asking"),
        "{}",
        said(&refused)
    );
    let deleted = bed.sluice(&["delete", "source", "git", "new", "--silent"]).await;
    assert!(deleted.status.success(), "{}", said(&deleted));
    assert_eq!(bed.source("new").await, Value::Null);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_printed_whole_and_mistakes_are_told() {
    let bed = Bed::start().await;
    let one = bed.sluice(&["get", "source", "git", "told", "-o", "json"]).await;
    let one: Value = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!(one["spec"]["url"], "https://git.test/app");
    let all = bed.sluice(&["get", "all", "-o", "yaml"]).await;
    let all = serde_json::to_value(yaml::parse(&all.stdout).unwrap()).unwrap();
    assert_eq!(all["items"].as_array().unwrap().len(), 28);
    let wide = bed.sluice(&["get", "ks", "-o", "wide"]).await;
    assert!(said(&wide).contains("GitRepository/told"), "{}", said(&wide));
    for (arguments, message) in [
        (
            &["get", "source", "git", "gone"][..],
            "GitRepository object 'gone' not found in",
        ),
        (
            &["get", "source", "git", "--status-selector=ready"],
            "expected status selector in type=status",
        ),
        (&["export", "source", "git"], "name is required, or --all"),
        (&["export", "source", "git", "gone"], "\"gone\" not found"),
        (&["delete", "ks", "gone", "--silent=true"], "\"gone\" not found"),
        (
            &["suspend", "source", "git"],
            "source git name is required, or --all",
        ),
        (
            &["reconcile", "ks", "told", "--force"],
            "--force and --reset are about HelmReleases",
        ),
        (
            &["reconcile", "receiver", "told", "--with-source"],
            "leave out --with-source",
        ),
    ] {
        let output = bed.sluice(arguments).await;
        assert!(!output.status.success(), "{arguments:?}");
        assert!(
            said(&output).contains(message),
            "{arguments:?}: {}",
            said(&output)
        );
    }
}
