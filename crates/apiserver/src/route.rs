//! The way of a request: who asks, may they, and which verb answers.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use model::quote::quote;
use parking_lot::Mutex;

use crate::answer::Answer;
use crate::auth::{self, Attributes, User};
use crate::catalog::{Catalog, Resource};
use crate::discovery;
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::http::{Body, Query, Request, Target};
use crate::listen::Disconnected;
use crate::openapi::Sources;
use crate::server::{BODY_LIMIT, State};
use crate::special;
use crate::verbs::{self, Call};

/// Answers a request. `peer` is who the connection itself vouches for.
pub(crate) async fn handle<B>(
    state: Arc<State>,
    request: http::Request<B>,
    peer: Option<User>,
) -> std::result::Result<Response<Body>, Disconnected>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (parts, body) = request.into_parts();
    let body = match Limited::new(body, BODY_LIMIT).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("Request entity too large: limit is {BODY_LIMIT}");
            return Ok(Error::new(413, "RequestEntityTooLarge", message).into_response(&[]));
        }
        Err(error) => {
            return Ok(Error::bad_request(format!("reading the body failed: {error}")).into_response(&[]));
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
    let mut response = match answer {
        Ok(answer) => answer.into_response(&warnings),
        Err(Failure::Answered(error)) => error.into_response(&warnings),
        Err(Failure::Disconnected) => return Err(Disconnected),
    };
    if let Ok(id) = HeaderValue::from_str(&state.new_uid()) {
        response.headers_mut().insert("audit-id", id);
    }
    if request.method == Method::HEAD {
        // HTTP/2 clients take a body here for a broken protocol.
        return Ok(response.map(|_| Body::whole(Bytes::new())));
    }
    let is_json = response
        .headers()
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind == "application/json");
    if is_json && is_for_people(&request) {
        response = response.map(|body| body.map(reindent));
    }
    Ok(response)
}

/// Whether a path is below a group that is served: what is missing there is told in a `Status`.
fn names_known_group(catalog: &Catalog, path: &str) -> bool {
    let mut steps = path.trim_start_matches('/').split('/');
    match (steps.next(), steps.next()) {
        (Some("apis"), Some(group)) => catalog.group(group).is_some(),
        (Some("api"), Some(_)) => true,
        _ => false,
    }
}

/// Whether JSON is wanted over several lines: where the query says so, else by what people use.
fn is_for_people(request: &Request) -> bool {
    match request.query.get("pretty") {
        "" => ["curl", "Wget", "Mozilla/5.0"]
            .iter()
            .any(|agent| request.header("user-agent").starts_with(agent)),
        wanted => matches!(wanted, "1" | "t" | "T" | "true" | "TRUE" | "True"),
    }
}

/// JSON as people read it, in the order it has and without an end of line.
fn reindent(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 2);
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    let break_line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', depth * 2));
    };
    for (at, byte) in text.iter().enumerate() {
        if quoted {
            out.push(*byte);
            quoted = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'{' | b'[' => {
                out.push(*byte);
                if !matches!(text.get(at + 1), Some(b'}' | b']')) {
                    depth += 1;
                    break_line(&mut out, depth);
                }
            }
            b'}' | b']' => {
                if !matches!(text[at - 1], b'{' | b'[') {
                    depth = depth.saturating_sub(1);
                    break_line(&mut out, depth);
                }
                out.push(*byte);
            }
            b',' => {
                out.push(*byte);
                break_line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            // Space in between is set anew.
            b'\n' | b' ' => {}
            _ => {
                quoted = *byte == b'"';
                out.push(*byte);
            }
        }
    }
    out
}

/// How a request fails.
enum Failure {
    /// With an answer that says why.
    Answered(Error),
    /// Without a word, as a fault that was asked for.
    Disconnected,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Answered(error)
    }
}

async fn answer(
    state: &Arc<State>,
    request: &Request,
    peer: Option<User>,
    warnings: &Mutex<Vec<String>>,
) -> std::result::Result<Answer, Failure> {
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
        return Err(error.into());
    }
    if fault == Some(Fault::Disconnect) {
        return Err(Failure::Disconnected);
    }
    state.rbac.read().check(&attributes)?;
    if request.path.starts_with("//") || request.path.starts_with("/apis//") {
        return Ok(Answer::page_not_found());
    }
    let Some(target) = target else {
        return Ok(document(state, request)?);
    };
    let kinds = state.kinds();
    let Some(served) = kinds.get(&target.group, &target.version, &target.resource) else {
        return Ok(special::unstored(state, &kinds.catalog, request, &target, &user)?);
    };
    let call = Call {
        state,
        served: Arc::clone(served),
        target: &target,
        request,
        user: &user,
        warnings: Mutex::default(),
    };
    if let Some(warning) = deprecation(&target)
        .map(str::to_owned)
        .or_else(|| call.served.deprecation())
    {
        call.warn(warning);
    }
    let result = dispatch(&call, verb, fault.and_then(Fault::for_watch));
    warnings.lock().append(&mut call.warnings.lock());
    Ok(result?)
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

