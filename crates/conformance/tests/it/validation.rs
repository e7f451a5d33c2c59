//! What is said to other objects that cannot be.

use conformance::objects::config_map;
use conformance::{Test, check};
use serde_json::{Value, json};

/// The server refuses the object as invalid, with that message.
async fn invalid(t: &Test, path: &str, object: Value, message: &str) {
    t.post(path, object).await.fails(422, "Invalid", message);
}

async fn invalid_service(t: &Test, spec: Value, message: &str) {
    let object = json!({"metadata": {"name": "a"}, "spec": spec});
    invalid(
        t,
        &t.core("services"),
        object,
        &format!(r#"Service "a" is invalid: {message}"#),
    )
    .await;
}

async fn invalid_config_map(t: &Test, metadata: Value, message: &str) {
    let mut object = config_map("a");
    object["metadata"]
        .as_object_mut()
        .unwrap()
        .extend(metadata.as_object().unwrap().clone());
    invalid(
        t,
        &t.core("configmaps"),
        object,
        &format!(r#"ConfigMap "a" is invalid: {message}"#),
    )
    .await;
}

check!(a_service_needs_ports, async |t| {
    invalid_service(t, json!({"ports": []}), "spec.ports: Required value").await;
});

check!(a_port_of_a_service_is_a_port, async |t| {
    let message = "[spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive, \
        spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive]";
    invalid_service(t, json!({"ports": [{"port": 0}]}), message).await;
});

check!(several_ports_need_names, async |t| {
    let message = "[spec.ports[0].name: Required value, spec.ports[1].name: Required value]";
    invalid_service(t, json!({"ports": [{"port": 80}, {"port": 81}]}), message).await;
});

check!(a_service_has_one_of_four_types, async |t| {
    let message = concat!(
        r#"spec.type: Unsupported value: "Odd": supported values: "#,
        r#""ClusterIP", "ExternalName", "LoadBalancer", "NodePort""#
    );
    invalid_service(t, json!({"type": "Odd", "ports": [{"port": 80}]}), message).await;
});

check!(an_external_name_is_given, async |t| {
    invalid_service(
        t,
        json!({"type": "ExternalName"}),
        "spec.externalName: Required value",
    )
    .await;
});

check!(a_node_port_is_for_some_types_only, async |t| {
    let message = "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'";
    invalid_service(t, json!({"ports": [{"port": 80, "nodePort": 30000}]}), message).await;
});

check!(the_name_of_a_service_starts_with_a_letter, async |t| {
    let message = "Service \"1a\" is invalid: metadata.name: Invalid value: \"1a\": a DNS-1035 label must consist of lower \
        case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character \
        (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    let object = json!({"metadata": {"name": "1a"}, "spec": {"ports": [{"port": 80}]}});
    invalid(t, &t.core("services"), object, message).await;
});

async fn invalid_path(t: &Test, path: Value, message: &str) {
    let object = json!({"metadata": {"name": "a"}, "spec": {"rules": [{"http": {"paths": [path]}}]}});
    let message =
        format!(r#"Ingress.networking.k8s.io "a" is invalid: spec.rules[0].http.paths[0].{message}"#);
    invalid(t, &t.group("networking.k8s.io/v1", "ingresses"), object, &message).await;
}

check!(a_path_of_an_ingress_has_a_type, async |t| {
    let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
    let message = "pathType: Required value: pathType must be specified";
    invalid_path(t, json!({"path": "/", "backend": backend}), message).await;
    let message = r#"path: Invalid value: "x": must be an absolute path"#;
    invalid_path(
        t,
        json!({"path": "x", "pathType": "Prefix", "backend": backend}),
        message,
    )
    .await;
});

check!(a_backend_of_an_ingress_has_a_port, async |t| {
    let path = json!({"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s"}}});
    invalid_path(
        t,
        path,
        "backend: Required value: port name or number is required",
    )
    .await;
});

check!(an_ingress_has_rules_or_a_default, async |t| {
    let object = json!({"metadata": {"name": "a"}, "spec": {}});
    let message = "Ingress.networking.k8s.io \"a\" is invalid: spec: Invalid value: null: either `defaultBackend` or \
        `rules` must be specified";
    invalid(t, &t.group("networking.k8s.io/v1", "ingresses"), object, message).await;
});

check!(keys_of_a_config_map_are_file_names, async |t| {
    let object = json!({"metadata": {"name": "a"}, "data": {"a b": "1"}});
    let message = "ConfigMap \"a\" is invalid: data[a b]: Invalid value: \"a b\": a valid config key must consist of \
        alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation \
        is '[-._a-zA-Z0-9]+')";
    invalid(t, &t.core("configmaps"), object, message).await;
    let object = json!({"metadata": {"name": "a"}, "data": {"a": "1"}, "binaryData": {"a": "aGk="}});
    let message =
        r#"ConfigMap "a" is invalid: data[a]: Invalid value: "a": duplicate of key present in binaryData"#;
    invalid(t, &t.core("configmaps"), object, message).await;
});

check!(data_of_a_secret_is_base64, async |t| {
    let message =
        r#"Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0"#;
    let object = json!({"metadata": {"name": "a"}, "data": {"a": "!!"}});
    t.post(&t.core("secrets"), object)
        .await
        .fails(400, "BadRequest", message);
});

check!(a_typed_secret_has_its_keys, async |t| {
    let object = json!({"metadata": {"name": "a"}, "type": "kubernetes.io/tls"});
    let message = r#"Secret "a" is invalid: [data[tls.crt]: Required value, data[tls.key]: Required value]"#;
    invalid(t, &t.core("secrets"), object, message).await;
    let data = json!({".dockerconfigjson": "x"});
    let object =
        json!({"metadata": {"name": "a"}, "type": "kubernetes.io/dockerconfigjson", "stringData": data});
    let message = "Secret \"a\" is invalid: data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid \
        character 'x' looking for beginning of value";
    invalid(t, &t.core("secrets"), object, message).await;
});

check!(a_claim_has_a_size_and_an_access_mode, async |t| {
    let object = json!({"metadata": {"name": "a"}, "spec": {}});
    let message = "PersistentVolumeClaim \"a\" is invalid: [spec.accessModes: Required value: at least 1 access mode is \
        required, spec.resources[storage]: Required value]";
    invalid(t, &t.core("persistentvolumeclaims"), object, message).await;
});

check!(an_autoscaler_has_a_range_and_a_target, async |t| {
    let target = json!({"kind": "Deployment", "name": "d"});
    let spec = json!({"minReplicas": 5, "maxReplicas": 2, "scaleTargetRef": target});
    let message = "HorizontalPodAutoscaler.autoscaling \"a\" is invalid: [spec.maxReplicas: Invalid value: 2: must be greater \
        than or equal to `minReplicas`, spec.scaleTargetRef.apiVersion: Invalid value: \"\": apiVersion must specify API group]";
    let object = json!({"metadata": {"name": "a"}, "spec": spec});
    invalid(
        t,
        &t.group("autoscaling/v2", "horizontalpodautoscalers"),
        object,
        message,
    )
    .await;
});

check!(a_disruption_budget_has_one_bound, async |t| {
    let object = json!({"metadata": {"name": "a"}, "spec": {"minAvailable": 1, "maxUnavailable": 1}});
    let message = "PodDisruptionBudget.policy \"a\" is invalid: spec: Invalid value: {\"MinAvailable\":1,\"Selector\":null,\
        \"MaxUnavailable\":1,\"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be both set";
    invalid(t, &t.group("policy/v1", "poddisruptionbudgets"), object, message).await;
});

check!(a_network_policy_has_known_types, async |t| {
    let object = json!({"metadata": {"name": "a"}, "spec": {"podSelector": {}, "policyTypes": ["Odd"]}});
    let message = "NetworkPolicy.networking.k8s.io \"a\" is invalid: spec.policyTypes[0]: Unsupported value: \"Odd\": \
        supported values: \"Ingress\", \"Egress\"";
    invalid(
        t,
        &t.group("networking.k8s.io/v1", "networkpolicies"),
        object,
        message,
    )
    .await;
});

check!(a_namespace_is_a_label, async |t| {
    let object = json!({"metadata": {"name": "a.b"}});
    let message = r#"Namespace "a.b" is invalid: metadata.name: Invalid value: "a.b": must not contain dots"#;
    invalid(t, "/api/v1/namespaces", object, message).await;
});

check!(an_owner_is_named_whole, async |t| {
    let owners = json!({"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x"}]});
    let message = r#"metadata.ownerReferences.uid: Invalid value: "": must not be empty"#;
    invalid_config_map(t, owners, message).await;
});

