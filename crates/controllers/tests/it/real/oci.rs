//! OCIRepository on the registry of Debian, with what oras and flux have pushed.

use std::collections::BTreeMap;
use std::process::Command;

use api::source::OciRepositorySpec;
use controllers::sources::OciRepositories;
use serde_json::{Value, json};
use testkit::program;
use testkit::tls::Authority;

use super::git::files;
use super::registry::Registry;
use crate::sources::bad_input::{artifact, with};
use crate::sources::bed::{Bed, condition};

pub(super) async fn started() -> Bed<OciRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(OciRepositories::new);
    bed
}

pub(super) fn spec(registry: &Registry, rest: Value) -> Value {
    let url = format!("oci://{}/team/app", registry.host());
    with(json!({"url": url, "interval": "1h"}), rest)
}

/// Files in a folder of the registry's clients, and what of them gets into an artifact.
fn content(registry: &Registry) -> BTreeMap<String, String> {
    let content = registry.folder().join("content");
    std::fs::create_dir_all(content.join("deep")).unwrap();
    for (path, text) in [
        ("app.yaml", "replicas: 1"),
        ("deep/b.yaml", "b: 2"),
        ("logo.png", "x"),
    ] {
        std::fs::write(content.join(path), format!("{text}\n")).unwrap();
    }
    let mut expected = files(&content);
    expected.remove("logo.png");
    expected
}

/// O1, O4, O5, O6, O7: what `flux push artifact` writes is pulled, and is what flux itself pulls
#[tokio::test]
async fn what_flux_pushes_is_pulled() {
    let (Some(registry), Some(_)) = (Registry::start(), program::find("flux")) else {
        return;
    };
    let expected = content(&registry);
    let url = format!("oci://{}/team/app", registry.host());
    let push = |tag: &str| {
        let url = format!("{url}:{tag}");
        let arguments = ["push", "artifact", &url, "--path=content"];
        let origin = ["--source=https://example.com/app", "--revision=main@sha1:1234"];
        registry.client(
            "flux",
            &[&arguments[..], &origin[..], &["--output=json"]].concat(),
        )
    };
    let pushed: Value = serde_json::from_str(&push("1.0.0")).unwrap();
    let bed = started().await;
    bed.create("app", spec(&registry, json!({"ref": {"semver": "1.x"}})))
        .await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let stored = artifact(&object).unwrap();
    let digest = pushed["digest"].as_str().unwrap();
    assert_eq!(stored.revision.to_string(), format!("1.0.0@{digest}"));
    let ready = condition(&object, "Ready").unwrap().message;
    assert_eq!(ready, format!("stored artifact for digest '1.0.0@{digest}'"));
    assert_eq!(
        stored.metadata["org.opencontainers.image.revision"],
        "main@sha1:1234"
    );
    let message = format!(
        "stored artifact with revision '1.0.0@{digest}' from '{url}', origin source \
         'https://example.com/app', origin revision 'main@sha1:1234'"
    );
    bed.until_told("app", "Normal", "NewArtifact", &message).await;
    assert_eq!(bed.unpacked(&object).await, expected);

    std::fs::write(registry.folder().join("content/app.yaml"), "replicas: 2\n").unwrap();
    push("1.1.0");
    let object = bed.recovers("app").await;
    assert!(
        artifact(&object)
            .unwrap()
            .revision
            .to_string()
            .starts_with("1.1.0@")
    );
    assert_eq!(bed.unpacked(&object).await["app.yaml"], "replicas: 2");
}

/// A11, T1, T2, T8: flux unpacks what we serve
#[tokio::test]
async fn flux_unpacks_what_we_serve() {
    let (Some(registry), Some(_), Some(_)) =
        (Registry::start(), program::find("flux"), program::find("oras"))
    else {
        return;
    };
    let expected = content(&registry);
    let (host, folder) = (registry.host(), registry.folder());
    let url = format!("oci://{host}/team/app:latest");
    let origin = ["--source=x", "--revision=y"];
    registry.client(
        "flux",
        &[&["push", "artifact", &url, "--path=content"], &origin[..]].concat(),
    );
    let bed = started().await;
    bed.create("app", spec(&registry, json!({}))).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    // It is pushed as it is by oras, and pulled by flux, which unpacks it as its controllers do.
    bed.fetch(&object, &folder.join("served.tgz")).await;
    let again = format!("{host}/team/again:latest");
    let layer = "served.tgz:application/vnd.cncf.flux.content.v1.tar+gzip";
    registry.client("oras", &["push", "--plain-http", &again, layer]);
    let output = folder.join("pulled");
    std::fs::create_dir(&output).unwrap();
    let to = format!("--output={}", output.display());
    registry.client("flux", &["pull", "artifact", &format!("oci://{again}"), &to]);
    assert_eq!(files(&output), expected);
}

