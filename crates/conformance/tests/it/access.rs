//! Who may do what: roles, bindings and reviews.

use conformance::objects::config_map;
use conformance::{Caller, Test, check};
use serde_json::{Value, json};

const RBAC: &str = "rbac.authorization.k8s.io/v1";

/// Gives a subject a role in the check's namespace, and waits until the server heeds it.
async fn grant(t: &Test, subject: Value, rules: Value) {
    t.create(
        &t.group(RBAC, "roles"),
        json!({"metadata": {"name": "r"}, "rules": rules}),
    )
    .await;
    bind(t, subject, "Role", "r").await;
}

async fn bind(t: &Test, subject: Value, kind: &str, role: &str) {
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role});
    let object = json!({"metadata": {"generateName": "b-"}, "roleRef": reference, "subjects": [subject]});
    t.create(&t.group(RBAC, "rolebindings"), object).await;
}

/// Asks again while the answer is no: a new binding takes effect a moment after it was made.
async fn soon(caller: &Caller, path: &str) -> conformance::Reply {
    let began = std::time::Instant::now();
    loop {
        let reply = caller.get(path).await;
        if reply.code != 403 || began.elapsed().as_secs() > 120 {
            return reply;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

fn user(name: &str) -> Value {
    json!({"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name})
}

const READ: &str = r#"[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list"]}]"#;

fn read() -> Value {
    serde_json::from_str(READ).unwrap()
}

check!(who_has_no_role_may_do_nothing, async |t| {
    let nobody = t.user("nobody", &[]);
    let namespace = &t.namespace;
    let message = format!(
        r#"configmaps is forbidden: User "nobody" cannot list resource "configmaps" in API group "" in the namespace "{namespace}""#
    );
    let status = nobody
        .get(&t.core("configmaps"))
        .await
        .fails(403, "Forbidden", message);
    assert_eq!(status["details"], json!({"kind": "configmaps"}));
    let message = format!(
        "deployments.apps \"a\" is forbidden: User \"nobody\" cannot get resource \"deployments\" in API group \"apps\" in \
         the namespace \"{namespace}\""
    );
    let status = nobody
        .get(&t.group("apps/v1", "deployments/a"))
        .await
        .fails(403, "Forbidden", message);
    assert_eq!(
        status["details"],
        json!({"name": "a", "group": "apps", "kind": "deployments"})
    );
});

check!(the_cluster_scope_is_named, async |t| {
    let message = concat!(
        r#"namespaces is forbidden: User "nobody" cannot list resource "namespaces" in API group "" "#,
        "at the cluster scope"
    );
    t.user("nobody", &[])
        .get("/api/v1/namespaces")
        .await
        .fails(403, "Forbidden", message);
});

check!(a_path_outside_the_resources_is_named, async |t| {
    let message = r#"forbidden: User "nobody" cannot get path "/metrics""#;
    t.user("nobody", &[])
        .get("/metrics")
        .await
        .fails(403, "Forbidden", message);
});

check!(subresources_are_named, async |t| {
    let message = format!(
        "deployments.apps \"a\" is forbidden: User \"nobody\" cannot patch resource \"deployments/scale\" in API group \
         \"apps\" in the namespace \"{}\"",
        t.namespace
    );
    let path = t.group("apps/v1", "deployments/a/scale");
    t.user("nobody", &[])
        .patch(&path, conformance::Patch::Merge, json!({}))
        .await
        .fails(403, "Forbidden", message);
});

check!(a_role_gives_its_verbs_in_its_namespace, async |t| {
    let name = t.cluster.name("reader");
    grant(t, user(&name), read()).await;
    let reader = t.user(&name, &[]);
    t.create(&t.core("configmaps"), config_map("a")).await;
    soon(&reader, &t.core("configmaps")).await.code(200);
    reader.get(&t.core("configmaps/a")).await.code(200);
    assert_eq!(
        reader.post(&t.core("configmaps"), config_map("b")).await.code,
        403
    );
    assert_eq!(reader.get(&t.core("secrets")).await.code, 403);
    assert_eq!(
        reader.get("/api/v1/configmaps").await.code,
        403,
        "not in other namespaces"
    );
});

check!(a_role_may_name_objects, async |t| {
    let name = t.cluster.name("one");
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["a"], "verbs": ["get", "update"]}]);
    grant(t, user(&name), rules).await;
    let one = t.user(&name, &[]);
    t.create(&t.core("configmaps"), config_map("a")).await;
    t.create(&t.core("configmaps"), config_map("b")).await;
    soon(&one, &t.core("configmaps/a")).await.code(200);
    assert_eq!(one.get(&t.core("configmaps/b")).await.code, 403);
    assert_eq!(one.get(&t.core("configmaps")).await.code, 403);
});

check!(a_group_has_the_rights_of_its_bindings, async |t| {
    let team = t.cluster.name("team");
    let subject = json!({"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": team});
    grant(t, subject, read()).await;
    soon(&t.user("anybody", &[&team]), &t.core("configmaps"))
        .await
        .code(200);
    assert_eq!(
        t.user("anybody", &["other"])
            .get(&t.core("configmaps"))
            .await
            .code,
        403
    );
});

check!(a_cluster_role_is_bound_in_one_namespace, async |t| {
    let name = t.cluster.name("viewer");
    bind(t, user(&name), "ClusterRole", "view").await;
    let viewer = t.user(&name, &[]);
    soon(&viewer, &t.core("configmaps")).await.code(200);
    assert_eq!(
        viewer.get(&t.core("secrets")).await.code,
        403,
        "view does not show secrets"
    );
    assert_eq!(viewer.get(&t.group("apps/v1", "deployments")).await.code, 200);
});

check!(a_cluster_role_binding_holds_everywhere, async |t| {
    let name = t.cluster.name("everywhere");
    let role = json!({"metadata": {"name": name}, "rules": read()});
    t.create(&format!("/apis/{RBAC}/clusterroles"), role).await;
    t.cluster
        .delete_at_end(format!("/apis/{RBAC}/clusterroles/{name}"));
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name});
    let binding = json!({"metadata": {"name": name}, "roleRef": reference, "subjects": [user(&name)]});
    t.create(&format!("/apis/{RBAC}/clusterrolebindings"), binding)
        .await;
    t.cluster
        .delete_at_end(format!("/apis/{RBAC}/clusterrolebindings/{name}"));
    let reader = t.user(&name, &[]);
    soon(&reader, "/api/v1/configmaps").await.code(200);
    reader.get(&t.core("configmaps")).await.code(200);
});

