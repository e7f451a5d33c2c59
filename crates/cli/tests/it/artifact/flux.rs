//! The real flux client at the other end, where it is installed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use testkit::oci::Server;

use super::{REVISION, SOURCE, files, good, push, run, sluice, url};

/// Runs flux, unless there is none.
fn flux(folder: &Path, arguments: &[&str]) -> Option<Output> {
    testkit::program::find("flux")?;
    Some(run("flux", folder, arguments))
}

#[test]
fn what_flux_pushed_we_pull_and_compare_and_list() {
    let registry = Server::start();
    let folder = files();
    let url = url(&registry, "1.0");
    let Some(pushed) = flux(
        folder.path(),
        &["push", "artifact", &url, "--path=.", SOURCE, REVISION],
    ) else {
        return;
    };
    good(pushed);
    let output = tempfile::tempdir().unwrap();
    good(sluice(output.path(), &["pull", "artifact", &url, "-o=."]));
    let web = fs::read_to_string(output.path().join("apps/web.yaml")).unwrap();
    assert_eq!(web, "kind: Deployment\n");
    assert!(!output.path().join("picture.png").exists());
    good(sluice(folder.path(), &["diff", "artifact", &url, "--path=."]));

    let repository = format!("oci://{}/team/app", registry.host());
    let list = ["list", "artifacts", repository.as_str()];
    let theirs = good(flux(folder.path(), &list).unwrap()).0;
    assert_eq!(good(sluice(folder.path(), &list)).0, theirs);
}

#[test]
fn what_we_pushed_flux_pulls() {
    let registry = Server::start();
    let folder = files();
    good(push(&registry, "1.0", folder.path(), &[]));
    let output = tempfile::tempdir().unwrap();
    let Some(pulled) = flux(
        output.path(),
        &["pull", "artifact", &url(&registry, "1.0"), "-o=."],
    ) else {
        return;
    };
    let (_, said) = good(pulled);
    assert!(said.contains("✔ revision main@sha1:c0ffee"), "{said}");
    let web = fs::read_to_string(output.path().join("apps/web.yaml")).unwrap();
    assert_eq!(web, "kind: Deployment\n");
    // Whoever pulls it can have others read it.
    let mode = fs::metadata(output.path().join("apps/web.yaml"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn the_manifest_and_config_have_the_form_of_those_of_flux() {
    let registry = Server::start();
    let folder = files();
    let theirs = url(&registry, "theirs");
    let arguments = [
        "push",
        "artifact",
        &theirs,
        "--path=.",
        SOURCE,
        REVISION,
        "--reproducible",
        "-o=json",
    ];
    let Some(pushed) = flux(folder.path(), &arguments) else {
        return;
    };
    let their_words = good(pushed).0;
    let our_words = good(push(
        &registry,
        "ours",
        folder.path(),
        &["--reproducible", "-o=json"],
    ))
    .0;
    let shape = |tag: &str, words: &str| {
        let manifest = registry.manifest("team/app", tag).unwrap();
        let layer = &manifest["layers"][0];
        let digest = manifest["config"]["digest"].as_str().unwrap();
        let config = registry.blob("team/app", digest).unwrap();
        let config: serde_json::Value = serde_json::from_slice(&config).unwrap();
        let words = words
            .replace(&registry.digest("team/app", tag).unwrap(), "[digest]")
            .replace(tag, "[tag]");
        let form = serde_json::json!({
            "annotations": manifest["annotations"],
            "config": manifest["config"]["mediaType"],
            "layer": layer["mediaType"],
            "keys": manifest.as_object().unwrap().keys().collect::<Vec<_>>(),
            "config keys": config.as_object().unwrap().keys().collect::<Vec<_>>(),
        });
        (form, words)
    };
    assert_eq!(shape("ours", &our_words), shape("theirs", &their_words));
}
