//! AWS: contract row AU8.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::join_all;
use secrecy::ExposeSecret;
use serde_json::json;
use source::git::Auth;
use source::identity::aws::Place;
use source::identity::{Asker, Cloud, Destination, Identities};
use testkit::http::{Method, Reply, Request, Server, Service};

use super::signature::signed;
use super::{Cluster, all_of, echo, identities, login, settings, token_file};

const REGISTRY: &str = "012345678901.dkr.ecr.eu-west-1.amazonaws.com";
const ROLE: &str = "arn:aws:iam::012345678901:role/reader";

/// The token service: a key that is good for an hour, for who has the token and the session name.
fn sts(token: &'static str, session: Option<&'static str>) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let given = request.form();
        let session = session.or(given.get("RoleSessionName").map(String::as_str));
        let session = session.unwrap_or_default().to_owned();
        let fields = [
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", ROLE),
            ("RoleSessionName", session.as_str()),
            ("WebIdentityToken", token),
        ];
        if request.method != Method::POST || session.is_empty() || !request.is_form(&fields) {
            let wrong = "<ErrorResponse><Error><Code>InvalidIdentityToken</Code><Message>no</Message></Error></ErrorResponse>";
            return Reply::ok("text/xml", wrong).with_status(400);
        }
        Reply::ok(
            "text/xml",
            "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>\
             <AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>sts-secret</SecretAccessKey>\
             <SessionToken>sts-session</SessionToken><Expiration>2026-01-01T01:00:00Z</Expiration>\
             </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>",
        )
    })
}

/// ECR: a login that is good for twelve hours, for who signs with this secret.
fn ecr(secret: &'static str, service: &'static str, region: &'static str) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let target = match service {
            "ecr" => "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken",
            _ => "SpencerFrontendService.GetAuthorizationToken",
        };
        let is_call = request.method == Method::POST
            && request.header("x-amz-target") == Some(target)
            && request.header("content-type") == Some("application/x-amz-json-1.1")
            && &request.body[..] == b"{}";
        let names = signed(request, secret, service, region).unwrap_or_default();
        let is_signed = ["content-type", "host", "x-amz-date", "x-amz-target"]
            .iter()
            .all(|name| names.iter().any(|one| one == name));
        if !is_call || !is_signed {
            return Reply::json(json!({"__type": "InvalidSignatureException", "message": "no"}).to_string())
                .with_status(400);
        }
        let login = json!({"authorizationToken": STANDARD.encode("AWS:registry-password"), "expiresAt": 1_767_268_800.5});
        let data = match service {
            "ecr" => json!([login]),
            _ => login,
        };
        Reply::json(json!({ "authorizationData": data }).to_string())
    })
}

async fn ask(identities: &Identities, asker: &Asker, registry: &str) -> Result<(String, String), String> {
    let credential = identities
        .registry(Cloud::Aws, asker, registry, Destination::Configured)
        .await;
    credential.map(login).map_err(|error| all_of(&error))
}

fn granted() -> (String, String) {
    ("AWS".to_owned(), "registry-password".to_owned())
}

#[tokio::test]
async fn the_token_that_eks_mounts_leads_to_a_login_which_is_kept_and_renewed() {
    let (sts, ecr) = (
        sts("mounted", Some("pod-1")),
        ecr("sts-secret", "ecr", "eu-west-1"),
    );
    let (_file, path) = token_file("mounted");
    let variables = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", path.as_str()),
        ("AWS_ROLE_ARN", ROLE),
        ("AWS_ROLE_SESSION_NAME", "pod-1"),
        ("AWS_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL_STS", &sts.url()),
        ("AWS_ENDPOINT_URL_ECR", &ecr.url()),
    ];
    let (settings, clock) = settings(&variables);
    let identities = Identities::new(settings);
    let askers = (0..20).map(|_| async {
        let login = ask(&identities, &Asker::default(), REGISTRY).await;
        assert_eq!(login, Ok(granted()));
    });
    join_all(askers).await;
    assert_eq!(
        (sts.requests().len(), ecr.requests().len()),
        (1, 1),
        "one exchange for all who ask at once"
    );
    assert_eq!(ecr.requests()[0].header("x-amz-security-token"), "sts-session");
    clock.advance(Duration::from_secs(47 * 60));
    ask(&identities, &Asker::default(), REGISTRY).await.unwrap();
    assert_eq!(sts.requests().len(), 1);
    clock.advance(Duration::from_secs(60));
    ask(&identities, &Asker::default(), REGISTRY).await.unwrap();
    assert_eq!(sts.requests().len(), 2, "renewed at four fifths of an hour");
    assert_eq!(ecr.requests().len(), 1);
}

