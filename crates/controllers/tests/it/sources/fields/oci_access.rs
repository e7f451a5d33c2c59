//! OCIRepository: credentials, certificates, proxies.

use api::source::OciRepositorySpec;
use controllers::sources::OciRepositories;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};
use testkit::oci::{Artifact, Server};
use testkit::tls::Authority;

use crate::sources::bad_input::with;
use crate::sources::bed::{Bed, condition};

async fn started() -> Bed<OciRepositorySpec> {
    let mut bed = Bed::start().await;
    bed.run(OciRepositories::new);
    bed
}

fn spec(registry: &Server, rest: Value) -> Value {
    let url = format!("oci://{}/team/app", registry.host());
    with(json!({"url": url, "interval": "1h"}), rest)
}

fn filled(registry: Server) -> Server {
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    registry
}

/// AU5: credentials of a service account's pull secrets
#[tokio::test]
async fn the_pull_secrets_of_a_service_account_are_used() {
    let registry = filled(Server::builder().tokens("ada", "geheim").start());
    let bed = started().await;
    let config = json!({"auths": {registry.host(): {"username": "ada", "password": "geheim"}}});
    let data = json!({".dockerconfigjson": config.to_string()});
    bed.secret("pull", "kubernetes.io/dockerconfigjson", data).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let account = json!({"metadata": {"name": "puller"}, "imagePullSecrets": [{"name": "pull"}]});
    let account = serde_json::from_value(account).unwrap();
    accounts.create(&PostParams::default(), &account).await.unwrap();
    let rest = json!({"insecure": true, "serviceAccountName": "puller"});
    bed.create("app", spec(&registry, rest)).await;
    bed.ready("app", "True", "Succeeded").await;
    let rest = json!({"insecure": true, "serviceAccountName": "nobody"});
    bed.create("nobody", spec(&registry, rest)).await;
    let object = bed.ready("nobody", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    let named = format!("the ServiceAccount '{}/nobody' does not exist", bed.namespace);
    assert!(message.contains(&named), "{message}");
}

/// AU6, `certSecretRef`, `insecure`
#[tokio::test]
async fn registries_are_shown_and_checked_for_certificates() {
    let authority = Authority::default();
    let builder = Server::builder().tls(&authority).client_certificates(&authority);
    let registry = filled(builder.start());
    let lax = filled(Server::builder().tls(&authority).start());
    let bed = started().await;
    let client = authority.client("ada");
    let data = json!({"ca.crt": authority.pem(), "tls.crt": client.certificate, "tls.key": client.key});
    bed.secret("tls", "kubernetes.io/tls", data).await;
    bed.secret("ca", "Opaque", json!({"ca.crt": authority.pem()}))
        .await;
    bed.secret("empty", "Opaque", json!({"other": "x"})).await;
    let secret = |name: &str| json!({"certSecretRef": {"name": name}});
    for (name, registry, rest, status, reason) in [
        ("shown", &registry, secret("tls"), "True", "Succeeded"),
        (
            "not-shown",
            &registry,
            secret("ca"),
            "False",
            "OCIArtifactPullFailed",
        ),
        (
            "empty",
            &registry,
            secret("empty"),
            "False",
            "AuthenticationFailed",
        ),
        ("unknown", &lax, json!({}), "False", "OCIArtifactPullFailed"),
        ("insecure", &lax, json!({"insecure": true}), "True", "Succeeded"),
    ] {
        bed.create(name, spec(registry, rest)).await;
        bed.ready(name, status, reason).await;
    }
}

/// AU7, `proxySecretRef`
#[tokio::test]
async fn registries_are_reached_through_the_proxy_of_a_secret() {
    // The registry answers whatever host it is asked for, as a proxy would.
    let registry = filled(Server::start());
    let bed = started().await;
    let proxy = json!({"address": registry.url(), "username": "ada", "password": "geheim"});
    bed.secret("proxy", "Opaque", proxy).await;
    let rest = json!({
        "url": "oci://registry.invalid/team/app", "insecure": true, "proxySecretRef": {"name": "proxy"},
    });
    bed.create("app", spec(&registry, rest.clone())).await;
    bed.ready("app", "True", "Succeeded").await;
    bed.secret("none", "Opaque", json!({"username": "ada", "password": "geheim"}))
        .await;
    let rest = with(rest, json!({"proxySecretRef": {"name": "none"}}));
    bed.create("none", spec(&registry, rest)).await;
    let object = bed.ready("none", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("has no key 'address'"), "{message}");
}
