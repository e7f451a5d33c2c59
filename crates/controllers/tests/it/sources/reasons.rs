//! What is said of each thing that can happen, to the letter: the conditions of sources, whether true is good, and the reasons that
//! other tests have no need of. `crate::names` sees to it that no reason is forgotten.

use std::path::PathBuf;

use api::source::{BucketSpec, GitRepositorySpec, HelmChartSpec, HelmRepositorySpec, OciRepositorySpec};
use api::{Object, ReconcileStatus, Spec};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories};
use k8s_openapi::api::core::v1::Event;
use kube::api::{Patch, PatchParams};
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, HashAlg, PrivateKey};
use serde_json::json;
use testkit::helm::Chart;
use testkit::http::Fault;
use testkit::oci::Artifact;
use testkit::{git, helm, oci, s3};

use super::bed::{Bed, condition};
use super::follow::{Followed, answered, shown};

fn signer(key: &PrivateKey) -> impl FnOnce(&[u8]) -> String + 'static {
    let key = key.clone();
    move |payload| {
        let signature = key.sign("git", HashAlg::Sha512, payload).unwrap();
        signature.to_pem(LineEnding::LF).unwrap()
    }
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Bed<S> {
    /// Where a file of an object is or will be.
    fn path_of(&self, name: &str, file: &str) -> PathBuf {
        let kind = S::NAMES.kind.to_ascii_lowercase();
        let folder = self.store.root().join(kind).join(&self.namespace);
        folder.join(name).join(file)
    }

    /// Puts a folder with something in it where a file should be: nobody can write that file, not even root.
    fn block(&self, name: &str, file: &str) -> PathBuf {
        let path = self.path_of(name, file);
        std::fs::create_dir_all(path.join("in the way")).unwrap();
        path
    }

    /// Has a run end with a condition that says why the object is not ready.
    async fn says(&self, name: &str, token: &str, kind: &str, said: &str) {
        let object = self.requested(name, token).await;
        let ready = condition(&object, "Ready").unwrap();
        assert_eq!(shown(&object, kind), said, "{token}: {}", ready.message);
        let (_, reason) = said.split_once('/').unwrap();
        assert_eq!(shown(&object, "Ready"), format!("False/{reason}"), "{token}");
        assert_eq!(
            ready.message,
            condition(&object, kind).unwrap().message,
            "{token}"
        );
    }

    /// Waits until something was told for this reason.
    async fn tells(&self, reason: &str) -> Event {
        self.until_event(|event| event.reason.as_deref() == Some(reason))
            .await
    }
}

/// The state in which something new is there and not stored yet.
async fn outdated<S>(followed: &mut Followed<S>, token: &str) -> Object<S>
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
{
    let states = followed.until(|state| answered(state, token)).await;
    assert_eq!(shown(states.last().unwrap(), "ArtifactOutdated"), "none");
    let mut states = states.into_iter();
    let found = states.find(|state| condition(state, "ArtifactOutdated").is_some());
    found.expect("it is said that the artifact is outdated")
}

/// S5, S6: the conditions of a GitRepository: those whose truth is bad, the one whose truth is good, and the one of both kinds
#[tokio::test]
async fn each_condition_of_a_git_repository_has_its_name_and_sense() {
    let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
    let server = git::Server::start();
    let repository = server.repository("app");
    let signed = |content: &str| {
        let change = repository.change("main").file("a", content);
        change.signed(signer(&key)).commit()
    };
    signed("1");
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    bed.run(GitRepositories::new);
    let public = key.public_key().to_openssh().unwrap();
    bed.secret("keys", "Opaque", json!({"ada.sshpub": public})).await;
    let spec = json!({
        "url": server.clone_url("app"), "interval": "1h", "ref": {"branch": "main"},
        "verify": {"mode": "HEAD", "secretRef": {"name": "keys"}},
    });
    bed.create("app", spec).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    assert_eq!(shown(&object, "ArtifactInStorage"), "True/Succeeded");
    assert_eq!(shown(&object, "SourceVerified"), "True/Succeeded");

    let mut followed = bed.follow("app").await;
    signed("2");
    bed.ask("app", "new").await;
    let building = outdated(&mut followed, "new").await;
    assert_eq!(shown(&building, "ArtifactOutdated"), "True/NewRevision");
    assert_eq!(shown(&building, "Ready"), "Unknown/Progressing");

    repository.commit("main", "Unsigned", [("a", "3")]);
    let reason = "False/InvalidCommitSignature";
    bed.says("app", "unsigned", "SourceVerified", reason).await;
    bed.patch("app", json!({"spec": {"verify": null}})).await;
    server.fail(Fault::status(500).forever());
    let reason = "True/GitOperationFailed";
    bed.says("app", "broken", "FetchFailed", reason).await;
    server.heal();
    bed.recovers("app").await;
    let include = json!([{"repository": {"name": "other"}}]);
    bed.patch("app", json!({"spec": {"include": include}})).await;
    bed.says("app", "alone", "IncludeUnavailable", "True/NotFound")
        .await;
    // What will be stored next cannot be.
    let next = repository.commit("main", "Next", [("a", "4")]);
    let blocked = bed.block("app", &format!("{next}.tar.gz"));
    bed.patch("app", json!({"spec": {"include": null}})).await;
    let reason = "True/ArchiveOperationFailed";
    bed.says("app", "full", "StorageOperationFailed", reason).await;
    std::fs::remove_dir_all(blocked).unwrap();
    let object = bed.recovers("app").await;
    let conditions = object.status.as_ref().unwrap().conditions().iter();
    let kinds: Vec<&str> = conditions.map(|condition| condition.kind.as_str()).collect();
    assert_eq!(kinds, ["Ready", "ArtifactInStorage"]);
}

