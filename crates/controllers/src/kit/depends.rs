//! What objects that depend on others of their kind have in common.

use api::{ConditionStatus, ConditionType, Dependency, Object, Reason, ReconcileStatus, Spec};
use engine::health::cel::Predicate;
use kube::ResourceExt;
use model::Value;
use model::convert::from_serde;

use super::writer::Key;

/// Namespace and name of a dependency.
pub(crate) fn dependency_key<S: Spec>(object: &Object<S>, dependency: &Dependency) -> Key {
    let namespace = dependency.namespace.clone();
    let namespace = namespace.filter(|namespace| !namespace.is_empty());
    let namespace = namespace.or_else(|| object.namespace()).unwrap_or_default();
    (namespace, dependency.name.clone())
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

/// Whether an expression holds of an object and one that it depends on.
///
/// # Errors
/// Why that cannot be told now.
pub(crate) fn holds<S: Spec>(
    predicate: &Predicate,
    object: &Object<S>,
    other: &Object<S>,
) -> Result<bool, String> {
    let value = |object| from_serde(object).map_err(|error| error.to_string());
    let mut variables = Value::object();
    variables.set_at(&["self"], value(object)?);
    variables.set_at(&["dep"], value(other)?);
    predicate.holds(&variables)
}
