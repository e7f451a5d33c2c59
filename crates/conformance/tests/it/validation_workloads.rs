//! What is said to workloads that cannot be.

use conformance::objects::{deployment, pod};
use conformance::{Test, check};
use serde_json::{Value, json};

/// The server refuses the object as invalid, with that message.
async fn invalid(t: &Test, path: &str, object: Value, message: &str) {
    t.post(path, object).await.fails(422, "Invalid", message);
}

/// A Deployment whose one container has these fields too.
async fn invalid_container(t: &Test, fields: Value, message: &str) {
    let mut object = deployment("a");
    let container = object["spec"]["template"]["spec"]["containers"][0]
        .as_object_mut()
        .unwrap();
    container.extend(fields.as_object().unwrap().clone());
    let prefix = r#"Deployment.apps "a" is invalid: spec.template.spec.containers[0]."#;
    invalid(
        t,
        &t.group("apps/v1", "deployments"),
        object,
        &format!("{prefix}{message}"),
    )
    .await;
}

async fn invalid_deployment(t: &Test, change: impl FnOnce(&mut Value), message: &str) {
    let mut object = deployment("a");
    change(&mut object);
    let message = format!(r#"Deployment.apps "a" is invalid: {message}"#);
    invalid(t, &t.group("apps/v1", "deployments"), object, &message).await;
}

check!(a_selector_has_to_match_the_template, async |t| {
    let message = "spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: `selector` does not match template `labels`";
    invalid_deployment(
        t,
        |object| object["spec"]["selector"]["matchLabels"] = json!({"app": "b"}),
        message,
    )
    .await;
});

check!(a_deployment_needs_a_selector, async |t| {
    let message = "[spec.selector: Required value, spec.template.metadata.labels: Invalid value: {\"app\":\"a\"}: \
        `selector` does not match template `labels`]";
    invalid_deployment(t, |object| object["spec"]["selector"] = json!(null), message).await;
});

check!(a_template_needs_a_container, async |t| {
    let message = "spec.template.spec.containers: Required value";
    invalid_deployment(
        t,
        |object| object["spec"]["template"]["spec"]["containers"] = json!([]),
        message,
    )
    .await;
});

check!(a_deployment_restarts_its_pods_always, async |t| {
    let message =
        r#"spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always""#;
    invalid_deployment(
        t,
        |object| object["spec"]["template"]["spec"]["restartPolicy"] = json!("Never"),
        message,
    )
    .await;
});

check!(a_strategy_has_only_its_own_fields, async |t| {
    let message =
        "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'";
    let strategy = json!({"type": "Recreate", "rollingUpdate": {"maxSurge": 1}});
    invalid_deployment(t, |object| object["spec"]["strategy"] = strategy, message).await;
});

check!(labels_have_valid_keys_and_values, async |t| {
    let message = "[metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', \
        and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for \
        validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), metadata.labels: Invalid value: \"c d\": a valid label must \
        be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
        alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
        '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]";
    invalid_deployment(
        t,
        |object| object["metadata"]["labels"] = json!({"a b": "c d"}),
        message,
    )
    .await;
});

check!(a_container_needs_a_valid_name_and_an_image, async |t| {
    let message = "[spec.template.spec.containers[0].name: Invalid value: \"A_b\": a lowercase RFC 1123 label must consist of \
        lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  \
        or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?'), \
        spec.template.spec.containers[0].image: Required value]";
    let containers = json!([{"name": "A_b"}]);
    invalid_deployment(
        t,
        |object| object["spec"]["template"]["spec"]["containers"] = containers,
        message,
    )
    .await;
});

check!(containers_have_different_names, async |t| {
    let message = r#"spec.template.spec.containers[1].name: Duplicate value: "c""#;
    let containers = json!([{"name": "c", "image": "a"}, {"name": "c", "image": "b"}]);
    invalid_deployment(
        t,
        |object| object["spec"]["template"]["spec"]["containers"] = containers,
        message,
    )
    .await;
});

check!(a_quantity_has_a_form, async |t| {
    let mut object = deployment("a");
    object["spec"]["template"]["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": "lots"}});
    let message = "Deployment in version \"v1\" cannot be handled as a Deployment: quantities must match the regular \
        expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    t.post(&t.group("apps/v1", "deployments"), object)
        .await
        .fails(400, "BadRequest", message);
});

