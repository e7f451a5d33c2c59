//! What Secrets say about connections and credentials. No value of a Secret gets into an error.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::Client;
use secrecy::SecretString;
use source::bucket::s3::Key;
use source::git::{Auth, SshAuth};
use source::http::{self, Login, Proxy, Tls};
use source::oci::Keychain;

use crate::kit::named;

/// The longest address of a proxy.
const LONGEST_ADDRESS: usize = 2048;

/// Why a Secret cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the {kind} '{name}' does not exist: create it, or correct the reference to it")]
    Missing { kind: &'static str, name: String },
    #[error("the {kind} '{name}' cannot be read")]
    Read {
        kind: &'static str,
        name: String,
        #[source]
        source: kube::Error,
    },
    #[error("the Secret '{name}' {problem}")]
    Content { name: String, problem: String },
    #[error("the Secret '{name}' has a key '{key}' that holds no certificate: it must be PEM")]
    Authorities { name: String, key: &'static str },
    /// A client certificate without its key, or the other way round.
    #[error("the Secret '{name}' {problem}")]
    HalfPair { name: String, problem: &'static str },
    /// What is to be a certificate is none: to Flux, a matter of the connection and not of who connects.
    #[error("the Secret '{name}' {problem}")]
    Certificate { name: String, problem: String },
}

impl Error {
    /// Why an object was not read.
    pub(crate) fn reading(kind: &'static str, namespace: &str, name: &str, source: kube::Error) -> Self {
        let name = format!("{namespace}/{name}");
        match source {
            kube::Error::Api(status) if status.is_not_found() => Error::Missing { kind, name },
            source => Error::Read { kind, name, source },
        }
    }
}

/// The data of a Secret, with its name for complaints.
pub(crate) struct Data {
    name: String,
    values: BTreeMap<String, Vec<u8>>,
}

impl Data {
    /// Reads a Secret, `namespace/name`.
    pub(crate) async fn read(client: &Client, namespace: &str, name: &str) -> Result<Self, Error> {
        let secret = named::get::<Secret>(client, namespace, name).await;
        let secret = secret.map_err(|error| Error::reading("Secret", namespace, name, error))?;
        let values = secret.data.unwrap_or_default().into_iter();
        Ok(Data {
            name: format!("{namespace}/{name}"),
            values: values.map(|(key, value)| (key, value.0)).collect(),
        })
    }

    /// The name, with its namespace.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn problem(&self, problem: impl Into<String>) -> Error {
        Error::Content {
            name: self.name.clone(),
            problem: problem.into(),
        }
    }

    /// It is for other registries than this one.
    pub(crate) fn none_for(&self, registry: &str) -> Error {
        self.problem(format!(
            "has no credentials for the registry '{registry}': add them"
        ))
    }

    /// Whether it holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// All that it is made of, to tell it apart from any other.
    pub(crate) fn content(&self) -> Vec<u8> {
        serde_json::to_vec(&(&self.name, &self.values)).unwrap_or_default()
    }

    /// All that it holds.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let values = self.values.iter();
        values.map(|(key, value)| (key.as_str(), value.as_slice()))
    }

    /// What one key holds.
    pub(crate) fn need(&self, key: &str) -> Result<&[u8], Error> {
        self.bytes(&[key])
            .ok_or_else(|| self.problem(format!("has no key '{key}': add it")))
    }

    /// What one key holds, as text that may be shown.
    pub(crate) fn text_of(&self, key: &str) -> Result<String, Error> {
        let text = self.text(&[key])?;
        let text = text.ok_or_else(|| self.problem(format!("has no key '{key}': add it")))?;
        Ok(text.to_owned())
    }

    /// What one key holds, if it is there, as text that may not be shown.
    pub(crate) fn secret(&self, key: &str) -> Result<Option<SecretString>, Error> {
        Ok(self.text(&[key])?.map(SecretString::from))
    }

    /// A key of S3: `accesskey` and `secretkey`.
    pub(crate) fn s3_key(&self) -> Result<Key, Error> {
        match (self.text(&["accesskey"])?, self.text(&["secretkey"])?) {
            (Some(id), Some(secret)) => Ok(Key {
                id: id.to_owned(),
                secret: secret.into(),
                session: None,
            }),
            _ => Err(self.problem("must have the keys 'accesskey' and 'secretkey'")),
        }
    }

    /// Whether a key is there and not empty.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.bytes(&[key]).is_some()
    }

    /// The first of these keys that is there and not empty.
    fn bytes(&self, keys: &[&str]) -> Option<&[u8]> {
        let mut found = keys.iter().filter_map(|key| self.values.get(*key));
        found.find(|value| !value.is_empty()).map(Vec::as_slice)
    }

    fn text(&self, keys: &[&str]) -> Result<Option<&str>, Error> {
        let text = self.bytes(keys).map(std::str::from_utf8).transpose();
        text.map_err(|_| self.problem(format!("has a key '{}' that is no text: correct it", keys[0])))
    }

    /// Whether it has anything about TLS.
    pub(crate) fn has_tls(&self) -> bool {
        ["ca.crt", "caFile", "tls.crt", "tls.key", "certFile", "keyFile"]
            .iter()
            .any(|key| self.has(key))
    }

    /// Authorities and client certificate: `ca.crt`, `tls.crt`, `tls.key`, or the older names of them.
    pub(crate) fn tls(&self) -> Result<Tls, Error> {
        let certificate = self.bytes(&["tls.crt", "certFile"]);
        let key = self.text(&["tls.key", "keyFile"])?;
        let authorities = self.bytes(&["ca.crt", "caFile"]);
        let half = |problem: &'static str| Error::HalfPair {
            name: self.name.clone(),
            problem,
        };
        match (certificate, key) {
            (Some(_), None) => Err(half("has a key 'tls.crt' but no 'tls.key': add it")),
            (None, Some(_)) => Err(half("has a key 'tls.key' but no 'tls.crt': add it")),
            (None, None) if authorities.is_none() => {
                Err(self.problem("has neither 'ca.crt' nor 'tls.crt' and 'tls.key': add what is to be used"))
            }
            _ => {
                let tls = Tls {
                    authorities: authorities.map(<[u8]>::to_vec),
                    certificate: certificate.map(<[u8]>::to_vec),
                    key: key.map(SecretString::from),
                    accept_any: false,
                };
                tls.check().map_err(|error| self.no_certificate(&error))?;
                Ok(tls)
            }
        }
    }

    /// The same to those who use what they can of it, as Flux does for Git: half a client certificate is as none, and so are
    /// authorities that are none. What cannot be used is told with whatever fails for the lack of it.
    fn usable_tls(&self) -> Result<(Tls, Option<String>), Error> {
        let mut usable = Data {
            name: self.name.clone(),
            values: self.values.clone(),
        };
        let mut doubts = Vec::new();
        while usable.has_tls() {
            let (error, keys): (_, &[&str]) = match usable.tls() {
                Ok(tls) => return Ok((tls, told(doubts))),
                Err(error @ Error::HalfPair { .. }) => {
                    (error, &["tls.crt", "tls.key", "certFile", "keyFile"])
                }
                Err(error @ Error::Authorities { .. }) => (error, &["ca.crt", "caFile"]),
                Err(error) => return Err(error),
            };
            doubts.push(error.to_string());
            usable.values.retain(|key, _| !keys.contains(&key.as_str()));
        }
        Ok((Tls::default(), told(doubts)))
    }

    /// That certificates are none, with the keys that hold them. What they hold instead is not shown.
    fn no_certificate(&self, error: &http::Error) -> Error {
        let first = |keys: [&'static str; 2]| keys.into_iter().find(|key| self.has(key)).unwrap_or(keys[0]);
        let (certificate, key) = (first(["tls.crt", "certFile"]), first(["tls.key", "keyFile"]));
        let problem = match error {
            http::Error::Authorities => {
                return Error::Authorities {
                    name: self.name.clone(),
                    key: first(["ca.crt", "caFile"]),
                };
            }
            http::Error::Certificate(_) => {
                format!("has a key '{certificate}' that holds no certificate: it must be PEM")
            }
            http::Error::Key(_) => {
                format!("has a key '{key}' that holds no private key: it must be PEM and not encrypted")
            }
            _ => format!(
                "has keys '{certificate}' and '{key}' that do not belong together: give the private key that the certificate \
                 was made with"
            ),
        };
        Error::Certificate {
            name: self.name.clone(),
            problem,
        }
    }

    /// A proxy: `address`, and `username` and `password` for it.
    pub(crate) fn proxy(&self) -> Result<Proxy, Error> {
        let address = self.text(&["address"])?;
        let address = address.ok_or_else(|| self.problem("has no key 'address': add it"))?;
        if address.len() > LONGEST_ADDRESS {
            return Err(self.problem(format!(
                "has an 'address' of more than {LONGEST_ADDRESS} letters: use a shorter one"
            )));
        }
        let known = ["http://", "https://", "socks5://", "socks5h://"];
        if !known.iter().any(|scheme| address.starts_with(scheme)) {
            return Err(self.problem("has an 'address' that must begin with http://, https:// or socks5://"));
        }
        // A name needs no password, and a password without a name is none to show.
        let password = self.text(&["password"])?.unwrap_or_default();
        let login = self.text(&["username"])?.map(|user| Login {
            user: user.to_owned(),
            password: password.into(),
        });
        Ok(Proxy {
            address: address.to_owned(),
            login,
        })
    }

    /// `username` and `password`, which go together.
    pub(crate) fn login(&self) -> Result<Option<Login>, Error> {
        match (self.text(&["username"])?, self.text(&["password"])?) {
            (None, None) => Ok(None),
            (Some(user), Some(password)) => Ok(Some(Login {
                user: user.to_owned(),
                password: password.into(),
            })),
            _ => Err(self.problem("must have both keys 'username' and 'password', or none of them")),
        }
    }

    /// Credentials of registries: `.dockerconfigjson`, or what else a pull secret may have.
    pub(crate) fn keychain(&self) -> Result<Keychain, Error> {
        let config = self.bytes(&[".dockerconfigjson", ".dockercfg"]);
        let config = config.ok_or_else(|| self.problem("has no key '.dockerconfigjson': add it"))?;
        Keychain::docker_config(config).map_err(|error| self.problem(format!("is no pull secret: {error}")))
    }

    /// The same, and nothing where it has nothing of the kind.
    fn pull_secret(&self) -> Result<Keychain, Error> {
        match self.bytes(&[".dockerconfigjson", ".dockercfg"]) {
            Some(_) => self.keychain(),
            None => Ok(Keychain::anonymous()),
        }
    }
}

