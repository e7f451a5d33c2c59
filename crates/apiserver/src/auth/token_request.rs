//! `serviceaccounts/NAME/token`: a token for a service account.

use jiff::{SignedDuration, Timestamp};
use model::quote::quote;
use model::{Str, Value, value};

use super::Find;
use super::token::{Claims, Issuer, Reference};
use crate::error::{Error, Result};
use crate::field;

const GROUP: &str = "authentication.k8s.io";
const KIND: &str = "TokenRequest";

/// The life of a token where the request does not say, in seconds.
const DEFAULT_LIFE: i64 = 60 * 60;
const SHORTEST_LIFE: i64 = 10 * 60;
const LONGEST_LIFE: i64 = 1 << 32;
/// A pod's token of just this life, which is what the kubelet asks for, is accepted for a year, so that programs which
/// never read it again go on working.
const KUBELET_LIFE: i64 = 60 * 60 + 7;
const EXTENDED_LIFE: i64 = 365 * 24 * 60 * 60;

/// A request for a token.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Namespace in the path.
    pub namespace: &'a str,
    /// Name of the service account in the path.
    pub name: &'a str,
    /// The `TokenRequest` that was sent.
    pub body: &'a Value,
    /// The time.
    pub now: Timestamp,
    /// A random UUID, which becomes the token's identity.
    pub id: &'a str,
}

/// Answers a request: the `TokenRequest` with its status.
///
/// # Errors
/// What is wrong with the request, or which object is not there.
pub fn create(issuer: &Issuer, request: &Request<'_>, find: Find<'_>) -> Result<Value> {
    check_metadata(request)?;
    let account = find("serviceaccounts", request.namespace, request.name)
        .ok_or_else(|| Error::not_found("", "serviceaccounts", request.name))?;
    check_uid(request, &account)?;

    let mut answer = request.body.clone();
    fill_in(&mut answer, issuer, request, &account);
    let life = answer
        .at(&["spec", "expirationSeconds"])
        .and_then(Value::as_i64)
        .unwrap_or(DEFAULT_LIFE);
    check_life(life)?;

    let bound = Bound::of(request, find)?;
    let claims = claims(&answer, issuer, request, &account, bound, life);
    let ends = request
        .now
        .saturating_add(SignedDuration::from_secs(life))
        .unwrap_or(Timestamp::MAX);
    answer.set_at(
        &["status"],
        value!({ "token": (issuer.sign(&claims)), "expirationTimestamp": (print_time(ends)) }),
    );
    Ok(answer)
}

fn check_metadata(request: &Request<'_>) -> Result<()> {
    let given = |key| request.body.str_at(&["metadata", key]);
    if !given("namespace").is_empty() && given("namespace") != request.namespace {
        return Err(namespace_mismatch());
    }
    let name = given("name");
    if !name.is_empty() && name != request.name {
        let why = "must match the service account name if specified";
        let error = field::Error::invalid("metadata.name", &Value::str(name), why);
        return Err(Error::invalid(GROUP, KIND, request.name, &[error]));
    }
    Ok(())
}

fn namespace_mismatch() -> Error {
    Error::bad_request(
        "the namespace of the provided object does not match the namespace sent on the request",
    )
}

fn check_uid(request: &Request<'_>, account: &Value) -> Result<()> {
    let given = request.body.str_at(&["metadata", "uid"]);
    let own = account.str_at(&["metadata", "uid"]);
    if given.is_empty() || given == own {
        return Ok(());
    }
    let why = format!(
        "the UID in the token request ({given}) does not match the UID of the service account ({own})"
    );
    Err(Error::conflict(GROUP, KIND, request.name, &why))
}

fn check_life(life: i64) -> Result<()> {
    let why = match life {
        ..SHORTEST_LIFE => "may not specify a duration less than 10 minutes",
        SHORTEST_LIFE..=LONGEST_LIFE => return Ok(()),
        _ => "may not specify a duration larger than 2^32 seconds",
    };
    let error = field::Error::invalid("spec.expirationSeconds", &Value::Int(life), why);
    Err(Error::invalid(GROUP, KIND, "", &[error]))
}