/// What the real server tells everyone who uses an API that is on its way out.
fn deprecation(target: &Target) -> Option<&'static str> {
    match (
        target.group.as_str(),
        target.version.as_str(),
        target.resource.as_str(),
    ) {
        ("", "v1", "endpoints") => {
            Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")
        }
        _ => None,
    }
}

fn dispatch(call: &Call<'_>, verb: &str, fault: Option<crate::fault::WatchFault>) -> Result<Answer> {
    let resource = &call.served.resource;
    let target = call.target;
    check_path(call)?;
    if !target.subresource.is_empty() {
        let Some(subresource) = resource.subresource(&target.subresource) else {
            // The server of custom resources looks for an object of that name and kind of path, and finds none.
            return Err(match call.served.definition.is_some() {
                true => Error::not_found(&resource.group, &resource.plural, &target.name),
                false => Error::no_such_path(),
            });
        };
        if !subresource.allows(verb) {
            return Err(Error::method_not_allowed());
        }
        check_name(&target.name)?;
        if !matches!(target.subresource.as_str(), "status" | "scale") {
            return special::subresource(call, verb);
        }
    } else if !resource.allows(verb) {
        // Objects of a definition that is being deleted can still be changed: finalizers must come off.
        match (call.served.definition.is_some(), verb) {
            (true, "update" | "patch") => {}
            (true, "create") => {
                let message = "create not allowed while custom resource definition is terminating";
                return Err(Error::new(405, "MethodNotAllowed", message));
            }
            _ => return Err(Error::method_not_allowed()),
        }
    }
    check_name(&target.name)?;
    if let Some(custom) = &call.served.definition
        && let Err(error) = custom.check_conversion(&resource.version)
    {
        let nothing_to_convert = target.name.is_empty() && call.state.store.all(&resource.storage).is_empty();
        if verb == "create" || !nothing_to_convert {
            return Err(error);
        }
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

/// Refuses names that no path can have a step of. Not all others can be given to an object.
fn check_name(name: &str) -> Result<()> {
    let why = match name {
        "." | ".." => format!("may not be '{name}'"),
        name => match ['/', '%'].into_iter().find(|sign| name.contains(*sign)) {
            Some(sign) => format!("may not contain '{sign}'"),
            None => return Ok(()),
        },
    };
    Err(Error::bad_request(format!(
        "Name parameter invalid: {}: {why}",
        quote(name)
    )))
}

/// Refuses paths that name no resource and methods that a path does not have.
fn check_path(call: &Call<'_>) -> Result<()> {
    let (resource, target) = (&call.served.resource, call.target);
    let is_namespace = resource.group.is_empty() && resource.plural == "namespaces";
    if !resource.namespaced && !target.namespace.is_empty() && !is_namespace {
        return Err(Error::no_such_path());
    }
    let everywhere = resource.namespaced && target.namespace.is_empty();
    if everywhere && !target.name.is_empty() {
        return Err(Error::no_such_path());
    }
    let reads = call.request.method == Method::GET;
    let single = !target.name.is_empty();
    let known = match call.request.method {
        Method::POST => !single || !target.subresource.is_empty(),
        Method::PUT | Method::PATCH => single,
        // It counts as a read where rights are concerned, but is not served.
        Method::HEAD => false,
        _ => true,
    };
    if !known || (everywhere && !reads) {
        return Err(Error::method_not_allowed());
    }
    Ok(())
}

/// Discovery, OpenAPI, version and health.
fn document(state: &State, request: &Request) -> Result<Answer> {
    let discovers = ["/api", "/apis", "/version"].iter().any(|path| {
        let rest = request.path.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match request.method {
        Method::GET => {}
        Method::HEAD if !discovers => {}
        _ => return Err(Error::method_not_allowed()),
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
            match state.openapi.answer(&sources, &asked) {
                Some(document) => Answer::openapi(document?),
                None if names_known_group(&kinds.catalog, &request.path) => Err(Error::no_such_path()),
                None => Ok(Answer::page_not_found()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_without_being_read() {
        let text = b"{\"a\":[1,{\"b\":\"x,{\\\"y:\"}],\"c\":{},\"d\":[]}\n";
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,{\\\"y:\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}";
        assert_eq!(String::from_utf8(reindent(text)).unwrap(), expected);
        assert_eq!(
            String::from_utf8(reindent(expected.as_bytes())).unwrap(),
            expected
        );
    }
}
