//! Tells the cluster which kinds come and go with a stage.

use crate::cluster::Cluster;
use crate::plan::{Action, Objects, Stage};

/// Kinds that a stage has defined are served in a moment, if not yet: what comes next may need them.
pub(super) fn announce(stage: &Stage, objects: &Objects, cluster: &Cluster) {
    for step in stage.steps.iter().filter(|step| step.action.applies()) {
        let object = step.object.as_ref().and_then(|object| objects.get(object));
        let Some(object) = object else { continue };
        let group = object.str_at(&["spec", "group"]);
        match &*step.key.kind {
            "CustomResourceDefinition" => {
                let kind = object.str_at(&["spec", "names", "kind"]);
                cluster.expect(&step.key.name, group, Some(kind));
            }
            "APIService" => cluster.expect(&step.key.name, group, None),
            _ => {}
        }
    }
}

/// Kinds whose definitions a stage deletes are not waited for, also if they were defined just now.
pub(super) fn retract(stage: &Stage, cluster: &Cluster) {
    let pruned = stage
        .steps
        .iter()
        .filter(|step| matches!(step.action, Action::Prune { .. }));
    for step in pruned {
        if matches!(&*step.key.kind, "CustomResourceDefinition" | "APIService") {
            cluster.expect_no_more(&step.key.name);
        }
    }
}
