//! Who we are to a registry.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use super::{Error, Repository, docker_config};
use crate::http::repeated;
use crate::trust::Fingerprint;

/// What is shown to a registry or its token server.
#[derive(Clone, Default)]
pub enum Credential {
    /// Nothing.
    #[default]
    Anonymous,
    /// A user name with a password, or with a token that stands in for one.
    Basic {
        /// The user name.
        user: String,
        /// The password.
        password: SecretString,
    },
    /// A token that the token server gives others for (`identitytoken` of a docker config).
    Identity(SecretString),
    /// A token that the registry takes as it is (`registrytoken` of a docker config).
    Bearer(SecretString),
}

impl Credential {
    /// What the flux client takes as `--creds`: `<user>:<password>`, or a token alone.
    ///
    /// ```
    /// use source::oci::Credential;
    /// assert_eq!(format!("{:?}", Credential::parse("flux:secret")), "Basic(flux)");
    /// assert_eq!(format!("{:?}", Credential::parse("secret")), "Bearer");
    /// ```
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some((user, password)) => Credential::Basic {
                user: user.to_owned(),
                password: password.into(),
            },
            None => Credential::Bearer(text.into()),
        }
    }

    /// What must not be in any text, in the forms in which it is sent.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        match self {
            Credential::Anonymous => Vec::new(),
            Credential::Basic { user, password } => {
                let basic = repeated::basic(user, password.expose_secret());
                vec![password.clone(), basic.into()]
            }
            Credential::Identity(token) | Credential::Bearer(token) => vec![token.clone()],
        }
    }

    /// Identifies credentials in caches without keeping them.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let kind = |kind: &str| Fingerprint::builder("registry credential").text(kind);
        match self {
            Credential::Anonymous => kind("anonymous"),
            Credential::Basic { user, password } => kind("basic").text(user).text(password.expose_secret()),
            Credential::Identity(token) => kind("identity").text(token.expose_secret()),
            Credential::Bearer(token) => kind("bearer").text(token.expose_secret()),
        }
        .build()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Credential::Anonymous => f.write_str("Anonymous"),
            Credential::Basic { user, .. } => write!(f, "Basic({user})"),
            Credential::Identity(_) => f.write_str("Identity"),
            Credential::Bearer(_) => f.write_str("Bearer"),
        }
    }
}

/// Credentials with the registries and repositories that they are for. A client takes its credentials from here, so that none
/// goes to a registry it is not for.
#[derive(Clone, Debug, Default)]
pub struct Keychain {
    entries: Vec<(Pattern, Credential)>,
    /// Whom all of them were issued to.
    issued_to: Option<Fingerprint>,
}

impl Keychain {
    /// No credentials for anyone.
    pub fn anonymous() -> Self {
        Keychain::default()
    }

    /// One credential, for all of the registry that holds this repository.
    pub fn for_registry_of(repository: &Repository, credential: Credential) -> Self {
        let mut keychain = Keychain::default();
        keychain
            .entries
            .extend(Pattern::parse(repository.registry()).map(|pattern| (pattern, credential)));
        keychain
    }

    /// Names whom the credentials were issued to, where they are renewed often and the identity behind them stays. What was
    /// pulled with one of them is used with the next one then.
    #[must_use]
    pub fn issued_to(mut self, identity: Fingerprint) -> Self {
        self.issued_to = Some(identity);
        self
    }

    /// Identifies who a repository is read as.
    pub(super) fn identity(&self, repository: &Repository) -> Fingerprint {
        match (self.resolve(repository), &self.issued_to) {
            (None, _) => Credential::Anonymous.fingerprint(),
            (Some(_), Some(identity)) => *identity,
            (Some(credential), None) => credential.fingerprint(),
        }
    }

    /// The credentials of a `.dockerconfigjson`, a docker `config.json`, or an older `.dockercfg`.
    ///
    /// # Errors
    /// Where it is no such JSON.
    pub fn docker_config(json: &[u8]) -> Result<Self, Error> {
        let mut keychain = Keychain::default();
        for (place, credential) in docker_config::read(json)? {
            keychain
                .entries
                .extend(Pattern::parse(&place).map(|pattern| (pattern, credential)));
        }
        keychain.sort();
        Ok(keychain)
    }

    /// Adds the credentials of another one. Where both have some for the same place, those that were here first count.
    pub fn merge(&mut self, other: Keychain) {
        self.entries.extend(other.entries);
        self.issued_to = None;
        self.sort();
    }

    /// Whether there are no credentials at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What to show for a repository. `None`: nothing here is for it.
    pub fn resolve(&self, repository: &Repository) -> Option<&Credential> {
        let found = self
            .entries
            .iter()
            .find(|(pattern, _)| pattern.matches(repository));
        found.map(|(_, credential)| credential)
    }

