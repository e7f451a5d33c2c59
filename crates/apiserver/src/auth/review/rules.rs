//! What may I do in that namespace?

use model::{Value, value};

use super::{Context, Review};
use crate::auth::rbac::{Unresolved, join};
use crate::error::{Error, Result};

pub(super) fn answer(body: &Value, context: &Context<'_>) -> Result<Value> {
    let namespace = body.str_at(&["spec", "namespace"]);
    if namespace.is_empty() {
        return Err(Error::bad_request("no namespace on request"));
    }
    let (rules, unresolved) = context.rbac.rules_for(context.user, namespace);
    let on_resources = rules.iter().filter(|rule| !rule.resources.is_empty());
    let on_paths = rules.iter().filter(|rule| !rule.urls.is_empty());
    let mut answer = value!({
        "apiVersion": (Review::SelfSubjectRules.api_version()),
        "kind": (Review::SelfSubjectRules.kind()),
        "metadata": {},
        "spec": {},
        "status": {
            "incomplete": false,
            "nonResourceRules": (on_paths.map(|rule| rule.to_path_rule()).collect::<Value>()),
            "resourceRules": (on_resources.map(|rule| rule.to_resource_rule()).collect::<Value>()),
        },
    });
    if !unresolved.is_empty() {
        let error = join(unresolved.iter().map(Unresolved::to_string));
        answer.set_at(&["status", "evaluationError"], error);
    }
    Ok(answer)
}