check!(a_request_is_not_above_its_limit, async |t| {
    let fields = json!({"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}});
    let message = r#"resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1"#;
    invalid_container(t, fields, message).await;
});

check!(a_port_is_a_port, async |t| {
    let message = "ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive";
    invalid_container(t, json!({"ports": [{"containerPort": 70000}]}), message).await;
});

check!(a_pull_policy_is_one_of_three, async |t| {
    let message = concat!(
        r#"imagePullPolicy: Unsupported value: "Sometimes": "#,
        r#"supported values: "Always", "IfNotPresent", "Never""#
    );
    invalid_container(t, json!({"imagePullPolicy": "Sometimes"}), message).await;
});

check!(a_mounted_volume_exists, async |t| {
    let message = r#"volumeMounts[0].name: Not found: "v""#;
    invalid_container(
        t,
        json!({"volumeMounts": [{"name": "v", "mountPath": "/x"}]}),
        message,
    )
    .await;
});

check!(an_environment_variable_has_a_name_and_one_source, async |t| {
    invalid_container(t, json!({"env": [{"name": ""}]}), "env[0].name: Required value").await;
    let both =
        json!([{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]);
    let message = "env[0].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty";
    invalid_container(t, json!({"env": both}), message).await;
});

check!(a_probe_names_a_port, async |t| {
    let probe = json!({"livenessProbe": {"httpGet": {"path": "/", "port": "x y"}}});
    let message = "livenessProbe.httpGet.port: Invalid value: \"x y\": must contain only alpha-numeric characters (a-z, 0-9), \
        and hyphens (-)";
    invalid_container(t, probe, message).await;
});

check!(a_pod_needs_a_container, async |t| {
    let mut object = pod("a");
    object["spec"] = json!({});
    invalid(
        t,
        &t.core("pods"),
        object,
        r#"Pod "a" is invalid: spec.containers: Required value"#,
    )
    .await;
});

check!(a_job_needs_a_restart_policy, async |t| {
    let template = json!({"spec": {"containers": [{"name": "c", "image": "x"}]}});
    let object = json!({"metadata": {"name": "a"}, "spec": {"template": template}});
    let message = concat!(
        r#"Job.batch "a" is invalid: spec.template.spec.restartPolicy: Required value: "#,
        r#"valid values: "OnFailure", "Never""#
    );
    invalid(t, &t.group("batch/v1", "jobs"), object, message).await;
});

check!(a_cron_job_needs_a_schedule, async |t| {
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}});
    let job = json!({"spec": {"template": template}});
    let object = json!({"metadata": {"name": "a"}, "spec": {"schedule": "often", "jobTemplate": job}});
    let message = concat!(
        r#"CronJob.batch "a" is invalid: spec.schedule: Invalid value: "often": "#,
        "expected exactly 5 fields, found 1: [often]"
    );
    invalid(t, &t.group("batch/v1", "cronjobs"), object, message).await;
});

check!(a_stateful_set_has_one_of_two_policies, async |t| {
    let mut object = deployment("a");
    object["kind"] = json!("StatefulSet");
    object["spec"]["podManagementPolicy"] = json!("Odd");
    let message = concat!(
        r#"StatefulSet.apps "a" is invalid: spec.podManagementPolicy: Invalid value: "Odd": "#,
        "must be 'OrderedReady' or 'Parallel'"
    );
    invalid(t, &t.group("apps/v1", "statefulsets"), object, message).await;
});
