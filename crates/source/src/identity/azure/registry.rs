//! Logins of the Azure Container Registry: a token of the directory is exchanged for one of the registry.

use secrecy::SecretString;
use serde::Deserialize;

use super::super::ask::{Server, form};
use super::super::identities::Context;
use super::super::{Error, Grant, jwt, read_file};
use super::{REGISTRY_USER, field};

/// How registries are named in the clouds that everyone knows.
const PATTERN: &str = r"^.+\.(azurecr\.io|azurecr\.cn|azurecr\.de|azurecr\.us)$";

/// What tokens for registries are asked for.
const SCOPE: &str = "https://containerregistry.azure.net/.default";

/// A registry of Azure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::identity) struct Registry {
    host: String,
    pub(in crate::identity) scope: String,
}

/// A cloud of one's own, described in a file (`AZURE_ENVIRONMENT_FILEPATH`).
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnCloud {
    #[serde(rename = "containerRegistryDNSSuffix", default)]
    registry_suffix: String,
    #[serde(default)]
    resource_manager_endpoint: String,
}

impl Registry {
    /// What a name stands for.
    pub(in crate::identity) async fn parse(context: &Context<'_>, host: &str) -> Result<Self, Error> {
        let file = context.environment.get("AZURE_ENVIRONMENT_FILEPATH");
        let own = match file {
            Some(path) => Some(own_cloud(path).await?),
            None => None,
        };
        let suffixes = [".azurecr.io", ".azurecr.cn", ".azurecr.de", ".azurecr.us"];
        let is_known = |suffix: &str| {
            let name = host.strip_suffix(suffix);
            !suffix.is_empty() && name.is_some_and(|name| !name.is_empty())
        };
        let own_suffix = own.as_ref().map(|own| own.registry_suffix.as_str());
        if !suffixes.into_iter().chain(own_suffix).any(is_known) {
            return Err(Error::Registry {
                cloud: "Azure",
                registry: host.to_owned(),
                pattern: PATTERN,
            });
        }
        let scope = match own {
            Some(own) => format!("{}/.default", own.resource_manager_endpoint),
            None => SCOPE.to_owned(),
        };
        Ok(Registry {
            host: host.to_owned(),
            scope,
        })
    }

    /// The login, for the holder of a token of the directory.
    pub(in crate::identity) async fn login(
        &self,
        context: &Context<'_>,
        token: &SecretString,
    ) -> Result<Grant, Error> {
        #[derive(Deserialize)]
        struct Given {
            refresh_token: String,
        }
        let base = context.endpoints.azure_registry.clone();
        let base = base.unwrap_or_else(|| format!("https://{}", self.host));
        let address = format!("{}/oauth2/exchange", base.trim_end_matches('/'));
        let fields = [
            ("access_token", field(token)),
            ("grant_type", "access_token".to_owned()),
            ("service", self.host.clone()),
        ];
        let server = Server::new(&address, [token]);
        let request = form(context.client.post(&address), &fields);
        let given: Given = server.json(request, "token of a registry").await?;
        let token = SecretString::from(given.refresh_token);
        let expires = jwt::expiry(&token);
        let expires = expires.ok_or_else(|| server.unreadable("token of a registry with an end"))?;
        Ok(Grant::login(REGISTRY_USER, token, Some(expires)))
    }
}

async fn own_cloud(path: &str) -> Result<OwnCloud, Error> {
    use secrecy::ExposeSecret;
    let text = read_file(path).await?;
    let own: Option<OwnCloud> = serde_json::from_str(text.expose_secret()).ok();
    let own = own.filter(|own| !own.registry_suffix.is_empty() && !own.resource_manager_endpoint.is_empty());
    own.ok_or_else(|| Error::KeyFile {
        path: path.to_owned(),
        why: "'containerRegistryDNSSuffix' and 'resourceManagerEndpoint' must be set".to_owned(),
    })
}
