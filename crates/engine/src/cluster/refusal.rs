//! What the server says when it refuses a request.

use std::fmt;
use std::time::Duration;

use model::{Value, json};

/// A refusal in the server's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What was asked for: `apply Deployment/shop/web`.
    pub what: String,
    /// The HTTP status.
    pub code: u16,
    /// The server's word for the cause: `Invalid`, `FieldManagerConflict` is in the causes. May be empty.
    pub reason: String,
    /// What the server says. Values of a Secret that was sent are not in it.
    pub message: String,
    /// Each single thing that is wrong.
    pub causes: Vec<Cause>,
    /// When to try again, if the server says so.
    pub retry_after: Option<Duration>,
    /// Whether the answer is about an object that it names; otherwise it is about the path.
    pub(super) names_object: bool,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldManagerConflict`, ...
    pub reason: String,
    /// The path of the field.
    pub field: String,
    /// What people read.
    pub message: String,
}

/// Bodies that are no `Status` (those of proxies) are told up to so many characters.
const TOLD: usize = 500;

impl Refusal {
    /// Reads the answer to a request that failed.
    pub(super) fn read(what: String, code: u16, body: &[u8]) -> Refusal {
        match json::parse(body) {
            Ok(status) if status.str_at(&["kind"]) == "Status" => Refusal::of(what, code, &status),
            _ => Refusal {
                what,
                code,
                reason: String::new(),
                message: told(body),
                causes: Vec::new(),
                retry_after: None,
                names_object: false,
            },
        }
    }

    /// Of a `Status` object, which is also what an error event of a watch holds.
    pub(super) fn of(what: String, code: u16, status: &Value) -> Refusal {
        let text = |value: &Value, key: &str| value.str_at(&[key]).to_owned();
        let causes = status.list_at(&["details", "causes"]).iter();
        let seconds = status.at(&["details", "retryAfterSeconds"]);
        let detail = |key: &str| !status.str_at(&["details", key]).is_empty();
        Refusal {
            what,
            code: status
                .get("code")
                .and_then(Value::as_i64)
                .and_then(|code| u16::try_from(code).ok())
                .unwrap_or(code),
            reason: text(status, "reason"),
            message: text(status, "message"),
            causes: causes
                .map(|cause| Cause {
                    reason: text(cause, "reason"),
                    field: text(cause, "field"),
                    message: text(cause, "message"),
                })
                .collect(),
            retry_after: seconds
                .and_then(Value::as_i64)
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
            names_object: detail("name") || detail("kind"),
        }
    }

    /// Takes texts out of what the server said.
    pub(super) fn hide(&mut self, secrets: &[String]) {
        let causes = self.causes.iter_mut().map(|cause| &mut cause.message);
        for text in std::iter::once(&mut self.message).chain(causes) {
            for secret in secrets {
                if text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), "***");
                }
            }
        }
    }

    /// Whether a field is said to be one that cannot change.
    pub(super) fn speaks_of_immutable(&self) -> bool {
        self.message.contains("is immutable") || self.message.contains("immutable field")
    }
}

fn told(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    match text.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => write!(f, "failed to {}: the server answered {}", self.what, self.code),
            message => write!(f, "failed to {}: {message}", self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn a_status_is_read_with_causes() {
        let status = value!({
            "kind": "Status", "code": 409, "reason": "Conflict", "message": "Apply failed",
            "details": { "name": "web", "retryAfterSeconds": 2, "causes": [
                { "reason": "FieldManagerConflict", "field": ".spec.replicas", "message": "conflict with \"a\"" },
            ]},
        });
        let refusal = Refusal::read("apply it".into(), 200, &json::to_vec(&status));
        assert_eq!((refusal.code, refusal.reason.as_str()), (409, "Conflict"));
        assert_eq!(refusal.causes[0].field, ".spec.replicas");
        assert_eq!(refusal.retry_after, Some(Duration::from_secs(2)));
        assert_eq!(refusal.to_string(), "failed to apply it: Apply failed");
    }

    #[test]
    fn a_body_that_is_no_status_is_told_as_it_is() {
        let refusal = Refusal::read("get it".into(), 404, b"404 page not found\n");
        assert_eq!(refusal.to_string(), "failed to get it: 404 page not found");
        assert!(!refusal.names_object);
        let long = Refusal::read("get it".into(), 502, "é".repeat(600).as_bytes());
        assert_eq!(long.message.chars().count(), TOLD + 1);
        assert_eq!(
            Refusal::read("get it".into(), 502, b"").to_string(),
            "failed to get it: the server answered 502"
        );
    }
}
