//! Registries and buckets of AWS: row AU8.

use std::sync::Arc;

use api::source::{BucketSpec, OciRepositorySpec};
use controllers::sources::{Buckets, OciRepositories};
use parking_lot::Mutex;
use serde_json::{Value, json};
use source::http::Proxy;
use source::identity::{Identities, Involved, Settings};
use testkit::http::{Reply, Request, Server, Service};
use testkit::oci::{Artifact, Registry};
use testkit::s3;

use super::{claims, identities, is_reader, token_file, trust};
use crate::sources::bed::{Bed, condition};

const REGISTRY: &str = "012345678901.dkr.ecr.eu-west-1.amazonaws.com";
const ROLE: &str = "arn:aws:iam::012345678901:role/reader";

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

fn trust_registry(settings: &mut Settings) {
    trust(settings, "ecr", &format!("http://{REGISTRY}"));
}

async fn oci_bed(proxy: &str, identities: Identities) -> Bed<OciRepositorySpec> {
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.shared.identities = identities;
    bed.shared.proxy = Some(Proxy {
        address: proxy.to_owned(),
        login: None,
    });
    bed
}

fn oci_spec(rest: Value) -> Value {
    let mut spec = json!({
        "url": format!("oci://{REGISTRY}/team/app"), "interval": "1h", "provider": "aws", "insecure": true,
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
    let me = identities(&keys, trust_registry);
    let mut bed = oci_bed(&proxy.url(), me).await;
    bed.run(OciRepositories::new);
    for name in ["one", "two"] {
        bed.create(name, oci_spec(json!({}))).await;
        bed.ready(name, "True", "Succeeded").await;
    }
    assert_eq!(count(&proxy, "ecr.test"), 1, "the login is kept for all");
    let tally = bed.shared.identities.tally();
    let events = |name: &str| {
        let involved = Involved::new("OCIRepository", &bed.namespace, name);
        let events = tally.events.get(&involved).copied().unwrap_or_default();
        (events.hits > 0, events.misses)
    };
    assert_eq!(events("one").1, 1, "asked for once");
    assert_eq!(events("two"), (true, 0));

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
        trust_registry(settings);
    });
    let mut bed = oci_bed(&proxy.url(), nobody).await;
    bed.service_account("reader", json!({"eks.amazonaws.com/role-arn": ROLE}))
        .await;
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
    assert!(
        is_reader(token, &bed.namespace, "sts.amazonaws.com"),
        "{}",
        claims(token)
    );

    bed.create("nobody", oci_spec(json!({"serviceAccountName": "nobody"})))
        .await;
    let object = bed.ready("nobody", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    let missing = format!(
        "the ServiceAccount '{}/nobody' does not exist: create it",
        bed.namespace
    );
    assert!(message.contains(&missing), "{message}");
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
    let (file, path) = token_file("mounted-geheim");
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", path.as_str()),
        ("AWS_ROLE_ARN", ROLE),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL_STS", &store.url()),
    ];
    let me = || identities(&variables, |settings| trust(settings, "s3", &store.url()));
    let bed = bucket_bed(me()).await;
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
    let nobody = bucket_bed(me()).await;
    nobody.create("app", spec).await;
    let object = nobody.ready("app", "False", "AuthenticationFailed").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.starts_with("AWS authentication failed: "), "{message}");
    assert!(message.contains("InvalidIdentityToken"), "{message}");
    assert!(!message.contains("geheim"), "{message}");
}
