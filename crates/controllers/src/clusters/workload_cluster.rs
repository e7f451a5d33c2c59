//! Other clusters that know this one's ServiceAccounts: a ConfigMap says where such a cluster is, and the tokens of a ServiceAccount open it.
//!
//! Of the providers of Flux there is `generic`: `address`, `ca.crt`, `audiences` (one a line; the address where there are none) and
//! `serviceAccountName` (of the namespace of the object, with the gate `ObjectLevelWorkloadIdentity`). Without a name it is the one of
//! `--default-kubeconfig-service-account`, or that of the controller. Whoever writes the ConfigMap chooses the server that receives the
//! token, so the controller's is never used while tenants are locked down ([`TokenRules`]). Clusters of the clouds are refused: their tokens and addresses are asked for in ways of their own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use engine::unit::Failure;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::api::PostParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::kubeconfig::Fingerprint;
use crate::kit::named;

/// Where a pod has its own token.
const OWN_TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";
/// The gate that lets objects name ServiceAccounts.
const GATE: &str = "ObjectLevelWorkloadIdentity";

/// Whose tokens open clusters that ConfigMaps name.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenRules {
    /// ServiceAccounts may be used: the gate `ObjectLevelWorkloadIdentity`.
    pub(crate) accounts: bool,
    /// The ServiceAccount where a ConfigMap names none: the flag `--default-kubeconfig-service-account`.
    pub(crate) default_account: Option<String>,
    /// Tenants are locked down: the account of the controller is not used.
    pub(crate) locked_down: bool,
}

impl TokenRules {
    /// The account whose tokens are used, in the namespace of the object; `None` is that of the controller.
    fn account(&self, named: Option<&str>) -> Result<Option<String>, String> {
        let default = self.default_account.as_deref();
        match named.or(default).filter(|name| !name.is_empty()) {
            Some(_) if !self.accounts => Err(format!(
                "to use serviceAccountName please enable the {GATE} feature gate in the controller"
            )),
            Some(name) => Ok(Some(name.to_owned())),
            None if self.locked_down => Err(format!(
                "it names no serviceAccountName, and the identity of the controller is not used while tenants are locked down: \
                 set serviceAccountName, or start the controller with --default-kubeconfig-service-account and the {GATE} \
                 feature gate"
            )),
            None => Ok(None),
        }
    }
}

/// What a ConfigMap says of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    config_map: String,
    namespace: String,
    address: String,
    ca: Option<String>,
    audiences: Vec<String>,
    account: Option<String>,
}

/// Reads a ConfigMap.
pub(super) async fn read(client: &Client, namespace: &str, name: &str) -> Result<Found, Failure> {
    let read = named::get::<ConfigMap>(client, namespace, name).await;
    let read =
        read.map_err(|error| Failure::new(format!("failed to get configmap {namespace}/{name}: {error}")))?;
    found(namespace, name, &read.data.unwrap_or_default()).map_err(|why| {
        Failure::new(format!(
            "ConfigMap '{namespace}/{name}' of spec.kubeConfig: {why}"
        ))
    })
}

fn found(namespace: &str, name: &str, data: &BTreeMap<String, String>) -> Result<Found, String> {
    let text = |key: &str| {
        let text = data.get(key).map(|text| text.trim().to_owned());
        text.filter(|text| !text.is_empty())
    };
    match data.get("provider").map(|provider| provider.trim()) {
        Some("generic") => {}
        Some(cloud @ ("aws" | "azure" | "gcp")) => {
            return Err(format!(
                "clusters of the provider '{cloud}' are not reached yet: use 'generic', or a Secret with a kubeconfig in spec.kubeConfig.secretRef"
            ));
        }
        other => {
            let other = other.unwrap_or_default();
            return Err(format!(
                "there is no provider '{other}': set 'provider' to 'generic'"
            ));
        }
    }
    let address = text("address").ok_or("it has no 'address' of the API server")?;
    let address = match address.contains("://") {
        true => address,
        false => format!("https://{address}"),
    };
    if !address.starts_with("https://") {
        return Err(format!(
            "the Kubernetes API server address '{address}' must use https scheme"
        ));
    }
    let lines = data.get("audiences").into_iter().flat_map(|lines| lines.lines());
    let audiences: Vec<String> = lines
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    Ok(Found {
        config_map: format!("{namespace}/{name}"),
        namespace: namespace.to_owned(),
        ca: text("ca.crt"),
        audiences: match audiences.is_empty() {
            true => vec![address.clone()],
            false => audiences,
        },
        account: text("serviceAccountName"),
        address,
    })
}

