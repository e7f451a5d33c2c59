//! Certificates that the real `openssl` makes.

use std::path::Path;
use std::process::Command;

use source::http::Tls;
use testkit::program;
use testkit::tls::Identity;

use super::ask;

const NAMES: &str = "subjectAltName=DNS:localhost,IP:127.0.0.1";

/// Runs `openssl` in a folder.
fn run(folder: &Path, arguments: &str) {
    let mut command = Command::new("openssl");
    program::run(command.current_dir(folder).args(arguments.split(' ')));
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

fn identity(folder: &Path, name: &str) -> Identity {
    Identity {
        certificate: read(folder, &format!("{name}.crt")),
        key: read(folder, &format!("{name}.key")),
    }
}

#[tokio::test]
async fn certificates_that_openssl_makes_are_taken() {
    if program::find("openssl").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for kind in ["rsa:2048", "ec -pkeyopt ec_paramgen_curve:P-256", "ed25519"] {
        let request =
            format!("req -x509 -newkey {kind} -nodes -keyout self.key -out self.crt -days 2 -subj /CN=x");
        run(folder, &format!("{request} -addext {NAMES}"));
        let server = identity(folder, "self");
        let text = program::run(
            Command::new("openssl")
                .current_dir(folder)
                .args(["x509", "-noout", "-text", "-in", "self.crt"]),
        );
        assert!(text.contains("CA:TRUE"), "{text}");
        ask(server.clone(), &server.certificate).await.unwrap();
    }
    run(
        folder,
        "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=authority",
    );
    run(
        folder,
        &format!(
            "req -x509 -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.crt -days 2 -subj /CN=x -CA ca.crt -CAkey ca.key -addext {NAMES}"
        ),
    );
    ask(identity(folder, "leaf"), &read(folder, "ca.crt"))
        .await
        .unwrap();
}

#[tokio::test]
async fn certificates_of_the_first_version_are_taken() {
    if program::find("openssl").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(
        folder,
        "req -newkey rsa:2048 -nodes -keyout ca.key -out ca.csr -subj /CN=authority",
    );
    run(folder, "x509 -req -in ca.csr -signkey ca.key -out ca.crt -days 2");
    let text = program::run(
        Command::new("openssl")
            .current_dir(folder)
            .args(["x509", "-noout", "-text", "-in", "ca.crt"]),
    );
    if !text.contains("Version: 1") {
        eprintln!("skipped: this openssl makes certificates of the third version only");
        return;
    }
    std::fs::write(folder.join("names"), NAMES).unwrap();
    run(
        folder,
        "req -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr -subj /CN=x",
    );
    let issue = "x509 -req -in leaf.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2";
    run(folder, &format!("{issue} -extfile names -out leaf.crt"));
    ask(identity(folder, "leaf"), &read(folder, "ca.crt"))
        .await
        .unwrap();
    // A client's certificate needs no names, so that it is of the first version too.
    run(folder, &format!("{issue} -out client.crt"));
    let tls = Tls {
        certificate: Some(read(folder, "client.crt").into_bytes()),
        key: Some(read(folder, "leaf.key").into()),
        ..Tls::default()
    };
    tls.check().unwrap();
}
