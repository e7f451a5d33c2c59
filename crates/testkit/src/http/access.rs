//! Who is let in.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header;

use super::{Reply, Request};

/// What a client must show in its `Authorization` header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A user name with a password.
    Basic {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A bearer token.
    Bearer(String),
}

impl Credential {
    /// A user name with a password.
    pub fn basic(user: &str, password: &str) -> Self {
        Self::Basic {
            user: user.to_string(),
            password: password.to_string(),
        }
    }

    /// A bearer token.
    pub fn bearer(token: &str) -> Self {
        Self::Bearer(token.to_string())
    }

    /// The value of the `Authorization` header that shows it.
    pub fn authorization(&self) -> String {
        match self {
            Self::Basic { user, password } => {
                format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
            }
            Self::Bearer(token) => format!("Bearer {token}"),
        }
    }

    /// What the request shows, if anything that can be read.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let (scheme, value) = request.header(header::AUTHORIZATION)?.split_once(' ')?;
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(Self::bearer(value.trim()));
        }
        let text = String::from_utf8(STANDARD.decode(value.trim()).ok()?).ok()?;
        let (user, password) = text.split_once(':')?;
        scheme
            .eq_ignore_ascii_case("basic")
            .then(|| Self::basic(user, password))
    }
}

/// Nothing if the request may pass (none of the credentials is needed, or it shows one of them), else the refusal with
/// one challenge for each accepted scheme.
pub(super) fn refusal(accepted: &[Credential], request: &Request) -> Option<Reply> {
    let shown = Credential::of(request);
    if accepted.is_empty() || shown.is_some_and(|shown| accepted.contains(&shown)) {
        return None;
    }
    let mut reply = Reply::text("401: the request shows no accepted credential\n");
    reply.status = http::StatusCode::UNAUTHORIZED;
    let basic = accepted
        .iter()
        .any(|credential| matches!(credential, Credential::Basic { .. }));
    let bearer = accepted
        .iter()
        .any(|credential| matches!(credential, Credential::Bearer(_)));
    for (scheme, _) in [("Basic", basic), ("Bearer", bearer)]
        .into_iter()
        .filter(|(_, used)| *used)
    {
        reply = reply.and(header::WWW_AUTHENTICATE, format!("{scheme} realm=\"testkit\""));
    }
    Some(reply)
}
