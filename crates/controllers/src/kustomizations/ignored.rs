//! The ignore rules of Kustomizations, read once for each generation. Reading takes time: it waits for its turn like evaluations.

use api::kustomize::{Kustomization, KustomizationSpec};
use engine::diff::IgnoreRules;
use engine::health::Evaluations;
use kube::ResourceExt;

use super::memory::Memory;
use super::unit;
use crate::kit::chain;

/// The rules of one generation of an object.
#[derive(Clone, Debug)]
pub(super) struct Ignored {
    generation: Option<i64>,
    rules: Result<IgnoreRules, String>,
}

/// Returns the rules of an object, if they were read.
pub(super) fn known(memory: &Memory, object: &Kustomization) -> Option<Result<IgnoreRules, String>> {
    if object.spec.ignore.is_empty() {
        return Some(Ok(IgnoreRules::default()));
    }
    let uid = object.metadata.uid.as_deref();
    memory.change(&unit::id(object), uid, |unit| {
        let ignored = unit.ignored.as_ref()?;
        (ignored.generation == object.metadata.generation).then(|| ignored.rules.clone())
    })
}

/// Returns the rules of an object.
///
/// # Errors
/// What is wrong with them.
pub(super) async fn read(
    memory: &Memory,
    evaluations: &Evaluations,
    object: &Kustomization,
) -> Result<IgnoreRules, String> {
    if let Some(rules) = known(memory, object) {
        return rules;
    }
    let tenant = object.namespace().unwrap_or_default();
    let rules = evaluations.run(&tenant, || of(&object.spec)).await;
    let ignored = Ignored {
        generation: object.metadata.generation,
        rules: rules.clone(),
    };
    let uid = object.metadata.uid.as_deref();
    memory.change(&unit::id(object), uid, |unit| unit.ignored = Some(ignored));
    rules
}

/// Reads the rules of a spec.
///
/// # Errors
/// What is wrong with them, and where.
pub(super) fn of(spec: &KustomizationSpec) -> Result<IgnoreRules, String> {
    unit::ignored(spec).map_err(|problem| match problem.is_limit() {
        true => format!("spec.ignore: {problem}"),
        false => chain(&problem),
    })
}

#[cfg(test)]
mod tests {
    use super::super::beyond::tests::annotated;
    use super::*;

    fn object(name: &str, generation: i64) -> Kustomization {
        let mut object = annotated(&[]);
        let rule = serde_json::json!({"paths": ["/spec"], "target": {"name": name}});
        object.spec.ignore = serde_json::from_value(serde_json::json!([rule])).unwrap();
        object.metadata.generation = Some(generation);
        object
    }

    #[tokio::test]
    async fn rules_are_read_once_for_each_generation() {
        let (memory, evaluations) = (Memory::default(), Evaluations::default());
        let first = object("app-.*", 1);
        assert!(known(&memory, &first).is_none());
        let rules = read(&memory, &evaluations, &first).await.unwrap();
        assert_eq!(known(&memory, &first).unwrap().unwrap(), rules);
        let broken = object("app-[", 2);
        assert!(known(&memory, &broken).is_none());
        let problem = read(&memory, &evaluations, &broken).await.unwrap_err();
        assert!(problem.contains("no regular expression"), "{problem}");
        assert_eq!(known(&memory, &broken).unwrap(), Err(problem));
    }
}