impl Data {
    /// How to log in to a Git server over HTTP, and what to check its certificate against.
    /// What of the Secret cannot be used for that comes beside it.
    pub(crate) fn git_http(&self) -> Result<(Auth, Tls, Option<String>), Error> {
        let (user, password) = (self.text(&["username"])?, self.text(&["password"])?);
        let auth = match (self.text(&["bearerToken"])?, user, password) {
            (Some(token), _, _) => Auth::Bearer(token.into()),
            // Some servers take a token as the name of a user without a password.
            (None, Some(user), password) => Auth::Basic {
                user: user.to_owned(),
                password: password.unwrap_or_default().into(),
            },
            (None, None, Some(_)) => {
                return Err(self.problem("has a key 'password' but no 'username': add it"));
            }
            (None, None, None) => Auth::None,
        };
        let (tls, doubt) = self.usable_tls()?;
        Ok((auth, tls, doubt))
    }

    /// How to log in to a Git server over SSH.
    pub(crate) fn git_ssh(&self) -> Result<Auth, Error> {
        let missing = |key: &str| self.problem(format!("has no key '{key}', which SSH needs: add it"));
        let identity = self.text(&["identity"])?.ok_or_else(|| missing("identity"))?;
        let known_hosts = self
            .text(&["known_hosts"])?
            .ok_or_else(|| missing("known_hosts"))?;
        Ok(Auth::Ssh(SshAuth {
            identity: identity.into(),
            passphrase: self.text(&["password"])?.map(SecretString::from),
            known_hosts: known_hosts.to_owned(),
            user: None,
        }))
    }
}

