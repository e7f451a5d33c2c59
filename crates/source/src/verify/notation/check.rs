//! The rules a trust policy document has to keep, with the messages of notation-go.

use std::collections::BTreeSet;

use super::distinguished_name;
use super::policy::{CHECKS, Document, Statement};

const WILDCARD: &str = "*";
const LEVELS: [&str; 4] = ["strict", "permissive", "audit", "skip"];
const ACTIONS: [&str; 3] = ["enforce", "log", "skip"];
const STORES: [&str; 3] = ["ca", "signingAuthority", "tsa"];

/// Checks a whole document.
pub(super) fn document(document: &Document) -> Result<(), String> {
    match document.version.as_str() {
        "1.0" => {}
        "" => return Err("trust policy document has empty version, version must be specified".to_owned()),
        other => {
            return Err(format!(
                "trust policy document uses unsupported version {other:?}"
            ));
        }
    }
    if document.trust_policies.is_empty() {
        return Err("trust policy document can not have zero trust policy statements".to_owned());
    }
    let mut names = BTreeSet::new();
    for found in &document.trust_policies {
        if !names.insert(&found.name) {
            return Err(format!(
                "multiple trust policy statements use the same name {:?}, statement names must be unique",
                found.name
            ));
        }
        statement(found).map_err(|reason| format!("trust policy: {reason}"))?;
    }
    scopes(&document.trust_policies)
}

fn statement(statement: &Statement) -> Result<(), String> {
    let name = &statement.name;
    if name.is_empty() {
        return Err("a trust policy statement is missing a name, every statement requires a name".to_owned());
    }
    let verification = |reason: String| {
        format!("trust policy statement {name:?} has invalid signatureVerification: {reason}")
    };
    level(statement).map_err(verification)?;
    let timestamp = &statement.signature_verification.verify_timestamp;
    if !["", "always", "afterCertExpiry"].contains(&timestamp.as_str()) {
        return Err(verification(format!(
            "verifyTimestamp must be \"always\" or \"afterCertExpiry\", but got {timestamp:?}"
        )));
    }
    let (stores, identities) = (&statement.trust_stores, &statement.trusted_identities);
    if statement.skips() {
        if !stores.is_empty() || !identities.is_empty() {
            return Err(format!(
                "trust policy statement {name:?} is set to skip signature verification but configured with trust stores \
                 and/or trusted identities, remove them if signature verification needs to be skipped"
            ));
        }
        return Ok(());
    }
    if stores.is_empty() || identities.is_empty() {
        return Err(format!(
            "trust policy statement {name:?} is either missing trust stores or trusted identities, both must be specified"
        ));
    }
    trust_stores(name, stores)?;
    trusted_identities(name, identities)
}

fn level(statement: &Statement) -> Result<(), String> {
    let verification = &statement.signature_verification;
    let level = verification.level.as_str();
    if level.is_empty() {
        return Err(
            "signature verification level is empty or missing in the trust policy statement".to_owned(),
        );
    }
    if !LEVELS.contains(&level) {
        return Err(format!("invalid signature verification level {level:?}"));
    }
    if verification.r#override.is_empty() {
        return Ok(());
    }
    if level == "skip" {
        return Err(format!(
            "signature verification level {level:?} can't be used to customize signature verification"
        ));
    }
    for (check, action) in &verification.r#override {
        let is_integrity = check == "integrity";
        if !is_integrity && !CHECKS.contains(&check.as_str()) {
            return Err(format!(
                "verification type {check:?} in custom signature verification is not supported, supported values are \
                 [\"integrity\" \"authenticity\" \"authenticTimestamp\" \"expiry\" \"revocation\"]"
            ));
        }
        if !ACTIONS.contains(&action.as_str()) {
            return Err(format!(
                "verification action {action:?} in custom signature verification is not supported, supported values are \
                 [\"enforce\" \"log\" \"skip\"]"
            ));
        }
        if is_integrity {
            return Err(format!(
                "{check:?} verification can not be overridden in custom signature verification"
            ));
        }
        if check != "revocation" && action == "skip" {
            return Err(format!(
                "{check:?} verification can not be skipped in custom signature verification"
            ));
        }
    }
    Ok(())
}

