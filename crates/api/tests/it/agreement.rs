//! Types and schemas say the same: an object with every field of the schema passes through the type unchanged.

use api::source::{ExternalArtifact, GitRepository, GitRepositorySpec};
use api::{Object, Spec};
use serde_json::{Value, json};

use crate::sample;

fn check<S: Spec>() {
    let definition: Value = serde_json::to_value(S::definition().to_value()).unwrap();
    let fields = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    let mut object = json!({
        "apiVersion": S::NAMES.api_version(),
        "kind": S::NAMES.kind,
        "metadata": {"name": "a"},
        "spec": sample::of(&fields["spec"]),
    });
    if fields["status"].is_object() {
        object["status"] = sample::of(&fields["status"]);
    }
    let read: Object<S> = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), object);
}

#[test]
fn every_field_of_a_schema_is_a_field_of_its_type() {
    check::<api::extensions::ArtifactGeneratorSpec>();
    check::<api::helm::HelmReleaseSpec>();
    check::<api::image::ImagePolicySpec>();
    check::<api::image::ImageRepositorySpec>();
    check::<api::image::ImageUpdateAutomationSpec>();
    check::<api::kustomize::KustomizationSpec>();
    check::<api::notification::AlertSpec>();
    check::<api::notification::ProviderSpec>();
    check::<api::notification::ReceiverSpec>();
    check::<api::source::BucketSpec>();
    check::<api::source::ExternalArtifactSpec>();
    check::<api::source::GitRepositorySpec>();
    check::<api::source::HelmChartSpec>();
    check::<api::source::HelmRepositorySpec>();
    check::<api::source::OciRepositorySpec>();
}

#[test]
fn an_object_with_next_to_nothing_in_it_can_be_read() {
    let read: GitRepository = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    assert_eq!(read, GitRepository::new("a", GitRepositorySpec::default()));
}

#[test]
fn words_that_are_not_known_are_kept() {
    let object = json!({"metadata": {"name": "a"}, "spec": {"provider": "new-in-the-next-version"}});
    let read: GitRepository = serde_json::from_value(object).unwrap();
    assert_eq!(read.spec.provider.unwrap().as_str(), "new-in-the-next-version");
}

#[test]
fn an_artifact_that_cannot_be_read_is_none() {
    let artifact = |digest: &str, revision: &str| {
        let time = "2026-01-02T03:04:05Z";
        let artifact = json!({
            "digest": digest, "revision": revision, "path": "a", "url": "http://a", "lastUpdateTime": time,
        });
        let object = json!({"metadata": {}, "spec": {}, "status": {"artifact": artifact}});
        let read: ExternalArtifact = serde_json::from_value(object).unwrap();
        read.status.unwrap().artifact
    };
    let digest = format!("sha256:{}", "0".repeat(64));
    assert_eq!(
        artifact(&digest, "v1").unwrap().digest.unwrap().to_string(),
        digest
    );
    assert_eq!(artifact("crc:abc", "v1"), None);
    assert_eq!(artifact(&digest, ""), None);
}
