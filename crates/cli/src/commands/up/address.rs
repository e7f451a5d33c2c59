//! The address of a repository, and what of it nobody is to see.

const MASK: &str = "*****";
/// Secrets that are so long are masked wherever they stand.
const LEAST: usize = 4;

/// The address of a repository, if a text is one. What `git clone` takes over SSH has a form of its own.
pub(super) fn address(text: &str) -> Option<String> {
    if ["https://", "http://", "ssh://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
    {
        return Some(text.to_owned());
    }
    let (host, path) = text.split_once(':')?;
    let is_host = host.contains('@') && !host.contains('/');
    is_host.then(|| format!("ssh://{host}/{}", path.trim_start_matches('/')))
}

/// An address without credentials. The user of SSH is none: it is the same for everybody.
pub(super) fn public(text: &str) -> String {
    match parts(text) {
        Some((scheme, user, rest)) => match (scheme, user.split_once(':')) {
            ("ssh", None) => text.to_owned(),
            ("ssh", Some((user, _))) => format!("{scheme}://{user}@{rest}"),
            _ => format!("{scheme}://{rest}"),
        },
        None => text.to_owned(),
    }
}

/// The words of an address that prove who asks, as they are written and as they are meant.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    pub(super) fn of(text: &str) -> Self {
        let Some((scheme, user, _)) = parts(text) else {
            return Secrets::default();
        };
        let secret = match user.split_once(':') {
            Some((_, password)) if !password.is_empty() => password,
            // A token stands alone, or before nothing.
            Some((token, _)) => token,
            None if scheme != "ssh" => user,
            None => return Secrets::default(),
        };
        let mut secrets = vec![secret.to_owned(), percent_decoded(secret)];
        secrets.dedup();
        secrets.retain(|secret| !secret.is_empty());
        Secrets(secrets)
    }

    /// A text without them: controllers quote addresses.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.0 {
            for (before, after) in [(":", "@"), ("//", "@"), ("//", ":@")] {
                text = text.replace(
                    &format!("{before}{secret}{after}"),
                    &format!("{before}{MASK}{after}"),
                );
            }
            // Less is part of any word.
            if secret.chars().count() >= LEAST {
                text = text.replace(secret, MASK);
            }
        }
        text
    }
}

/// Scheme, user information and the rest of an address that has such.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    // Passwords may hold what they should not.
    let at = rest[..end].rfind('@')?;
    Some((scheme, &rest[..at], &rest[at + 1..]))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let code = code.filter(|_| *first == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_directories() {
        for (text, expected) in [
            ("https://github.com/a/b", Some("https://github.com/a/b")),
            ("git@github.com:a/b.git", Some("ssh://git@github.com/a/b.git")),
            ("examples/hello", None),
            ("./a:b", None),
            ("C:\\files", None),
        ] {
            assert_eq!(address(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn credentials_are_no_part_of_what_is_shown() {
        for (text, shown, secret) in [
            ("http://me:pa%40ss@host/a.git", "http://host/a.git", "pa@ss"),
            ("https://token@host/a", "https://host/a", "token"),
            ("https://token:@host/a", "https://host/a", "token"),
            ("https://me:x@host/a", "https://host/a", ":x@"),
        ] {
            assert_eq!(public(text), shown, "{text}");
            let secrets = Secrets::of(text);
            for told in [format!("failed to clone {text}: no"), format!("it is {secret}!")] {
                assert!(!secrets.masked(&told).contains(secret), "{told}");
            }
        }
        for text in ["ssh://git@host/a", "https://host/a@b", "examples/hello"] {
            assert_eq!(public(text), text);
            assert_eq!(Secrets::of(text).masked(text), text);
        }
    }
}
