//! What the server adds to objects.

use conformance::objects::service;
use conformance::{Test, check};
use serde_json::{Value, json};

/// What the server would store.
async fn dry_run(t: &Test, path: &str, object: Value) -> Value {
    t.post(&format!("{path}?dryRun=All"), object).await.code(201)
}

check!(a_service_gets_an_address, async |t| {
    let made = t.create(&t.core("services"), service("a")).await;
    let address = made["spec"]["clusterIP"].as_str().unwrap().to_owned();
    assert!(address.parse::<std::net::IpAddr>().is_ok(), "{address}");
    let expected = json!({
        "selector": {"app": "a"}, "ports": [{"protocol": "TCP", "port": 80, "targetPort": 80}],
        "clusterIP": address, "clusterIPs": [address], "type": "ClusterIP", "sessionAffinity": "None",
        "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
    });
    assert_eq!(made["spec"], expected);
    assert_eq!(made["status"], json!({"loadBalancer": {}}));
});

check!(two_services_get_two_addresses, async |t| {
    let first = t.create(&t.core("services"), service("a")).await;
    let second = t.create(&t.core("services"), service("b")).await;
    assert_ne!(first["spec"]["clusterIP"], second["spec"]["clusterIP"]);
});

check!(a_headless_service_keeps_none, async |t| {
    let mut object = service("a");
    object["spec"]["clusterIP"] = json!("None");
    let made = t.create(&t.core("services"), object).await;
    assert_eq!(
        (&made["spec"]["clusterIP"], &made["spec"]["clusterIPs"]),
        (&json!("None"), &json!(["None"]))
    );
});

check!(a_load_balancer_gets_a_node_port, async |t| {
    let mut object = service("a");
    object["spec"]["type"] = json!("LoadBalancer");
    let made = t.create(&t.core("services"), object).await;
    let port = made["spec"]["ports"][0]["nodePort"].as_u64().unwrap();
    assert!((30000..32768).contains(&port), "{port}");
    assert_eq!(made["spec"]["allocateLoadBalancerNodePorts"], true);
    assert_eq!(made["spec"]["externalTrafficPolicy"], "Cluster");
});

check!(the_text_of_a_secret_becomes_its_data, async |t| {
    let object =
        json!({"metadata": {"name": "a"}, "data": {"a": "MQ==", "b": "Mg=="}, "stringData": {"b": "3"}});
    let made = t.create(&t.core("secrets"), object).await;
    assert_eq!(
        (&made["type"], &made["stringData"]),
        (&json!("Opaque"), &json!(null))
    );
    assert_eq!(made["data"], json!({"a": "MQ==", "b": "Mw=="}));
});

check!(a_claim_is_completed, async |t| {
    let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1024Mi"}}});
    let made = dry_run(
        t,
        &t.core("persistentvolumeclaims"),
        json!({"metadata": {"name": "a"}, "spec": spec}),
    )
    .await;
    assert_eq!(
        (&made["spec"]["volumeMode"], &made["status"]),
        (&json!("Filesystem"), &json!({"phase": "Pending"}))
    );
    assert_eq!(
        made["metadata"]["finalizers"],
        json!(["kubernetes.io/pvc-protection"])
    );
    assert_eq!(
        made["spec"]["resources"]["requests"]["storage"], "1Gi",
        "a quantity has one canonical form"
    );
});

check!(a_network_policy_says_which_way_it_acts, async |t| {
    let spec = json!({"podSelector": {}, "egress": [{"ports": [{"port": 53}]}]});
    let path = t.group("networking.k8s.io/v1", "networkpolicies");
    let made = dry_run(t, &path, json!({"metadata": {"name": "a"}, "spec": spec})).await;
    assert_eq!(made["spec"]["policyTypes"], json!(["Ingress", "Egress"]));
    assert_eq!(
        made["spec"]["egress"],
        json!([{"ports": [{"protocol": "TCP", "port": 53}]}])
    );
});

check!(an_autoscaler_measures_cpu, async |t| {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
    let spec = json!({"maxReplicas": 2, "scaleTargetRef": target});
    let path = t.group("autoscaling/v2", "horizontalpodautoscalers");
    let made = t
        .create(&path, json!({"metadata": {"name": "a"}, "spec": spec}))
        .await;
    let cpu = json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}});
    assert_eq!(
        (&made["spec"]["minReplicas"], &made["spec"]["metrics"]),
        (&json!(1), &json!([{"type": "Resource", "resource": cpu}]))
    );
    let older = t
        .get(&t.group("autoscaling/v1", "horizontalpodautoscalers/a"))
        .await
        .code(200);
    assert_eq!(older["apiVersion"], "autoscaling/v1");
    assert_eq!(
        older["spec"]["targetCPUUtilizationPercentage"], 80,
        "the older version shows the same object"
    );
});

check!(a_role_binding_gets_its_groups, async |t| {
    let subjects =
        json!([{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}]);
    let object =
        json!({"metadata": {"name": "a"}, "roleRef": {"kind": "Role", "name": "x"}, "subjects": subjects});
    let made = dry_run(
        t,
        &t.group("rbac.authorization.k8s.io/v1", "rolebindings"),
        object,
    )
    .await;
    let group = "rbac.authorization.k8s.io";
    assert_eq!(
        made["roleRef"],
        json!({"apiGroup": group, "kind": "Role", "name": "x"})
    );
    assert_eq!(
        made["subjects"][0],
        json!({"kind": "User", "apiGroup": group, "name": "u"})
    );
    assert_eq!(
        made["subjects"][1],
        json!({"kind": "ServiceAccount", "name": "s", "namespace": "n"})
    );
});

check!(a_webhook_is_completed, async |t| {
    let rule = json!({"apiGroups": ["x.example.com"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["xs"]});
    let hook = json!({
        "name": "a.example.com", "clientConfig": {"url": "https://example.com"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"], "rules": [rule],
    });
    let object = json!({"metadata": {"name": t.cluster.name("hook")}, "webhooks": [hook]});
    let made = dry_run(
        t,
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        object,
    )
    .await;
    let hook = &made["webhooks"][0];
    assert_eq!(
        (&hook["failurePolicy"], &hook["matchPolicy"]),
        (&json!("Fail"), &json!("Equivalent"))
    );
    assert_eq!(
        (&hook["timeoutSeconds"], &hook["rules"][0]["scope"]),
        (&json!(10), &json!("*"))
    );
    assert_eq!(
        (&hook["namespaceSelector"], &hook["objectSelector"]),
        (&json!({}), &json!({}))
    );
});
