//! Objects that are somebody to a cloud or to GitHub: rows AU3 and AU8.

use std::sync::Arc;

use api::source::{BucketSpec, GitRepositorySpec, OciRepositorySpec};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use controllers::sources::{Buckets, GitRepositories, OciRepositories};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;
use parking_lot::Mutex;
use rcgen::{KeyPair, PKCS_RSA_SHA256};
use serde_json::{Value, json};
use source::identity::{Environment, Identities, Settings};
use testkit::http::{Reply, Request, Server, Service};
use testkit::oci::{Artifact, Registry};
use testkit::{git, s3};

use super::bed::{Bed, condition};

const REGISTRY: &str = "012345678901.dkr.ecr.eu-west-1.amazonaws.com";
const ROLE: &str = "arn:aws:iam::012345678901:role/reader";

fn identities(variables: &[(&str, &str)], change: impl FnOnce(&mut Settings)) -> Identities {
    let mut settings = Settings::new(Environment::of(variables.iter().copied()));
    change(&mut settings);
    Identities::new(settings)
}

/// A proxy behind which are AWS with ECR and a token service, and a registry that lets in whoever has its login. What the token
/// service was asked is noted.
fn aws(asked: Arc<Mutex<Vec<Vec<u8>>>>) -> Server<impl Service> {
    let registry = Registry::default();
    registry.push(
        "team/app",
        "latest",
        &Artifact::files(&[("app.yaml", "replicas: 1\n")]),
    );
    Server::serve(move |request: &Request| match request.host() {
        "ecr.test" => {
            // "AWS:registry-password"
            let login =
                json!({"authorizationToken": "QVdTOnJlZ2lzdHJ5LXBhc3N3b3Jk", "expiresAt": 4_000_000_000.0});
            Reply::json(json!({ "authorizationData": [login] }).to_string())
        }
        "sts.test" => {
            asked.lock().push(request.body.to_vec());
            Reply::ok(
                "text/xml",
                "<R><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>sts-geheim</SecretAccessKey>\
                 <SessionToken>s</SessionToken><Expiration>2090-01-01T01:00:00Z</Expiration></R>",
            )
        }
        REGISTRY if request.header("authorization") == Some("Basic QVdTOnJlZ2lzdHJ5LXBhc3N3b3Jk") => {
            registry.reply(request)
        }
        REGISTRY => Reply::status(401).with("www-authenticate", "Basic realm=\"ecr\""),
        _ => Reply::status(404),
    })
}

async fn oci_bed(proxy: &str, identities: Identities) -> Bed<OciRepositorySpec> {
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.shared.identities = identities;
    bed.secret("proxy", "Opaque", json!({ "address": proxy })).await;
    bed
}

fn oci_spec(rest: Value) -> Value {
    let mut spec = json!({
        "url": format!("oci://{REGISTRY}/team/app"), "interval": "1h", "provider": "aws", "insecure": true,
        "proxySecretRef": {"name": "proxy"},
    });
    let rest = rest.as_object().unwrap().clone();
    spec.as_object_mut().unwrap().extend(rest);
    spec
}

fn count(server: &Server<impl Service>, host: &str) -> usize {
    let requests = server.requests();
    requests.iter().filter(|one| one.header("host") == host).count()
}

/// AU8, `provider`
#[tokio::test]
async fn a_registry_of_aws_is_logged_in_to_as_the_controller() {
    let proxy = aws(Arc::default());
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "geheim"),
        ("AWS_ENDPOINT_URL_ECR", "http://ecr.test"),
    ];
    let mut bed = oci_bed(&proxy.url(), identities(&keys, |_| {})).await;
    bed.run(OciRepositories::new);
    for name in ["one", "two"] {
        bed.create(name, oci_spec(json!({}))).await;
        bed.ready(name, "True", "Succeeded").await;
    }
    assert_eq!(count(&proxy, "ecr.test"), 1, "the login is kept for all");

    let other = json!({"url": "oci://ghcr.io/team/app"});
    bed.create("other", oci_spec(other)).await;
    let object = bed.ready("other", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.starts_with("failed to get credential from aws: invalid AWS registry: 'ghcr.io'. must match"),
        "{message}"
    );
}

