//! What must be ready before a release is made.

use std::sync::Arc;

use api::Reason;
use api::helm::HelmRelease;
use engine::health::cel::{Predicate, Work, check_amount};
use engine::workers::WorkerPermit;
use kube::ResourceExt;

use super::HelmReleases;
use crate::kit::{Failure, Key, check_namespaces, dependency_key, has_expressions, holds, is_ready, unseen};

/// What begins the message of a failure that only a change of the object mends.
const TERMINAL: &str = "Reconciliation failed terminally due to configuration error";

impl HelmReleases {
    /// Checks all that an object depends on.
    pub(super) async fn check_dependencies(
        &self,
        object: &HelmRelease,
        worker: &WorkerPermit,
    ) -> Result<(), Failure> {
        let settings = &self.shared.settings;
        if settings.no_cross_namespace_refs {
            check_namespaces(object, &object.spec.depends_on)
                .map_err(|denied| Failure::stalled(Reason::ACCESS_DENIED, denied))?;
        }
        let (additive, wait) = (settings.additive_dependency_check, settings.requeue_dependency);
        let Some(desk) = self.desk.get() else {
            return check(object, additive, wait, |_| None);
        };
        let unseen = unseen(desk, object, &object.spec.depends_on);
        let unseen = unseen.await.map_err(|((namespace, name), why)| {
            let message = format!("unable to get '{namespace}/{name}' dependency: {why}");
            Failure::waiting(wait, Reason::DEPENDENCY_NOT_READY, message)
        })?;
        let find = |key: &Key| desk.get(key).or_else(|| unseen.get(key).cloned());
        let tenant = object.namespace().unwrap_or_default();
        let check = || check(object, additive, wait, find);
        match has_expressions(&object.spec.depends_on) {
            true => desk.evaluations().run_beside(worker, &tenant, check).await,
            false => check(),
        }
    }
}

/// Checks all that an object depends on. The texts are Flux's.
fn check(
    object: &HelmRelease,
    additive: bool,
    wait: std::time::Duration,
    find: impl Fn(&Key) -> Option<Arc<HelmRelease>>,
) -> Result<(), Failure> {
    let unmet = |why: String| Err(Failure::waiting(wait, Reason::DEPENDENCY_NOT_READY, why));
    let mut work = Work::default();
    let depends_on = object.spec.depends_on.iter();
    check_amount(depends_on.filter_map(|one| one.ready_expr.as_deref())).map_err(|problem| {
        let message = format!("{TERMINAL}: failed to evaluate dependencies: {problem}");
        Failure::stalled(Reason::INVALID_CEL_EXPRESSION, message)
    })?;
    for dependency in &object.spec.depends_on {
        let key = dependency_key(object, dependency);
        let shown = format!("{}/{}", key.0, key.1);
        let Some(other) = find(&key) else {
            let names = "helmreleases.helm.toolkit.fluxcd.io";
            let name = &key.1;
            return unmet(format!(
                "unable to get '{shown}' dependency: {names} \"{name}\" not found"
            ));
        };
        if let Some(text) = dependency.ready_expr.as_deref().filter(|text| !text.is_empty()) {
            let predicate = Predicate::new(text).map_err(|problem| {
                let name = other.name_any();
                let message = format!("{TERMINAL}: failed to evaluate dependency {name}: {problem}");
                Failure::stalled(Reason::INVALID_CEL_EXPRESSION, message)
            })?;
            match holds(&predicate, object, &other, &mut work) {
                Ok(true) => {}
                Ok(false) => {
                    return unmet(format!(
                        "dependency '{shown}' is not ready according to readyExpr eval"
                    ));
                }
                Err(problem) => return unmet(problem),
            }
            if !additive {
                continue;
            }
        }
        if !is_ready(&other) {
            return unmet(format!("dependency '{shown}' is not ready"));
        }
    }
    Ok(())
}
