//! What must be ready before a Kustomization is applied.

use std::collections::HashSet;
use std::sync::Arc;

use api::kustomize::Kustomization;
use engine::health::cel::{Predicate, TooMany, Work, check_amount};
use kube::ResourceExt;

use super::beyond::is_kept_at_its_pin;
use crate::kit::{Key, dependency_key, holds, is_ready};

/// Why a dependency holds an object up. The texts are Flux's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unmet {
    /// It cannot be told before the object is changed.
    #[error("failed to evaluate dependency {name}: {problem}")]
    Expression {
        /// The dependency.
        name: String,
        /// What is wrong with the expression.
        problem: String,
    },
    /// The object has too many expressions.
    #[error("failed to evaluate dependencies: {0}")]
    TooMany(#[from] TooMany),
    /// It is not there.
    #[error(
        "dependency '{key}' not found: kustomizations.kustomize.toolkit.fluxcd.io \"{}\" not found",
        name_of(key)
    )]
    Missing {
        /// Namespace and name.
        key: String,
    },
    /// The cluster does not tell whether it is there.
    #[error("dependency '{key}' not found: {why}")]
    Unread {
        /// Namespace and name.
        key: String,
        /// Why not.
        why: String,
    },
    /// Its expression does not hold.
    #[error("dependency '{0}' is not ready according to readyExpr eval")]
    NotByExpression(String),
    /// Whether its expression holds cannot be told now.
    #[error("{0}")]
    Unknown(String),
    /// It is not ready.
    #[error("dependency '{0}' is not ready")]
    NotReady(String),
    /// It has not applied the same revision yet.
    #[error("dependency '{0}' revision is not up to date")]
    OutOfDate(String),
    /// It waits for this object, perhaps through others.
    #[error("dependency cycle: {}: remove one of them from spec.dependsOn", .0.join(" -> "))]
    Cycle(Vec<String>),
}

impl Unmet {
    /// One that the cluster does not tell of.
    pub(super) fn unread(((namespace, name), why): (Key, String)) -> Self {
        let key = format!("{namespace}/{name}");
        Unmet::Unread { key, why }
    }

    /// Whether only a change of the object helps.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Unmet::Expression { .. } | Unmet::TooMany(_))
    }
}

fn name_of(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

/// Checks all that an object depends on. `find` gives other Kustomizations; `revision` is what the object's source is at;
/// with `additive` an expression is asked besides what is checked otherwise, not in its place.
pub(super) fn check(
    object: &Kustomization,
    revision: &str,
    additive: bool,
    find: impl Fn(&(String, String)) -> Option<Arc<Kustomization>>,
) -> Result<(), Unmet> {
    let mut work = Work::default();
    let depends_on = object.spec.depends_on.iter();
    check_amount(depends_on.filter_map(|one| one.ready_expr.as_deref()))?;
    for dependency in &object.spec.depends_on {
        let key = dependency_key(object, dependency);
        let shown = format!("{}/{}", key.0, key.1);
        let Some(other) = find(&key) else {
            return Err(Unmet::Missing { key: shown });
        };
        let expression = dependency.ready_expr.as_deref().filter(|text| !text.is_empty());
        if let Some(text) = expression {
            asked(text, object, &other, &shown, &mut work)?;
            if !additive {
                continue;
            }
        }
        if !is_ready(&other) {
            return Err(cycle(object, &key, &find).unwrap_or(Unmet::NotReady(shown)));
        }
        if has_same_source(object, &other) && !is_at(&other, revision) && !is_kept_at_its_pin(&other) {
            return Err(cycle(object, &key, &find).unwrap_or(Unmet::OutOfDate(shown)));
        }
    }
    Ok(())
}

fn asked(
    text: &str,
    object: &Kustomization,
    other: &Kustomization,
    shown: &str,
    work: &mut Work,
) -> Result<(), Unmet> {
    let predicate = Predicate::new(text).map_err(|problem| Unmet::Expression {
        name: other.name_any(),
        problem,
    })?;
    match holds(&predicate, object, other, work) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Unmet::NotByExpression(shown.to_owned())),
        Err(problem) => Err(Unmet::Unknown(problem)),
    }
}

fn has_same_source(object: &Kustomization, other: &Kustomization) -> bool {
    let source = |object: &Kustomization| {
        let source = object.spec.source_ref.clone();
        let namespace = source.namespace.filter(|namespace| !namespace.is_empty());
        (source.kind, namespace.or_else(|| object.namespace()), source.name)
    };
    source(object) == source(other)
}

fn is_at(object: &Kustomization, revision: &str) -> bool {
    let applied = object.status.as_ref();
    let applied = applied.and_then(|status| status.last_applied_revision.as_deref());
    applied == Some(revision)
}

