//! What is told of objects: `events`, beside the real `flux` where it is installed.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use super::bed::Bed;
use super::program::same_as_flux;

const EVENT: (&str, &str, &str, &str) = ("", "v1", "Event", "events");

/// An event of so many days ago: it is shown as the same age for hours.
async fn tell(bed: &Bed, kind: &str, name: &str, days: i64, more: Value) {
    let ago = |days: i64| {
        let time = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days + 12);
        time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
    };
    let mut event = json!({
        "metadata": {"name": format!("{}-{name}-{days}", kind.to_lowercase())},
        "involvedObject": {"kind": kind, "name": name, "namespace": bed.namespace},
        "type": "Normal", "reason": "Succeeded", "message": format!("{name} is done"),
        "firstTimestamp": ago(days + 40), "lastTimestamp": ago(days), "count": 1,
    });
    for (field, value) in more.as_object().unwrap() {
        event[field] = value.clone();
    }
    bed.add(EVENT, event, None).await;
}

async fn told(bed: &Bed) {
    tell(bed, "GitRepository", "told", 20, json!({})).await;
    tell(bed, "GitRepository", "told", 30, json!({"count": 7})).await;
    tell(
        bed,
        "Kustomization",
        "told",
        25,
        json!({"type": "Warning", "reason": "BuildFailed"}),
    )
    .await;
    tell(bed, "Kustomization", "new", 15, json!({})).await;
    tell(bed, "OCIRepository", "told", 35, json!({})).await;
    tell(bed, "ImageRepository", "told", 45, json!({})).await;
    tell(bed, "Pod", "told", 10, json!({})).await;
    tell(bed, "ExternalArtifact", "told", 10, json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_listed_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let bed = Bed::start().await;
    same_as_flux(&bed, flux.to_str().unwrap(), &["events".to_owned()]).await;
    told(&bed).await;
    let lines = [
        "events",
        "events --for Kustomization",
        "events --for kustomization/told",
        "events --for=GitRepository/told",
        "events --for ImagePolicy/told",
        "events --for Alert/told",
        "events --for Bucket",
        "events --for Pod/told",
        "events --for /told",
        "events --for Kustomization/gone",
        "events --types Warning",
        "events --types=normal,warning",
        "events --types=Error",
    ];
    let lines = lines.map(str::to_owned);
    same_as_flux(&bed, flux.to_str().unwrap(), &lines).await;
}

/// The program at work, and what it prints line by line.
fn watching(bed: &Bed, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut program = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(arguments)
        .args(["-n", &bed.namespace])
        .arg(format!("--kubeconfig={}", bed.kubeconfig.display()))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let lines = BufReader::new(program.stdout.take().unwrap()).lines();
    (program, lines)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_are_told_as_they_come() {
    let bed = Bed::start().await;
    tell(&bed, "GitRepository", "first", 20, json!({})).await;
    let (mut program, mut lines) = watching(&bed, &["events", "--watch", "--types=Warning,Normal"]);
    let head = lines.next_line().await.unwrap().unwrap();
    assert!(head.starts_with("LAST SEEN"), "{head}");
    let first = lines.next_line().await.unwrap().unwrap();
    assert!(first.contains("GitRepository/first"), "{first}");
    tell(&bed, "Pod", "hidden", 10, json!({})).await;
    tell(&bed, "Kustomization", "second", 10, json!({"type": "Warning"})).await;
    let second = lines.next_line().await.unwrap().unwrap();
    assert!(
        second.contains("Warning") && second.contains("Kustomization/second"),
        "{second}"
    );
    program.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_shown_again_when_they_change() {
    let bed = Bed::start().await;
    let (mut program, mut lines) = watching(&bed, &["get", "sources", "git", "told", "-w"]);
    let head = lines.next_line().await.unwrap().unwrap();
    assert!(head.starts_with("NAME"), "{head}");
    let first = lines.next_line().await.unwrap().unwrap();
    assert!(first.starts_with("told") && first.contains("False"), "{first}");
    let output = bed.sluice(&["suspend", "source", "git", "told"]).await;
    assert!(output.status.success());
    let second = lines.next_line().await.unwrap().unwrap();
    assert!(second.starts_with("told"), "{second}");
    assert_ne!(first, second);
    program.kill().await.unwrap();
}
