//! Volumes of pods.

use model::{Map, Value};

use super::container::field_ref;
use super::image::pull_policy;
use super::{Fields, storage};

/// The defaults of a volume, which is an empty directory if nothing else.
pub(super) fn volume(volume: &mut Map) {
    if volume.keys().all(|key| key == "name") {
        volume.insert("emptyDir", Value::object());
        return;
    }
    for key in ["secret", "configMap", "downwardAPI", "projected"] {
        // 0644
        volume.within(key, |source| source.default("defaultMode", 420));
    }
    volume.within("downwardAPI", downward_items);
    volume.within("projected", |projected| projected.each("sources", projection));
    volume.within("hostPath", |path| path.default("type", ""));
    volume.within("image", |image| {
        let policy = pull_policy(image.text("reference"));
        image.default("pullPolicy", policy);
    });
    volume.within("ephemeral", |ephemeral| {
        ephemeral.within("volumeClaimTemplate", |template| {
            template.within("spec", storage::claim_spec)
        });
    });
    network_source(volume);
}

/// The defaults of volumes that stand in pods and in persistent volumes alike.
pub(super) fn network_source(source: &mut Map) {
    source.within("iscsi", |iscsi| iscsi.default("iscsiInterface", "default"));
    source.within("rbd", |rbd| {
        rbd.default("pool", "rbd");
        rbd.default("user", "admin");
        rbd.default("keyring", "/etc/ceph/keyring");
    });
    source.within("azureDisk", |disk| {
        disk.default("cachingMode", "ReadWrite");
        disk.default("fsType", "ext4");
        disk.default("readOnly", false);
        disk.default("kind", "Shared");
    });
    source.within("scaleIO", |scale_io| {
        scale_io.default("storageMode", "ThinProvisioned");
        scale_io.default("fsType", "xfs");
    });
}

fn projection(source: &mut Map) {
    source.within("downwardAPI", downward_items);
    source.within("serviceAccountToken", |token| {
        token.default("expirationSeconds", 3600)
    });
}

fn downward_items(source: &mut Map) {
    source.each("items", |item| item.within("fieldRef", field_ref));
}