#[tokio::test]
async fn the_agent_of_eks_pod_identity_gives_keys_for_the_token_in_its_file() {
    let agent = Server::serve(|request: &Request| {
        if request.header("authorization") != Some("pod-token") || request.path() != "/v1/credentials" {
            return Reply::status(401);
        }
        let key = json!({
            "AccessKeyId": "ASIA", "SecretAccessKey": "pod-secret", "Token": "pod-session",
            "AccountId": "012345678901", "Expiration": "2026-01-01T06:00:00Z",
        });
        Reply::json(key.to_string())
    });
    let ecr = ecr("pod-secret", "ecr", "eu-west-1");
    let (_file, path) = token_file("pod-token");
    let address = format!("{}/v1/credentials", agent.url());
    let variables = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", address.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", &path),
        ("AWS_ENDPOINT_URL_ECR", &ecr.url()),
    ];
    let identities = identities(&variables, |_| {});
    assert_eq!(ask(&identities, &Asker::default(), REGISTRY).await, Ok(granted()));
}

#[tokio::test]
async fn the_metadata_server_of_the_machine_is_asked_in_a_session_and_the_public_registry_in_its_region() {
    let machine = Server::serve(|request: &Request| {
        let in_session = request.header("x-aws-ec2-metadata-token") == Some("session-1");
        let has_ttl = request.header("x-aws-ec2-metadata-token-ttl-seconds").is_some();
        match (request.method.as_str(), request.path()) {
            ("PUT", "/latest/api/token") if has_ttl => Reply::text("session-1"),
            ("GET", "/latest/meta-data/iam/security-credentials/") if in_session => {
                Reply::text("node-role\n")
            }
            ("GET", "/latest/meta-data/iam/security-credentials/node-role") if in_session => {
                let key = json!({
                    "Code": "Success", "AccessKeyId": "ASIA", "SecretAccessKey": "node-secret",
                    "Token": "node-session", "Expiration": "2026-01-01T06:00:00Z",
                });
                Reply::json(key.to_string())
            }
            _ => Reply::status(401),
        }
    });
    let ecr = ecr("node-secret", "ecr-public", "us-east-1");
    let variables = [
        ("AWS_EC2_METADATA_SERVICE_ENDPOINT", machine.url()),
        ("AWS_ENDPOINT_URL_ECR_PUBLIC", ecr.url()),
    ];
    let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
    let identities = identities(&variables, |_| {});
    let login = ask(&identities, &Asker::default(), "public.ecr.aws").await;
    assert_eq!(login, Ok(granted()));
    assert_eq!(machine.requests().len(), 3);
}