    /// The more exact place comes first; a stable sort leaves equal ones in the order they were given.
    fn sort(&mut self) {
        self.entries.sort_by(|left, right| right.0.cmp(&left.0));
    }
}

/// What a key of a docker config stands for: hosts with `*` in single labels, a port, the beginning of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    host: String,
    port: Option<String>,
    path: String,
}

impl Pattern {
    /// As Kubernetes reads keys: a scheme is dropped, `/v1/` and `/v2/` are the API's and not a path.
    fn parse(key: &str) -> Option<Self> {
        let rest = key
            .strip_prefix("https://")
            .or_else(|| key.strip_prefix("http://"))
            .unwrap_or(key);
        let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
        let path = match path {
            "/v1" | "/v2" => "",
            path if path.starts_with("/v1/") || path.starts_with("/v2/") => &path[3..],
            path => path,
        };
        let (host, port) = split_port(authority);
        // Docker Hub has one registry under two names.
        let host = if host == "docker.io" {
            "index.docker.io"
        } else {
            host
        };
        (!host.is_empty()).then(|| Pattern {
            host: host.to_ascii_lowercase(),
            port: port.map(str::to_owned),
            path: path.strip_prefix('/').unwrap_or(path).to_owned(),
        })
    }

    fn matches(&self, repository: &Repository) -> bool {
        let (host, port) = split_port(repository.registry());
        let host = host.to_ascii_lowercase();
        let (wanted, found) = (self.host.split('.'), host.split('.'));
        self.port.as_deref() == port
            && wanted.clone().count() == found.clone().count()
            && wanted.zip(found).all(|(pattern, label)| is_match(pattern, label))
            && repository.path().starts_with(&self.path)
    }
}

/// The port of an authority; the colons of an IPv6 address are none.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Whether a label of a host matches a pattern with `*`.
fn is_match(pattern: &str, label: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == label;
    };
    let Some(label) = label.strip_prefix(start) else {
        return false;
    };
    (0..=label.len())
        .filter(|&at| label.is_char_boundary(at))
        .any(|at| is_match(rest, &label[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(keychain: &Keychain, url: &str) -> String {
        let repository = Repository::parse(url).unwrap();
        match keychain.resolve(&repository) {
            Some(Credential::Basic { user, .. }) => user.clone(),
            other => format!("{other:?}"),
        }
    }

    fn keychain(places: &[(&str, &str)]) -> Keychain {
        let auths: serde_json::Map<_, _> = places
            .iter()
            .map(|(place, user)| {
                let login = serde_json::json!({"username": user, "password": "secret"});
                ((*place).to_owned(), login)
            })
            .collect();
        let json = serde_json::json!({ "auths": auths }).to_string();
        Keychain::docker_config(json.as_bytes()).unwrap()
    }

    #[test]
    fn keys_match_hosts_ports_and_the_beginning_of_paths() {
        let keychain = keychain(&[
            ("ghcr.io", "host"),
            ("https://ghcr.io/org/", "path"),
            ("*.azurecr.io", "star"),
            ("registry.local:5000", "port"),
            ("https://index.docker.io/v1/", "hub"),
            ("https://quay.io/v2/", "api"),
        ]);
        assert_eq!(user(&keychain, "oci://ghcr.io/other/app"), "host");
        assert_eq!(user(&keychain, "oci://ghcr.io/org/app"), "path");
        assert_eq!(user(&keychain, "oci://team.azurecr.io/app"), "star");
        assert_eq!(user(&keychain, "oci://a.b.azurecr.io/app"), "None");
        assert_eq!(user(&keychain, "oci://registry.local:5000/app"), "port");
        assert_eq!(user(&keychain, "oci://registry.local/app"), "None");
        assert_eq!(user(&keychain, "oci://docker.io/app"), "hub");
        assert_eq!(user(&keychain, "oci://quay.io/org/app"), "api");
        assert_eq!(user(&keychain, "oci://evil-ghcr.io/org/app"), "None");
    }

    #[test]
    fn the_first_of_equal_keys_wins() {
        let mut first = keychain(&[("ghcr.io", "first")]);
        first.merge(keychain(&[("https://ghcr.io", "second"), ("quay.io", "other")]));
        assert_eq!(user(&first, "oci://ghcr.io/org/app"), "first");
        assert_eq!(user(&first, "oci://quay.io/org/app"), "other");
    }

    #[test]
    fn nothing_secret_is_printed_and_fingerprints_differ() {
        let keychain = keychain(&[("ghcr.io", "ada")]);
        assert!(!format!("{keychain:?}").contains("secret"));
        let one = Credential::parse("a:bc").fingerprint();
        assert_ne!(one, Credential::parse("ab:c").fingerprint());
        assert_ne!(one, Credential::Anonymous.fingerprint());
        assert_eq!(one, Credential::parse("a:bc").fingerprint());
    }
}
