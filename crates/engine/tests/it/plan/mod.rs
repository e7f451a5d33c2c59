//! Plans: what goes in is a few objects, what comes out is read as a sketch of one line for each stage.

mod convergence;
mod deletion;
mod flux;
mod guards;
mod hooks;
mod order;
mod pairing;
mod properties;
mod prune;
mod sharing;
mod strategies;
mod sync_options;
mod values;
mod waves;

use std::sync::Arc;

use engine::plan::{
    Candidate, Desired, Found, Input, Live, Observed, Plan, Refusal, Step, Strategy, Until, When, plan,
    prepare,
};
use model::inventory::{Entry, Id};
use model::{ObjectKey, Value, value};

/// An object of the kind: `apps/v1 Deployment shop/web`, without a slash in no namespace.
pub(crate) fn object(text: &str) -> Value {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [api_version, kind, name] = words[..] else {
        panic!("{text:?} must be: apiVersion Kind namespace/name");
    };
    let (namespace, name) = name.split_once('/').unwrap_or(("", name));
    let mut object = value!({ "apiVersion": (api_version), "kind": (kind), "metadata": { "name": (name) } });
    if !namespace.is_empty() {
        object.set_at(&["metadata", "namespace"], namespace);
    }
    object
}

/// The object with an annotation.
pub(crate) fn annotated(text: &str, key: &str, value: &str) -> Value {
    let mut object = object(text);
    object.set_at(&["metadata", "annotations", key], value);
    object
}

/// The definition of `Widget` in `example.com`.
pub(crate) fn widget_definition() -> Value {
    let mut object = object("apiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com");
    object.set_at(
        &["spec"],
        value!({ "group": "example.com", "names": { "kind": "Widget" } }),
    );
    object
}

/// The object as the cluster has it, with the owner labels of the unit `shop/apps`.
pub(crate) fn live(object: &Value) -> Live {
    let mut live = Live::of(object);
    live.uid = format!("uid-of-{}", live.key);
    live.resource_version = "7".to_owned();
    let labels = [("name", "apps"), ("namespace", "shop")];
    for (name, value) in labels {
        let key = format!("kustomize.toolkit.fluxcd.io/{name}");
        live.labels.entry(key).or_insert_with(|| value.to_owned());
    }
    live
}

pub(crate) fn key(text: &str) -> ObjectKey {
    ObjectKey::of(&object(text))
}

pub(crate) fn desired(object: Value) -> Desired {
    let namespaced = !object.str_at(&["metadata", "namespace"]).is_empty();
    Desired::of(Arc::new(object)).namespaced(namespaced)
}

pub(crate) fn missing(text: &str) -> Desired {
    desired(object(text))
}

pub(crate) fn unchanged(object: Value) -> Desired {
    let live = live(&object);
    desired(object).observed(Observed::Unchanged(live))
}

pub(crate) fn drifted(object: Value) -> Desired {
    let live = live(&object);
    let fields = vec![".spec.replicas".to_owned()];
    desired(object).observed(Observed::Drifted { live, fields })
}

pub(crate) fn immutable(object: Value) -> Desired {
    let live = live(&object);
    let error = "dry-run failed (Invalid): field is immutable".to_owned();
    desired(object).observed(Observed::Immutable { live, error })
}

pub(crate) fn kind_missing(text: &str) -> Desired {
    missing(text).observed(Observed::KindMissing {
        error: "dry-run failed: no matches for kind".to_owned(),
    })
}

pub(crate) fn namespace_missing(text: &str) -> Desired {
    missing(text).observed(Observed::NamespaceMissing {
        error: "namespace not found".to_owned(),
    })
}

pub(crate) fn refused(text: &str) -> Desired {
    missing(text).observed(Observed::Failed {
        live: None,
        error: "dry-run failed (Forbidden): no".to_owned(),
    })
}

/// A run of the unit `shop/apps`.
pub(crate) fn input(desired: Vec<Desired>) -> Input {
    Input {
        unit: "shop/apps".to_owned(),
        revision: "main@sha1:0123456789".to_owned(),
        desired,
        ..Input::default()
    }
}

/// Adds objects to what the unit had applied before, and to what is there.
pub(crate) fn was_applied(input: &mut Input, objects: impl IntoIterator<Item = Value>) {
    for object in objects {
        let found = Found::There(Box::new(live(&object)));
        was_found(input, &object, found);
    }
}

pub(crate) fn was_found(input: &mut Input, object: &Value, found: Found) {
    let key = ObjectKey::of(object);
    let api_version = object.str_at(&["apiVersion"]).to_owned();
    input.previous.entries.push(Entry {
        id: Id(key.clone()),
        version: "v1".to_owned(),
    });
    input.candidates.push(Candidate {
        key,
        api_version,
        found,
    });
}

pub(crate) fn flux() -> Strategy {
    Strategy::flux("apps", "shop")
}

pub(crate) fn waves() -> Strategy {
    Strategy::flux_with_waves("apps", "shop")
}

/// The plan of prepared objects, which must not be refused.
pub(crate) fn planned(input: &Input, strategy: &Strategy) -> Plan {
    plan(&prepared(input, strategy), strategy).unwrap().0
}

pub(crate) fn refusals(input: &Input, strategy: &Strategy) -> Vec<Refusal> {
    plan(&prepared(input, strategy), strategy).unwrap_err()
}

fn prepared(input: &Input, strategy: &Strategy) -> Input {
    let mut input = input.clone();
    input.desired = prepare(input.desired, strategy, &input.options, &input.revision);
    input
}

pub(crate) fn step<'a>(plan: &'a Plan, name: &str) -> &'a Step {
    let found = plan.steps().find(|step| step.key.to_string() == name);
    found.unwrap_or_else(|| panic!("{name} is not in the plan:\n{plan}"))
}

/// Each stage on a line: its name, signs and objects, a bar between batches, and what is waited for.
pub(crate) fn sketch(plan: &Plan) -> Vec<String> {
    let stages = plan.stages.iter();
    stages
        .map(|stage| {
            let mut line = stage.name.clone();
            match stage.when {
                When::Success => {}
                when => line += &format!(" [{when:?}]"),
            }
            line.push(':');
            let mut batch = 0;
            for step in &stage.steps {
                if step.batch != batch {
                    line += " |";
                    batch = step.batch;
                }
                line += &format!(" {}{}", step.action.sign(), step.key);
            }
            if let Some(wait) = &stage.wait {
                let objects = wait.objects.iter();
                let names = objects.map(|object| match object.until {
                    Until::Healthy => object.key.to_string(),
                    until => format!("{} {until:?}", object.key),
                });
                line += &format!(" ⏳ {}", names.collect::<Vec<_>>().join(", "));
            }
            line
        })
        .collect()
}

/// Compares a plan with its expected sketch.
#[track_caller]
pub(crate) fn assert_sketch(plan: &Plan, expected: &[&str]) {
    assert_eq!(sketch(plan), expected, "\n{plan}");
}