check!(only_one_owner_is_the_controller, async |t| {
    let owner = |name: &str, uid: &str| json!({"apiVersion": "v1", "kind": "K", "name": name, "uid": uid, "controller": true});
    let message = "metadata.ownerReferences: Invalid value: [{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"x\",\"uid\":\"1\",\
        \"controller\":true},{\"apiVersion\":\"v1\",\"kind\":\"K\",\"name\":\"y\",\"uid\":\"2\",\"controller\":true}]: Only one \
        reference can have Controller set to true. Found \"true\" in references for K/x and K/y";
    invalid_config_map(
        t,
        json!({"ownerReferences": [owner("x", "1"), owner("y", "2")]}),
        message,
    )
    .await;
});

check!(annotations_have_at_most_256_kibibytes, async |t| {
    let message = "metadata.annotations: Too long: may not be more than 262144 bytes";
    invalid_config_map(t, json!({"annotations": {"a": "x".repeat(262_145)}}), message).await;
});

check!(a_finalizer_has_a_domain, async |t| {
    let message = concat!(
        r#"metadata.finalizers[0]: Invalid value: "a": "#,
        "name is neither a standard finalizer name nor is it fully qualified"
    );
    invalid_config_map(t, json!({"finalizers": ["a"]}), message).await;
});

check!(a_storage_class_has_a_provisioner, async |t| {
    let name = t.cluster.name("class");
    let message = format!(r#"StorageClass.storage.k8s.io "{name}" is invalid: provisioner: Required value"#);
    invalid(
        t,
        "/apis/storage.k8s.io/v1/storageclasses",
        json!({"metadata": {"name": name}}),
        &message,
    )
    .await;
});

check!(a_priority_is_below_a_billion, async |t| {
    let name = t.cluster.name("class");
    let message = format!(
        "PriorityClass.scheduling.k8s.io \"{name}\" is invalid: value: Forbidden: maximum allowed value of a user defined \
         priority is 1000000000"
    );
    let object = json!({"metadata": {"name": name}, "value": 2_000_000_000});
    invalid(t, "/apis/scheduling.k8s.io/v1/priorityclasses", object, &message).await;
});

check!(an_event_is_about_its_own_namespace, async |t| {
    let object = json!({"metadata": {"name": "a"}, "involvedObject": {"namespace": "elsewhere", "kind": "K", "name": "x"}});
    let message = r#"Event "a" is invalid: involvedObject.namespace: Invalid value: "elsewhere": does not match event.namespace"#;
    invalid(t, &t.core("events"), object, message).await;
});
