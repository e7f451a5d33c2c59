//! `--provider`: a cloud gives the credentials of its own registries, and of no others.

use std::process::{Command, Output};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use testkit::http::{Reply, Request, Server as Http, Service, Tunnel};
use testkit::oci::{Artifact, Server};
use testkit::tls::Authority;

const HOST: &str = "012345678901.dkr.ecr.eu-west-1.amazonaws.com";

/// ECR, as far as it gives logins.
fn ecr() -> Http<impl Service> {
    Http::serve(|request: &Request| {
        let is_call = request.header("x-amz-target")
            == Some("AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken")
            && request
                .header("authorization")
                .is_some_and(|text| text.contains("Credential=AKIATEST/"));
        if !is_call {
            return Reply::json("{}".to_owned()).with_status(400);
        }
        let token = STANDARD.encode("AWS:cloud-password");
        Reply::json(
            json!({"authorizationData": [{"authorizationToken": token, "expiresAt": 4_000_000_000.5}]})
                .to_string(),
        )
    })
}

struct Bed {
    registry: Server,
    tunnel: Tunnel,
    folder: tempfile::TempDir,
}

impl Bed {
    /// A registry that is reached by the name of one of ECR's, and takes the login that ECR gives.
    fn start() -> Bed {
        let authority = Authority::new("cloud");
        let identity = authority.issue_with(&[HOST], |_| {});
        let registry = Server::builder()
            .identity(identity)
            .tokens("AWS", "cloud-password")
            .start();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        let tunnel = Tunnel::to(registry.address());
        Bed {
            registry,
            tunnel,
            folder,
        }
    }

    fn sluice(&self, cloud: &Http<impl Service>, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_sluice"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("DOCKER_CONFIG", self.folder.path().join(".docker"))
            .env("SSL_CERT_FILE", self.folder.path().join("ca.pem"))
            .env("HTTPS_PROXY", self.tunnel.url())
            .env("AWS_ENDPOINT_URL_ECR", cloud.url())
            .env("AWS_ACCESS_KEY_ID", "AKIATEST")
            .env("AWS_SECRET_ACCESS_KEY", "geheim")
            .output()
            .unwrap()
    }
}

#[test]
fn a_cloud_gives_the_login_of_its_registry() {
    let (bed, cloud) = (Bed::start(), ecr());
    std::fs::create_dir(bed.folder.path().join("files")).unwrap();
    std::fs::write(bed.folder.path().join("files/page.yaml"), "kind: ConfigMap\n").unwrap();
    let url = format!("oci://{HOST}/team/app:1.0");
    let repository = format!("oci://{HOST}/team/app");
    let push = [
        "push",
        "artifact",
        &url,
        "--path=files",
        super::SOURCE,
        super::REVISION,
    ];
    std::fs::create_dir(bed.folder.path().join("pulled")).unwrap();
    for arguments in [
        &push[..],
        &["tag", "artifact", &url, "--tag=latest"],
        &["list", "artifacts", &repository],
        &["pull", "artifact", &url, "--output=pulled"],
        &["diff", "artifact", &url, "--path=files"],
    ] {
        let output = bed.sluice(&cloud, &[arguments, &["--provider=aws"]].concat());
        let (_, said) = super::good(output);
        assert!(
            said.contains("► logging in to registry with provider credentials\n"),
            "{said}"
        );
    }
    assert_eq!(bed.registry.tags("team/app"), ["1.0", "latest"]);
    assert!(bed.folder.path().join("pulled/page.yaml").exists());
    assert_eq!(cloud.requests().len(), 5);

    // Without the provider there are no credentials.
    let said = super::error(bed.sluice(&cloud, &["pull", "artifact", &url, "--output=pulled"]));
    assert!(!said.contains("provider"), "{said}");
    assert_eq!(cloud.requests().len(), 5);
}

/// The identity of a cloud must not reach a registry of somebody else, which could use it.
#[test]
fn no_cloud_is_asked_for_the_registry_of_another() {
    let (bed, cloud) = (Bed::start(), ecr());
    let other = Server::start();
    other.push(
        "team/app",
        "1.0",
        &Artifact::files(&[("page.yaml", "kind: ConfigMap\n")]),
    );
    let own = format!("oci://{}", other.reference("team/app", "1.0"));
    for provider in ["aws", "azure", "gcp"] {
        for url in [
            &own,
            "oci://ghcr.io/team/app:1.0",
            "oci://012345678901.dkr.ecr.eu-west-1.amazonaws.com.evil.test/app:1.0",
        ] {
            let flag = format!("--provider={provider}");
            let arguments = ["pull", "artifact", url, "--output=.", &flag];
            let said = super::error(bed.sluice(&cloud, &arguments));
            let wanted =
                format!("error during login with provider: could not login to provider {provider} with url");
            assert!(said.contains(&wanted), "{said}");
            assert!(!said.contains("geheim"), "{said}");
        }
    }
    assert_eq!(cloud.requests().len(), 0);
    assert_eq!(other.requests().len(), 0);
    assert!(bed.tunnel.hosts().is_empty(), "{:?}", bed.tunnel.hosts());
}

#[test]
fn a_provider_that_is_none_is_refused() {
    let (bed, cloud) = (Bed::start(), ecr());
    let output = bed.sluice(
        &cloud,
        &["pull", "artifact", "oci://a.test/b:1", "-o=.", "--provider=other"],
    );
    assert!(!output.status.success());
    assert_eq!(cloud.requests().len(), 0);
}
