//! Addresses of repositories.

use std::fmt;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use secrecy::SecretString;

/// The address of a repository: `http`, `https` or `ssh`. A user name and password in it are kept apart from it and are
/// never printed (an SSH user is no secret and stays).
#[derive(Clone)]
pub struct Url {
    plain: url::Url,
    scheme: Scheme,
    host: String,
    user: Option<String>,
    password: Option<SecretString>,
}

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http://`
    Http,
    /// `https://`
    Https,
    /// `ssh://`
    Ssh,
}

/// Why a text is no address of a repository. The text itself is not repeated: it may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum UrlError {
    /// It is no URL at all.
    #[error(
        "the URL of the Git repository cannot be read: it must look like https://host/path or ssh://user@host/path"
    )]
    Malformed(#[source] Option<url::ParseError>),
    /// It is what `scp` takes.
    #[error(
        "the URL of the Git repository has the form host:path, which is not supported: write ssh://user@host/path"
    )]
    ScpSyntax,
    /// It begins with something else.
    #[error(
        "the URL of the Git repository begins with '{0}://': it must begin with http://, https:// or ssh://"
    )]
    Scheme(String),
}

impl Url {
    /// How the server is spoken to.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The host, without brackets around an IPv6 address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port, given or usual.
    pub fn port(&self) -> u16 {
        let usual = match self.scheme {
            Scheme::Http => 80,
            Scheme::Https => 443,
            Scheme::Ssh => 22,
        };
        self.plain.port().unwrap_or(usual)
    }

    /// The user name in the address.
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// The password in the address.
    pub fn password(&self) -> Option<&SecretString> {
        self.password.as_ref()
    }

    /// The path, percent-encoded.
    pub fn path(&self) -> &str {
        self.plain.path()
    }

    /// The host, with the port where it is not the usual one.
    pub fn authority(&self) -> String {
        let host = self.host();
        self.plain
            .port()
            .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The path as a server's program takes it: percent-decoded, `/~ada/app` as `~ada/app`.
    pub(super) fn server_path(&self) -> String {
        let path = percent_decode_str(self.plain.path())
            .decode_utf8_lossy()
            .into_owned();
        match path.strip_prefix('/') {
            Some(home) if home.starts_with('~') => home.to_owned(),
            _ => path,
        }
    }

    /// The address for HTTP, without credentials and without a slash at its end.
    pub(super) fn http_base(&self) -> String {
        let mut base = self.plain.clone();
        base.set_query(None);
        base.set_fragment(None);
        base.as_str().trim_end_matches('/').to_owned()
    }

    /// The address that a submodule's means, seen from this repository: `../lib.git` is relative to it.
    ///
    /// # Errors
    /// Where that is no address of a repository.
    pub fn join(&self, other: &str) -> Result<Url, UrlError> {
        if !(other.starts_with("./") || other.starts_with("../")) {
            return other.parse();
        }
        let mut parts: Vec<&str> = self.plain.path().trim_end_matches('/').split('/').collect();
        for part in other.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.len() > 1 => drop(parts.pop()),
                ".." => return Err(UrlError::Malformed(None)),
                name => parts.push(name),
            }
        }
        let mut joined = self.clone();
        joined.plain.set_path(&parts.join("/"));
        Ok(joined)
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(if text.contains(':') && !text.starts_with('/') {
                UrlError::ScpSyntax
            } else {
                UrlError::Malformed(None)
            });
        };
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            "ssh" => Scheme::Ssh,
            _ => return Err(UrlError::Scheme(scheme.to_owned())),
        };
        // The library takes what follows more than two slashes for the host.
        if rest.starts_with('/') {
            return Err(UrlError::Malformed(None));
        }
        let mut plain = url::Url::parse(text).map_err(|error| UrlError::Malformed(Some(error)))?;
        let host = plain.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or(UrlError::Malformed(None))?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let user = Some(plain.username())
            .filter(|user| !user.is_empty())
            .map(decoded);
        let password = plain
            .password()
            .map(|password| SecretString::from(decoded(password)));
        if scheme != Scheme::Ssh {
            plain.set_username("").map_err(|()| UrlError::Malformed(None))?;
        }
        plain.set_password(None).map_err(|()| UrlError::Malformed(None))?;
        Ok(Url {
            plain,
            scheme,
            host,
            user,
            password,
        })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plain.as_str())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({})", self.plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret;

    #[test]
    fn credentials_in_a_url_are_kept_and_never_printed() {
        let url: Url = "https://ada:p%40ss@example.com:8443/team/app.git"
            .parse()
            .unwrap();
        assert_eq!(url.user(), Some("ada"));
        assert_eq!(url.password().unwrap().expose_secret(), "p@ss");
        assert_eq!(url.to_string(), "https://example.com:8443/team/app.git");
        assert!(!format!("{url:?}").contains("ada"));
        let error = "https://ada:geheim@/x".parse::<Url>().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("geheim"));
    }

    #[test]
    fn only_http_https_and_ssh_are_taken() {
        let error = |text: &str| text.parse::<Url>().unwrap_err().to_string();
        assert!(error("git@github.com:team/app.git").contains("write ssh://user@host/path"));
        assert!(error("file:///srv/app.git").contains("begins with 'file://'"));
        assert!(error("git://host/app.git").contains("must begin with http://"));
        assert!(error("/srv/app.git").contains("cannot be read"));
        assert!(error("https:///app.git").contains("cannot be read"));
    }

    #[test]
    fn ssh_addresses_have_user_port_and_path() {
        let url: Url = "ssh://git@[::1]:2222/team/my%20app.git".parse().unwrap();
        assert_eq!((url.host(), url.port(), url.user()), ("::1", 2222, Some("git")));
        assert_eq!(url.server_path(), "/team/my app.git");
        let url: Url = "ssh://host/~ada/app".parse().unwrap();
        assert_eq!(
            (url.port(), url.user(), url.server_path().as_str()),
            (22, None, "~ada/app")
        );
    }

    #[test]
    fn addresses_of_submodules_are_relative_to_the_repository() {
        let url: Url = "https://ada:secret@example.com/team/app.git/".parse().unwrap();
        let joined = url.join("../lib.git").unwrap();
        assert_eq!(joined.to_string(), "https://example.com/team/lib.git");
        assert_eq!(joined.user(), Some("ada"));
        assert_eq!(
            url.join("./sub").unwrap().to_string(),
            "https://example.com/team/app.git/sub"
        );
        assert_eq!(
            url.join("https://other.org/x").unwrap().to_string(),
            "https://other.org/x"
        );
        assert!(url.join("../../../../etc").is_err());
        assert!(url.join("git@host:x").is_err());
    }
}
