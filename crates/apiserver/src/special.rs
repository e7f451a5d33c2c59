//! Requests that are no plain reads or writes of stored objects: reviews, tokens, evictions, OpenAPI.

use std::sync::Arc;

use model::{Value, json, value};

use crate::answer::Answer;
use crate::auth::review::{Context, Review};
use crate::auth::{User, token_request};
use crate::catalog::Catalog;
use crate::error::{Error, Result};
use crate::http::{Request, Target, decode};
use crate::metadata;
use crate::server::State;
use crate::store::Key;
use crate::strategy::Part;
use crate::verbs::delete::{DeleteOptions, delete_object};
use crate::verbs::options::WriteOptions;
use crate::verbs::write::{Update, Writer};
use crate::verbs::{Call, read};

/// Requests on resources that are answered but not stored. `catalog` is of the same moment as the finding that nothing is stored:
/// in a later one the resource of a definition may have come.
pub(crate) fn unstored(
    state: &Arc<State>,
    catalog: &Catalog,
    request: &Request,
    target: &Target,
    user: &User,
) -> Result<Answer> {
    let Some(resource) = catalog.lookup(&target.group, &target.version, &target.resource) else {
        return match catalog.group(&target.group) {
            Some(group) if !group.is_custom() => Err(Error::no_such_path()),
            _ => Ok(Answer::page_not_found()),
        };
    };
    let verb = target.verb(&request.method, &request.query);
    if !resource.allows(verb) {
        return Err(Error::method_not_allowed());
    }
    let Some(review) = Review::of_resource(&resource.group, &resource.plural) else {
        return Err(no_nodes(&resource.plural));
    };
    let body = decode(state, request, &resource.kind)?.value;
    let find = |resource: &str, namespace: &str, name: &str| state.find_core(resource, namespace, name);
    let context = Context {
        user,
        namespace: &target.namespace,
        rbac: &state.rbac.read(),
        authenticator: &state.authenticator,
        now: state.now(),
        find: &find,
    };
    let answer = review.answer(&body, &context)?;
    Ok(Answer::json(201, json::to_vec(&answer)))
}

fn no_nodes(what: &str) -> Error {
    let message = format!(
        "{what} is not possible: this is an embedded Kubernetes API for development, which runs no containers"
    );
    Error::new(501, "NotImplemented", message)
}

/// Requests on subresources other than `status` and `scale`.
pub(crate) fn subresource(call: &Call<'_>, verb: &str) -> Result<Answer> {
    let resource = &call.served.resource;
    match (resource.plural.as_str(), call.target.subresource.as_str(), verb) {
        ("serviceaccounts", "token", "create") => issue_token(call),
        ("namespaces", "finalize", "update") => finalize(call),
        ("pods", "eviction", "create") => evict(call),
        ("pods", "binding", "create") => bind(call),
        ("pods", "log", "get") => read::log(call).map(|bytes| Answer::json(200, bytes)),
        ("pods", "ephemeralcontainers" | "resize", "get") => read::get(call),
        // Both are about containers that run already: the pod must be there, and then there is nothing to do it to.
        ("pods", name @ ("ephemeralcontainers" | "resize"), _) => {
            read::find(call)?;
            Err(no_nodes(&format!("pods/{name}")))
        }
        ("certificatesigningrequests", "approval", "get") => read::get(call),
        ("certificatesigningrequests", "approval", "patch") => crate::verbs::patch::patch(call),
        ("certificatesigningrequests", "approval", "update") => crate::verbs::update::update(call),
        (plural, name, _) => Err(no_nodes(&format!("{plural}/{name}"))),
    }
}

/// Issues a token for a service account.
fn issue_token(call: &Call<'_>) -> Result<Answer> {
    let body = decode(call.state, call.request, "TokenRequest")?.value;
    let state = call.state;
    let find = |resource: &str, namespace: &str, name: &str| state.find_core(resource, namespace, name);
    let request = token_request::Request {
        namespace: call.namespace(),
        name: &call.target.name,
        body: &body,
        now: state.now(),
        id: &state.new_uid(),
    };
    let answer = token_request::create(state.authenticator.issuer(), &request, &find)?;
    Ok(Answer::json(201, json::to_vec(&answer)))
}

impl State {
    /// An object of the core group as it is shown.
    pub(crate) fn find_core(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        let kinds = self.kinds();
        let served = kinds.get("", "v1", resource)?;
        let object = self
            .store
            .get(&served.resource.storage, &Key::new(namespace, name))?;
        Some(served.show(&object))
    }
}

/// Takes finalizers off a namespace's spec; the last one lets it go.
fn finalize(call: &Call<'_>) -> Result<Answer> {
    let object = read::find(call)?;
    let body = decode(call.state, call.request, "Namespace")?.value;
    let mut value = call.served.show(&object);
    let finalizers = body.at(&["spec", "finalizers"]).cloned();
    match finalizers {
        Some(list) if list.as_array().is_some_and(|list| !list.is_empty()) => {
            value.set_at(&["spec", "finalizers"], list)
        }
        _ => drop(value.remove_at(&["spec", "finalizers"])),
    }
    let done = object.meta.deleting
        && value.list_at(&["spec", "finalizers"]).is_empty()
        && metadata::finalizers(&value).next().is_none();
    let written = match done {
        true => call.state.remove_inside(&call.served, &object),
        false => call.state.store_inside(&call.served, &object, value),
    };
    let resource = &call.served.resource;
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    let written =
        written.ok_or_else(|| Error::conflict(&resource.group, &resource.plural, &call.target.name, why))?;
    Ok(Answer::json(200, call.served.bytes(&written)))
}

/// Deletes a pod on behalf of a drain.
fn evict(call: &Call<'_>) -> Result<Answer> {
    let object = read::find(call)?;
    delete_object(call.state, &call.served, object, &DeleteOptions::default())?;
    let status = value!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    Ok(Answer::json(201, json::to_vec(&status)))
}

/// Puts a pod on a node.
fn bind(call: &Call<'_>) -> Result<Answer> {
    let body = decode(call.state, call.request, "Binding")?.value;
    let node = body.str_at(&["target", "name"]).to_owned();
    let options = WriteOptions::read(call.request, "CreateOptions")?;
    let writer = Writer {
        state: call.state,
        served: &call.served,
        namespace: call.namespace(),
        options: &options,
    };
    writer.update(&call.key(), Part::Main, |old| {
        let mut object = old.clone();
        object.set_at(&["spec", "nodeName"], node.as_str());
        Ok(Update { object, owned: true })
    })?;
    let status = value!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"});
    Ok(Answer::json(201, json::to_vec(&status)))
}
