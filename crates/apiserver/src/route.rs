//! The way of a request: who asks, may they, and which verb answers.

use std::sync::Arc;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Method, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use parking_lot::Mutex;

use crate::answer::Answer;
use crate::auth::{self, Attributes, User};
use crate::catalog::Resource;
use crate::discovery;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::http::{Body, Query, Request, Target};
use crate::openapi::Sources;
use crate::server::{BODY_LIMIT, State};
use crate::special;
use crate::verbs::{self, Call};

/// Answers a request. `peer` is who the connection itself vouches for.
pub(crate) async fn handle<B>(
    state: Arc<State>,
    request: http::Request<B>,
    peer: Option<User>,
) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("Request entity too large: limit is {BODY_LIMIT}");
            return Error::new(413, "RequestEntityTooLarge", message).into_response(&[]);
        }
        Err(error) => {
            return Error::bad_request(format!("reading the body failed: {error}")).into_response(&[]);
        }
    };
    let request = Request {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: Query::parse(parts.uri.query().unwrap_or_default()),
        query_text: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        body,
    };
    let warnings = Mutex::new(Vec::new());
    let answer = answer(&state, &request, peer, &warnings).await;
    let warnings = warnings.into_inner();
    match answer {
        Ok(answer) => answer.into_response(&warnings),
        Err(error) => error.into_response(&warnings),
    }
}

async fn answer(
    state: &Arc<State>,
    request: &Request,
    peer: Option<User>,
    warnings: &Mutex<Vec<String>>,
) -> Result<Answer> {
    let target = Target::parse(&request.path);
    let verb = match &target {
        Some(target) => target.verb(&request.method, &request.query),
        None => "",
    };
    let lower = request.method.as_str().to_ascii_lowercase();
    let verb = if verb.is_empty() { lower.as_str() } else { verb };
    let user = identify(state, request, peer)?;
    let attributes = match &target {
        Some(target) => Attributes::resource(&user, verb, resource_of(target)),
        None => Attributes::path(&user, verb, &request.path),
    };
    state.requests.count(&attributes, request.header("user-agent"));
    let fault = state.faults.check(&attributes, request.header("user-agent"));
    if let Some(Fault::Delay(time)) = &fault {
        state.sleep(*time).await;
    }
    if let Some(error) = fault.as_ref().and_then(|fault| fault.error(&attributes)) {
        return Err(error);
    }
    state.rbac.read().check(&attributes)?;
    let Some(target) = target else {
        return document(state, request);
    };
    let kinds = state.kinds();
    let Some(served) = kinds.get(&target.group, &target.version, &target.resource) else {
        return special::unstored(state, request, &target, &user);
    };
    let call = Call {
        state,
        served: Arc::clone(served),
        target: &target,
        request,
        user: &user,
        warnings: Mutex::default(),
    };
    let result = dispatch(&call, verb, fault.and_then(Fault::for_watch));
    warnings.lock().append(&mut call.warnings.lock());
    result
}

/// Who is asking, or on whose behalf.
fn identify(state: &State, request: &Request, peer: Option<User>) -> Result<User> {
    // A token says more than the connection it comes over.
    let peer = peer.filter(|_| !request.headers.contains_key(AUTHORIZATION));
    let find = |resource: &str, namespace: &str, name: &str| state.find_core(resource, namespace, name);
    let user = state
        .authenticator
        .authenticate(&request.headers, peer.as_ref(), state.now(), &find)?;
    let other = auth::impersonate::impersonate(&request.headers, &user, &state.rbac.read())?;
    Ok(other.unwrap_or(user))
}

fn resource_of(target: &Target) -> auth::Resource<'_> {
    auth::Resource {
        group: &target.group,
        resource: &target.resource,
        subresource: &target.subresource,
        namespace: &target.namespace,
        name: &target.name,
    }
}

fn dispatch(call: &Call<'_>, verb: &str, fault: Option<crate::fault::WatchFault>) -> Result<Answer> {
    let resource = &call.served.resource;
    let target = call.target;
    if resource.namespaced == target.namespace.is_empty()
        && !matches!(verb, "list" | "watch")
        && resource.plural != "namespaces"
    {
        return Err(match resource.namespaced {
            true if verb == "create" => {
                Error::bad_request("an empty namespace may not be set during creation")
            }
            _ => Error::no_such_path(),
        });
    }
    if !target.subresource.is_empty() {
        let Some(subresource) = resource.subresource(&target.subresource) else {
            return Err(Error::no_such_path());
        };
        if !matches!(target.subresource.as_str(), "status" | "scale") {
            return special::subresource(call, verb);
        }
        if !subresource.allows(verb) {
            return Err(Error::method_not_allowed());
        }
    } else if !resource.allows(verb) {
        return Err(Error::method_not_allowed());
    }
    match verb {
        "get" => verbs::read::get(call),
        "list" => verbs::list::list(call),
        "watch" => verbs::watch::watch(call, fault),
        "create" => verbs::create::create(call),
        "update" if target.subresource == "scale" => verbs::scale::update(call),
        "update" => verbs::update::update(call),
        "patch" => verbs::patch::patch(call),
        "delete" => verbs::delete::delete(call),
        "deletecollection" => verbs::delete::delete_collection(call),
        _ => Err(Error::method_not_allowed()),
    }
}

/// Discovery, OpenAPI, version and health.
fn document(state: &State, request: &Request) -> Result<Answer> {
    if !matches!(request.method, Method::GET | Method::HEAD) {
        return Err(Error::method_not_allowed());
    }
    let kinds = state.kinds();
    let asked = discovery::Request {
        path: &request.path,
        query: &request.query_text,
        accept: request.header("accept"),
        if_none_match: request.header("if-none-match"),
        server_address: request.header("host"),
    };
    match discovery::document(&kinds.catalog, &asked) {
        Some(document) => Answer::document(document?),
        None => {
            let custom = |resource: &Resource| {
                let served = kinds.get(&resource.group, &resource.version, &resource.plural)?;
                served.definition.as_ref()?.schema(&resource.version)
            };
            let sources = Sources {
                catalog: &kinds.catalog,
                schema: &state.schema,
                custom: &custom,
            };
            let document = state
                .openapi
                .answer(&sources, &asked)
                .ok_or_else(Error::no_such_path)??;
            Answer::openapi(document)
        }
    }
}
