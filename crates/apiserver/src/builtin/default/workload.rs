//! What keeps pods running.

use model::{Map, Value};

use super::{Fields, pod, storage};

pub(super) fn deployment(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("replicas", 1);
        spec.within("strategy", |strategy| {
            strategy.default("type", "RollingUpdate");
            if strategy.text("type") == "RollingUpdate" {
                let rolling = strategy.make("rollingUpdate");
                rolling.default("maxUnavailable", "25%");
                rolling.default("maxSurge", "25%");
            }
        });
        spec.default("revisionHistoryLimit", 10);
        spec.default("progressDeadlineSeconds", 600);
        pod::holder(spec);
    });
}

pub(super) fn replica_set(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("replicas", 1);
        pod::holder(spec);
    });
}

pub(super) fn daemon_set(object: &mut Map) {
    object.within("spec", |spec| {
        spec.within("updateStrategy", |strategy| {
            strategy.default("type", "RollingUpdate");
            if strategy.text("type") == "RollingUpdate" {
                let rolling = strategy.make("rollingUpdate");
                rolling.default("maxUnavailable", 1);
                rolling.default("maxSurge", 0);
            }
        });
        spec.default("revisionHistoryLimit", 10);
        pod::holder(spec);
    });
}

pub(super) fn stateful_set(object: &mut Map) {
    object.within("spec", |spec| {
        spec.default("podManagementPolicy", "OrderedReady");
        spec.within("updateStrategy", |strategy| {
            if strategy.text("type").is_empty() {
                strategy.insert("type", "RollingUpdate");
                strategy.make("rollingUpdate");
            }
            if strategy.text("type") == "RollingUpdate" {
                strategy.within("rollingUpdate", |rolling| {
                    rolling.default("partition", 0);
                });
            }
        });
        let retention = spec.make("persistentVolumeClaimRetentionPolicy");
        retention.default("whenDeleted", "Retain");
        retention.default("whenScaled", "Retain");
        spec.default("replicas", 1);
        spec.default("revisionHistoryLimit", 10);
        spec.each("volumeClaimTemplates", |claim| {
            claim.insert("apiVersion", "v1");
            claim.insert("kind", "PersistentVolumeClaim");
            storage::claim(claim);
        });
        pod::holder(spec);
    });
}

pub(super) fn replication_controller(object: &mut Map) {
    let labels = object
        .get("spec")
        .and_then(|spec| spec.at(&["template", "metadata", "labels"]))
        .cloned();
    if let Some(labels @ Value::Object(_)) = labels {
        object.make("metadata").default("labels", labels.clone());
        object.make("spec").default("selector", labels);
    }
    object.within("spec", |spec| {
        spec.default("replicas", 1);
        pod::holder(spec);
    });
}
