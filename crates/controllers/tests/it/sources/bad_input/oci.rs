//! Artifacts of registries that cannot be pulled.

use api::source::OciRepositorySpec;
use controllers::sources::OciRepositories;
use serde_json::{Value, json};
use testkit::archive::{File, tgz};
use testkit::http::{Credential, Fault};
use testkit::oci::{Artifact, Server};
use testkit::tls::Authority;

use super::with;
use crate::sources::bed::Bed;

const FETCH: &str = "FetchFailed";
const PULL: &str = "OCIArtifactPullFailed";
const LAYER: &str = "OCIArtifactLayerOperationFailed";
const CONTENT: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";

async fn started() -> Bed<OciRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(OciRepositories::new);
    bed
}

fn spec(registry: &Server, rest: Value) -> Value {
    let url = format!("oci://{}/team/app", registry.host());
    with(json!({"url": url, "interval": "1h"}), rest)
}

fn files(text: &str) -> Artifact {
    Artifact::files(&[("a", text)])
}

#[tokio::test]
async fn a_registry_that_no_longer_takes_the_credentials() {
    let registry = Server::builder().basic("ada", "geheim").start();
    registry.push("team/app", "latest", &files("1"));
    let bed = started().await;
    let login = |password: &str| {
        let config = json!({"auths": {registry.host(): {"username": "ada", "password": password}}});
        json!({".dockerconfigjson": config.to_string()})
    };
    bed.secret("pull", "kubernetes.io/dockerconfigjson", login("geheim"))
        .await;
    let rest = json!({"insecure": true, "secretRef": {"name": "pull"}});
    bed.create("app", spec(&registry, rest)).await;
    bed.ready("app", "True", "Succeeded").await;
    registry.accept_only(&[Credential::basic("ada", "rotated")]);
    let words = [&*registry.host(), "refuses the credentials", "check"];
    bed.fails("app", FETCH, PULL, &words).await;
    bed.change_secret("pull", login("rotated")).await;
    bed.recovers("app").await;
}

#[tokio::test]
async fn a_registry_whose_certificate_is_not_trusted() {
    let authority = Authority::default();
    let registry = Server::builder().tls(&authority).start();
    registry.push("team/app", "latest", &files("1"));
    let bed = started().await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    let rest = json!({"certSecretRef": {"name": "ca"}});
    bed.create("app", spec(&registry, rest)).await;
    bed.ready("app", "True", "Succeeded").await;
    let stranger = Authority::new("somebody else");
    bed.change_secret("ca", json!({"ca.crt": stranger.pem()})).await;
    bed.fails("app", FETCH, PULL, &[&registry.host(), "certificate"])
        .await;
    bed.change_secret("ca", json!({"ca.crt": authority.pem()})).await;
    bed.recovers("app").await;
}

#[tokio::test]
async fn tags_versions_and_layers_that_are_not_there() {
    let registry = Server::start();
    registry.push("team/app", "1.0.0", &files("1"));
    let bed = started().await;
    let rest = json!({"insecure": true, "ref": {"tag": "1.0.0"}});
    bed.create("app", spec(&registry, rest)).await;
    bed.ready("app", "True", "Succeeded").await;
    for (reference, reason, words) in [
        (json!({"tag": "gone"}), PULL, ["team/app:gone", "not found"]),
        (
            json!({"semver": ">=2"}),
            "ReadOperationFailed",
            ["no match found", ">=2"],
        ),
        (
            json!({"semver": "no range"}),
            "ReadOperationFailed",
            ["semver", "no range"],
        ),
        (
            json!({"semver": "1.x", "semverFilter": "("}),
            "ReadOperationFailed",
            ["filter", "regular expression"],
        ),
    ] {
        bed.patch("app", json!({"spec": {"ref": null}})).await;
        bed.patch("app", json!({"spec": {"ref": reference}})).await;
        let words = [&*registry.host(), words[0], words[1]];
        bed.fails("app", FETCH, reason, &words).await;
    }
    let change = json!({"ref": {"tag": "1.0.0", "semver": null, "semverFilter": null}, "layerSelector": {"mediaType": "text/x"}});
    bed.patch("app", json!({"spec": change})).await;
    bed.fails("app", FETCH, LAYER, &["text/x", "layer with media type"])
        .await;
}