/// S6: what is included has no artifact, or another one; a tag of somebody else; rules that are too large
#[tokio::test]
async fn reasons_of_git_repositories() {
    let key = || PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).unwrap();
    let (ada, eve) = (key(), key());
    let server = git::Server::start();
    let repository = server.repository("app");
    let commit = repository.commit("main", "Start", [("a", "1")]);
    let tag = repository.annotated_tag("theirs", commit);
    tag.signed(signer(&eve)).create();
    let large = "*.something-to-leave-out\n".repeat(100_000);
    let rules = server.repository("rules");
    rules.commit("main", "Rules", [(".sourceignore", large.as_str())]);
    let other = server.repository("other");
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    bed.run(GitRepositories::new);
    let public = ada.public_key().to_openssh().unwrap();
    bed.secret("keys", "Opaque", json!({"ada.sshpub": public})).await;
    let spec = |name: &str| {
        let url = server.clone_url(name);
        json!({"url": url, "interval": "1h", "ref": {"branch": "main"}})
    };
    let mut signed = spec("app");
    signed["ref"] = json!({"tag": "theirs"});
    signed["verify"] = json!({"mode": "Tag", "secretRef": {"name": "keys"}});
    bed.create("tag", signed).await;
    bed.ready("tag", "False", "InvalidTagSignature").await;

    bed.create("other", spec("other")).await;
    bed.ready("other", "False", "EmptyGitRepository").await;
    let mut including = spec("app");
    including["include"] = json!([{"repository": {"name": "other"}}]);
    bed.create("app", including).await;
    bed.ready("app", "False", "NoArtifact").await;
    other.commit("main", "Start", [("b", "1")]);
    bed.requested("other", "one").await;
    bed.ready("app", "True", "Succeeded").await;
    let mut followed = bed.follow("app").await;
    other.commit("main", "More", [("b", "2")]);
    bed.requested("other", "two").await;
    let states = followed
        .until(|state| shown(state, "ArtifactOutdated") == "True/IncludeChange")
        .await;
    assert_eq!(shown(states.last().unwrap(), "Ready"), "Unknown/Progressing");

    bed.create("rules", spec("rules")).await;
    let message = bed.tells("SourceIgnoreError").await.message.unwrap();
    assert!(message.contains(".sourceignore"), "{message}");
}

/// S6: a store in which something cannot be written
#[tokio::test]
async fn reasons_of_the_store() {
    let registry = oci::Server::start();
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.run(OciRepositories::new);
    let url = format!("oci://{}/team/app", registry.host());
    let spec = json!({"url": url, "interval": "1h", "insecure": true});
    bed.block("lock", &format!("{digest}.tar.gz.lock"));
    bed.block("file", &format!("{digest}.tar.gz"));
    bed.block("link", "latest.tar.gz");
    let all = bed.path_of("lock", "").parent().unwrap().to_owned();
    std::fs::write(all.join("folder"), "").unwrap();
    for (name, reason) in [
        ("folder", "DirectoryCreationFailed"),
        ("lock", "AcquireLockFailed"),
        ("file", "ArchiveOperationFailed"),
    ] {
        bed.create(name, spec.clone()).await;
        let object = bed.ready(name, "False", reason).await;
        let said = shown(&object, "StorageOperationFailed");
        assert_eq!(said, format!("True/{reason}"));
    }
    // An artifact without the link to the newest is one still.
    bed.create("link", spec).await;
    bed.ready("link", "True", "Succeeded").await;
    let event = bed.tells("SymlinkUpdateFailed").await;
    assert_eq!(event.type_.as_deref(), Some("Normal"));
    let message = event.message.unwrap();
    assert!(
        message.starts_with("failed to update status URL symlink: "),
        "{message}"
    );
}