/// How many dependencies a search for a cycle follows. Beyond that, the object waits like any other.
const MOST_FOLLOWED: usize = 10_000;

/// How many objects at each end of a long cycle are named.
const NAMED: usize = 8;

/// Returns the cycle by which a dependency leads back to the object, if there is one: then none of its objects ever gets ready.
///
/// The search is breadth-first, so that it finds a shortest cycle. It keeps each object once, with its predecessor.
fn cycle(
    object: &Kustomization,
    from: &Key,
    find: &impl Fn(&Key) -> Option<Arc<Kustomization>>,
) -> Option<Unmet> {
    let own = (object.namespace().unwrap_or_default(), object.name_any());
    if *from == own {
        return Some(Unmet::Cycle(named(&[&own, from])));
    }
    let mut seen = HashSet::from([from.clone()]);
    // The objects in the order of the search, each with the place of its predecessor.
    let mut reached: Vec<(Key, Option<usize>)> = vec![(from.clone(), None)];
    let (mut at, mut followed) = (0, 0);
    while let Some((key, _)) = reached.get(at) {
        let other = find(key);
        for dependency in other.iter().flat_map(|other| &other.spec.depends_on) {
            followed += 1;
            if followed > MOST_FOLLOWED {
                return None;
            }
            let Some(key) = other.as_deref().map(|other| dependency_key(other, dependency)) else {
                continue;
            };
            if key == own {
                return Some(Unmet::Cycle(named(&way(&own, &reached, at))));
            }
            if seen.insert(key.clone()) {
                reached.push((key, Some(at)));
            }
        }
        at += 1;
    }
    None
}

/// The objects from `own` to the one at `last`, and back to `own`.
fn way<'k>(own: &'k Key, reached: &'k [(Key, Option<usize>)], last: usize) -> Vec<&'k Key> {
    let mut way = vec![own];
    let mut next = Some(last);
    while let Some((key, before)) = next.and_then(|at| reached.get(at)) {
        way.push(key);
        next = *before;
    }
    way.push(own);
    way.reverse();
    way
}

