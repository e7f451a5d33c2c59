//! The real cosign as the signer, where it is installed.

use std::path::Path;
use std::process::Command;

use source::verify::cosign;
use testkit::oci::{Referrers, Server};
use testkit::program;

use super::cosign::artifact;
use crate::oci::{anonymous, repository};

fn run(directory: &Path, arguments: &[&str]) {
    let mut command = Command::new("cosign");
    command
        .args(arguments)
        .current_dir(directory)
        .env("COSIGN_PASSWORD", "")
        .env("HOME", directory);
    program::run(&mut command);
}

#[tokio::test]
async fn what_cosign_signs_is_verified() {
    if program::find("cosign").is_none() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    run(directory.path(), &["generate-key-pair"]);
    let pem = std::fs::read(directory.path().join("cosign.pub")).unwrap();
    let keys = cosign::keys([("cosign.pub", pem.as_slice())]).unwrap();
    for (way, format) in [
        (Referrers::Api, "--new-bundle-format=true"),
        (Referrers::Tags, "--new-bundle-format=true"),
        (Referrers::Api, "--new-bundle-format=false"),
    ] {
        let registry = Server::start();
        registry.set_referrers(way);
        let digest = registry.push("team/app", "latest", &artifact());
        let repository = repository(&registry, "team/app");
        let artifact = digest.parse().unwrap();
        let checked = cosign::verify_with_keys(&anonymous(), &repository, artifact, &keys).await;
        checked.unwrap_err();
        let reference = format!("{}/team/app@{digest}", registry.host());
        let options = [
            "--use-signing-config=false",
            "--tlog-upload=false",
            "--allow-http-registry",
            "-y",
        ];
        let arguments = [
            &["sign", "--key", "cosign.key", format],
            &options[..],
            &[reference.as_str()],
        ]
        .concat();
        run(directory.path(), &arguments);
        let checked = cosign::verify_with_keys(&anonymous(), &repository, artifact, &keys).await;
        checked.unwrap_or_else(|error| panic!("{way:?} {format}: {error}"));
    }
}