/// `layerSelector`: what oras pushes, taken out of its archive or as it is
#[tokio::test]
async fn what_oras_pushes_is_pulled() {
    let (Some(registry), Some(_)) = (Registry::start(), program::find("oras")) else {
        return;
    };
    let expected = content(&registry);
    let folder = registry.folder();
    let mut tar = Command::new("tar");
    tar.args(["-czf", "content.tgz", "-C", "content", "."]);
    program::run(tar.current_dir(folder));
    std::fs::write(folder.join("notes.txt"), "as it is").unwrap();
    let reference = format!("{}/team/app:latest", registry.host());
    let files = ["notes.txt:text/plain", "content.tgz:application/x-tar-gz"];
    let pushed = [
        "push",
        "--plain-http",
        "--artifact-type=application/x",
        &reference,
    ];
    registry.client("oras", &[&pushed[..], &files[..]].concat());
    let bed = started().await;
    let layer = json!({"layerSelector": {"mediaType": "application/x-tar-gz"}});
    bed.create("extract", spec(&registry, layer)).await;
    let object = bed.ready("extract", "True", "Succeeded").await;
    assert_eq!(bed.unpacked(&object).await, expected);
    let layer = json!({"layerSelector": {"mediaType": "text/plain", "operation": "copy"}});
    bed.create("copy", spec(&registry, layer)).await;
    let object = bed.ready("copy", "True", "Succeeded").await;
    let file = folder.join("copied");
    bed.fetch(&object, &file).await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), "as it is");
    // The first layer is no archive.
    bed.create("first", spec(&registry, json!({}))).await;
    bed.ready("first", "False", "OCIArtifactLayerOperationFailed")
        .await;
}

/// AU5, AU6: the registry with TLS and passwords
#[tokio::test]
async fn a_closed_registry_is_reached_with_a_pull_secret() {
    let authority = Authority::default();
    let (Some(registry), Some(_)) = (Registry::closed(&authority), program::find("oras")) else {
        return;
    };
    content(&registry);
    let mut tar = Command::new("tar");
    tar.args(["-czf", "content.tgz", "-C", "content", "."]);
    program::run(tar.current_dir(registry.folder()));
    let reference = format!("{}/team/app:latest", registry.host());
    let login = ["--ca-file=ca.crt", "--username=ada", "--password=geheim"];
    let file = "content.tgz:application/vnd.cncf.flux.content.v1.tar+gzip";
    registry.client("oras", &[&["push", &reference, file], &login[..]].concat());
    let bed = started().await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    for (name, password) in [("right", "geheim"), ("wrong", "falsch")] {
        let config = json!({"auths": {registry.host(): {"username": "ada", "password": password}}});
        let data = json!({".dockerconfigjson": config.to_string()});
        bed.secret(name, "kubernetes.io/dockerconfigjson", data).await;
    }
    let access = |secret: Value, ca: Value| json!({"secretRef": secret, "certSecretRef": ca});
    let named = |name: &str| json!({"name": name});
    for (name, rest, status, reason) in [
        ("right", access(named("right"), named("ca")), "True", "Succeeded"),
        (
            "wrong",
            access(named("wrong"), named("ca")),
            "False",
            "OCIArtifactPullFailed",
        ),
        (
            "nobody",
            access(Value::Null, named("ca")),
            "False",
            "OCIArtifactPullFailed",
        ),
        (
            "untrusted",
            access(named("right"), Value::Null),
            "False",
            "OCIArtifactPullFailed",
        ),
    ] {
        bed.create(name, spec(&registry, rest)).await;
        let object = bed.ready(name, status, reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(
            !message.contains("geheim") && !message.contains("falsch"),
            "{message}"
        );
    }
}