/// The objects of a cycle as messages name them, without the middle of a long one.
fn named(way: &[&Key]) -> Vec<String> {
    let shown = |keys: &[&Key]| -> Vec<String> {
        let shown = keys.iter().map(|(namespace, name)| format!("{namespace}/{name}"));
        shown.collect()
    };
    let left_out = way.len().saturating_sub(2 * NAMED);
    if left_out == 0 {
        return shown(way);
    }
    let (first, last) = (&way[..NAMED], &way[way.len() - NAMED..]);
    [shown(first), vec![format!("({left_out} more)")], shown(last)].concat()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::json;

    use super::*;

    fn object(name: &str, spec: serde_json::Value, applied: Option<&str>) -> Kustomization {
        let mut all = json!({
            "interval": "1h", "prune": true, "sourceRef": {"kind": "GitRepository", "name": "app"},
        });
        let all = all.as_object_mut().unwrap();
        all.extend(spec.as_object().unwrap().clone());
        let status = applied.map(|revision| {
            json!({
                "observedGeneration": 1, "lastAppliedRevision": revision,
                "conditions": [{
                    "type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "",
                    "lastTransitionTime": "2026-01-02T03:04:05Z",
                }],
            })
        });
        let object = json!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
            "metadata": {"name": name, "namespace": "flux-system", "generation": 1, "labels": {"app": name}},
            "spec": all, "status": status,
        });
        serde_json::from_value(object).unwrap()
    }

    fn told(objects: &[Kustomization], additive: bool) -> String {
        let all: HashMap<(String, String), Arc<Kustomization>> = objects
            .iter()
            .map(|object| {
                let key = (object.namespace().unwrap(), object.name_any());
                (key, Arc::new(object.clone()))
            })
            .collect();
        let checked = check(&objects[0], "main@sha1:2", additive, |key| all.get(key).cloned());
        checked.map_or_else(|unmet| unmet.to_string(), |()| String::new())
    }

    fn depends(on: serde_json::Value) -> serde_json::Value {
        json!({ "dependsOn": [on] })
    }

    /// HL10: what is there, seen, ready and of the same revision is no hindrance.
    #[test]
    fn dependencies_must_be_ready_and_at_the_same_revision_of_the_same_source() {
        let app = || object("app", depends(json!({"name": "base"})), None);
        assert_eq!(
            told(&[app()], false),
            "dependency 'flux-system/base' not found: kustomizations.kustomize.toolkit.fluxcd.io \"base\" not found"
        );
        let not_ready = object("base", json!({}), None);
        assert_eq!(
            told(&[app(), not_ready], false),
            "dependency 'flux-system/base' is not ready"
        );
        let mut unseen = object("base", json!({}), Some("main@sha1:2"));
        unseen.metadata.generation = Some(2);
        assert_eq!(
            told(&[app(), unseen], false),
            "dependency 'flux-system/base' is not ready"
        );
        let old = object("base", json!({}), Some("main@sha1:1"));
        assert_eq!(
            told(&[app(), old], false),
            "dependency 'flux-system/base' revision is not up to date"
        );
        let other = json!({"sourceRef": {"kind": "GitRepository", "name": "app", "namespace": "other"}});
        assert_eq!(
            told(&[app(), object("base", other, Some("main@sha1:1"))], false),
            ""
        );
        assert_eq!(
            told(&[app(), object("base", json!({}), Some("main@sha1:2"))], false),
            ""
        );
    }

    /// HL11: an expression takes the place of the check, unless the gate makes it one more.
    #[test]
    fn an_expression_is_asked_in_place_of_the_check_or_besides_it() {
        let app = |text: &str| object("app", depends(json!({"name": "base", "readyExpr": text})), None);
        let base = || object("base", json!({}), None);
        let differs = "self.metadata.labels.app != dep.metadata.labels.app";
        assert_eq!(told(&[app(differs), base()], false), "");
        assert_eq!(
            told(&[app(differs), base()], true),
            "dependency 'flux-system/base' is not ready"
        );
        assert_eq!(
            told(&[app("dep.metadata.name == 'x'"), base()], false),
            "dependency 'flux-system/base' is not ready according to readyExpr eval"
        );
        let broken = told(&[app("dep."), base()], false);
        assert!(
            broken.starts_with("failed to evaluate dependency base: failed to parse"),
            "{broken}"
        );
    }

    #[test]
    fn an_object_with_too_many_expressions_stalls() {
        let one = |at: usize| json!({"name": format!("base-{at}"), "readyExpr": "true"});
        let on: Vec<_> = (0..201).map(one).collect();
        let app = object("app", json!({ "dependsOn": on }), None);
        let unmet = check(&app, "main@sha1:2", false, |_| None).unwrap_err();
        assert!(unmet.is_final(), "{unmet}");
        assert!(unmet.to_string().contains("has 201 CEL expressions"), "{unmet}");
    }

    #[test]
    fn what_waits_for_itself_is_told_the_way() {
        let on = |name: &str, other: &str| object(name, depends(json!({"name": other})), None);
        assert_eq!(
            told(&[on("a", "b"), on("b", "c"), on("c", "a")], false),
            "dependency cycle: flux-system/a -> flux-system/b -> flux-system/c -> flux-system/a: remove one of them from \
             spec.dependsOn"
        );
        assert!(told(&[on("a", "a")], false).contains("flux-system/a -> flux-system/a"));
        // A cycle that the object is not part of is not its own.
        assert_eq!(
            told(&[on("a", "b"), on("b", "c"), on("c", "b")], false),
            "dependency 'flux-system/b' is not ready"
        );
    }

    /// Each step of the search kept a copy of the whole path to it: 300 objects took 1.5 GB.
    #[test]
    fn a_search_among_many_that_depend_on_each_other_takes_little_memory() {
        let all: Vec<String> = (0..300).map(|at| format!("knot-{at}")).collect();
        let on: Vec<_> = all.iter().map(|name| json!({ "name": name })).collect();
        let mut objects = vec![object("app", depends(json!({"name": "knot-0"})), None)];
        objects.extend(
            all.iter()
                .map(|name| object(name, json!({ "dependsOn": on }), None)),
        );
        let before = peak_kib();
        assert_eq!(
            told(&objects, false),
            "dependency 'flux-system/knot-0' is not ready"
        );
        let grown = peak_kib() - before;
        assert!(grown < 300 << 10, "{grown} KiB");
    }

    /// The most memory that this process has had.
    fn peak_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    #[test]
    fn a_long_cycle_is_named_by_its_ends() {
        let on = |at: usize, other: usize| {
            object(
                &format!("k{at}"),
                depends(json!({"name": format!("k{other}")})),
                None,
            )
        };
        let objects: Vec<_> = (0..500).map(|at| on(at, (at + 1) % 500)).collect();
        let told = told(&objects, false);
        assert!(
            told.starts_with("dependency cycle: flux-system/k0 -> flux-system/k1 -> "),
            "{told}"
        );
        assert!(told.contains(" -> (485 more) -> "), "{told}");
        assert!(
            told.contains("flux-system/k499 -> flux-system/k0: remove"),
            "{told}"
        );
    }
}
