//! What the server adds to workloads.

use conformance::objects::{deployment, pod};
use conformance::{Test, check};
use serde_json::{Value, json};

/// What the server would store.
async fn dry_run(t: &Test, path: &str, object: Value) -> Value {
    t.post(&format!("{path}?dryRun=All"), object).await.code(201)
}

fn never() -> Value {
    json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "app"}]}})
}

check!(a_deployment_is_completed, async |t| {
    let mut object = deployment("a");
    object["spec"].as_object_mut().unwrap().remove("replicas");
    let made = dry_run(t, &t.group("apps/v1", "deployments"), object).await;
    let expected = json!({
        "replicas": 1,
        "selector": {"matchLabels": {"app": "a"}},
        "template": {
            "metadata": {"labels": {"app": "a"}},
            "spec": {
                "containers": [{
                    "name": "c", "image": "app:1", "resources": {}, "imagePullPolicy": "IfNotPresent",
                    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
                }],
                "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
                "securityContext": {}, "schedulerName": "default-scheduler",
            },
        },
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    });
    assert_eq!(made["spec"], expected);
    assert_eq!(made["status"], json!({}));
});

check!(a_stateful_set_is_completed, async |t| {
    let mut object = deployment("a");
    object["kind"] = json!("StatefulSet");
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    object["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "v"}, "spec": claim}]);
    let made = dry_run(t, &t.group("apps/v1", "statefulsets"), object).await;
    let spec = &made["spec"];
    assert_eq!(spec["podManagementPolicy"], "OrderedReady");
    assert_eq!(
        spec["updateStrategy"],
        json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}})
    );
    assert_eq!(
        spec["persistentVolumeClaimRetentionPolicy"],
        json!({"whenDeleted": "Retain", "whenScaled": "Retain"})
    );
    let claim = &spec["volumeClaimTemplates"][0];
    assert_eq!(
        (&claim["kind"], &claim["apiVersion"]),
        (&json!("PersistentVolumeClaim"), &json!("v1"))
    );
    assert_eq!(
        (&claim["spec"]["volumeMode"], &claim["status"]),
        (&json!("Filesystem"), &json!({"phase": "Pending"}))
    );
});

check!(a_daemon_set_is_completed, async |t| {
    let mut object = deployment("a");
    object["kind"] = json!("DaemonSet");
    object["spec"].as_object_mut().unwrap().remove("replicas");
    let made = dry_run(t, &t.group("apps/v1", "daemonsets"), object).await;
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}});
    assert_eq!(made["spec"]["updateStrategy"], strategy);
    assert_eq!(made["spec"]["revisionHistoryLimit"], 10);
});

check!(a_job_gets_a_selector_of_its_own, async |t| {
    let made = dry_run(
        t,
        &t.group("batch/v1", "jobs"),
        json!({"metadata": {"name": "a"}, "spec": {"template": never()}}),
    )
    .await;
    let (spec, uid) = (&made["spec"], &made["metadata"]["uid"]);
    assert_eq!(
        (&spec["parallelism"], &spec["completions"], &spec["backoffLimit"]),
        (&json!(1), &json!(1), &json!(6))
    );
    assert_eq!(
        (&spec["completionMode"], &spec["suspend"]),
        (&json!("NonIndexed"), &json!(false))
    );
    assert_eq!(spec["podReplacementPolicy"], "TerminatingOrFailed");
    assert_eq!(
        spec["selector"],
        json!({"matchLabels": {"batch.kubernetes.io/controller-uid": uid}})
    );
    let labels = json!({
        "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "a",
        "controller-uid": uid, "job-name": "a",
    });
    assert_eq!(spec["template"]["metadata"]["labels"], labels);
});

check!(a_cron_job_is_completed, async |t| {
    let spec = json!({"schedule": "@daily", "jobTemplate": {"spec": {"template": never()}}});
    let made = dry_run(
        t,
        &t.group("batch/v1", "cronjobs"),
        json!({"metadata": {"name": "a"}, "spec": spec}),
    )
    .await;
    let spec = &made["spec"];
    assert_eq!(
        (&spec["concurrencyPolicy"], &spec["suspend"]),
        (&json!("Allow"), &json!(false))
    );
    assert_eq!(
        (
            &spec["successfulJobsHistoryLimit"],
            &spec["failedJobsHistoryLimit"]
        ),
        (&json!(3), &json!(1))
    );
    assert_eq!(
        spec["jobTemplate"]["spec"]["selector"],
        json!(null),
        "the jobs get theirs when they are made"
    );
});

check!(a_pod_gets_a_service_account_and_tolerations, async |t| {
    t.until(&t.core("serviceaccounts/default"), |reply| reply.code == 200)
        .await;
    let mut object = pod("a");
    object["spec"]["containers"][0]["resources"] = json!({"limits": {"cpu": "1"}});
    let made = dry_run(t, &t.core("pods"), object).await;
    let spec = &made["spec"];
    assert_eq!(
        (&spec["serviceAccountName"], &spec["serviceAccount"]),
        (&json!("default"), &json!("default"))
    );
    assert_eq!(
        (&spec["priority"], &spec["enableServiceLinks"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(
        spec["containers"][0]["resources"],
        json!({"limits": {"cpu": "1"}, "requests": {"cpu": "1"}})
    );
    assert_eq!(spec["tolerations"].as_array().unwrap().len(), 2);
    assert_eq!(
        made["status"],
        json!({"phase": "Pending", "qosClass": "Burstable"})
    );
    let mount = &spec["containers"][0]["volumeMounts"][0];
    assert_eq!(
        mount["mountPath"],
        "/var/run/secrets/kubernetes.io/serviceaccount"
    );
    assert!(
        spec["volumes"][0]["name"]
            .as_str()
            .unwrap()
            .starts_with("kube-api-access-")
    );
});

check!(a_pod_of_a_missing_service_account_is_forbidden, async |t| {
    let mut object = pod("a");
    object["spec"]["serviceAccountName"] = json!("nosuch");
    let message = format!(
        "pods \"a\" is forbidden: error looking up service account {}/nosuch: serviceaccount \"nosuch\" not found",
        t.namespace
    );
    t.post(&t.core("pods"), object)
        .await
        .fails(403, "Forbidden", message);
});

check!(the_latest_image_is_pulled_always, async |t| {
    for (image, policy) in [
        ("app", "Always"),
        ("app:latest", "Always"),
        ("app:1", "IfNotPresent"),
    ] {
        let mut object = deployment("a");
        object["spec"]["template"]["spec"]["containers"][0]["image"] = json!(image);
        let made = dry_run(t, &t.group("apps/v1", "deployments"), object).await;
        assert_eq!(
            made["spec"]["template"]["spec"]["containers"][0]["imagePullPolicy"], policy,
            "{image}"
        );
    }
});
