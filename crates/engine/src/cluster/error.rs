//! Failed requests by cause.

use std::sync::Arc;
use std::time::Duration;

use super::budget::OverBudget;
use super::refusal::Refusal;

/// Why a request failed. The causes are those after which somebody does something different.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The object, or the namespace it was to be in, does not exist.
    #[error("{0}")]
    NotFound(Box<Refusal>),
    /// The server does not serve such a kind: its definition is missing, or is gone.
    #[error("no matches for kind {kind:?} in version {version:?}")]
    NoSuchKind {
        /// The group and version; of the version `*` where any would do.
        version: String,
        /// The kind.
        kind: String,
    },
    /// Whether the server serves such a kind cannot be told: it leaves its group to another server, which does not answer.
    #[error(
        "it is not known whether there is a kind {kind:?} in version {version:?}: the server of its group does not answer"
    )]
    KindUnknown {
        /// The group and version; of the version `*` where any would do.
        version: String,
        /// The kind.
        kind: String,
    },
    /// Somebody else changed the object, or owns the field.
    #[error("{0}")]
    Conflict(Box<Refusal>),
    /// An object of that name exists.
    #[error("{0}")]
    AlreadyExists(Box<Refusal>),
    /// The object is not valid.
    #[error("{0}")]
    Invalid(Box<Refusal>),
    /// A field was changed that cannot change.
    #[error("{0}")]
    Immutable(Box<Refusal>),
    /// The user may not do that, or an admission policy denied it.
    #[error("{0}")]
    Forbidden(Box<Refusal>),
    /// The server does not know the user.
    #[error("{0}")]
    Unauthorized(Box<Refusal>),
    /// The server has too much to do.
    #[error("{refusal}")]
    TooManyRequests {
        /// What it said.
        refusal: Box<Refusal>,
        /// When to come back.
        retry_after: Duration,
    },
    /// The version or the page that was asked from is no longer known.
    #[error("{0}")]
    Expired(Box<Refusal>),
    /// The request makes no sense to the server.
    #[error("{0}")]
    Rejected(Box<Refusal>),
    /// The server failed.
    #[error("{0}")]
    Server(Box<Refusal>),
    /// No answer came in time.
    #[error("failed to {what}: no answer within {after:?}")]
    Timeout {
        /// What was asked for.
        what: String,
        /// How long was waited.
        after: Duration,
    },
    /// The server was not reached, or the connection broke.
    #[error("failed to {what}: no connection{}", Unreached::told(&**cause))]
    Transport {
        /// What was asked for.
        what: String,
        /// What is wrong. The message has it already, and the server.
        cause: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// The cluster has used up its budget, and is left alone for a while.
    #[error("failed to {what}: {over}")]
    OverBudget {
        /// What was asked for.
        what: String,
        /// What there is too much of. The message has it already.
        over: Arc<OverBudget>,
    },
    /// The answer cannot be read.
    #[error("failed to {what}: the answer cannot be read")]
    Malformed {
        /// What was asked for.
        what: String,
        /// What is wrong.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

/// No answer came from a server, as the connection to it could not be made or broke.
#[derive(Debug, thiserror::Error)]
#[error("{server}")]
pub(super) struct Unreached {
    /// Its address.
    pub(super) server: Arc<str>,
    /// What is wrong.
    pub(super) source: Box<dyn std::error::Error + Send + Sync>,
}

impl Unreached {
    /// Which server, if one was, and what is at the bottom of it.
    fn told(error: &(dyn std::error::Error + 'static)) -> String {
        let causes = || std::iter::successors(Some(error), |error| error.source());
        let server = causes().find_map(|cause| cause.downcast_ref::<Unreached>());
        let server = server.map(|unreached| format!(" to {}", unreached.server));
        let bottom = causes().last().map(|cause| format!(": {cause}"));
        server.unwrap_or_default() + &bottom.unwrap_or_default()
    }
}

/// How long to stay away when a busy server does not say.
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl Error {
    /// Sorts a refusal by its cause.
    pub(super) fn refused(refusal: Refusal) -> Error {
        let refusal = Box::new(refusal);
        match (refusal.code, refusal.reason.as_str()) {
            (401, _) => Error::Unauthorized(refusal),
            (403, _) => Error::Forbidden(refusal),
            (404, _) => Error::NotFound(refusal),
            (409, "AlreadyExists") => Error::AlreadyExists(refusal),
            (409, _) => Error::Conflict(refusal),
            (410, _) => Error::Expired(refusal),
            (422, _) if refusal.speaks_of_immutable() => Error::Immutable(refusal),
            (422, _) => Error::Invalid(refusal),
            (429, _) => Error::TooManyRequests {
                retry_after: refusal.retry_after.unwrap_or(RETRY_AFTER),
                refusal,
            },
            (500.., _) => Error::Server(refusal),
            _ => Error::Rejected(refusal),
        }
    }

    /// What an answer with this code is.
    #[cfg(test)]
    pub(crate) fn with_code(code: u16) -> Error {
        Error::refused(Refusal::read("get it".to_owned(), code, b""))
    }

    /// The same where the server was not reached for something else.
    pub(super) fn about(&self, what: &dyn std::fmt::Display) -> Error {
        let mut error = self.clone();
        if let Error::Transport { what: about, .. } | Error::Timeout { what: about, .. } = &mut error {
            *about = what.to_string();
        }
        error
    }

    /// What the server said, if it answered.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Error::NotFound(refusal)
            | Error::Conflict(refusal)
            | Error::AlreadyExists(refusal)
            | Error::Invalid(refusal)
            | Error::Immutable(refusal)
            | Error::Forbidden(refusal)
            | Error::Unauthorized(refusal)
            | Error::TooManyRequests { refusal, .. }
            | Error::Expired(refusal)
            | Error::Rejected(refusal)
            | Error::Server(refusal) => Some(refusal),
            Error::NoSuchKind { .. }
            | Error::KindUnknown { .. }
            | Error::Timeout { .. }
            | Error::Transport { .. }
            | Error::OverBudget { .. }
            | Error::Malformed { .. } => None,
        }
    }

    /// Whether the same request may succeed a little later although nobody did anything about it.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Error::TooManyRequests { .. }
                | Error::Server(_)
                | Error::Timeout { .. }
                | Error::Transport { .. }
                | Error::Expired(_)
                | Error::OverBudget { .. }
                | Error::Malformed { .. }
                | Error::KindUnknown { .. }
        )
    }

    /// Whether the object would have to be made anew, by Flux's reading: any conflict, any invalid object, and any words about
    /// something immutable, which is how admission webhooks and CEL rules put it.
    pub fn is_immutable(&self) -> bool {
        matches!(self, Error::Conflict(_) | Error::Invalid(_) | Error::Immutable(_))
            || self.refusal().is_some_and(Refusal::speaks_of_immutable)
    }

    /// Whether what is there may be deleted for this, if the server [could make](super::Cluster::could_make) the object then. A conflict
    /// passes, and is no reason.
    pub fn asks_for_another(&self) -> bool {
        self.is_immutable() && !matches!(self, Error::Conflict(_))
    }

    /// When the server wants to be asked again, if it said so.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Error::TooManyRequests { retry_after, .. } => Some(*retry_after),
            _ => self.refusal()?.retry_after,
        }
    }

    /// Whether the server said that it has too much to do.
    pub(super) fn is_overload(&self) -> bool {
        let code = self.refusal().map_or(0, |refusal| refusal.code);
        matches!(code, 429 | 503 | 504) || matches!(self, Error::Timeout { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, reason: &str, message: &str) -> Error {
        let mut refusal = Refusal::read("apply it".into(), code, message.as_bytes());
        refusal.reason = reason.into();
        Error::refused(refusal)
    }

    #[test]
    fn refusals_are_sorted_by_cause() {
        assert!(matches!(
            refused(409, "AlreadyExists", ""),
            Error::AlreadyExists(_)
        ));
        assert!(matches!(refused(409, "Conflict", ""), Error::Conflict(_)));
        assert!(matches!(refused(410, "Expired", ""), Error::Expired(_)));
        assert!(matches!(refused(400, "BadRequest", ""), Error::Rejected(_)));
        assert!(matches!(refused(503, "", ""), Error::Server(_)));
        let busy = refused(429, "TooManyRequests", "");
        assert_eq!(busy.retry_after(), Some(Duration::from_secs(1)));
        assert!(busy.is_transient() && !refused(403, "Forbidden", "").is_transient());
    }

    /// AP7
    #[test]
    fn conflicts_invalid_objects_and_words_of_immutable_ask_for_a_new_object() {
        let words = "the spec is immutable: denied the request";
        assert!(refused(409, "Conflict", "").is_immutable());
        assert!(refused(422, "Invalid", "spec: Required value").is_immutable());
        assert!(refused(403, "Forbidden", words).is_immutable());
        assert!(refused(500, "InternalError", "immutable field changed").is_immutable());
        assert!(!refused(403, "Forbidden", "is not immutable").is_immutable());
        assert!(!refused(404, "NotFound", "").is_immutable());
        assert!(!refused(409, "Conflict", words).asks_for_another());
        assert!(refused(403, "Forbidden", words).asks_for_another());
        let selector = refused(422, "Invalid", "spec.selector: field is immutable");
        assert!(matches!(selector, Error::Immutable(_)));
    }
}