impl Found {
    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(format!("{self:?}").as_bytes())
    }

    /// Checks that a token of the controller says nothing to anyone but the server that it is sent to.
    fn check_own_audiences(&self) -> Result<(), String> {
        match &self.audiences[..] {
            [audience] if *audience == self.address => Ok(()),
            _ => Err(
                "it names 'audiences' and no serviceAccountName, and an object with a ServiceAccount gets a token of the controller for \
                 the address only: set serviceAccountName, or remove 'audiences'"
                    .to_owned(),
            ),
        }
    }

    /// Connects to the cluster. Its tokens are renewed before they end. `acts_as_account` says that the object has a
    /// ServiceAccount to act as: the token of the controller that it gets then is good at this address only.
    pub(super) async fn connect(
        &self,
        client: &Client,
        rules: &TokenRules,
        acts_as_account: bool,
    ) -> Result<(String, Client), Failure> {
        let failed = |why: String| {
            Failure::new(format!(
                "ConfigMap '{}' of spec.kubeConfig: {why}",
                self.config_map
            ))
        };
        let account = rules.account(self.account.as_deref()).map_err(failed)?;
        if account.is_none() && acts_as_account {
            self.check_own_audiences().map_err(failed)?;
        }
        let (namespace, name) = match account {
            Some(name) => (self.namespace.clone(), name),
            None => own_account().map_err(failed)?,
        };
        named::check("serviceAccountName", &name).map_err(|error| failed(error.to_string()))?;
        let api = named::api(client, &namespace).map_err(|error| failed(error.to_string()))?;
        let tokens = Arc::new(Tokens {
            api,
            shown: format!("{namespace}/{name}"),
            name,
            audiences: self.audiences.clone(),
            kept: Mutex::default(),
        });
        // Whoever may not have a token is told so now.
        tokens.header().await.map_err(failed)?;
        let cluster = json!({
            "server": self.address, "certificate-authority-data": self.ca.as_ref().map(|ca| STANDARD.encode(ca)),
        });
        let kubeconfig = json!({
            "clusters": [{"name": "it", "cluster": cluster}], "users": [{"name": "it", "user": {}}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}], "current-context": "it",
        });
        let kubeconfig: Kubeconfig = serde_json::from_value(kubeconfig)?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        let config = config.map_err(|error| failed(error.to_string()))?;
        let client = engine::cluster::connect_guarded(config)?;
        Ok((self.address.clone(), showing(client, tokens)))
    }
}

/// A client that shows the tokens of a ServiceAccount.
fn showing(client: Client, tokens: Arc<Tokens>) -> Client {
    let namespace = client.default_namespace().to_owned();
    let service = tower::service_fn(move |mut request: http::Request<kube::client::Body>| {
        let (client, tokens) = (client.clone(), Arc::clone(&tokens));
        async move {
            let header = tokens.header().await?;
            request.headers_mut().insert(AUTHORIZATION, header);
            client.send(request).await.map_err(tower::BoxError::from)
        }
    });
    Client::new(service, namespace)
}

/// The tokens of a ServiceAccount for a cluster.
struct Tokens {
    api: Api<ServiceAccount>,
    /// The account as messages show it.
    shown: String,
    name: String,
    audiences: Vec<String>,
    /// The last one, and when the next is asked for.
    kept: Mutex<Option<(HeaderValue, Instant)>>,
}

impl Tokens {
    async fn header(&self) -> Result<HeaderValue, String> {
        let mut kept = self.kept.lock().await;
        if let Some((header, until)) = &*kept
            && Instant::now() < *until
        {
            return Ok(header.clone());
        }
        let failed = |why: String| format!("no token of ServiceAccount '{}': {why}", self.shown);
        let request = TokenRequest {
            spec: TokenRequestSpec {
                audiences: self.audiences.clone(),
                ..TokenRequestSpec::default()
            },
            ..TokenRequest::default()
        };
        let granted = self
            .api
            .create_token_request(&self.name, &PostParams::default(), &request)
            .await;
        let status = granted.map_err(|error| failed(error.to_string()))?.status;
        let status = status.ok_or_else(|| failed("the cluster gave none".to_owned()))?;
        let mut header = HeaderValue::from_str(&format!("Bearer {}", status.token))
            .map_err(|_| failed("the cluster gave what is none".to_owned()))?;
        header.set_sensitive(true);
        let left = status
            .expiration_timestamp
            .0
            .duration_since(jiff::Timestamp::now());
        let left = Duration::try_from(left).unwrap_or_default();
        *kept = Some((header.clone(), Instant::now() + left.mul_f64(0.8)));
        Ok(header)
    }
}

