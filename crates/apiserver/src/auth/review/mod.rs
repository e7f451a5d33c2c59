//! Questions about access and identity, which clients ask by creating objects that are never stored.

mod access;
mod rules;
mod selectors;
mod token;

use jiff::Timestamp;
use model::{Value, value};

use super::Find;
use super::authenticate::Authenticator;
use super::rbac::Rbac;
use super::token_request::print_time;
use super::user::User;
use crate::error::Result;

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

/// The kinds of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// May I do this?
    SelfSubjectAccess,
    /// May that one do this?
    SubjectAccess,
    /// May that one do this in this namespace?
    LocalSubjectAccess,
    /// What may I do in that namespace?
    SelfSubjectRules,
    /// Who am I?
    SelfSubject,
    /// Whose token is this?
    Token,
}

/// What the answers depend on.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Who is asking.
    pub user: &'a User,
    /// The namespace in the path; empty if there is none.
    pub namespace: &'a str,
    /// The roles and bindings.
    pub rbac: &'a Rbac,
    /// Knows all credentials.
    pub authenticator: &'a Authenticator,
    /// The time.
    pub now: Timestamp,
    /// Looks up what tokens are bound to.
    pub find: Find<'a>,
}

impl Review {
    /// The question that a resource stands for.
    pub fn of_resource(group: &str, resource: &str) -> Option<Self> {
        match (group, resource) {
            (AUTHORIZATION, "selfsubjectaccessreviews") => Some(Review::SelfSubjectAccess),
            (AUTHORIZATION, "subjectaccessreviews") => Some(Review::SubjectAccess),
            (AUTHORIZATION, "localsubjectaccessreviews") => Some(Review::LocalSubjectAccess),
            (AUTHORIZATION, "selfsubjectrulesreviews") => Some(Review::SelfSubjectRules),
            (AUTHENTICATION, "selfsubjectreviews") => Some(Review::SelfSubject),
            (AUTHENTICATION, "tokenreviews") => Some(Review::Token),
            _ => None,
        }
    }

    /// Answers the question that `body` asks: what the real server answers to its creation. Fields of the wrong type
    /// have been refused before.
    ///
    /// # Errors
    /// The question makes no sense.
    pub fn answer(self, body: &Value, context: &Context<'_>) -> Result<Value> {
        match self {
            Review::SelfSubjectAccess | Review::SubjectAccess | Review::LocalSubjectAccess => {
                access::answer(self, body, context)
            }
            Review::SelfSubjectRules => rules::answer(body, context),
            Review::SelfSubject => Ok(who_am_i(context)),
            Review::Token => token::answer(body, context),
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Review::SelfSubjectAccess => "SelfSubjectAccessReview",
            Review::SubjectAccess => "SubjectAccessReview",
            Review::LocalSubjectAccess => "LocalSubjectAccessReview",
            Review::SelfSubjectRules => "SelfSubjectRulesReview",
            Review::SelfSubject => "SelfSubjectReview",
            Review::Token => "TokenReview",
        }
    }

    fn api_version(self) -> &'static str {
        match self {
            Review::SelfSubject | Review::Token => "authentication.k8s.io/v1",
            _ => "authorization.k8s.io/v1",
        }
    }

    /// What was sent, with kind, version and metadata set.
    fn echo(self, body: &Value) -> Value {
        let mut answer = body.clone();
        answer.set_at(&["apiVersion"], self.api_version());
        answer.set_at(&["kind"], self.kind());
        answer.make_object().entry("metadata").make_object();
        answer
    }
}

fn who_am_i(context: &Context<'_>) -> Value {
    value!({
        "apiVersion": (Review::SelfSubject.api_version()),
        "kind": (Review::SelfSubject.kind()),
        "metadata": { "creationTimestamp": (print_time(context.now)) },
        "status": { "userInfo": (context.user.to_value()) },
    })
}