check!(cluster_roles_are_put_together_by_labels, async |t| {
    let name = t.cluster.name("sum");
    let label = json!({name.clone(): "true"});
    let part = json!({"metadata": {"name": format!("{name}-part"), "labels": label}, "rules": read()});
    t.create(&format!("/apis/{RBAC}/clusterroles"), part).await;
    t.cluster
        .delete_at_end(format!("/apis/{RBAC}/clusterroles/{name}-part"));
    let whole = json!({"metadata": {"name": name}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]}});
    t.create(&format!("/apis/{RBAC}/clusterroles"), whole).await;
    t.cluster
        .delete_at_end(format!("/apis/{RBAC}/clusterroles/{name}"));
    let path = format!("/apis/{RBAC}/clusterroles/{name}");
    let body = t.until(&path, |reply| reply.body["rules"].is_array()).await;
    assert_eq!(
        body["rules"],
        json!([{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]}])
    );
});

check!(nobody_grants_more_than_they_have, async |t| {
    let name = t.cluster.name("climber");
    let rules = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["*"], "verbs": ["get", "list", "create", "update"]}]);
    grant(t, user(&name), rules).await;
    let climber = t.user(&name, &[]);
    soon(&climber, &t.group(RBAC, "roles")).await.code(200);
    let role = json!({"metadata": {"name": "x"}, "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]});
    let message = format!(
        "roles.rbac.authorization.k8s.io \"x\" is forbidden: user \"{name}\" (groups=[\"system:authenticated\"]) is attempting \
         to grant RBAC permissions not currently held:\n{{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}}"
    );
    climber
        .post(&t.group(RBAC, "roles"), role)
        .await
        .fails(403, "Forbidden", message);
});