/// S5, S6: what is said of a HelmChart, which alone is built
#[tokio::test]
async fn reasons_of_helm_charts() {
    let charts = helm::Server::start();
    charts.add(&Chart::new("podinfo", "6.0.0"));
    let mut bed = Bed::<HelmChartSpec>::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.serve::<GitRepositorySpec>().await;
    bed.serve::<BucketSpec>().await;
    bed.run(HelmRepositories::new);
    bed.run(HelmCharts::new);
    let repository = json!({"url": charts.url(), "interval": "1h"});
    bed.create_other::<HelmRepositorySpec>("charts", repository).await;
    let reference = json!({"kind": "HelmRepository", "name": "charts"});
    let spec = json!({"chart": "podinfo", "interval": "1h", "sourceRef": reference});
    bed.create("app", spec.clone()).await;
    bed.ready("app", "True", "ChartPullSucceeded").await;
    let files = json!({"spec": {"valuesFiles": ["nowhere.yaml"]}});
    bed.patch("app", files).await;
    let reason = "True/ValuesFilesError";
    bed.says("app", "values", "BuildFailed", reason).await;
    bed.patch("app", json!({"spec": {"valuesFiles": null}})).await;
    let object = bed.ready("app", "True", "ChartPullSucceeded").await;
    assert_eq!(shown(&object, "BuildFailed"), "none");

    let mut followed = bed.follow("app").await;
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let ask = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "now"}}});
    let ask = Patch::Merge(&ask);
    let repositories = bed.other::<HelmRepositorySpec>();
    let parameters = PatchParams::default();
    let asked = repositories.patch("charts", &parameters, &ask).await;
    asked.unwrap();
    let states = followed
        .until(|state| shown(state, "ArtifactOutdated") == "True/NewChart")
        .await;
    assert_eq!(shown(states.last().unwrap(), "Ready"), "Unknown/Progressing");

    // Of a kind that charts are not made of (`UnsupportedSourceKind`) the definition lets nobody speak.
    let mut spec = spec;
    spec["sourceRef"]["kind"] = json!("OCIRepository");
    let object = json!({
        "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "HelmChart", "metadata": {"name": "other"}, "spec": spec,
    });
    let object: Object<HelmChartSpec> = serde_json::from_value(object).unwrap();
    let refused = bed.api.create(&Default::default(), &object).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("spec.sourceRef.kind"), "{refused}");
}

/// S6: a Bucket that is to ask for its credentials, and does not say as whom
#[tokio::test]
async fn reasons_of_buckets() {
    let store = s3::Server::builder().key("access", "geheim").start();
    store.bucket("manifests").put("a", "1");
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.run(Buckets::new);
    let sts = json!({"provider": "ldap", "endpoint": format!("http://{}", store.host())});
    let spec = json!({
        "provider": "generic", "endpoint": store.host(), "bucketName": "manifests", "interval": "1h", "insecure": true,
        "sts": sts,
    });
    bed.create("files", spec).await;
    let object = bed.ready("files", "False", "InvalidSTSConfiguration").await;
    assert_eq!(shown(&object, "Stalled"), "True/InvalidSTSConfiguration");
}

/// C8: the reasons that all kinds share, as far as sources say them; the others are of controllers that apply
#[tokio::test]
async fn reasons_that_all_kinds_share() {
    let registry = oci::Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    registry.fail(Fault::status(403).forever());
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.run(OciRepositories::new);
    let url = format!("oci://{}/team/app", registry.host());
    let spec = json!({"url": url, "interval": "1h", "insecure": true});
    let mut followed = bed.follow("app").await;
    bed.create("app", spec.clone()).await;
    for said in ["True/Progressing", "True/ProgressingWithRetry"] {
        followed.until(|state| shown(state, "Reconciling") == said).await;
    }
    registry.heal();
    let states = followed
        .until(|state| shown(state, "Ready") == "True/Succeeded")
        .await;
    let stored = shown(states.last().unwrap(), "ArtifactInStorage");
    assert_eq!(stored, "True/Succeeded");
    let mut gated = spec;
    gated["provider"] = json!("aws");
    gated["serviceAccountName"] = json!("somebody");
    bed.create("gated", gated).await;
    let object = bed.ready("gated", "False", "FeatureGateDisabled").await;
    assert_eq!(shown(&object, "Stalled"), "True/FeatureGateDisabled");

    let charts = helm::Server::start();
    charts.fail(Fault::status(500).forever());
    let mut bed = Bed::<HelmRepositorySpec>::start().await;
    bed.run(HelmRepositories::new);
    bed.create("charts", json!({"url": charts.url(), "interval": "1h"}))
        .await;
    bed.ready("charts", "False", "Failed").await;
}
