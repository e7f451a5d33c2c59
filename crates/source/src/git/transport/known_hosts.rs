//! `known_hosts`: which keys a server may show.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use russh::keys::{Algorithm, PublicKey};
use sha1::Sha1;

/// The lines of `known_hosts` that can be used. Lines for certificate authorities are left out: we ask for no host
/// certificates.
#[derive(Debug, Default)]
pub(super) struct KnownHosts {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    hosts: String,
    key: PublicKey,
    is_revoked: bool,
}

/// What is known about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is the host's.
    Known,
    /// Nothing is known about the host.
    Unknown,
    /// The host has other keys, or this one was revoked.
    Mismatch,
}

impl KnownHosts {
    /// Reads the file.
    ///
    /// # Errors
    /// The number of the first line that cannot be read.
    pub(super) fn parse(text: &str) -> Result<Self, usize> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_ascii_whitespace().peekable();
            let marker = words.next_if(|word| word.starts_with('@'));
            if marker == Some("@cert-authority") {
                continue;
            }
            let (Some(hosts), Some(kind), Some(data)) = (words.next(), words.next(), words.next()) else {
                return Err(index + 1);
            };
            let key = PublicKey::from_openssh(&format!("{kind} {data}")).map_err(|_| index + 1)?;
            let is_revoked = marker == Some("@revoked");
            lines.push(Line {
                hosts: hosts.to_owned(),
                key,
                is_revoked,
            });
        }
        Ok(KnownHosts { lines })
    }

    /// What is known about a key that a host has shown.
    pub(super) fn check(&self, host: &str, port: u16, key: &PublicKey) -> Verdict {
        let name = name(host, port);
        let is_this = |line: &&Line| line.key.key_data() == key.key_data();
        let mut concerned = self
            .lines
            .iter()
            .filter(|line| matches(&line.hosts, &name))
            .peekable();
        if concerned.peek().is_none() {
            return Verdict::Unknown;
        }
        let mut verdict = Verdict::Mismatch;
        for line in concerned.filter(is_this) {
            match line.is_revoked {
                true => return Verdict::Mismatch,
                false => verdict = Verdict::Known,
            }
        }
        verdict
    }

    /// The kinds of keys that are known for a host. A server with several keys shows the one that is asked for first.
    pub(super) fn prefers(&self, host: &str, port: u16, algorithm: &Algorithm) -> bool {
        let name = name(host, port);
        let same_kind = |known: Algorithm| match (&known, algorithm) {
            (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }) => true,
            (known, algorithm) => known == algorithm,
        };
        let mut known = self.lines.iter().filter(|line| !line.is_revoked);
        known.any(|line| same_kind(line.key.algorithm()) && matches(&line.hosts, &name))
    }
}

/// How a host is written in the file.
fn name(host: &str, port: u16) -> String {
    match port {
        22 => host.to_ascii_lowercase(),
        _ => format!("[{}]:{port}", host.to_ascii_lowercase()),
    }
}

fn matches(patterns: &str, name: &str) -> bool {
    let mut found = false;
    for pattern in patterns.split(',') {
        if let Some(hashed) = pattern.strip_prefix("|1|") {
            found |= matches_hash(hashed, name);
            continue;
        }
        let (negated, pattern) = match pattern.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, pattern),
        };
        if wildcard(pattern.to_ascii_lowercase().as_bytes(), name.as_bytes()) {
            if negated {
                return false;
            }
            found = true;
        }
    }
    found
}

fn matches_hash(hashed: &str, name: &str) -> bool {
    let Some((salt, hash)) = hashed.split_once('|') else {
        return false;
    };
    let (Ok(salt), Ok(hash)) = (STANDARD.decode(salt), STANDARD.decode(hash)) else {
        return false;
    };
    let Ok(mac) = Hmac::<Sha1>::new_from_slice(&salt) else {
        return false;
    };
    mac.chain_update(name).verify_slice(&hash).is_ok()
}

/// Whether a name matches a pattern with `*` and `?`, in linear space and at most quadratic time.
fn wildcard(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, n) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    const TWO: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA6rWI3G1sz07DnfFlrouTcysQlj2P+jpNSOEWD9OJ3X";

    fn check(text: &str, host: &str, port: u16, key: &str) -> Verdict {
        let key = PublicKey::from_openssh(key).unwrap();
        KnownHosts::parse(text).unwrap().check(host, port, &key)
    }

    /// As Go reads them, though no server of today shows such a key.
    #[test]
    fn lines_with_dsa_keys_are_read() {
        let old = include_str!("../../../tests/data/git/dsa.pub");
        let text = format!("old.example.com {old}\nexample.com {ONE}\n");
        assert_eq!(check(&text, "example.com", 22, ONE), Verdict::Known);
        assert_eq!(check(&text, "old.example.com", 22, ONE), Verdict::Mismatch);
    }

    #[test]
    fn hosts_are_matched_by_name_port_pattern_and_negation() {
        let text =
            format!("# comment\n\n*.example.com,!bad.example.com {ONE} comment here\n[h]:2222 {ONE}\n");
        assert_eq!(check(&text, "a.Example.com", 22, ONE), Verdict::Known);
        assert_eq!(check(&text, "bad.example.com", 22, ONE), Verdict::Unknown);
        assert_eq!(check(&text, "a.example.com", 2222, ONE), Verdict::Unknown);
        assert_eq!(check(&text, "h", 2222, ONE), Verdict::Known);
        assert_eq!(check(&text, "h", 2222, TWO), Verdict::Mismatch);
        assert_eq!(check(&text, "h", 22, ONE), Verdict::Unknown);
    }

    #[test]
    fn hashed_hosts_are_matched() {
        // Made by `ssh-keygen -H` for example.com.
        let text = format!("|1|O33ESRMWPVkMYIwJ1Uw+n877jTo=|nuuC5vEqXlEZ/8BXQR7m619W6Ak= {TWO}");
        assert_eq!(check(&text, "example.com", 22, TWO), Verdict::Known);
        assert_eq!(check(&text, "example.org", 22, TWO), Verdict::Unknown);
    }

    #[test]
    fn a_revoked_key_is_never_good() {
        let text = format!("h {ONE}\n@revoked * {ONE}\n@cert-authority * {TWO}\n");
        assert_eq!(check(&text, "h", 22, ONE), Verdict::Mismatch);
        assert_eq!(check(&text, "h", 22, TWO), Verdict::Mismatch);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_told_by_its_number() {
        assert_eq!(
            KnownHosts::parse(&format!("h {ONE}\nh ssh-ed25519 AAAA\n")).unwrap_err(),
            2
        );
        assert_eq!(KnownHosts::parse("only-a-host").unwrap_err(), 1);
    }
}
