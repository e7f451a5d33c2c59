//! Credentials for AWS and Google.

use secrecy::SecretString;
use serde::Deserialize;

use super::text;

/// Credentials that do not expire, or a session of them.
#[derive(Clone, Debug)]
pub struct AwsCredentials {
    /// The name of the key.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: SecretString,
    /// The session that both are for, if any.
    pub session_token: Option<SecretString>,
}

pub(super) fn aws(value: &[u8]) -> Result<AwsCredentials, String> {
    let fields = Fields::read(value, "AWS credentials")?;
    let id = fields.text("aws_access_key_id");
    let secret = fields.text("aws_secret_access_key");
    if id.is_empty() || secret.is_empty() {
        return Err("aws_access_key_id and aws_secret_access_key are needed".to_owned());
    }
    let session = fields.text("aws_session_token");
    Ok(AwsCredentials {
        access_key_id: id,
        secret_access_key: secret.into(),
        session_token: (!session.is_empty()).then(|| session.into()),
    })
}

/// What credentials of Google must at least say.
#[derive(Deserialize)]
struct Google {
    #[serde(rename = "type")]
    kind: String,
}

pub(super) fn gcp(value: &[u8]) -> Result<SecretString, String> {
    let text = text(value)?.trim_matches('\n');
    let credentials: Google = serde_json::from_str(text)
        .map_err(|_| "these are no Google credentials: a JSON object with a type is needed".to_owned())?;
    let known = [
        "service_account",
        "authorized_user",
        "external_account",
        "external_account_authorized_user",
        "impersonated_service_account",
        "gdch_service_account",
    ];
    if !known.contains(&credentials.kind.as_str()) {
        return Err("the type of these Google credentials is not known".to_owned());
    }
    Ok(text.into())
}

/// The fields of a small YAML or JSON document. They are secret, so that no reader's complaint is passed on.
pub(super) struct Fields(yaml::node::Node);

impl Fields {
    pub(super) fn read(value: &[u8], what: &str) -> Result<Fields, String> {
        let invalid = || format!("these are no {what}: a YAML map is needed");
        let node = yaml::node::read(text(value)?).map_err(|_| invalid())?;
        let node = node.map(|read| read.node).ok_or_else(invalid)?;
        node.as_map().ok_or_else(invalid)?;
        Ok(Fields(node))
    }

    /// The text of a field; empty if it is not there.
    pub(super) fn text(&self, name: &str) -> String {
        self.0
            .get(name)
            .map(|node| node.text().to_owned())
            .unwrap_or_default()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.text(name) == "true"
    }
}
