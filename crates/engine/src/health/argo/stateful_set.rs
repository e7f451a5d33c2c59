//! StatefulSets: all replicas are ready, and of the newest revision down to the partition.

use model::Health;

use super::super::object::{Object, healthy, progressing};
use super::is_behind;

pub(super) fn assess(object: Object<'_>) -> Health {
    if object.int_or(&["status", "observedGeneration"], 0) == 0 || is_behind(object) {
        return progressing("the newest version was not observed yet");
    }
    let status = |name: &str| object.int_or(&["status", name], 0);
    let wanted = object.int_or(&["spec", "replicas"], 0);
    let (ready, updated) = (status("readyReplicas"), status("updatedReplicas"));
    if ready < wanted {
        return progressing(format!("{} replicas are not ready", wanted.saturating_sub(ready)));
    }
    let strategy = object.text(&["spec", "updateStrategy", "type"]);
    let rolling = object.0.at(&["spec", "updateStrategy", "rollingUpdate"]);
    if let ("RollingUpdate", Some(rolling)) = (strategy, rolling.filter(|rolling| !rolling.is_null())) {
        let partition = rolling.get("partition").and_then(model::Value::as_i64);
        let due = partition.map_or(0, |partition| wanted.saturating_sub(partition));
        return match updated < due {
            true => progressing(format!(
                "{updated} of {due} replicas above the partition are updated"
            )),
            false => healthy(format!("{updated} replicas above the partition are updated")),
        };
    }
    if strategy == "OnDelete" {
        return healthy(format!("{ready} replicas are ready"));
    }
    let revision = object.text(&["status", "updateRevision"]);
    match revision == object.text(&["status", "currentRevision"]) {
        true => healthy(format!(
            "{} replicas are at revision {revision}",
            status("currentReplicas")
        )),
        false => progressing(format!("{updated} replicas are at revision {revision}")),
    }
}
