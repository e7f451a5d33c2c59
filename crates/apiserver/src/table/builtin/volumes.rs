//! Volumes, claims and what provides them.

use model::Value;

use crate::table::cell::{self, NONE, UNSET};
use crate::table::column::{AGE, Layout, NAME, flag, name, number, text, wide};

pub(super) const PERSISTENT_VOLUMES: Layout = Layout {
    columns: &[
        NAME,
        text("Capacity"),
        text("Access Modes"),
        text("Reclaim Policy"),
        text("Status"),
        text("Claim"),
        text("StorageClass"),
        text("VolumeAttributesClass"),
        text("Reason"),
        AGE,
        wide("VolumeMode"),
    ],
    cells: |object, now| {
        let claim = object.at(&["spec", "claimRef"]).map_or(String::new(), |claim| {
            format!("{}/{}", claim.str_at(&["namespace"]), claim.str_at(&["name"]))
        });
        vec![
            cell::name(object),
            Value::from(cell::quantity(object.at(&["spec", "capacity", "storage"]), "0")),
            access_modes(object.list_at(&["spec", "accessModes"])),
            cell::text(object, &["spec", "persistentVolumeReclaimPolicy"]),
            phase(object),
            Value::from(claim),
            storage_class(object),
            cell::text_or(object, &["spec", "volumeAttributesClassName"], UNSET),
            cell::text(object, &["status", "reason"]),
            cell::age(object, now),
            cell::text_or(object, &["spec", "volumeMode"], UNSET),
        ]
    },
};

pub(super) const PERSISTENT_VOLUME_CLAIMS: Layout = Layout {
    columns: &[
        NAME,
        text("Status"),
        text("Volume"),
        text("Capacity"),
        text("Access Modes"),
        text("StorageClass"),
        text("VolumeAttributesClass"),
        AGE,
        wide("VolumeMode"),
    ],
    cells: |object, now| {
        let (mut capacity, mut modes) = (String::new(), Value::str(""));
        if !object.str_at(&["spec", "volumeName"]).is_empty() {
            capacity = cell::quantity(object.at(&["status", "capacity", "storage"]), "0");
            modes = access_modes(object.list_at(&["status", "accessModes"]));
        }
        vec![
            cell::name(object),
            phase(object),
            cell::text(object, &["spec", "volumeName"]),
            Value::from(capacity),
            modes,
            storage_class(object),
            cell::text_or(object, &["spec", "volumeAttributesClassName"], UNSET),
            cell::age(object, now),
            cell::text_or(object, &["spec", "volumeMode"], UNSET),
        ]
    },
};

pub(super) const STORAGE_CLASSES: Layout = Layout {
    columns: &[
        NAME,
        text("Provisioner"),
        text("ReclaimPolicy"),
        text("VolumeBindingMode"),
        text("AllowVolumeExpansion"),
        AGE,
    ],
    cells: |object, now| {
        let is_default = ["storageclass.kubernetes.io", "storageclass.beta.kubernetes.io"]
            .iter()
            .any(|prefix| {
                object.str_at(&["metadata", "annotations", &format!("{prefix}/is-default-class")]) == "true"
            });
        let name = object.str_at(&["metadata", "name"]);
        vec![
            if is_default {
                Value::from(format!("{name} (default)"))
            } else {
                Value::str(name)
            },
            cell::text(object, &["provisioner"]),
            cell::text_or(object, &["reclaimPolicy"], "Delete"),
            cell::text_or(object, &["volumeBindingMode"], "Immediate"),
            cell::flag_or(object, &["allowVolumeExpansion"], false),
            cell::age(object, now),
        ]
    },
};

pub(super) const VOLUME_ATTACHMENTS: Layout = Layout {
    columns: &[
        NAME,
        name("Attacher"),
        text("PV"),
        text("Node"),
        flag("Attached"),
        AGE,
    ],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::text(object, &["spec", "attacher"]),
            cell::text(object, &["spec", "source", "persistentVolumeName"]),
            cell::text(object, &["spec", "nodeName"]),
            cell::flag_or(object, &["status", "attached"], false),
            cell::age(object, now),
        ]
    },
};

pub(super) const CSI_DRIVERS: Layout = Layout {
    columns: &[
        NAME,
        flag("AttachRequired"),
        flag("PodInfoOnMount"),
        flag("StorageCapacity"),
        text("TokenRequests"),
        flag("RequiresRepublish"),
        text("Modes"),
        AGE,
    ],
    cells: |object, now| {
        let tokens = object
            .at(&["spec", "tokenRequests"])
            .and_then(Value::as_array)
            .map(|requests| {
                requests
                    .iter()
                    .map(|request| request.str_at(&["audience"]))
                    .collect::<Vec<_>>()
                    .join(",")
            });
        let modes = cell::joined(object, &["spec", "volumeLifecycleModes"], ",");
        vec![
            cell::name(object),
            cell::flag_or(object, &["spec", "attachRequired"], true),
            cell::flag_or(object, &["spec", "podInfoOnMount"], false),
            cell::flag_or(object, &["spec", "storageCapacity"], false),
            Value::from(tokens.unwrap_or(UNSET.to_owned())),
            cell::flag_or(object, &["spec", "requiresRepublish"], false),
            Value::from(if modes.is_empty() { NONE.to_owned() } else { modes }),
            cell::age(object, now),
        ]
    },
};

pub(super) const CSI_NODES: Layout = Layout {
    columns: &[NAME, number("Drivers"), AGE],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::len(object, &["spec", "drivers"]),
            cell::age(object, now),
        ]
    },
};

pub(super) const VOLUME_ATTRIBUTES_CLASSES: Layout = Layout {
    columns: &[NAME, text("DriverName"), AGE],
    cells: |object, now| {
        vec![
            cell::name(object),
            cell::text(object, &["driverName"]),
            cell::age(object, now),
        ]
    },
};

fn phase(object: &Value) -> Value {
    match cell::is_deleted(object) {
        true => Value::str("Terminating"),
        false => cell::text(object, &["status", "phase"]),
    }
}

/// The class, which an annotation named before there was a field.
fn storage_class(object: &Value) -> Value {
    let annotated = object.at(&[
        "metadata",
        "annotations",
        "volume.beta.kubernetes.io/storage-class",
    ]);
    match annotated.and_then(Value::as_str) {
        Some(class) => Value::str(class),
        None => cell::text(object, &["spec", "storageClassName"]),
    }
}

fn access_modes(modes: &[Value]) -> Value {
    let known = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let has = |mode: &str| modes.iter().any(|given| given.as_str() == Some(mode));
    let short: Vec<&str> = known
        .into_iter()
        .filter(|(mode, _)| has(mode))
        .map(|(_, short)| short)
        .collect();
    Value::from(short.join(","))
}