/// `timeout`
#[tokio::test]
async fn a_registry_that_hangs_is_given_up() {
    let registry = Server::start();
    registry.push("team/app", "latest", &files("1"));
    let bed = started().await;
    let rest = json!({"insecure": true, "timeout": "1s"});
    bed.create("app", spec(&registry, rest)).await;
    bed.ready("app", "True", "Succeeded").await;
    registry.fail(Fault::hang().forever());
    bed.fails("app", FETCH, PULL, &[&registry.host(), "longer than 1s"])
        .await;
    registry.heal();
    bed.recovers("app").await;
}

#[tokio::test]
async fn layers_that_are_cut_off_or_have_another_digest() {
    let registry = Server::start();
    registry.push("team/app", "latest", &files("1"));
    let bed = started().await;
    bed.create("app", spec(&registry, json!({"insecure": true})))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    let digest = registry.push("team/app", "latest", &files("2"));
    registry.fail(Fault::truncate(10).on("/blobs/").forever());
    let url = format!("oci://{}/team/app", registry.host());
    bed.fails("app", FETCH, LAYER, &[&url]).await;
    registry.heal();
    registry.fail(Fault::corrupt().on("/blobs/").forever());
    bed.fails(
        "app",
        FETCH,
        LAYER,
        &[&url, "is corrupt: its digest is", "push it again"],
    )
    .await;
    registry.heal();
    let object = bed.recovers("app").await;
    let revision = object.status.unwrap().artifact.unwrap().revision;
    assert_eq!(revision.to_string(), format!("latest@{digest}"));
}

/// T8: what leads out of its folder is refused
#[tokio::test]
async fn layers_that_are_no_archive_or_one_that_leads_out() {
    let registry = Server::start();
    registry.push("team/app", "latest", &files("1"));
    let bed = started().await;
    bed.create("app", spec(&registry, json!({"insecure": true})))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    let whole = tgz(&[File::new("a", "x".repeat(10_000))]);
    for (layer, words) in [
        (
            b"no archive".to_vec(),
            "must be a gzipped tar archive: it is not gzipped",
        ),
        (
            b"text".to_vec(),
            "must be a gzipped tar archive: it is not gzipped",
        ),
        (escaping(), "../../etc/cron.d/x"),
        (whole[..whole.len() - 12].to_vec(), "truncated"),
    ] {
        let artifact = Artifact::empty("application/x").layer(CONTENT, layer);
        registry.push("team/app", "latest", &artifact);
        let words = ["failed to extract layer contents from artifact", words];
        bed.fails("app", FETCH, LAYER, &words).await;
    }
    assert!(!bed.store.root().join("../etc").exists());
    registry.push("team/app", "latest", &files("2"));
    bed.recovers("app").await;
}

/// An archive with a name that no program should write, and most refuse to.
fn escaping() -> Vec<u8> {
    let (name, content) = (b"../../etc/cron.d/x", b"* * * * *");
    let mut header = tar::Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(gzip);
    archive.append(&header, content.as_slice()).unwrap();
    archive.into_inner().unwrap().finish().unwrap()
}

/// V9
#[tokio::test]
async fn a_new_revision_that_nobody_trusted_has_signed() {
    let registry = Server::start();
    registry.push("team/app", "latest", &files("1"));
    let bed = started().await;
    bed.create("app", spec(&registry, json!({"insecure": true})))
        .await;
    bed.ready("app", "True", "Succeeded").await;
    registry.push("team/app", "latest", &files("2"));
    let key = rcgen::KeyPair::generate().unwrap().public_key_pem();
    bed.secret("keys", "Opaque", json!({"cosign.pub": key})).await;
    let verify = json!({"provider": "cosign", "secretRef": {"name": "keys"}});
    bed.patch("app", json!({"spec": {"verify": verify}})).await;
    let words = ["cosign", &*registry.host(), "no matching signatures were found"];
    bed.fails("app", "SourceVerified", "VerificationError", &words)
        .await;
    bed.patch("app", json!({"spec": {"verify": null}})).await;
    bed.recovers("app").await;
}
