//! Keys for Git over SSH: of the server, and new ones.

use serde_json::Value;

use super::{SLUICE, run, said};

async fn secret(program: &str, url: &str, more: &[&str]) -> Value {
    let url = format!("--url={url}");
    let arguments = ["create", "secret", "git", "app", "--export", &url];
    let output = run(program, &[&arguments[..], more].concat()).await;
    assert!(output.status.success(), "{}", said(&output));
    serde_json::to_value(yaml::parse(&output.stdout).unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_of_the_server_is_known_and_the_new_key_opens_it() {
    let server = testkit::git::Server::start();
    server.repository("team/app");
    let ssh = server.over_ssh().start();
    let url = ssh.clone_url("team/app");
    let ours = secret(SLUICE, &url, &[]).await;
    let data = &ours["stringData"];
    let public = data["identity.pub"].as_str().unwrap();
    assert!(
        public.starts_with("ecdsa-sha2-nistp384 ") && public.ends_with('\n'),
        "{public}"
    );
    assert!(data["identity"].as_str().unwrap().contains("PRIVATE KEY"));
    let known = ssh.known_hosts();
    let key = known.split_whitespace().nth(2).unwrap();
    assert!(data["known_hosts"].as_str().unwrap().contains(key), "{data}");
    if let Some(flux) = testkit::program::find("flux") {
        let theirs = secret(flux.to_str().unwrap(), &url, &[]).await;
        assert_eq!(theirs["stringData"]["known_hosts"], data["known_hosts"]);
        let keys = |secret: &Value| {
            secret["stringData"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(keys(&theirs), keys(&ours));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_private_key_is_taken_from_its_file() {
    let server = testkit::git::Server::start();
    server.repository("app");
    let ssh = server.over_ssh().start();
    let key = testkit::git::KeyPair::generate(testkit::git::KeyKind::Ed25519);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, key.private()).unwrap();
    let file = format!("--private-key-file={}", file.display());
    let ours = secret(SLUICE, &ssh.clone_url("app"), &[&file]).await;
    assert_eq!(ours["stringData"]["identity"], key.private());
    let public = ours["stringData"]["identity.pub"].as_str().unwrap();
    let first_words = |text: &str| {
        text.split_whitespace()
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(first_words(public), first_words(&key.public()));
    if let Some(flux) = testkit::program::find("flux") {
        let theirs = secret(flux.to_str().unwrap(), &ssh.clone_url("app"), &[&file]).await;
        assert_eq!(theirs, ours);
    }
}
