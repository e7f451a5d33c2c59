//! Who we say we are to a server.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use super::error::Cause;
use super::url::{Scheme, Url};
use crate::http::repeated;
use crate::trust::Fingerprint;

/// What to log in with. Certificates for TLS are part of [`crate::http::Options`].
#[derive(Clone, Debug, Default)]
pub enum Auth {
    /// Nothing, or what the URL says.
    #[default]
    None,
    /// A user name with a password or token, over HTTP and also without TLS.
    Basic {
        /// The user name.
        user: String,
        /// The password.
        password: SecretString,
    },
    /// A bearer token, over HTTP.
    Bearer(SecretString),
    /// A key, over SSH.
    Ssh(SshAuth),
}

/// What an SSH connection needs.
#[derive(Clone)]
pub struct SshAuth {
    /// The private key, in any of the usual forms.
    pub identity: SecretString,
    /// What the private key is encrypted with.
    pub passphrase: Option<SecretString>,
    /// The keys that servers may show, as OpenSSH writes them.
    pub known_hosts: String,
    /// The user, where the URL names none; else `git`.
    pub user: Option<String>,
}

impl Auth {
    /// The header that shows who we are.
    ///
    /// # Errors
    /// Where this is not for HTTP, or holds characters that no header can.
    pub(super) fn header(&self, url: &Url) -> Result<Option<HeaderValue>, Cause> {
        let basic = |user: &str, password: &str| {
            SecretString::from(format!("Basic {}", repeated::basic(user, password)))
        };
        let text = match self {
            Auth::Basic { user, password } => basic(user, password.expose_secret()),
            Auth::Bearer(token) => SecretString::from(format!("Bearer {}", token.expose_secret())),
            Auth::None => match (url.user(), url.password()) {
                (None, None) => return Ok(None),
                (user, password) => basic(
                    user.unwrap_or_default(),
                    password.map(ExposeSecret::expose_secret).unwrap_or_default(),
                ),
            },
            Auth::Ssh(_) => {
                let reason = "an SSH key is given, but the URL is not ssh://";
                return Err(Cause::Credentials(reason.to_owned()));
            }
        };
        let mut header = HeaderValue::from_str(text.expose_secret()).map_err(|_| {
            Cause::Credentials("the token holds characters that HTTP does not allow: replace it".to_owned())
        })?;
        header.set_sensitive(true);
        Ok(Some(header))
    }

    /// What must not be in any text, in the forms in which it is sent.
    pub(super) fn secrets(&self, url: &Url) -> Vec<SecretString> {
        let login = |user: &str, password: &SecretString| {
            let basic = repeated::basic(user, password.expose_secret());
            vec![password.clone(), basic.into()]
        };
        match self {
            Auth::Basic { user, password } => login(user, password),
            Auth::Bearer(token) => vec![token.clone()],
            Auth::None => match url.password() {
                Some(password) => login(url.user().unwrap_or_default(), password),
                None => Vec::new(),
            },
            Auth::Ssh(_) => Vec::new(),
        }
    }

    /// Identifies who logs in to a server. The user and password of the URL count where nothing else is given.
    pub(super) fn fingerprint(&self, url: &Url) -> Fingerprint {
        let identity = Fingerprint::builder("git identity")
            .optional(url.user().map(str::as_bytes))
            .optional(url.password().map(|password| password.expose_secret().as_bytes()));
        match self {
            Auth::None => identity.text("none"),
            Auth::Basic { user, password } => {
                identity.text("basic").text(user).text(password.expose_secret())
            }
            Auth::Bearer(token) => identity.text("bearer").text(token.expose_secret()),
            Auth::Ssh(ssh) => {
                let passphrase = ssh.passphrase.as_ref();
                identity
                    .text("ssh")
                    .text(ssh.identity.expose_secret())
                    .optional(passphrase.map(|passphrase| passphrase.expose_secret().as_bytes()))
                    .optional(ssh.user.as_deref().map(str::as_bytes))
            }
        }
        .build()
    }

    /// The keys that SSH servers may show.
    pub(super) fn known_hosts(&self) -> Option<&str> {
        match self {
            Auth::Ssh(ssh) => Some(&ssh.known_hosts),
            _ => None,
        }
    }

    /// What an SSH connection needs.
    ///
    /// # Errors
    /// Where there is no key.
    pub(super) fn ssh(&self) -> Result<&SshAuth, Cause> {
        match self {
            Auth::Ssh(ssh) => Ok(ssh),
            _ => Err(Cause::Credentials(
                "ssh:// needs a private key ('identity') and 'known_hosts'".to_owned(),
            )),
        }
    }

    /// The credentials for the repository of a submodule. Passwords and tokens go only to the server they were given for: the same
    /// scheme, host and port. An SSH key reveals no secret to the server it is used with.
    pub(super) fn for_submodule(&self, main: &Url, other: &Url) -> Auth {
        let is_same_server = main.scheme() == other.scheme()
            && main.host().eq_ignore_ascii_case(other.host())
            && main.port() == other.port();
        match (self, other.scheme()) {
            (Auth::Ssh(_), Scheme::Ssh) => self.clone(),
            (Auth::Basic { .. } | Auth::Bearer(_), Scheme::Http | Scheme::Https) if is_same_server => {
                self.clone()
            }
            _ => Auth::None,
        }
    }
}

impl fmt::Debug for SshAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SshAuth")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(auth: &Auth, url: &str) -> Option<String> {
        let header = auth.header(&url.parse().unwrap()).unwrap()?;
        assert!(header.is_sensitive());
        Some(header.to_str().unwrap().to_owned())
    }

    #[test]
    fn credentials_in_the_url_count_only_when_none_are_given() {
        let basic = Auth::Basic {
            user: "a".into(),
            password: "b".into(),
        };
        assert_eq!(header(&Auth::None, "http://h/x"), None);
        assert_eq!(
            header(&Auth::None, "http://c:d@h/x").as_deref(),
            Some("Basic Yzpk")
        );
        assert_eq!(header(&basic, "http://c:d@h/x").as_deref(), Some("Basic YTpi"));
        assert_eq!(
            header(&Auth::Bearer("t".into()), "http://h/x").as_deref(),
            Some("Bearer t")
        );
    }

    #[test]
    fn secrets_are_not_printed_and_malformed_ones_are_refused() {
        let auth = Auth::Bearer("geheim\n".into());
        let error = auth.header(&"http://h/x".parse().unwrap()).unwrap_err();
        assert!(!format!("{auth:?} {error} {error:?}").contains("geheim"));
        assert!(Auth::None.ssh().unwrap_err().to_string().contains("'identity'"));
    }

    #[test]
    fn passwords_are_not_sent_to_submodules_on_other_servers() {
        let main: Url = "https://h/x".parse().unwrap();
        let token = Auth::Bearer("t".into());
        let shown = |other: &str| token.for_submodule(&main, &other.parse().unwrap());
        assert!(matches!(shown("https://h/y"), Auth::Bearer(_)));
        assert!(matches!(shown("https://H:443/y"), Auth::Bearer(_)));
        assert!(matches!(shown("https://other/y"), Auth::None));
        assert!(matches!(shown("http://h/y"), Auth::None), "in the clear");
        assert!(matches!(shown("http://h:443/y"), Auth::None), "in the clear");
        assert!(matches!(shown("https://h:8443/y"), Auth::None), "another server");
        assert!(matches!(shown("ssh://h/y"), Auth::None));
    }
}
