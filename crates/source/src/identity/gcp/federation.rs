//! Tokens of others, exchanged for tokens of Google: workload identity federation, and acting as an account.

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::ask::{Server, form};
use super::super::identities::Context;
use super::super::{Error, Grant, read_file};
use super::SCOPES;

const STS: &str = "https://sts.googleapis.com";
const IAM: &str = "https://iamcredentials.googleapis.com";

/// A token of others, and what it is exchanged for.
pub(super) struct Exchange {
    /// Who trusts it.
    pub(super) audience: String,
    pub(super) token: SecretString,
    /// What kind of token it is.
    pub(super) kind: String,
    /// The token service, where it is another.
    pub(super) sts: Option<String>,
    /// Where a token of an account to act as is asked for.
    pub(super) act_as: Option<String>,
}

impl Exchange {
    /// A token of Google.
    pub(super) async fn token(&self, context: &Context<'_>) -> Result<Grant, Error> {
        // Acting as another needs only the right to do so; what may be done then follows from that account.
        let scope = match self.act_as {
            Some(_) => SCOPES[0].to_owned(),
            None => SCOPES.join(" "),
        };
        let usual = || {
            let base = context.endpoints.gcp_sts.as_deref().unwrap_or(STS);
            format!("{}/v1/token", base.trim_end_matches('/'))
        };
        let address = self.sts.clone().unwrap_or_else(usual);
        let fields = [
            ("audience", self.audience.clone()),
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange".to_owned(),
            ),
            (
                "requested_token_type",
                "urn:ietf:params:oauth:token-type:access_token".to_owned(),
            ),
            ("scope", scope),
            ("subject_token", self.token.expose_secret().to_owned()),
            ("subject_token_type", self.kind.clone()),
        ];
        let server = Server::new(&address, [&self.token]);
        let request = form(context.client.post(&address), &fields);
        let grant = server.token(request, context.now).await?;
        match &self.act_as {
            Some(address) => act_as(context, address, &grant.secret).await,
            None => Ok(grant),
        }
    }
}

/// Where a token of an account is asked for.
pub(super) fn impersonation_of(context: &Context<'_>, email: &str) -> String {
    let base = context.endpoints.gcp_iam.as_deref().unwrap_or(IAM);
    let base = base.trim_end_matches('/');
    format!("{base}/v1/projects/-/serviceAccounts/{email}:generateAccessToken")
}

async fn act_as(context: &Context<'_>, address: &str, token: &SecretString) -> Result<Grant, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        access_token: String,
        expire_time: Timestamp,
    }
    let body: Value = json!({"lifetime": "3600s", "scope": SCOPES});
    let request = context.client.post(address).json(&body);
    let request = request.bearer_auth(token.expose_secret());
    let server = Server::new(address, [token]);
    let given: Given = server.json(request, "token").await?;
    Ok(Grant::token(given.access_token.into(), Some(given.expire_time)))
}

/// A file that tells where a token of others is (`type: external_account`).
#[derive(Deserialize)]
pub(super) struct External {
    audience: String,
    subject_token_type: String,
    token_url: Option<String>,
    service_account_impersonation_url: Option<String>,
    credential_source: Source,
}

#[derive(Deserialize)]
struct Source {
    file: Option<String>,
    format: Option<Format>,
}

#[derive(Deserialize)]
struct Format {
    #[serde(rename = "type")]
    kind: Option<String>,
    subject_token_field_name: Option<String>,
}

impl External {
    /// A token of Google. The address of the file is for complaints.
    pub(super) async fn token(self, context: &Context<'_>, path: &str) -> Result<Grant, Error> {
        let wrong = |why: &str| Error::KeyFile {
            path: path.to_owned(),
            why: why.to_owned(),
        };
        let Some(file) = &self.credential_source.file else {
            return Err(wrong(
                "the token of an external account must be in a file ('credential_source.file')",
            ));
        };
        let mut token = read_file(file).await?;
        let format = self.credential_source.format.as_ref();
        if let Some(format) = format.filter(|format| format.kind.as_deref() == Some("json")) {
            let field = format.subject_token_field_name.as_deref().unwrap_or_default();
            let value: Option<Value> = serde_json::from_str(token.expose_secret()).ok();
            let found = value.as_ref().and_then(|value| value.get(field)?.as_str());
            token = found
                .ok_or_else(|| wrong("the file with the token has no such field"))?
                .into();
        }
        let exchange = Exchange {
            audience: self.audience,
            token,
            kind: self.subject_token_type,
            sts: self.token_url,
            act_as: self.service_account_impersonation_url,
        };
        exchange.token(context).await
    }
}
