//! The key of this process: from its environment, the token that EKS mounts, the agent of EKS Pod Identity or the container
//! service, or the metadata server of the machine. The first that is set up counts, in the order of the libraries of AWS. Files
//! of profiles are not read.

use std::net::IpAddr;

use jiff::Timestamp;
use reqwest::{RequestBuilder, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::{Host, Url};

use super::super::ask::Server;
use super::super::identities::Context;
use super::super::{Error, Grant, read_file};
use super::{Identity, Place, sts, sts_address};

/// Where the container service listens.
const CONTAINERS: &str = "http://169.254.170.2";

/// Where the metadata server of EC2 is.
const METADATA: &str = "http://169.254.169.254";

/// The key of this process.
pub(super) async fn key(context: &Context<'_>, place: &Place) -> Result<Grant, Error> {
    let variable = |name: &str| context.environment.get(name);
    if let (Some(id), Some(secret)) = (variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY")) {
        return Ok(Grant {
            name: id.to_owned(),
            secret: secret.into(),
            session: variable("AWS_SESSION_TOKEN").map(SecretString::from),
            expires: None,
        });
    }
    if let Some(file) = variable("AWS_WEB_IDENTITY_TOKEN_FILE") {
        let role = variable("AWS_ROLE_ARN").ok_or_else(|| {
            let missing = "AWS_WEB_IDENTITY_TOKEN_FILE is set in the controller, but AWS_ROLE_ARN is not";
            Error::Setup(missing.to_owned())
        })?;
        let session = variable("AWS_ROLE_SESSION_NAME").map(str::to_owned);
        let identity = Identity::WebIdentity {
            role: role.to_owned(),
            session: session.unwrap_or_else(|| format!("sluice-{}", context.now.as_second())),
            token: read_file(file).await?,
        };
        let region = place.region.as_deref().unwrap_or_default();
        return sts::exchange(&context.client, &sts_address(context, place, region), &identity).await;
    }
    if let Some(path) = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
        return of_container(context, &format!("{CONTAINERS}{path}")).await;
    }
    if let Some(address) = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
        return of_container(context, address).await;
    }
    of_machine(context).await
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Given {
    access_key_id: String,
    secret_access_key: String,
    token: Option<String>,
    expiration: Option<Timestamp>,
}

impl From<Given> for Grant {
    fn from(given: Given) -> Self {
        Grant {
            name: given.access_key_id,
            secret: given.secret_access_key.into(),
            session: given.token.map(SecretString::from),
            expires: given.expiration,
        }
    }
}

/// From the agent of EKS Pod Identity, or the container service.
async fn of_container(context: &Context<'_>, address: &str) -> Result<Grant, Error> {
    if !is_near(address) {
        let shown = crate::helm::address::without_secrets(address);
        return Err(Error::Setup(format!(
            "AWS_CONTAINER_CREDENTIALS_FULL_URI '{shown}' cannot be used: it must be https or an address of this machine or node"
        )));
    }
    let token = match context.environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
        Some(file) => Some(read_file(file).await?),
        None => {
            let token = context.environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN");
            token.map(SecretString::from)
        }
    };
    let server = Server::new(address, &token);
    let mut request = context.near.get(address);
    if let Some(token) = &token {
        request = request.header("authorization", token.expose_secret());
    }
    let given: Given = server.json(request, "key").await?;
    Ok(given.into())
}

/// Whether the token may be shown to this server: over TLS, or where nobody listens on the way.
fn is_near(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else {
        return false;
    };
    let is_known = |address: IpAddr| {
        address.is_loopback()
            || ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"]
                .iter()
                .any(|known| known.parse() == Ok(address))
    };
    url.scheme() == "https"
        || match url.host() {
            Some(Host::Ipv4(address)) => is_known(address.into()),
            Some(Host::Ipv6(address)) => is_known(address.into()),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        }
}

/// From the metadata server of the machine, in its second version.
async fn of_machine(context: &Context<'_>) -> Result<Grant, Error> {
    let base = context.endpoints.aws_metadata.as_deref().unwrap_or(METADATA);
    let base = base.trim_end_matches('/');
    let server = Server::new(base, []);
    let session = context.near.put(format!("{base}/latest/api/token"));
    let session = session.header("x-aws-ec2-metadata-token-ttl-seconds", "300");
    let session = SecretString::from(text(&server, session).await?);
    let get = |path: &str| {
        let request = context.near.get(format!("{base}/latest/meta-data/{path}"));
        request.header("x-aws-ec2-metadata-token", session.expose_secret())
    };
    let role = text(&server, get("iam/security-credentials/")).await?;
    let role = role.lines().next().unwrap_or_default().trim();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "+=,.@_-".contains(letter);
    if role.is_empty() || !role.chars().all(is_name) {
        return Err(server.unreadable("name of a role"));
    }
    let given = get(&format!("iam/security-credentials/{role}"));
    let given: Given = server.json(given, "key").await?;
    Ok(given.into())
}

async fn text(server: &Server<'_>, request: RequestBuilder) -> Result<String, Error> {
    let answer = server.send(request).await?;
    if answer.status != StatusCode::OK {
        return Err(server.refused(&answer, ""));
    }
    String::from_utf8(answer.body).map_err(|_| server.unreadable("text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_go_only_over_tls_or_to_this_machine_and_node() {
        for near in [
            "https://vault.example/role",
            "http://127.0.0.1:80/",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::23]/v1/credentials",
            "http://localhost/",
        ] {
            assert!(is_near(near), "{near}");
        }
        for far in ["http://10.0.0.1/", "http://evil.example/", "ftp://x", "x"] {
            assert!(!is_near(far), "{far}");
        }
    }
}
