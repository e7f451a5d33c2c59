//! Logging in to Vault or OpenBao with the token of a ServiceAccount.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use source::identity::ServiceAccountTokens;
use source::kms::vault::{Login, login};

/// The servers that a ServiceAccount may log in to, and who gives its tokens. One is for one build: it keeps the tokens that
/// servers have given.
pub struct VaultLogins {
    /// The paths to log in at, such as `auth/kubernetes/login`, by the addresses of servers. No other server is trusted.
    paths: BTreeMap<String, String>,
    /// Where that is written, as messages name it.
    written_in: String,
    tokens: Arc<dyn ServiceAccountTokens>,
    given: Mutex<HashMap<String, SecretString>>,
}

impl VaultLogins {
    /// For the servers with these paths. `written_in` is the ConfigMap that has them, `tokens` gives those of the account
    /// that decrypts.
    pub fn new(
        paths: BTreeMap<String, String>,
        written_in: &str,
        tokens: Arc<dyn ServiceAccountTokens>,
    ) -> VaultLogins {
        VaultLogins {
            paths,
            written_in: written_in.to_owned(),
            tokens,
            given: Mutex::default(),
        }
    }

    /// The token of the server at an address.
    pub(super) async fn token(
        &self,
        client: &reqwest::Client,
        address: &str,
    ) -> Result<SecretString, String> {
        let given = || self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = given().get(address) {
            return Ok(token.clone());
        }
        let path = self
            .paths
            .get(address)
            .filter(|path| !path.is_empty())
            .ok_or_else(|| {
                format!(
                    "no Vault login path configured for address '{address}' in ConfigMap '{}'",
                    self.written_in
                )
            })?;
        // The token is for this server alone.
        let jwt =
            self.tokens.token(address).await.map_err(|error| {
                format!("failed to issue Kubernetes token for Vault authentication: {error}")
            })?;
        let role = role(jwt.expose_secret())
            .ok_or("failed to derive Vault role for authentication: it is no token of a ServiceAccount")?;
        let asked = Login {
            address,
            path,
            role: &role,
            jwt: &jwt,
        };
        let token = login(client, &asked).await.map_err(super::services::shown)?;
        given().insert(address.to_owned(), token.clone());
        Ok(token)
    }
}

/// The role that belongs to the account of a token.
fn role(token: &str) -> Option<String> {
    let [_, payload, _]: [&str; 3] = token.split('.').collect::<Vec<_>>().try_into().ok()?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    let claims = model::json::parse(&payload).ok()?;
    let account = claims.str_at(&["sub"]).strip_prefix("system:serviceaccount:")?;
    let (namespace, name) = account.split_once(':')?;
    (!namespace.is_empty() && !name.is_empty()).then(|| format!("{namespace}_{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_role_is_that_of_the_account_of_the_token() {
        let token = |subject: &str| {
            let claims = URL_SAFE_NO_PAD.encode(format!("{{\"sub\": \"{subject}\"}}"));
            format!("e30.{claims}.c2ln")
        };
        let of = |subject: &str| role(&token(subject));
        assert_eq!(of("system:serviceaccount:team:app"), Some("team_app".to_owned()));
        for wrong in [
            "system:serviceaccount:team:",
            "system:serviceaccount::a",
            "system:node:a",
            "",
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(role("a.b"), None);
        assert_eq!(role("a.?.c"), None);
    }
}