/// What failed, and what of a Secret could not be used for it.
pub(crate) fn with_doubt(message: String, doubt: Option<&str>) -> String {
    match doubt {
        Some(doubt) => format!("{message}; {doubt}"),
        None => message,
    }
}

fn told(doubts: Vec<String>) -> Option<String> {
    (!doubts.is_empty()).then(|| doubts.join(", and "))
}

/// What pull secrets say. One that says nothing of the registry that is asked, or is no pull secret, does no harm: what is
/// there for everyone can be pulled in any case.
pub(crate) async fn keychain_of(
    client: &Client,
    namespace: &str,
    secret: Option<&str>,
    service_account: Option<&str>,
) -> Result<Keychain, Error> {
    let mut keychain = Keychain::anonymous();
    if let Some(name) = secret {
        keychain.merge(Data::read(client, namespace, name).await?.pull_secret()?);
    }
    if let Some(name) = service_account {
        let account = named::get::<ServiceAccount>(client, namespace, name).await;
        let account = account.map_err(|error| Error::reading("ServiceAccount", namespace, name, error))?;
        for reference in account.image_pull_secrets.unwrap_or_default() {
            let data = Data::read(client, namespace, &reference.name).await?;
            keychain.merge(data.pull_secret()?);
        }
    }
    Ok(keychain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(values: &[(&str, &str)]) -> Data {
        let values = values.iter();
        Data {
            name: "apps/s".into(),
            values: values
                .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()))
                .collect(),
        }
    }

    #[test]
    fn half_a_pair_is_refused_without_telling_the_other_half() {
        for secret in [
            data(&[("username", "geheim")]).login().err(),
            data(&[("password", "geheim")]).login().err(),
            data(&[("tls.crt", "geheim")]).tls().err(),
            data(&[("keyFile", "geheim")]).tls().err(),
            data(&[("address", "geheim")]).proxy().err(),
            data(&[(".dockerconfigjson", "geheim")]).keychain().err(),
        ] {
            let text = secret.expect("it is refused").to_string();
            assert!(text.contains("apps/s") && !text.contains("geheim"), "{text}");
        }
    }

    #[test]
    fn older_names_of_certificates_are_known() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (pem, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let tls = data(&[("caFile", &pem), ("certFile", &pem), ("keyFile", &key)])
            .tls()
            .unwrap();
        assert_eq!(tls.authorities.as_deref(), Some(pem.as_bytes()));
        assert!(tls.certificate.is_some() && tls.key.is_some());
        assert!(data(&[]).tls().is_err());
    }

    #[test]
    fn git_uses_what_it_can_of_certificates_and_tells_the_rest() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let (pem, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let half = data(&[("ca.crt", &pem), ("tls.crt", &pem)]);
        let (_, tls, doubt) = half.git_http().unwrap();
        assert!(tls.authorities.is_some() && tls.certificate.is_none());
        assert_eq!(
            doubt.unwrap(),
            "the Secret 'apps/s' has a key 'tls.crt' but no 'tls.key': add it"
        );
        let none = data(&[("caFile", "geheim"), ("tls.crt", &pem), ("tls.key", &key)]);
        let (_, tls, doubt) = none.git_http().unwrap();
        assert!(tls.authorities.is_none() && tls.certificate.is_some());
        assert!(doubt.unwrap().contains("'caFile' that holds no certificate"));
        let both = data(&[("ca.crt", "geheim"), ("tls.key", &key)]);
        let (_, tls, doubt) = both.git_http().unwrap();
        assert!(tls.authorities.is_none() && tls.key.is_none());
        assert!(doubt.unwrap().contains("'tls.crt': add it, and the Secret"));
        // Two halves that do not fit are no half.
        let (_, _, doubt) = data(&[("username", "ada")]).git_http().unwrap();
        assert_eq!(doubt, None);
        let broken = data(&[("tls.crt", &pem), ("tls.key", "geheim")]);
        assert!(matches!(broken.git_http(), Err(Error::Certificate { .. })));
    }

    #[test]
    fn a_proxy_needs_no_password() {
        let login = |values: &[(&str, &str)]| {
            let address = ("address", "socks5://proxy:1080");
            let proxy = data(&[&[address], values].concat()).proxy().unwrap();
            proxy.login.map(|login| login.user)
        };
        assert_eq!(login(&[]), None);
        assert_eq!(login(&[("username", "ada")]).as_deref(), Some("ada"));
        assert_eq!(login(&[("password", "geheim")]), None);
    }

    #[test]
    fn what_is_no_certificate_is_told_by_the_key_that_holds_it() {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let pem = made.cert.pem();
        let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let other = other.signing_key.serialize_pem();
        for (secret, told) in [
            (
                data(&[("ca.crt", "geheim")]),
                "the Secret 'apps/s' has a key 'ca.crt' that holds",
            ),
            (data(&[("caFile", "geheim")]), "has a key 'caFile' that holds"),
            (
                data(&[("tls.crt", &pem), ("tls.key", "geheim")]),
                "has a key 'tls.key' that holds no private key",
            ),
            (
                data(&[("certFile", "geheim"), ("keyFile", "geheim")]),
                "has a key 'certFile' that holds no certificate",
            ),
            (
                data(&[("tls.crt", &pem), ("tls.key", &other)]),
                "the Secret 'apps/s' has keys 'tls.crt' and 'tls.key' that do not belong together",
            ),
        ] {
            let text = secret.tls().expect_err("it is refused").to_string();
            assert!(text.contains(told) && !text.contains("geheim"), "{text}");
        }
    }
}
