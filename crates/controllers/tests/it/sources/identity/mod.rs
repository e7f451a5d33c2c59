//! Objects that are somebody to a cloud or to GitHub: rows AU3 and AU8.

mod aws;
mod azure;
mod git;
mod google;
mod registries;

use api::{ReconcileStatus, Spec};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};
use source::identity::{Environment, Identities, Settings};

use super::bed::{Bed, nobody_settings};

/// Identities of an environment, on no machine of a cloud unless `change` says so.
fn identities(variables: &[(&str, &str)], change: impl FnOnce(&mut Settings)) -> Identities {
    let mut settings = nobody_settings(Environment::of(variables.iter().copied()));
    change(&mut settings);
    Identities::new(settings)
}

/// Has the operator trust an endpoint with credentials for a service.
fn trust(settings: &mut Settings, service: &str, origin: &str) {
    let endpoint = format!("{service}={origin}");
    settings.trusted.push(endpoint.parse().unwrap());
}

/// The claims of a token.
fn claims(token: &str) -> Value {
    let claims = token.split('.').nth(1).unwrap_or_default();
    let claims = URL_SAFE_NO_PAD.decode(claims).unwrap_or_default();
    serde_json::from_slice(&claims).unwrap_or_default()
}

/// Whether the cluster says that this is the ServiceAccount `reader` of a namespace, to this audience.
fn is_reader(token: &str, namespace: &str, audience: &str) -> bool {
    let claims = claims(token);
    let subject = format!("system:serviceaccount:{namespace}:reader");
    claims["sub"] == subject.as_str() && claims["aud"] == json!([audience])
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Bed<S> {
    /// A ServiceAccount of the test's namespace.
    pub(crate) async fn service_account(&self, name: &str, annotations: Value) {
        let api: Api<ServiceAccount> = Api::namespaced(self.cluster.client(), &self.namespace);
        let account = json!({"metadata": {"name": name, "annotations": annotations}});
        let account = serde_json::from_value(account).unwrap();
        api.create(&PostParams::default(), &account).await.unwrap();
    }
}

/// A file with a token, as a webhook mounts it.
fn token_file(text: &str) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().display().to_string();
    (file, path)
}