fn fill_in(answer: &mut Value, issuer: &Issuer, request: &Request<'_>, account: &Value) {
    answer.set_at(&["apiVersion"], "authentication.k8s.io/v1");
    answer.set_at(&["kind"], KIND);
    answer.set_at(&["metadata", "name"], request.name);
    answer.set_at(&["metadata", "namespace"], request.namespace);
    answer.set_at(&["metadata", "uid"], account.str_at(&["metadata", "uid"]));
    answer.set_at(&["metadata", "creationTimestamp"], print_time(request.now));
    if answer.list_at(&["spec", "audiences"]).is_empty() {
        answer.set_at(
            &["spec", "audiences"],
            issuer.audiences().iter().cloned().collect::<Value>(),
        );
    }
    if answer
        .at(&["spec", "expirationSeconds"])
        .is_none_or(Value::is_null)
    {
        answer.set_at(&["spec", "expirationSeconds"], DEFAULT_LIFE);
    }
    if answer.at(&["spec", "boundObjectRef"]).is_none() {
        answer.set_at(&["spec", "boundObjectRef"], Value::Null);
    }
}

/// The objects that end a token with them.
#[derive(Debug, Default)]
struct Bound {
    pod: Option<Reference>,
    secret: Option<Reference>,
    node: Option<Reference>,
}

impl Bound {
    fn of(request: &Request<'_>, find: Find<'_>) -> Result<Self> {
        let reference = match request.body.at(&["spec", "boundObjectRef"]) {
            Some(reference @ Value::Object(_)) => reference,
            _ => return Ok(Bound::default()),
        };
        let part = |key| reference.str_at(&[key]);
        let (group, version) = part("apiVersion")
            .split_once('/')
            .unwrap_or(("", part("apiVersion")));
        let (resource, namespace) = match (group, part("kind")) {
            ("", "Pod") => ("pods", request.namespace),
            ("", "Secret") => ("secrets", request.namespace),
            ("", "Node") => ("nodes", ""),
            (group, kind) => {
                let shown = format!("cannot bind token to object of type {group}/{version}, Kind={kind}");
                return Err(Error::bad_request(shown));
            }
        };
        let object = find(resource, namespace, part("name"))
            .ok_or_else(|| Error::not_found("", resource, part("name")))?;
        if resource == "pods" && object.str_at(&["spec", "serviceAccountName"]) != request.name {
            return Err(Error::bad_request(format!(
                "cannot bind token for serviceaccount {} to pod running with different serviceaccount name.",
                quote(request.name)
            )));
        }
        let found = Reference::to(&object);
        if !part("uid").is_empty() && part("uid") != found.uid {
            let why = format!(
                "the UID in the bound object reference ({}) does not match the UID in record. The object might have been deleted and then recreated",
                part("uid")
            );
            return Err(Error::conflict(group, part("kind"), part("name"), &why));
        }
        Ok(match resource {
            "pods" => Bound {
                node: node_of(&object, find),
                pod: Some(found),
                secret: None,
            },
            "secrets" => Bound {
                secret: Some(found),
                ..Bound::default()
            },
            _ => Bound {
                node: Some(found),
                ..Bound::default()
            },
        })
    }
}

/// The node a pod is on; one that is not there is known by its name alone.
fn node_of(pod: &Value, find: Find<'_>) -> Option<Reference> {
    let name = pod.str_at(&["spec", "nodeName"]);
    if name.is_empty() {
        return None;
    }
    let known = find("nodes", "", name).map(|node| Reference::to(&node));
    Some(known.unwrap_or_else(|| Reference {
        name: Str::new(name),
        uid: Str::default(),
    }))
}

fn claims(
    answer: &Value,
    issuer: &Issuer,
    request: &Request<'_>,
    account: &Value,
    bound: Bound,
    life: i64,
) -> Claims {
    let audiences: Vec<Str> = answer
        .list_at(&["spec", "audiences"])
        .iter()
        .filter_map(Value::as_str)
        .map(Str::new)
        .collect();
    let for_api = audiences
        .iter()
        .all(|audience| issuer.audiences().contains(audience));
    let extended = bound.pod.is_some() && life == KUBELET_LIFE && for_api;
    let now = request.now.as_second();
    Claims {
        audiences,
        issued: now,
        expires: now + if extended { EXTENDED_LIFE } else { life },
        id: Str::new(request.id),
        namespace: Str::new(request.namespace),
        service_account: Reference::to(account),
        pod: bound.pod,
        secret: bound.secret,
        node: bound.node,
        warn_after: extended.then_some(now + life),
    }
}

/// A time as objects carry it, in whole seconds.
pub(super) fn print_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
