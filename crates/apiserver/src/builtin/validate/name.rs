//! The rules for object names, and the messages of the real server.

use std::net::IpAddr;

use super::at::At;
use super::errors::Errors;

/// Which names a kind allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Labels joined by dots, as in host names. What most kinds ask for.
    Subdomain,
    /// One label of a host name.
    Label,
    /// A label that starts with a letter, as older DNS asks for.
    Label1035,
    /// Whatever can stand between two slashes of a path.
    PathSegment,
    /// An IP address in its usual form.
    Address,
    /// Anything.
    Any,
}

/// The rule for objects of `group` and `kind`.
pub fn rule(group: &str, kind: &str) -> Rule {
    match (group, kind) {
        ("", "Namespace") | ("apps", "StatefulSet") => Rule::Label,
        ("", "Service") => Rule::Label1035,
        ("rbac.authorization.k8s.io", _) | ("apiregistration.k8s.io", "APIService") => Rule::PathSegment,
        ("networking.k8s.io", "IPAddress") => Rule::Address,
        ("certificates.k8s.io", "CertificateSigningRequest") => Rule::Any,
        _ => Rule::Subdomain,
    }
}

/// What is wrong with `name` under `rule`; nothing where it is allowed.
pub fn problems(rule: Rule, name: &str) -> Vec<String> {
    match rule {
        Rule::Subdomain => subdomain(name),
        Rule::Label => label(name),
        Rule::Label1035 => label_1035(name),
        Rule::PathSegment => path_segment(name),
        Rule::Address => address(name),
        Rule::Any => Vec::new(),
    }
}

/// The problems of a DNS-1123 subdomain: at most 253 characters of labels joined by dots.
pub fn subdomain(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 253);
    if !is_subdomain(name) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .into(),
        );
    }
    problems
}

/// The problems of a DNS-1123 label: at most 63 lower-case letters, digits and inner dashes.
pub fn label(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 63);
    if is_label(name) {
        return problems;
    }
    problems.push(match is_subdomain(name) {
        true => "must not contain dots".into(),
        false => "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
                  start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
                  validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            .into(),
    });
    problems
}

/// The problems of a DNS-1035 label: as [`label`], and it starts with a letter.
pub fn label_1035(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 63);
    if !is_label(name) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        problems.push(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for \
             validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
                .into(),
        );
    }
    problems
}

/// The problems of a name that stands between two slashes.
pub fn path_segment(name: &str) -> Vec<String> {
    if matches!(name, "." | "..") {
        return vec![format!("may not be '{name}'")];
    }
    ["/", "%"]
        .iter()
        .filter(|part| name.contains(**part))
        .map(|part| format!("may not contain '{part}'"))
        .collect()
}

/// The problems of a DNS-1123 subdomain that something is added to: its end may be a dash.
pub(super) fn prefix(name: &str) -> Vec<String> {
    match name.strip_suffix('-').filter(|rest| !rest.is_empty()) {
        Some(rest) => {
            let mut masked = rest.to_owned();
            masked.pop();
            subdomain(&(masked + "a"))
        }
        None => subdomain(name),
    }
}

/// The problems of a subdomain whose labels may also have underscores.
pub(super) fn subdomain_with_underscore(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 253);
    let is_label = |label: &str| {
        let rest = label.strip_prefix('_').unwrap_or(label);
        let end = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let bytes = rest.as_bytes();
        let inner = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_');
        end(bytes.first()) && end(bytes.last()) && bytes.iter().all(inner)
    };
    if !name.split('.').all(is_label) {
        problems.push(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and \
             must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
             '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')"
                .into(),
        );
    }
    problems
}

/// The problems of a name for all hosts of a domain: `*.example.com`.
pub(super) fn wildcard(name: &str) -> Vec<String> {
    let mut problems = too_long(name, 253);
    if !name.strip_prefix("*.").is_some_and(is_subdomain) {
        problems.push(
            "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must \
             consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. \
             '*.example.com', regex used for validation is \
             '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
                .into(),
        );
    }
    problems
}

/// A path after a domain: `acme.io/foo`.
pub(super) fn domain_path(at: &At, errors: &mut Errors) {
    if !errors.require_text(at) {
        return;
    }
    let parts = at.text().split_once('/');
    let Some((host, path)) = parts.filter(|(host, path)| !host.is_empty() && !path.is_empty()) else {
        errors.invalid(at, "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    };
    for problem in subdomain(host) {
        errors.invalid_value(at, host, problem);
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "/-._~%!$&'()*+,;=:".contains(c);
    if !path.chars().all(fits) {
        let detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        errors.invalid_value(at, path, detail);
    }
}

fn address(name: &str) -> Vec<String> {
    match name.parse::<IpAddr>() {
        Err(_) => vec!["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".into()],
        Ok(address) if address.to_string() != name => {
            vec![format!("must be in canonical form ({:?})", address.to_string())]
        }
        Ok(_) => Vec::new(),
    }
}

fn too_long(name: &str, most: usize) -> Vec<String> {
    match name.len() > most {
        true => vec![format!("must be no more than {most} characters")],
        false => Vec::new(),
    }
}

fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

/// Whether `text` has the form of a DNS-1123 label, whatever its length.
fn is_label(text: &str) -> bool {
    let inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    match text.as_bytes() {
        [] => false,
        [one] => inner(one),
        [first, middle @ .., last] => {
            inner(first) && inner(last) && middle.iter().all(|b| inner(b) || *b == b'-')
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomains_are_labels_joined_by_dots() {
        for good in ["a", "a.b", "1-2.x", "kube-root-ca.crt"] {
            assert!(subdomain(good).is_empty(), "{good}");
        }
        for bad in ["", "-a", "a-", "a..b", "A", "a_b", "a.", ".a", "é"] {
            assert_eq!(subdomain(bad).len(), 1, "{bad}");
        }
        assert_eq!(
            subdomain(&"a".repeat(254)),
            ["must be no more than 253 characters"]
        );
    }

    #[test]
    fn a_label_says_what_is_wrong_with_dots() {
        assert_eq!(label("a.b"), ["must not contain dots"]);
        assert_eq!(label(&"a.".repeat(40)).len(), 2);
        assert!(label("1a").is_empty());
        assert_eq!(label_1035("1a").len(), 1);
    }

    #[test]
    fn role_names_may_hold_colons_but_no_slashes() {
        assert_eq!(
            rule("rbac.authorization.k8s.io", "ClusterRole"),
            Rule::PathSegment
        );
        assert!(path_segment("system:controller").is_empty());
        assert_eq!(
            path_segment("a/b%"),
            ["may not contain '/'", "may not contain '%'"]
        );
        assert_eq!(path_segment(".."), ["may not be '..'"]);
    }

    #[test]
    fn addresses_are_written_in_their_shortest_form() {
        assert!(address("2001:db8::1").is_empty());
        assert_eq!(
            address("2001:DB8::1"),
            ["must be in canonical form (\"2001:db8::1\")"]
        );
        assert_eq!(address("10.0.0").len(), 1);
    }
}
