//! The Vaults and OpenBaos that ServiceAccounts may log in to: the flag `--sops-vault-configmap` names a ConfigMap of the controller's namespace that
//! lists them.
//!
//! ```yaml
//! config.yaml: |
//!   instances:
//!   - address: https://vault.example.com
//!     loginPath: auth/kubernetes/login
//! ```
//!
//! No other server is shown a token. Each is shown one for itself alone, of the ServiceAccount that decrypts: the one that the object names, or that of
//! the controller. Whether the ConfigMap can be read matters only to objects with keys of such a server.

use std::collections::BTreeMap;

use builder::VaultLogins;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use source::identity::Caller;

use crate::clusters::own_account;
use crate::kit::chain;
use crate::sources::account;

/// What the list of servers is called in the ConfigMap.
const KEY: &str = "config.yaml";

/// Where the caller may log in to; nothing where it has no tokens.
pub(super) async fn logins(
    client: &Client,
    (namespace, name): (&str, &str),
    caller: &Caller,
) -> Option<VaultLogins> {
    let tokens = match caller {
        Caller::ServiceAccount(account) => account.tokens.clone(),
        Caller::Controller => {
            let (namespace, name) = own_account().ok()?;
            match account(client, &namespace, &name).await {
                Ok(Caller::ServiceAccount(account)) => account.tokens,
                Ok(Caller::Controller) | Err(_) => return None,
            }
        }
    };
    let shown = format!("{namespace}/{name}");
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let read = api.get(name).await.map_err(|error| chain(&error));
    let paths = read.and_then(|map| paths(&map.data.unwrap_or_default()));
    // It is told to whoever needs it.
    let (paths, shown) = match paths {
        Ok(paths) => (paths, shown),
        Err(why) => (BTreeMap::new(), format!("{shown}, which cannot be used: {why}")),
    };
    Some(VaultLogins::new(paths, &shown, tokens))
}

/// The paths to log in at, by the addresses of servers.
fn paths(data: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    let text = data.get(KEY).ok_or_else(|| format!("it has no key '{KEY}'"))?;
    let config =
        yaml::parse(text.as_bytes()).map_err(|error| format!("its {KEY} is no YAML: {}", chain(&error)))?;
    let instances = config.list_at(&["instances"]).iter();
    let known = instances.map(|instance| {
        let part = |name: &str| instance.str_at(&[name]).to_owned();
        (part("address"), part("loginPath"))
    });
    Ok(known.filter(|(address, _)| !address.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_listed_with_the_paths_to_log_in_at() {
        let read = |text: &str| paths(&BTreeMap::from([(KEY.to_owned(), text.to_owned())]));
        let found =
            read("instances:\n- address: https://a\n  loginPath: auth/jwt/login\n- loginPath: x\n").unwrap();
        assert_eq!(
            found,
            BTreeMap::from([("https://a".to_owned(), "auth/jwt/login".to_owned())])
        );
        assert!(
            read("instances: [")
                .unwrap_err()
                .starts_with("its config.yaml is no YAML")
        );
        assert_eq!(
            paths(&BTreeMap::new()).unwrap_err(),
            "it has no key 'config.yaml'"
        );
    }
}
