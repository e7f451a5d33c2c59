//! Which algorithms of SSH may be used.

use russh::kex;
use russh::keys::Algorithm;

/// Key exchanges and host keys that may be used, the best first. Where a list is empty, the usual ones may.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SshAlgorithms {
    pub(super) kex: Vec<kex::Name>,
    pub(super) host_keys: Vec<Algorithm>,
}

/// A name that is none of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} that are not known: {}; see the names that `ssh -Q kex` and `ssh -Q key-sig` print", names.join(", "))]
pub struct UnknownAlgorithms {
    what: &'static str,
    names: Vec<String>,
}

impl SshAlgorithms {
    /// By their names in the protocol: `curve25519-sha256`, `ssh-ed25519`.
    ///
    /// # Errors
    /// Where there is no such algorithm, or it is not supported here.
    pub fn named(kex: &[String], host_keys: &[String]) -> Result<Self, UnknownAlgorithms> {
        Ok(SshAlgorithms {
            kex: all("key exchanges", kex, |name| kex::Name::try_from(name).ok())?,
            host_keys: all("host keys", host_keys, |name| Algorithm::new(name).ok())?,
        })
    }
}

fn all<T>(
    what: &'static str,
    names: &[String],
    known: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, UnknownAlgorithms> {
    let names = || {
        names
            .iter()
            .map(|name| name.trim())
            .filter(|name| !name.is_empty())
    };
    let unknown: Vec<String> = names()
        .filter(|name| known(name).is_none())
        .map(str::to_owned)
        .collect();
    match unknown.is_empty() {
        true => Ok(names().filter_map(known).collect()),
        false => Err(UnknownAlgorithms { what, names: unknown }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn algorithms_have_the_names_of_the_protocol() {
        let found = SshAlgorithms::named(
            &list(&["curve25519-sha256", "ecdh-sha2-nistp256"]),
            &list(&["ssh-ed25519", "rsa-sha2-512"]),
        );
        let found = found.unwrap();
        assert_eq!((found.kex.len(), found.host_keys.len()), (2, 2));
        assert_eq!(SshAlgorithms::named(&[], &[]).unwrap(), SshAlgorithms::default());
    }

    #[test]
    fn all_names_that_are_not_known_are_told() {
        let error = SshAlgorithms::named(&list(&["rot13", "curve25519-sha256", "caesar"]), &[]);
        let text = error.unwrap_err().to_string();
        assert!(
            text.starts_with("key exchanges that are not known: rot13, caesar; "),
            "{text}"
        );
        let error = SshAlgorithms::named(&[], &list(&["ssh-nothing"]));
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("host keys that are not known: ssh-nothing"),
            "{text}"
        );
    }
}