#[tokio::test]
async fn keys_of_the_environment_count_first_and_buckets_need_a_region() {
    let keys = [("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "geheim")];
    let no_region = identities(&keys, |_| {});
    let source = no_region
        .s3(Asker::default(), Place::default(), Destination::Configured)
        .unwrap();
    let error = all_of(&source.grant().await.unwrap_err());
    assert!(error.contains("AWS_REGION"), "{error}");
    assert!(!error.contains("geheim"));

    let with_region: Vec<_> = keys.into_iter().chain([("AWS_REGION", "eu-west-1")]).collect();
    let identities = identities(&with_region, |_| {});
    let key = identities
        .s3(Asker::default(), Place::default(), Destination::Configured)
        .unwrap()
        .grant()
        .await;
    let key = key.unwrap().key();
    assert_eq!((key.id.as_str(), key.secret.expose_secret()), ("AKIA", "geheim"));
    assert!(!format!("{identities:?}").contains("geheim"));
}

#[tokio::test]
async fn a_service_account_takes_the_role_of_its_annotation() {
    let sts = sts(
        "cluster:sts.amazonaws.com",
        Some("reader.apps.eu-west-1.fluxcd.io"),
    );
    let ecr = ecr("sts-secret", "ecr", "eu-west-1");
    let identities = identities(&[], |settings| {
        settings.endpoints.aws_sts = Some(sts.url());
        settings.endpoints.aws_ecr = Some(ecr.url());
    });
    let cluster = Cluster::default();
    let reader = cluster.reader(&[("eks.amazonaws.com/role-arn", ROLE)]);
    assert_eq!(ask(&identities, &reader, REGISTRY).await, Ok(granted()));
    assert_eq!(*cluster.0.lock(), ["sts.amazonaws.com"]);
    ask(&identities, &reader, REGISTRY).await.unwrap();
    assert_eq!(sts.requests().len(), 1, "kept");

    let nobody = cluster.reader(&[("eks.amazonaws.com/role-arn", "role")]);
    let error = ask(&identities, &nobody, REGISTRY).await.unwrap_err();
    assert!(
        error.contains(
            "invalid eks.amazonaws.com/role-arn annotation of the service account 'apps/reader': 'role'"
        ),
        "{error}"
    );
    let place = Place::default();
    let error = identities
        .s3(reader, place, Destination::Configured)
        .unwrap()
        .grant()
        .await
        .unwrap_err();
    assert!(all_of(&error).contains("an AWS region is required"), "{error}");
}

#[tokio::test]
async fn a_codecommit_repository_is_logged_in_to_with_a_signature() {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        (
            "AWS_SECRET_ACCESS_KEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
    ];
    let (settings, clock) = settings(&variables);
    clock.set("2026-01-02T03:04:05Z".parse().unwrap());
    let identities = Identities::new(settings);
    let git = async |url: &str| {
        let url = url.parse().unwrap();
        identities
            .git(Cloud::Aws, &Asker::default(), &url, Destination::Configured)
            .await
    };
    let url = "https://git-codecommit.us-east-1.amazonaws.com/v1/repos/my-app";
    let signed = "20260102T030405Z4fec311dbf16b509bd0fe3b44bcfbb6977b0750538cad86953be9225e87b69e3";
    let password = |auth: Auth| match auth {
        Auth::Basic { user, password } if user == "AKIAIOSFODNN7EXAMPLE" => {
            password.expose_secret().to_owned()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(password(git(url).await.unwrap()), signed);
    clock.advance(Duration::from_secs(11 * 60));
    assert_eq!(
        password(git(url).await.unwrap()),
        signed,
        "kept for twelve minutes"
    );
    clock.advance(Duration::from_secs(60));
    assert_ne!(password(git(url).await.unwrap()), signed);
    let other = git("https://git-codecommit.us-east-1.amazonaws.com/v1/repos/other").await;
    assert_ne!(
        password(other.unwrap()),
        signed,
        "each address has a signature of its own"
    );
    let error = git("https://github.com/org/app").await.unwrap_err();
    assert!(error.to_string().contains("invalid AWS CodeCommit"), "{error}");
}

#[tokio::test]
async fn nothing_secret_is_told_even_where_servers_repeat_it() {
    let unkind = Server::serve(echo);
    let (_file, path) = token_file("mounted-geheim");
    let url = unkind.url();
    let web = [
        ("AWS_WEB_IDENTITY_TOKEN_FILE", path.as_str()),
        ("AWS_ROLE_ARN", ROLE),
        ("AWS_ENDPOINT_URL_STS", &url),
    ];
    let keys = [
        ("AWS_ACCESS_KEY_ID", "AKIA"),
        ("AWS_SECRET_ACCESS_KEY", "key-geheim"),
        ("AWS_SESSION_TOKEN", "session-geheim"),
        ("AWS_ENDPOINT_URL_ECR", &url),
    ];
    let agent = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", url.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "agent-geheim"),
    ];
    for variables in [&web[..], &keys[..], &agent[..]] {
        let identities = identities(variables, |_| {});
        let error = ask(&identities, &Asker::default(), REGISTRY).await.unwrap_err();
        assert!(error.contains("gives no credentials: 400"), "{error}");
        assert!(!error.contains("geheim"), "{error}");
        assert!(!format!("{identities:?}").contains("geheim"));
    }
}