fn trust_stores(name: &str, stores: &[String]) -> Result<(), String> {
    for store in stores {
        let Some((kind, named)) = store.split_once(':') else {
            return Err(format!(
                "trust policy statement {name:?} has malformed trust store value {store:?}. The required format is \
                 <TrustStoreType>:<TrustStoreName>"
            ));
        };
        if !STORES.contains(&kind) {
            return Err(format!(
                "trust policy statement {name:?} uses an unsupported trust store type {kind:?} in trust store value {store:?}"
            ));
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        if named.is_empty() || !named.bytes().all(is_plain) {
            return Err(format!(
                "trust policy statement {name:?} uses an unsupported trust store name {named:?} in trust store value \
                 {store:?}. Named store name needs to follow [a-zA-Z0-9_.-]+ format"
            ));
        }
    }
    Ok(())
}

fn trusted_identities(name: &str, identities: &[String]) -> Result<(), String> {
    if identities.len() > 1 && identities.iter().any(|identity| identity == WILDCARD) {
        return Err(format!(
            "trust policy statement {name:?} uses a wildcard trusted identity '*', a wildcard identity cannot be used in \
             conjunction with other values"
        ));
    }
    let mut names = Vec::new();
    for identity in identities {
        if identity.is_empty() {
            return Err(format!(
                "trust policy statement {name:?} has an empty trusted identity"
            ));
        }
        if identity == WILDCARD {
            continue;
        }
        let Some((kind, value)) = identity.split_once(':') else {
            return Err(format!(
                "trust policy statement {name:?} has trusted identity {identity:?} missing separator"
            ));
        };
        if kind != "x509.subject" {
            continue;
        }
        if value.is_empty() {
            return Err(format!(
                "trust policy statement {name:?} has trusted identity {identity:?} without an identity value"
            ));
        }
        let parsed = distinguished_name::parse(value).map_err(|reason| {
            format!(
                "trust policy statement {name:?} has trusted identity {identity:?} with invalid identity value: {reason}"
            )
        })?;
        names.push((identity, parsed));
    }
    for (at, (one, parts)) in names.iter().enumerate() {
        for (other_at, (other, others)) in names.iter().enumerate() {
            let is_subset = || parts.iter().all(|(key, value)| others.get(key) == Some(value));
            if at != other_at && is_subset() {
                return Err(format!(
                    "trust policy statement {name:?} has overlapping x509 trustedIdentities, {one:?} overlaps with {other:?}"
                ));
            }
        }
    }
    Ok(())
}

fn scopes(statements: &[Statement]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut twice = None;
    for statement in statements {
        let (name, scopes) = (&statement.name, &statement.registry_scopes);
        if scopes.is_empty() {
            return Err(format!(
                "trust policy statement {name:?} has zero registry scopes, it must specify registry scopes with at least one value"
            ));
        }
        if scopes.len() > 1 && scopes.iter().any(|scope| scope == WILDCARD) {
            return Err(format!(
                "trust policy statement {name:?} uses wildcard registry scope '*', a wildcard scope cannot be used in \
                 conjunction with other scope values"
            ));
        }
        for scope in scopes {
            if scope != WILDCARD {
                check_scope(scope)?;
            }
            if !seen.insert(scope) {
                twice.get_or_insert(scope);
            }
        }
    }
    match twice {
        None => Ok(()),
        Some(scope) => Err(format!(
            "registry scope {scope:?} is present in multiple trust policy statements, one registry scope value can only be \
             associated with one statement"
        )),
    }
}

fn check_scope(scope: &str) -> Result<(), String> {
    let advice = "make sure it is a fully qualified repository without the scheme, protocol or tag. For example \
                  domain.com/my/repository or a local scope like local/myOCILayout";
    if scope.len() > 1 && scope.contains('*') {
        return Err(format!(
            "registry scope {scope:?} with wild card(s) is not valid, {advice}"
        ));
    }
    let is_good = |(domain, repository): (&str, &str)| is_domain(domain) && is_repository(repository);
    if scope.split_once('/').is_some_and(is_good) {
        Ok(())
    } else {
        Err(format!("registry scope {scope:?} is not valid, {advice}"))
    }
}

fn is_domain(text: &str) -> bool {
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    host.split('.').all(is_label)
        && port.is_none_or(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether words of small letters and digits are joined by `.`, `_`, `__` or any number of `-`, below each other by `/`.
fn is_repository(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.split('/').all(|part| {
        let between = part.split(|letter: char| letter.is_ascii() && is_word(letter as u8));
        let starts_and_ends =
            part.bytes().next().is_some_and(is_word) && part.bytes().last().is_some_and(is_word);
        starts_and_ends
            && between
                .filter(|joint| !joint.is_empty())
                .all(|joint| [".", "_", "__"].contains(&joint) || joint.bytes().all(|byte| byte == b'-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_repositories() {
        for good in ["ghcr.io/a", "localhost:5000/a/b-c__d.e", "a/b--c"] {
            assert_eq!(check_scope(good), Ok(()), "{good}");
        }
        for wrong in [
            "ghcr.io",
            "ghcr.io/A",
            "ghcr.io/a:1",
            "-a/b",
            "a/b.",
            "a:x/b",
            "ghcr.io/*",
            "a//b",
            "a/b._c",
        ] {
            assert!(check_scope(wrong).is_err(), "{wrong}");
        }
    }
}