check!(nobody_binds_more_than_they_have, async |t| {
    let name = t.cluster.name("binder");
    let rules = json!([{"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["rolebindings"], "verbs": ["get", "list", "create"]}]);
    grant(t, user(&name), rules).await;
    let binder = t.user(&name, &[]);
    soon(&binder, &t.group(RBAC, "rolebindings")).await.code(200);
    let small = json!({"metadata": {"name": "small"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]});
    t.create(&t.group(RBAC, "roles"), small).await;
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "small"});
    let binding = json!({"metadata": {"name": "x"}, "roleRef": reference, "subjects": [user(&name)]});
    let message = format!(
        "rolebindings.rbac.authorization.k8s.io \"x\" is forbidden: user \"{name}\" (groups=[\"system:authenticated\"]) is \
         attempting to grant RBAC permissions not currently held:\n{{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"get\"]}}"
    );
    binder
        .post(&t.group(RBAC, "rolebindings"), binding)
        .await
        .fails(403, "Forbidden", message);
});

check!(a_review_tells_what_one_may_do, async |t| {
    let name = t.cluster.name("asker");
    grant(t, user(&name), read()).await;
    let asker = t.user(&name, &[]);
    soon(&asker, &t.core("configmaps")).await.code(200);
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let ask = |verb: &str| json!({"spec": {"resourceAttributes": {"namespace": t.namespace, "verb": verb, "resource": "configmaps"}}});
    let yes = asker.post(path, ask("list")).await.code(201);
    assert_eq!(
        (&yes["kind"], &yes["status"]["allowed"]),
        (&json!("SelfSubjectAccessReview"), &json!(true))
    );
    let reason = yes["status"]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("RBAC: allowed by RoleBinding \"b-"),
        "{reason}"
    );
    assert!(
        reason.ends_with(&format!(" of Role \"r\" to User \"{name}\"")),
        "{reason}"
    );
    let no = asker.post(path, ask("delete")).await.code(201);
    assert_eq!(no["status"], json!({"allowed": false}));
});

check!(a_review_of_rules_lists_them, async |t| {
    let name = t.cluster.name("lister");
    grant(t, user(&name), read()).await;
    let lister = t.user(&name, &[]);
    soon(&lister, &t.core("configmaps")).await.code(200);
    let path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    let body = lister
        .post(path, json!({"spec": {"namespace": t.namespace}}))
        .await
        .code(201);
    assert_eq!(body["status"]["incomplete"], false);
    let rules = body["status"]["resourceRules"].as_array().unwrap();
    let expected = json!({"verbs": ["get", "list"], "apiGroups": [""], "resources": ["configmaps"]});
    assert!(rules.contains(&expected), "{rules:?}");
});

check!(an_administrator_asks_for_others, async |t| {
    let attributes = json!({"namespace": t.namespace, "verb": "get", "resource": "configmaps"});
    let body = json!({"spec": {"user": "nobody", "resourceAttributes": attributes}});
    let made = t
        .post("/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
        .await
        .code(201);
    assert_eq!(made["status"], json!({"allowed": false}));
    let local = t.group("authorization.k8s.io/v1", "localsubjectaccessreviews");
    let body = json!({"metadata": {"namespace": t.namespace}, "spec": {"groups": ["system:masters"], "user": "x", "resourceAttributes": attributes}});
    assert_eq!(t.post(&local, body).await.code(201)["status"]["allowed"], true);
});