/// Namespace and name of the ServiceAccount that this process runs as.
pub(crate) fn own_account() -> Result<(String, String), String> {
    let token = std::fs::read_to_string(OWN_TOKEN)
        .map_err(|error| format!("failed to read service account token file {OWN_TOKEN}: {error}"))?;
    account_of(token.trim()).ok_or_else(|| format!("{OWN_TOKEN} is no token of a ServiceAccount"))
}

fn account_of(token: &str) -> Option<(String, String)> {
    let payload = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims = model::json::parse(&payload).ok()?;
    let account = claims.str_at(&["sub"]).strip_prefix("system:serviceaccount:")?;
    let (namespace, name) = account.split_once(':')?;
    Some((namespace.to_owned(), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &[(&str, &str)]) -> Result<Found, String> {
        let data = data
            .iter()
            .map(|(key, text)| ((*key).to_owned(), (*text).to_owned()));
        found("team", "prod", &data.collect())
    }

    #[test]
    fn a_cluster_is_told_by_its_address_and_audiences() {
        let found = read(&[("provider", "generic"), ("address", "10.0.0.1:6443")]).unwrap();
        assert_eq!(found.address, "https://10.0.0.1:6443");
        assert_eq!(found.audiences, ["https://10.0.0.1:6443"]);
        let found = read(&[
            ("provider", "generic"),
            ("address", "https://a"),
            ("audiences", "one\n\n two \n"),
            ("serviceAccountName", "sync"),
        ])
        .unwrap();
        assert_eq!(found.audiences, ["one", "two"]);
        assert_eq!(found.account.as_deref(), Some("sync"));
    }

    #[test]
    fn what_cannot_be_used_is_told_with_the_remedy() {
        for (data, told) in [
            (&[][..], "there is no provider ''"),
            (&[("provider", "aws")][..], "use 'generic', or a Secret"),
            (&[("provider", "generic")][..], "it has no 'address'"),
            (
                &[("provider", "generic"), ("address", "http://10.0.0.1")][..],
                "must use https scheme",
            ),
        ] {
            let why = read(data).unwrap_err();
            assert!(why.contains(told), "{why}");
        }
    }

    #[test]
    fn the_account_of_the_controller_is_used_only_where_tenants_are_not_locked_down() {
        let rules = |accounts, default: Option<&str>, locked_down| TokenRules {
            accounts,
            default_account: default.map(str::to_owned),
            locked_down,
        };
        let of = |rules: TokenRules, named| rules.account(named);
        assert_eq!(of(rules(false, None, false), None), Ok(None));
        assert!(
            of(rules(true, None, true), None)
                .unwrap_err()
                .contains("locked down")
        );
        assert_eq!(
            of(rules(true, Some("usual"), true), None),
            Ok(Some("usual".to_owned()))
        );
        assert_eq!(
            of(rules(true, Some("usual"), true), Some("own")),
            Ok(Some("own".to_owned()))
        );
        assert!(
            of(rules(false, None, true), Some("own"))
                .unwrap_err()
                .contains(GATE)
        );
    }

    /// The server at the address could use a token with the audience of the own cluster there, as the controller.
    #[test]
    fn a_token_of_the_controller_for_a_tenant_is_good_at_the_address_only() {
        let own = [("provider", "generic"), ("address", "https://a")];
        let found = read(&own).unwrap();
        assert_eq!(found.check_own_audiences(), Ok(()));
        for audiences in ["https://kubernetes.default.svc", "https://a\nsts.amazonaws.com"] {
            let found = read(&[&own[..], &[("audiences", audiences)]].concat()).unwrap();
            let why = found.check_own_audiences().unwrap_err();
            assert!(why.contains("set serviceAccountName"), "{why}");
        }
    }

    #[test]
    fn a_pod_knows_its_account_by_its_token() {
        let claims = URL_SAFE_NO_PAD.encode("{\"sub\": \"system:serviceaccount:flux-system:sync\"}");
        let account = account_of(&format!("e30.{claims}.c2ln"));
        assert_eq!(account, Some(("flux-system".to_owned(), "sync".to_owned())));
        assert_eq!(account_of("e30"), None);
    }
}
