//! Trust policies: who is trusted for which repositories, and what is done about failures.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{check, distinguished_name};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Document {
    pub(super) version: String,
    pub(super) trust_policies: Vec<Statement>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Statement {
    pub(super) name: String,
    pub(super) registry_scopes: Vec<String>,
    pub(super) signature_verification: SignatureVerification,
    pub(super) trust_stores: Vec<String>,
    pub(super) trusted_identities: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SignatureVerification {
    pub(super) level: String,
    pub(super) r#override: BTreeMap<String, String>,
    pub(super) verify_timestamp: String,
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

/// The checks whose failures a policy can do something else about.
pub(super) const CHECKS: [&str; 4] = ["authenticity", "authenticTimestamp", "expiry", "revocation"];

impl Document {
    /// Reads a document as Flux's controllers do. A statement that skips verification loses its stores and identities,
    /// which notation would refuse.
    pub(super) fn parse(json: &[u8]) -> Result<Self, String> {
        let mut document = Document::read(json)?;
        for statement in &mut document.trust_policies {
            if statement.skips() {
                statement.trust_stores.clear();
                statement.trusted_identities.clear();
            }
        }
        check::document(&document)?;
        Ok(document)
    }

    /// Reads a document without checking it.
    pub(super) fn read(json: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(json).map_err(|error| error.to_string())
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
                || identity
                    .strip_prefix("x509.subject:")
                    .and_then(|name| distinguished_name::parse(name).ok())
                    .is_some_and(|wanted| wanted.into_iter().all(|part| subject.contains(&part)))
        })
    }
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
            action("strict", r#","override":{"revocation":"skip"}"#, "revocation"),
            Action::Skip
        );
        assert_eq!(
            action("strict", r#","override":{"expiry":"log"}"#, "expiry"),
            Action::Log
        );
        assert!(policy("strict", r#","override":{"expiry":"skip"}"#).is_err());
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