/// AU8, `serviceAccountName`, FeatureGateDisabled
#[tokio::test]
async fn a_service_account_is_an_identity_of_its_own_where_the_gate_is_open() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let proxy = aws(Arc::clone(&asked));
    let nobody = identities(&[], |settings| {
        settings.endpoints.aws_sts = Some("http://sts.test/".into());
        settings.endpoints.aws_ecr = Some("http://ecr.test".into());
    });
    let mut bed = oci_bed(&proxy.url(), nobody).await;
    let api: Api<ServiceAccount> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let annotations = json!({"eks.amazonaws.com/role-arn": ROLE});
    let account = json!({"metadata": {"name": "reader", "annotations": annotations}});
    let account = serde_json::from_value(account).unwrap();
    api.create(&PostParams::default(), &account).await.unwrap();

    bed.run(OciRepositories::new);
    let spec = oci_spec(json!({"serviceAccountName": "reader"}));
    bed.create("closed", spec.clone()).await;
    let object = bed.ready("closed", "False", "FeatureGateDisabled").await;
    let stalled = condition(&object, "Stalled").unwrap();
    assert_eq!(
        stalled.message,
        "to use spec.serviceAccountName for provider authentication please enable the ObjectLevelWorkloadIdentity feature gate \
         in the controller"
    );
    bed.delete("closed").await;
    bed.kill();

    bed.shared.settings.object_level_workload_identity = true;
    bed.run(OciRepositories::new);
    bed.create("open", spec).await;
    bed.ready("open", "True", "Succeeded").await;
    let forms = asked.lock().clone();
    assert_eq!(forms.len(), 1);
    let form = String::from_utf8(forms[0].clone()).unwrap();
    let field = |name: &str| {
        form.split('&')
            .find_map(|pair| pair.strip_prefix(&format!("{name}=")))
    };
    assert_eq!(field("Action"), Some("AssumeRoleWithWebIdentity"));
    let token = field("WebIdentityToken").unwrap();
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["aud"], json!(["sts.amazonaws.com"]), "{claims}");
    let subject = format!("system:serviceaccount:{}:reader", bed.namespace);
    assert_eq!(claims["sub"], subject.as_str());

    bed.create("nobody", oci_spec(json!({"serviceAccountName": "nobody"})))
        .await;
    let object = bed.ready("nobody", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    let missing = format!("failed to get service account '{}/nobody'", bed.namespace);
    assert!(message.contains(&missing), "{message}");
}

async fn git_bed(identities: Option<Identities>) -> Bed<GitRepositorySpec> {
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    if let Some(identities) = identities {
        bed.shared.identities = identities;
    }
    bed.run(GitRepositories::new);
    bed
}

fn git_spec(url: &str, rest: Value) -> Value {
    let mut spec = json!({"url": url, "interval": "1h", "ref": {"branch": "main"}});
    let rest = rest.as_object().unwrap().clone();
    spec.as_object_mut().unwrap().extend(rest);
    spec
}

/// AU3
#[tokio::test]
async fn a_github_app_is_logged_in_to_with_one_token_for_all_its_repositories() {
    let server = git::Server::builder().basic("x-access-token", "token-1").start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let github = Server::serve(|request: &Request| match request.path() {
        "/app/installations/7/access_tokens" => {
            let token = json!({"token": "token-1", "expires_at": "2090-01-01T00:00:00Z"});
            Reply::json(token.to_string()).with_status(201)
        }
        _ => Reply::json(json!({"message": "Not Found"}).to_string()).with_status(404),
    });
    let key = KeyPair::generate_for(&PKCS_RSA_SHA256).unwrap().serialize_pem();
    let bed = git_bed(None).await;
    let data = json!({
        "githubAppID": "42", "githubAppInstallationID": "7", "githubAppPrivateKey": key,
        "githubAppBaseURL": github.url(),
    });
    bed.secret("app", "Opaque", data.clone()).await;
    let rest = json!({"provider": "github", "secretRef": {"name": "app"}});
    for name in ["one", "two"] {
        bed.create(name, git_spec(&server.clone_url("app"), rest.clone()))
            .await;
        bed.ready(name, "True", "Succeeded").await;
    }
    assert_eq!(github.requests().len(), 1, "the token is kept for all");

    let with = |more: Value| {
        let mut data = data.clone();
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        data
    };
    for (name, data, reason, told) in [
        (
            "both",
            with(json!({"githubAppInstallationOwner": "org"})),
            "InvalidProviderConfiguration",
            "must contain exactly one of 'githubAppInstallationOwner' or 'githubAppInstallationID'",
        ),
        (
            "none",
            json!({"githubAppID": "42"}),
            "InvalidProviderConfiguration",
            "secretRef with github app data must be specified when provider is set to github",
        ),
        (
            "unknown",
            with(json!({"githubAppInstallationID": "8"})),
            "AuthenticationFailed",
            "with HTTP status 404: Not Found",
        ),
    ] {
        bed.secret(name, "Opaque", data).await;
        let rest = json!({"provider": "github", "secretRef": {"name": name}});
        bed.create(name, git_spec(&server.clone_url("app"), rest)).await;
        let object = bed.ready(name, "False", reason).await;
        let message = condition(&object, "Ready").unwrap().message;
        assert!(message.contains(told), "{name}: {message}");
        assert!(!message.contains("PRIVATE KEY"), "{message}");
    }
}

