//! How a registry asks for credentials: the `WWW-Authenticate` header.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

/// What a registry wants to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// User name and password with each request.
    Basic,
    /// A token of a server.
    Bearer {
        /// The URL of the token server.
        realm: String,
        /// The name under which the token server knows the registry.
        service: Option<String>,
    },
}

impl Challenge {
    /// The challenge of an answer: the first that we know, tokens before passwords.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        let known: Vec<Challenge> = headers
            .get_all(WWW_AUTHENTICATE)
            .iter()
            .filter_map(|value| Self::parse(value.to_str().ok()?))
            .collect();
        let bearer = known
            .iter()
            .find(|challenge| matches!(challenge, Challenge::Bearer { .. }));
        bearer.or(known.first()).cloned()
    }

    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Challenge::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let (mut realm, mut service) = (None, None);
        for (key, value) in parameters(rest) {
            match key.to_ascii_lowercase().as_str() {
                "realm" => realm = Some(value),
                "service" => service = Some(value),
                _ => {}
            }
        }
        Some(Challenge::Bearer {
            realm: realm?,
            service,
        })
    }
}

/// The `key="value"` pairs of a challenge. What cannot be understood ends the list.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', ',', '\t']);
        let Some((key, after)) = rest.split_once('=') else {
            return found;
        };
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => match unquote(quoted) {
                Some(read) => read,
                None => return found,
            },
            None => {
                let end = after.find(',').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        found.push((key.trim().to_owned(), value));
        rest = after;
    }
}

/// The text up to the closing quote, and what follows it.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, found)) = characters.next() {
        match found {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            found => value.push(found),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(WWW_AUTHENTICATE, value.parse().unwrap());
        }
        Challenge::of(&headers)
    }

    fn bearer(realm: &str, service: Option<&str>) -> Option<Challenge> {
        Some(Challenge::Bearer {
            realm: realm.into(),
            service: service.map(Into::into),
        })
    }

    #[test]
    fn tokens_and_passwords_are_asked_for() {
        assert_eq!(of(&["Basic realm=\"x\""]), Some(Challenge::Basic));
        assert_eq!(
            of(&[
                "Bearer realm=\"https://auth.docker.io/token\",service=\"registry.docker.io\",scope=\"repository:a:pull,push\""
            ]),
            bearer("https://auth.docker.io/token", Some("registry.docker.io"))
        );
        assert_eq!(
            of(&["bearer service=s, realm=\"https://a/\\\"b\""]),
            bearer("https://a/\"b", Some("s"))
        );
        assert_eq!(
            of(&["Basic realm=\"x\"", "Bearer realm=\"https://a\""]),
            bearer("https://a", None)
        );
    }

    #[test]
    fn what_is_no_challenge_is_none() {
        for wrong in [
            "",
            "Negotiate",
            "Bearer",
            "Bearer realm=\"open",
            "Bearer service=\"x\"",
        ] {
            assert_eq!(of(&[wrong]), None, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_makes_it_panic(text in "\\PC{0,80}") {
            let _ = Challenge::parse(&text);
            let _ = Challenge::parse(&format!("Bearer {text}"));
        }
    }
}
