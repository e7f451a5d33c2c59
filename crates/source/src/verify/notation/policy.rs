//! Trust policies: who is trusted for which repositories, and what is done about failures.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    version: String,
    trust_policies: Vec<Statement>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Statement {
    name: String,
    registry_scopes: Vec<String>,
    signature_verification: SignatureVerification,
    #[serde(default)]
    trust_stores: Vec<String>,
    #[serde(default)]
    trusted_identities: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct SignatureVerification {
    level: String,
    #[serde(default)]
    r#override: BTreeMap<String, String>,
}

/// What is done about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// The signature is refused.
    Enforce,
    /// It is noted.
    Log,
    /// It is not looked at.
    Skip,
}

const CHECKS: [&str; 4] = ["authenticity", "authenticTimestamp", "expiry", "revocation"];

impl Document {
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let document: Document = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        if document.version != "1.0" {
            return Err(format!(
                "its version '{}' is not supported: it must be 1.0",
                document.version
            ));
        }
        if document.trust_policies.is_empty() {
            return Err("it has no trust policies".to_owned());
        }
        for statement in &document.trust_policies {
            statement
                .check()
                .map_err(|reason| format!("'{}' {reason}", statement.name))?;
        }
        Ok(document)
    }

    /// The statement that names the repository, else the one for all.
    pub(super) fn statement_for(&self, repository: &str) -> Option<&Statement> {
        let with = |scope: &str| {
            self.trust_policies
                .iter()
                .find(|statement| statement.registry_scopes.iter().any(|found| found == scope))
        };
        with(repository).or_else(|| with("*"))
    }
}

impl Statement {
    fn check(&self) -> Result<(), String> {
        let verification = &self.signature_verification;
        if !["strict", "permissive", "audit", "skip"].contains(&verification.level.as_str()) {
            return Err(format!("has the unknown level '{}'", verification.level));
        }
        for (check, action) in &verification.r#override {
            if !CHECKS.contains(&check.as_str()) || !["enforce", "log", "skip"].contains(&action.as_str()) {
                return Err(format!("cannot override '{check}' with '{action}'"));
            }
        }
        if self.skips() {
            return if verification.r#override.is_empty() {
                Ok(())
            } else {
                Err("skips verification and cannot override anything".to_owned())
            };
        }
        if self.trust_stores.is_empty() || self.trusted_identities.is_empty() {
            return Err("needs trustStores and trustedIdentities".to_owned());
        }
        for identity in &self.trusted_identities {
            if identity != "*" && parse_identity(identity).is_none() {
                return Err(format!(
                    "has the identity '{identity}', which must be * or x509.subject: C=…, ST=…, O=…"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn skips(&self) -> bool {
        self.signature_verification.level == "skip"
    }

    /// What is done if a check fails. Integrity is no such check: without it there is no signature.
    pub(super) fn action(&self, check: &str) -> Action {
        let verification = &self.signature_verification;
        if let Some(action) = verification.r#override.get(check) {
            return match action.as_str() {
                "log" => Action::Log,
                "skip" => Action::Skip,
                _ => Action::Enforce,
            };
        }
        match (verification.level.as_str(), check) {
            ("strict", _) | ("permissive", "authenticity") => Action::Enforce,
            ("permissive" | "audit", _) => Action::Log,
            _ => Action::Skip,
        }
    }

    pub(super) fn has_store(&self, kind: &str) -> bool {
        let of_kind = |store: &String| store.split_once(':').is_some_and(|(found, _)| found == kind);
        self.trust_stores.iter().any(of_kind)
    }

    /// Whether one of the identities is a part of a subject.
    pub(super) fn trusts(&self, subject: &[(String, String)]) -> bool {
        self.trusted_identities.iter().any(|identity| {
            identity == "*"
                || parse_identity(identity)
                    .is_some_and(|wanted| wanted.iter().all(|part| subject.contains(part)))
        })
    }
}

/// The parts of `x509.subject: C=US, ST=WA, O=example`.
fn parse_identity(text: &str) -> Option<Vec<(String, String)>> {
    let parts: Option<Vec<_>> = text
        .strip_prefix("x509.subject:")?
        .split(',')
        .map(|part| {
            let (key, value) = part.trim().split_once('=')?;
            let key = if key.trim() == "S" { "ST" } else { key.trim() };
            Some((key.to_uppercase(), value.trim().to_owned()))
        })
        .collect();
    let parts = parts?;
    let has = |wanted: &str| parts.iter().any(|(key, _)| key == wanted);
    (has("C") && has("ST") && has("O")).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(level: &str, more: &str) -> Result<Document, String> {
        let json = format!(
            r#"{{"version":"1.0","trustPolicies":[{{"name":"p","registryScopes":["*"],"signatureVerification":{{"level":"{level}"{more}}},"trustStores":["ca:x"],"trustedIdentities":["x509.subject: C=US, S=WA, O=org"]}}]}}"#
        );
        Document::parse(json.as_bytes())
    }

    #[test]
    fn levels_and_overrides_say_what_is_done() {
        let action = |level: &str, more: &str, check: &str| {
            policy(level, more).unwrap().trust_policies[0].action(check)
        };
        assert_eq!(action("strict", "", "revocation"), Action::Enforce);
        assert_eq!(action("permissive", "", "authenticity"), Action::Enforce);
        assert_eq!(action("permissive", "", "expiry"), Action::Log);
        assert_eq!(action("audit", "", "authenticity"), Action::Log);
        assert_eq!(
            action("strict", r#","override":{"expiry":"skip"}"#, "expiry"),
            Action::Skip
        );
        assert!(policy("other", "").is_err());
        assert!(policy("strict", r#","override":{"integrity":"skip"}"#).is_err());
        assert!(policy("skip", r#","override":{"expiry":"skip"}"#).is_err());
    }

    #[test]
    fn an_identity_is_a_part_of_the_subject() {
        let document = policy("strict", "").unwrap();
        let subject = |parts: &[(&str, &str)]| -> Vec<(String, String)> {
            parts
                .iter()
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect()
        };
        let statement = &document.trust_policies[0];
        assert!(statement.trusts(&subject(&[("CN", "x"), ("O", "org"), ("ST", "WA"), ("C", "US")])));
        assert!(!statement.trusts(&subject(&[("O", "other"), ("ST", "WA"), ("C", "US")])));
    }
}
