//! Servers that give tokens: the metadata server of a node, the exchange for tokens of others, and the one that lets one act as
//! an account.

use serde_json::{Value, json};

use crate::http::{Reply, Request, Server, Service};

/// What tokens are asked for.
pub const SCOPES: &str =
    "https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/userinfo.email";
/// The account that can be acted as.
pub const EMAIL: &str = "reader@project.iam.gserviceaccount.com";

/// The metadata server of a node of GKE, in the cluster `main` of `project` in `europe-west1`. The node's token is `node`.
pub fn metadata() -> Server<impl Service> {
    Server::serve(|request: &Request| {
        if request.header("metadata-flavor") != Some("Google") {
            return Reply::status(403);
        }
        let path = request.path().strip_prefix("/computeMetadata/v1/");
        match path.unwrap_or_default() {
            "instance/service-accounts/default/token"
                if request.query("scopes") == Some(SCOPES.replace(' ', ",")) =>
            {
                Reply::json(
                    json!({"access_token": "node", "expires_in": 3599, "token_type": "Bearer"}).to_string(),
                )
            }
            "project/project-id" => Reply::text("project"),
            "instance/attributes/cluster-location" => Reply::text("europe-west1"),
            "instance/attributes/cluster-name" => Reply::text("main"),
            _ => Reply::status(404),
        }
    })
}

/// The token service: the token `federated` for whoever shows a token that is trusted, to this audience.
pub fn exchange<F>(audience: &str, scope: &'static str, is_trusted: F) -> Server<impl Service + use<F>>
where
    F: Fn(&str) -> bool + Send + Sync + 'static,
{
    let audience = audience.to_owned();
    Server::serve(move |request: &Request| {
        let token = request.form().remove("subject_token").unwrap_or_default();
        let fields = [
            ("audience", audience.as_str()),
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            (
                "requested_token_type",
                "urn:ietf:params:oauth:token-type:access_token",
            ),
            ("scope", scope),
            ("subject_token", token.as_str()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
        ];
        match request.path() == "/v1/token" && request.is_form(&fields) && is_trusted(&token) {
            true => Reply::json(json!({"access_token": "federated", "expires_in": 3600}).to_string()),
            false => Reply::json(json!({"error": "invalid_request"}).to_string()).with_status(400),
        }
    })
}

/// The service that lets the holder of the token `federated` act as [`EMAIL`], with the token `acting`, until that time.
pub fn acting(until: &'static str) -> Server<impl Service> {
    Server::serve(move |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let path = format!("/v1/projects/-/serviceAccounts/{EMAIL}:generateAccessToken");
        let scopes: Vec<&str> = SCOPES.split(' ').collect();
        let is_call = request.path() == path
            && request.header("authorization") == Some("Bearer federated")
            && body == json!({"lifetime": "3600s", "scope": scopes});
        match is_call {
            true => Reply::json(json!({"accessToken": "acting", "expireTime": until}).to_string()),
            false => Reply::json(json!({"error": {"code": 403, "message": "Permission denied"}}).to_string())
                .with_status(403),
        }
    })
}