/// AU8
#[tokio::test]
async fn azure_devops_is_logged_in_to_with_a_token() {
    let server = git::Server::builder().bearer("devops-token").start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let machine = Server::serve(|request: &Request| {
        let resource = request.query("resource");
        match resource.as_deref() == Some("499b84ac-1321-427f-aa17-267ca6975798") {
            true => Reply::json(json!({"access_token": "devops-token", "expires_in": "3600"}).to_string()),
            false => Reply::status(400),
        }
    });
    let me = identities(&[], |settings| {
        settings.endpoints.azure_metadata = Some(machine.url())
    });
    let bed = git_bed(Some(me)).await;
    let url = server.clone_url("app");
    bed.create("app", git_spec(&url, json!({"provider": "azure"})))
        .await;
    bed.ready("app", "True", "Succeeded").await;

    bed.create("aws", git_spec(&url, json!({"provider": "aws"})))
        .await;
    let object = bed.ready("aws", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(
        message.starts_with("failed to configure authentication options: invalid AWS CodeCommit"),
        "{message}"
    );
    let rest = json!({"provider": "azure", "serviceAccountName": "reader"});
    bed.create("closed", git_spec(&url, rest)).await;
    let object = bed.ready("closed", "False", "FeatureGateDisabled").await;
    assert!(condition(&object, "Stalled").is_some());
}

async fn bucket_bed(identities: Identities) -> Bed<BucketSpec> {
    let mut bed = Bed::<BucketSpec>::start().await;
    bed.shared.identities = identities;
    bed.run(Buckets::new);
    bed
}

/// AU8
#[tokio::test]
async fn a_bucket_of_aws_is_read_as_the_controller() {
    let builder = s3::Server::builder().key("access", "secret");
    let store = builder.web_identity("mounted-geheim", ROLE).start();
    store.bucket("manifests").put("a", "1");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "mounted-geheim").unwrap();
    let path = file.path().display().to_string();
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", path.as_str()),
        ("AWS_ROLE_ARN", ROLE),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL_STS", &store.url()),
    ];
    let bed = bucket_bed(identities(&variables, |_| {})).await;
    let spec = json!({
        "provider": "aws", "bucketName": "manifests", "endpoint": store.host(), "insecure": true, "interval": "1h",
    });
    for name in ["one", "two"] {
        bed.create(name, spec.clone()).await;
        bed.ready(name, "True", "Succeeded").await;
    }
    let exchanges = store.requests();
    let exchanges = exchanges.iter().filter(|one| one.method == "POST").count();
    assert_eq!(exchanges, 1, "the key is kept for all");

    std::fs::write(file.path(), "other-geheim").unwrap();
    let nobody = bucket_bed(identities(&variables, |_| {})).await;
    nobody.create("app", spec).await;
    let object = nobody.ready("app", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.starts_with("AWS authentication failed: "), "{message}");
    assert!(message.contains("InvalidIdentityToken"), "{message}");
    assert!(!message.contains("geheim"), "{message}");
}

/// AU8
#[tokio::test]
async fn a_bucket_of_google_is_read_as_the_node() {
    let store = Server::serve(|request: &Request| {
        if request.header("authorization") != Some("Bearer node") {
            return Reply::status(401);
        }
        match (request.path(), request.query("alt").as_deref()) {
            ("/storage/v1/b/manifests/o", _) => {
                Reply::json(json!({"items": [{"name": "a.yaml", "etag": "CAE="}]}).to_string())
            }
            ("/storage/v1/b/manifests/o/a.yaml", Some("media")) => Reply::text("replicas: 1\n"),
            ("/storage/v1/b/manifests/o/a.yaml", None) => {
                Reply::json(json!({"etag": "CAE=", "generation": "7"}).to_string())
            }
            ("/storage/v1/b/manifests", _) => Reply::json(json!({"name": "manifests"}).to_string()),
            _ => Reply::status(404),
        }
    });
    let metadata = Server::serve(|request: &Request| match request.header("metadata-flavor") {
        Some("Google") => Reply::json(json!({"access_token": "node", "expires_in": 3600}).to_string()),
        _ => Reply::status(403),
    });
    let node = identities(&[], |settings| {
        settings.endpoints.gcp_metadata = Some(metadata.url())
    });
    let bed = bucket_bed(node).await;
    let spec = json!({
        "provider": "gcp", "bucketName": "manifests", "endpoint": store.host(), "insecure": true, "interval": "1h",
    });
    bed.create("app", spec).await;
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.as_ref().unwrap().artifact.clone();
    assert!(bed.names(artifact.as_ref()).contains(&"a.yaml".to_owned()));
}
