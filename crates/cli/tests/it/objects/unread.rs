//! Commands whose output nobody reads, as in `sluice get ks | true`.

use std::process::{Command, Stdio};

use super::bed::Bed;

/// What a command says against it, with nobody at the other end of its standard output.
fn unread(arguments: &[&str]) -> (bool, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.success(), text)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_fails_because_nobody_reads_on() {
    let bed = Bed::start().await;
    let kubeconfig = format!("--kubeconfig={}", bed.kubeconfig.display());
    let namespace = format!("--namespace={}", bed.namespace);
    let in_cluster: [&[&str]; 7] = [
        &["get", "ks", "-A"],
        &["get", "all", "-o", "yaml"],
        &["export", "source", "git", "--all"],
        &["tree", "ks", "told"],
        &["stats"],
        &["debug", "ks", "told", "--show-status"],
        &["get", "ks", "-A", "--watch"],
    ];
    for command in in_cluster {
        let arguments: Vec<String> = command
            .iter()
            .map(|word| (*word).to_owned())
            .chain([kubeconfig.clone(), namespace.clone()])
            .collect();
        let done = tokio::task::spawn_blocking(move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            unread(&arguments)
        });
        let (good, text) = done.await.unwrap();
        assert!(good && !text.contains("panicked"), "{command:?}: {text}");
    }
    let without: [&[&str]; 3] = [
        &["version", "--client"],
        &["completion", "bash"],
        &[
            "create",
            "source",
            "git",
            "app",
            "--url=https://example.com/a",
            "--branch=main",
            "--export",
        ],
    ];
    for command in without {
        let (good, text) = unread(command);
        assert!(good && !text.contains("panicked"), "{command:?}: {text}");
    }
}

#[test]
fn a_kubeconfig_that_is_missing_is_told_once() {
    let (good, text) = unread(&["get", "ks", "--kubeconfig=/does/not/exist"]);
    assert!(!good && text.contains("/does/not/exist"), "{text}");
    assert_eq!(text.matches("No such file").count(), 1, "{text}");
}

/// The flux client refuses it, too.
#[test]
fn a_name_of_one_letter_is_refused_with_the_reason() {
    let (good, text) = unread(&[
        "create",
        "source",
        "git",
        "x",
        "--url=https://example.com/a",
        "--branch=main",
        "--export",
    ]);
    assert!(!good && text.contains("is 2 to 63 of them long"), "{text}");
}
