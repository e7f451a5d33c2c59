//! Bearer tokens with scopes, as the large registries want them: a request without a token is told where to get one.

use std::collections::HashMap;

use http::{Method, header};
use parking_lot::Mutex;
use serde_json::json;

use super::failure::Failure;
use super::registry::Registry;
use crate::http::{Builder, Credential, Reply, Request, query_pairs};

impl Builder<Registry> {
    /// Wants a token with each request. This user gets tokens for everything; with several calls each of them does.
    pub fn tokens(self, user: &str, password: &str) -> Self {
        let users = &self.service.tokens.users;
        users.lock().push(Credential::basic(user, password));
        self
    }

    /// Gives tokens for pulling to anyone, as public registries do. Needs [`Builder::tokens`].
    pub fn anonymous_pull(self) -> Self {
        *self.service.tokens.anonymous_pull.lock() = true;
        self
    }
}

impl Registry {
    /// Makes all tokens worthless that were given so far.
    pub fn expire_tokens(&self) {
        self.tokens.issued.lock().clear();
    }
}

/// Who gets tokens, and which were given.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    users: Mutex<Vec<Credential>>,
    anonymous_pull: Mutex<bool>,
    /// The scopes that each token is good for, such as `repository:team/app:pull,push`.
    issued: Mutex<HashMap<String, Vec<Scope>>>,
    /// How many were given ever, so that an expired one is never given again.
    count: Mutex<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Scope {
    repository: String,
    actions: Vec<String>,
}

impl Scope {
    fn parse(text: &str) -> Option<Self> {
        let (repository, actions) = text.strip_prefix("repository:")?.rsplit_once(':')?;
        let actions = actions.split(',').map(str::to_string).collect();
        Some(Self {
            repository: repository.to_string(),
            actions,
        })
    }

    fn allows(&self, repository: &str, action: &str) -> bool {
        self.repository == repository
            && self
                .actions
                .iter()
                .any(|allowed| allowed == action || allowed == "*")
    }
}

impl Tokens {
    pub(super) fn are_used(&self) -> bool {
        !self.users.lock().is_empty()
    }

    /// Gives a token for the scopes that are asked for, to those who may have it.
    pub(super) fn issue(&self, request: &Request) -> Reply {
        let query = request.uri.query().unwrap_or_default().to_string();
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let parameters: Vec<_> = match request.method {
            Method::GET => query_pairs(&query).collect(),
            Method::POST => query_pairs(&body).collect(),
            _ => return Reply::status(405),
        };
        let parameter = |name: &str| {
            parameters
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        // With POST the credential is in the form.
        let shown = match (parameter("username"), parameter("password")) {
            (Some(user), Some(password)) => Some(Credential::basic(user, password)),
            _ => Credential::of(request),
        };
        let is_user = shown
            .as_ref()
            .is_some_and(|shown| self.users.lock().contains(shown));
        let is_anonymous = shown.is_none() && *self.anonymous_pull.lock();
        if !is_user && !is_anonymous {
            return Failure::Unauthorized.about("wrong user or password");
        }
        let asked = parameters
            .iter()
            .filter(|(key, _)| key == "scope")
            .flat_map(|(_, value)| value.split(' '));
        let mut scopes: Vec<Scope> = asked.filter_map(Scope::parse).collect();
        if is_anonymous {
            scopes
                .iter_mut()
                .for_each(|scope| scope.actions.retain(|action| action == "pull"));
        }
        let mut count = self.count.lock();
        *count += 1;
        // A number is enough: nothing here is secret.
        let token = format!("token-{count}");
        self.issued.lock().insert(token.clone(), scopes);
        let body = json!({"token": token, "access_token": token, "expires_in": 300});
        Reply::json(body.to_string())
    }

    /// Nothing, or the refusal that tells where to get a token and for what.
    pub(super) fn refusal(&self, request: &Request, repository: Option<&str>) -> Option<Reply> {
        if !self.are_used() {
            return None;
        }
        let needed = action(&request.method);
        let issued = self.issued.lock();
        let scopes = match Credential::of(request) {
            Some(Credential::Bearer(token)) => issued.get(&token),
            _ => None,
        };
        let allowed = scopes.is_some_and(|scopes| match repository {
            Some(repository) => scopes.iter().any(|scope| scope.allows(repository, needed)),
            // Any token will do for the ping.
            None => true,
        });
        if allowed {
            return None;
        }
        let mut challenge = format!("Bearer realm=\"{}/token\",service=\"testkit\"", request.origin());
        if let Some(repository) = repository {
            let actions = if needed == "push" { "pull,push" } else { needed };
            challenge.push_str(&format!(",scope=\"repository:{repository}:{actions}\""));
        }
        if scopes.is_some() {
            challenge.push_str(",error=\"insufficient_scope\"");
        }
        let reply = Failure::Unauthorized.about(repository.unwrap_or_default());
        Some(reply.with(header::WWW_AUTHENTICATE, challenge))
    }
}

fn action(method: &Method) -> &'static str {
    match *method {
        Method::GET | Method::HEAD => "pull",
        Method::DELETE => "delete",
        _ => "push",
    }
}
