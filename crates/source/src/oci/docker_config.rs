//! The files in which docker keeps credentials, as pull secrets hold them.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde::Deserialize;

use super::{Credential, Error};

#[derive(Deserialize)]
struct Config {
    auths: Option<BTreeMap<String, Option<Auth>>>,
}

#[derive(Deserialize, Default)]
struct Auth {
    #[serde(default)]
    auth: String,
    #[serde(default)]
    username: String,
    #[serde(default)]
    password: String,
    #[serde(default)]
    identitytoken: String,
    #[serde(default)]
    registrytoken: String,
}

/// Each place with its credential. Programs that docker would run to get credentials are not run.
pub(super) fn read(json: &[u8]) -> Result<Vec<(String, Credential)>, Error> {
    let wrong = || Error::DockerConfig("it must be JSON with the credentials of registries under \"auths\"");
    // The parser's own message may quote what it found, which may be a password.
    let value: serde_json::Value = serde_json::from_slice(json).map_err(|_| wrong())?;
    if !value.is_object() {
        return Err(wrong());
    }
    let has_known_key = [
        "auths",
        "credHelpers",
        "credsStore",
        "HttpHeaders",
        "currentContext",
    ]
    .iter()
    .any(|key| value.get(key).is_some());
    let auths = if has_known_key {
        let config: Config = serde_json::from_value(value).map_err(|_| wrong())?;
        config.auths.unwrap_or_default()
    } else {
        // The older form has the registries at the top.
        serde_json::from_value(value).map_err(|_| wrong())?
    };
    let mut found = Vec::new();
    for (place, auth) in auths {
        found.push((place, auth.unwrap_or_default().credential()?));
    }
    Ok(found)
}

impl Auth {
    fn credential(self) -> Result<Credential, Error> {
        let (mut user, mut password) = (self.username, self.password);
        if !self.auth.is_empty() {
            let wrong = || Error::DockerConfig("an \"auth\" must be <user>:<password> in base64");
            let text = self.auth.trim().trim_end_matches('=');
            let bytes = STANDARD_NO_PAD.decode(text).map_err(|_| wrong())?;
            let text = String::from_utf8(bytes).map_err(|_| wrong())?;
            let (left, right) = text.split_once(':').ok_or_else(wrong)?;
            user = left.to_owned();
            password = right.trim_end_matches('\0').to_owned();
        }
        Ok(if !self.identitytoken.is_empty() {
            Credential::Identity(self.identitytoken.into())
        } else if !self.registrytoken.is_empty() {
            Credential::Bearer(self.registrytoken.into())
        } else if user.is_empty() && password.is_empty() {
            Credential::Anonymous
        } else {
            Credential::Basic {
                user,
                password: password.into(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    fn one(auth: &str) -> Credential {
        let json = format!("{{\"auths\":{{\"ghcr.io\":{auth}}}}}");
        read(json.as_bytes()).unwrap().remove(0).1
    }

    #[test]
    fn all_forms_of_credentials_are_read() {
        let Credential::Basic { user, password } = one(r#"{"auth":"Zmx1eDpzZTpjcmV0"}"#) else {
            panic!("no login");
        };
        assert_eq!((user.as_str(), password.expose_secret()), ("flux", "se:cret"));
        assert_eq!(
            format!("{:?}", one(r#"{"username":"a","password":"b"}"#)),
            "Basic(a)"
        );
        assert_eq!(format!("{:?}", one(r#"{"identitytoken":"x"}"#)), "Identity");
        assert_eq!(format!("{:?}", one(r#"{"registrytoken":"x"}"#)), "Bearer");
        assert_eq!(format!("{:?}", one("{}")), "Anonymous");
        assert_eq!(format!("{:?}", one("null")), "Anonymous");
    }

    #[test]
    fn the_older_form_is_read_too() {
        let found = read(br#"{"https://index.docker.io/v1/":{"auth":"YTpi"}}"#).unwrap();
        assert_eq!(found[0].0, "https://index.docker.io/v1/");
        assert!(read(br#"{"credsStore":"desktop"}"#).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_told_without_the_secret() {
        for wrong in [
            "[]",
            "geheim",
            r#"{"auths":{"ghcr.io":{"auth":"geheim!"}}}"#,
            r#"{"auths":{"ghcr.io":{"auth":"Z2VoZWlt"}}}"#,
            r#"{"auths":{"ghcr.io":{"password":["geheim"]}}}"#,
        ] {
            let error = read(wrong.as_bytes()).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("geheim"), "{error}");
        }
    }
}
