//! Volume claims and volumes.

use apiserver::simulator::ANNOTATION;
use model::{Value, value};

use super::{Cluster, PODS, template};

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const DATA: &str = "/api/v1/namespaces/default/persistentvolumeclaims/data";
const VOLUMES: &str = "/api/v1/persistentvolumes";

fn claim(class: Option<&str>) -> Value {
    let mut claim = value!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}},
    });
    if let Some(class) = class {
        claim.set_at(&["spec", "storageClassName"], class);
    }
    claim
}

fn volume(name: &str, size: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
            "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/data"},
        },
    })
}

fn phase(object: &Value) -> &str {
    object.str_at(&["status", "phase"])
}

#[tokio::test(start_paused = true)]
async fn a_claim_gets_a_volume_that_goes_with_it() {
    for class in [None, Some("fast")] {
        let cluster = Cluster::start();
        cluster.create(CLAIMS, claim(class)).await;
        let data = cluster.until(DATA, |claim| phase(claim) == "Bound").await;
        let name = format!("pvc-{}", data.str_at(&["metadata", "uid"]));
        assert_eq!(data.str_at(&["spec", "volumeName"]), name);
        assert_eq!(data.str_at(&["status", "capacity", "storage"]), "5Gi");
        let path = format!("{VOLUMES}/{name}");
        let volume = cluster.until(&path, |volume| phase(volume) == "Bound").await;
        assert_eq!(volume.str_at(&["spec", "storageClassName"]), class.unwrap_or(""));
        assert_eq!(volume.str_at(&["spec", "claimRef", "name"]), "data");
        cluster.delete(DATA).await;
        cluster.pass(1.0).await;
        assert!(cluster.find(DATA).await.is_none());
        assert!(cluster.list(VOLUMES).await.is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_is_used_stays_until_it_is_not() {
    let cluster = Cluster::start();
    cluster.create(CLAIMS, claim(None)).await;
    let mut pod = template("one", "app:1");
    pod.set_at(&["metadata", "name"], "one");
    let volume = value!({"name": "data", "persistentVolumeClaim": {"claimName": "data"}});
    pod.set_at(&["spec", "volumes"], vec![volume]);
    cluster.create(PODS, pod).await;
    cluster.pass(2.0).await;
    cluster.delete(DATA).await;
    cluster.pass(5.0).await;
    let data = cluster.get(DATA).await;
    assert!(data.at(&["metadata", "deletionTimestamp"]).is_some());
    cluster.delete(&format!("{PODS}/one")).await;
    cluster.pass(1.0).await;
    assert!(cluster.find(DATA).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_smallest_volume_that_suits_is_taken_and_kept() {
    let cluster = Cluster::start();
    for (name, size) in [("small", "1Gi"), ("large", "50Gi"), ("fitting", "6000Mi")] {
        cluster.create(VOLUMES, volume(name, size)).await;
    }
    cluster.pass(1.0).await;
    assert_eq!(
        phase(&cluster.get(&format!("{VOLUMES}/small")).await),
        "Available"
    );
    cluster.create(CLAIMS, claim(Some(""))).await;
    let data = cluster.until(DATA, |claim| phase(claim) == "Bound").await;
    assert_eq!(data.str_at(&["spec", "volumeName"]), "fitting");
    let path = format!("{VOLUMES}/fitting");
    cluster.until(&path, |volume| phase(volume) == "Bound").await;
    cluster.delete(DATA).await;
    cluster.until(&path, |volume| phase(volume) == "Released").await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_without_a_class_waits_for_a_volume() {
    let cluster = Cluster::start();
    cluster.create(CLAIMS, claim(Some(""))).await;
    cluster.pass(30.0).await;
    assert_eq!(phase(&cluster.get(DATA).await), "Pending");
    assert_eq!(
        cluster.events("FailedBinding").await,
        ["no persistent volumes available for this claim and no storage class is set"]
    );
    let mut reserved = volume("mine", "5Gi");
    reserved.set_at(
        &["spec", "claimRef"],
        value!({"namespace": "default", "name": "data"}),
    );
    cluster.create(VOLUMES, reserved).await;
    let data = cluster.until(DATA, |claim| phase(claim) == "Bound").await;
    assert_eq!(data.str_at(&["spec", "volumeName"]), "mine");
}

#[tokio::test(start_paused = true)]
async fn a_class_can_make_claims_wait_for_a_pod() {
    let cluster = Cluster::start();
    let class = value!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "late"},
        "provisioner": "example.org/disk", "volumeBindingMode": "WaitForFirstConsumer",
    });
    cluster
        .create("/apis/storage.k8s.io/v1/storageclasses", class)
        .await;
    cluster.create(CLAIMS, claim(Some("late"))).await;
    cluster.pass(10.0).await;
    assert_eq!(phase(&cluster.get(DATA).await), "Pending");
    let mut pod = template("one", "app:1");
    pod.set_at(&["metadata", "name"], "one");
    let volume = value!({"name": "data", "persistentVolumeClaim": {"claimName": "data"}});
    pod.set_at(&["spec", "volumes"], vec![volume]);
    cluster.create(PODS, pod).await;
    cluster.until(DATA, |claim| phase(claim) == "Bound").await;
    cluster.until(&format!("{PODS}/one"), super::is_ready).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_can_be_told_to_fail_and_to_grow() {
    let cluster = Cluster::start();
    let mut data = claim(None);
    let annotations = value!({ANNOTATION: "never-ready"});
    data.set_at(&["metadata", "annotations"], annotations);
    cluster.create(CLAIMS, data).await;
    cluster.pass(10.0).await;
    assert_eq!(phase(&cluster.get(DATA).await), "Pending");
    assert_eq!(cluster.events("ProvisioningFailed").await.len(), 1);
    let odd = value!({"metadata": {"annotations": {ANNOTATION: "bogus"}}});
    cluster.patch(DATA, odd).await;
    cluster.pass(10.0).await;
    assert_eq!(phase(&cluster.get(DATA).await), "Pending");
    assert_eq!(cluster.events("UnknownOutcome").await.len(), 1);
    let clear = value!({"metadata": {"annotations": {ANNOTATION: null}}});
    cluster.patch(DATA, clear).await;
    cluster.until(DATA, |claim| phase(claim) == "Bound").await;
    let larger = value!({"spec": {"resources": {"requests": {"storage": "8Gi"}}}});
    cluster.patch(DATA, larger).await;
    cluster
        .until(DATA, |claim| {
            claim.str_at(&["status", "capacity", "storage"]) == "8Gi"
        })
        .await;
}
