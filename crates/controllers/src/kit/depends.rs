//! What objects that depend on others of their kind have in common.

use std::collections::HashMap;
use std::sync::Arc;

use api::{ConditionStatus, ConditionType, Dependency, Object, Reason, ReconcileStatus, Spec};
use engine::health::cel::{Predicate, Work};
use kube::ResourceExt;
use model::Value;
use model::convert::from_serde;

use super::chain::chain;
use super::decode;
use super::desk::Desk;
use super::writer::Key;

/// Whether dependencies have expressions, which take time.
pub(crate) fn has_expressions(dependencies: &[Dependency]) -> bool {
    let mut expressions = dependencies.iter().filter_map(|one| one.ready_expr.as_deref());
    expressions.any(|text| !text.is_empty())
}

/// Namespace and name of a dependency.
pub(crate) fn dependency_key<S: Spec>(object: &Object<S>, dependency: &Dependency) -> Key {
    let namespace = dependency.namespace.clone();
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    let namespace = namespace.or_else(|| object.namespace()).unwrap_or_default();
    (namespace, dependency.name.clone())
}

/// Checks that an object depends on objects of its own namespace only.
///
/// # Errors
/// Names the first of another, in Flux's words.
pub(crate) fn check_namespaces<S: Spec>(object: &Object<S>, depends_on: &[Dependency]) -> Result<(), String> {
    let own = object.namespace().unwrap_or_default();
    let mut keys = depends_on.iter().map(|one| dependency_key(object, one));
    match keys.find(|(namespace, _)| *namespace != own) {
        None => Ok(()),
        Some((namespace, name)) => Err(format!(
            "can't access '{}/{namespace}/{name}', cross-namespace references have been blocked",
            S::NAMES.kind
        )),
    }
}

/// Whether a watch here tells of an object.
fn is_seen<S>(desk: &Desk<S>, key: &Key) -> bool
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
{
    desk.get(key).is_some() || desk.sees(key)
}

/// What an object depends on that another process works on, so that no watch here tells of it: the cluster is asked, as Flux asks it for all that
/// objects depend on. Nothing is asked for what is known here.
///
/// # Errors
/// Which one the cluster does not tell of, and why.
pub(crate) async fn unseen<S>(
    desk: &Desk<S>,
    object: &Object<S>,
    depends_on: &[Dependency],
) -> Result<HashMap<Key, Arc<Object<S>>>, (Key, String)>
where
    S: Spec<Status: ReconcileStatus + PartialEq>,
{
    let mut found = HashMap::new();
    for key in depends_on.iter().map(|one| dependency_key(object, one)) {
        if is_seen(desk, &key) {
            continue;
        }
        match decode::get_opt::<S>(&desk.writer.client, &key.0, &key.1).await {
            Ok(other) => found.extend(other.map(|other| (key, Arc::new(other)))),
            Err(error) => return Err((key, chain(&error))),
        }
    }
    Ok(found)
}

/// Whether an object is ready, and as it is now.
pub(crate) fn is_ready<S: Spec<Status: ReconcileStatus>>(object: &Object<S>) -> bool {
    let Some(status) = &object.status else {
        return false;
    };
    let ready = status.condition(ConditionType::READY);
    status.observed_generation() == object.metadata.generation
        && ready.is_some_and(|ready| ready.status == ConditionStatus::True)
}

/// Whether an object waits for others, or may be about to.
pub(crate) fn is_waiting<S: Spec<Status: ReconcileStatus>>(object: &Object<S>) -> bool {
    let status = object.status.as_ref();
    let ready = status.and_then(|status| status.condition(ConditionType::READY));
    ready.is_none_or(|ready| ready.reason == Reason::DEPENDENCY_NOT_READY.as_str())
}

/// Whether an expression holds of an object and one that it depends on. What that takes is paid from the work that is left for the object.
///
/// # Errors
/// That this cannot be told now. Why is not said: it could quote values of the other object, which whoever reads the status of this
/// one may not be allowed to read.
pub(crate) fn holds<S: Spec>(
    predicate: &Predicate,
    object: &Object<S>,
    other: &Object<S>,
    work: &mut Work,
) -> Result<bool, String> {
    let unknown = || {
        let (namespace, name) = (other.namespace().unwrap_or_default(), other.name_any());
        format!(
            "failed to evaluate readyExpr of dependency '{namespace}/{name}': it does not apply to the object as it is now: \
             guard fields that may be absent with has()"
        )
    };
    let value = |object| from_serde(object).map_err(|_| unknown());
    let mut variables = Value::object();
    variables.set_at(&["self"], value(object)?);
    variables.set_at(&["dep"], value(other)?);
    predicate.holds(&variables, work).map_err(|_| unknown())
}
