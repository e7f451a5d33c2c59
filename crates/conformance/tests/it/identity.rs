//! Who somebody is: tokens, impersonation, anonymous requests.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use conformance::objects::config_map;
use conformance::{Test, check};
use serde_json::{Value, json};

const REVIEW: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Makes a service account and a token of it.
async fn token(t: &Test, name: &str, spec: Value) -> Value {
    t.create(&t.core("serviceaccounts"), json!({"metadata": {"name": name}}))
        .await;
    let path = t.core(&format!("serviceaccounts/{name}/token"));
    t.post(
        &path,
        json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}),
    )
    .await
    .code(201)
}

fn claims(token: &Value) -> Value {
    let text = token["status"]["token"].as_str().unwrap();
    let payload = URL_SAFE_NO_PAD.decode(text.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap()
}

check!(a_token_says_who_its_bearer_is, async |t| {
    let made = token(t, "a", json!({})).await;
    assert_eq!(
        (&made["kind"], &made["apiVersion"]),
        (&json!("TokenRequest"), &json!("authentication.k8s.io/v1"))
    );
    let caller = t.token(made["status"]["token"].as_str().unwrap());
    let review = caller.post(REVIEW, json!({})).await.code(201);
    let info = &review["status"]["userInfo"];
    let namespace = &t.namespace;
    assert_eq!(info["username"], format!("system:serviceaccount:{namespace}:a"));
    let groups = json!([
        "system:serviceaccounts",
        format!("system:serviceaccounts:{namespace}"),
        "system:authenticated"
    ]);
    assert_eq!(info["groups"], groups);
});

check!(a_token_carries_its_account_and_lifetime, async |t| {
    let made = token(
        t,
        "a",
        json!({"expirationSeconds": 600, "audiences": ["https://kubernetes.default.svc", "x"]}),
    )
    .await;
    let claims = claims(&made);
    assert_eq!(claims["sub"], format!("system:serviceaccount:{}:a", t.namespace));
    assert_eq!(claims["aud"], json!(["https://kubernetes.default.svc", "x"]));
    assert_eq!(
        claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(),
        600
    );
    assert_eq!(claims["kubernetes.io"]["namespace"], t.namespace.as_str());
    assert_eq!(claims["kubernetes.io"]["serviceaccount"]["name"], "a");
    assert!(
        made["status"]["expirationTimestamp"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
});

check!(a_token_lives_at_least_ten_minutes, async |t| {
    t.create(&t.core("serviceaccounts"), json!({"metadata": {"name": "a"}}))
        .await;
    let reply = t
        .post(
            &t.core("serviceaccounts/a/token"),
            json!({"spec": {"expirationSeconds": 10}}),
        )
        .await;
    let message = concat!(
        r#"TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: "#,
        "may not specify a duration less than 10 minutes"
    );
    reply.fails(422, "Invalid", message);
});

check!(a_missing_account_has_no_token, async |t| {
    let reply = t
        .post(&t.core("serviceaccounts/nosuch/token"), json!({"spec": {}}))
        .await;
    reply.fails(404, "NotFound", r#"serviceaccounts "nosuch" not found"#);
});

check!(the_token_of_a_deleted_account_is_worth_nothing, async |t| {
    let made = token(t, "a", json!({})).await;
    let caller = t.token(made["status"]["token"].as_str().unwrap());
    caller.post(REVIEW, json!({})).await.code(201);
    t.delete(&t.core("serviceaccounts/a")).await.code(200);
    // The server may believe a token for some seconds more.
    let began = std::time::Instant::now();
    let reply = loop {
        let reply = caller.post(REVIEW, json!({})).await;
        if reply.code == 401 || began.elapsed().as_secs() > 120 {
            break reply;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    reply.fails(401, "Unauthorized", "Unauthorized");
});

check!(a_token_that_is_none_is_unauthorized, async |t| {
    let status =
        t.token("garbage")
            .get("/api/v1/namespaces")
            .await
            .fails(401, "Unauthorized", "Unauthorized");
    assert_eq!(status["metadata"], json!({}));
});

check!(a_service_account_has_the_rights_of_its_bindings, async |t| {
    let made = token(t, "a", json!({})).await;
    let caller = t.token(made["status"]["token"].as_str().unwrap());
    assert_eq!(caller.get(&t.core("configmaps")).await.code, 403);
    let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"});
    let subject = json!({"kind": "ServiceAccount", "name": "a", "namespace": t.namespace});
    let binding = json!({"metadata": {"name": "b"}, "roleRef": reference, "subjects": [subject]});
    t.create(&t.group("rbac.authorization.k8s.io/v1", "rolebindings"), binding)
        .await;
    let began = std::time::Instant::now();
    while caller.get(&t.core("configmaps")).await.code == 403 {
        assert!(
            began.elapsed().as_secs() < 120,
            "the binding does not take effect"
        );
    }
    caller
        .post(&t.core("configmaps"), config_map("a"))
        .await
        .code(201);
});

check!(a_token_review_tells_whose_token_it_is, async |t| {
    let made = token(t, "a", json!({})).await;
    let path = "/apis/authentication.k8s.io/v1/tokenreviews";
    let review = t
        .post(path, json!({"spec": {"token": made["status"]["token"]}}))
        .await
        .code(201);
    assert_eq!(review["status"]["authenticated"], true);
    assert_eq!(
        review["status"]["user"]["username"],
        format!("system:serviceaccount:{}:a", t.namespace)
    );
    let review = t
        .post(path, json!({"spec": {"token": "garbage"}}))
        .await
        .code(201);
    assert_eq!(
        (
            &review["status"]["authenticated"],
            review["status"]["error"].is_string()
        ),
        (&json!(null), true)
    );
});

check!(an_impersonated_user_is_who_is_asked, async |t| {
    let review = t
        .user("jane", &["team-a", "team-b"])
        .post(REVIEW, json!({}))
        .await
        .code(201);
    let info = &review["status"]["userInfo"];
    assert_eq!(
        (&info["username"], &info["groups"]),
        (
            &json!("jane"),
            &json!(["team-a", "team-b", "system:authenticated"])
        )
    );
});

check!(an_impersonated_service_account_has_its_groups, async |t| {
    let name = format!("system:serviceaccount:{}:default", t.namespace);
    let review = t.user(&name, &[]).post(REVIEW, json!({})).await.code(201);
    let groups = json!([
        "system:serviceaccounts",
        format!("system:serviceaccounts:{}", t.namespace),
        "system:authenticated"
    ]);
    assert_eq!(review["status"]["userInfo"]["groups"], groups);
});

check!(impersonation_is_a_right, async |t| {
    let made = token(t, "a", json!({})).await;
    let caller = t.token(made["status"]["token"].as_str().unwrap());
    let headers = [("impersonate-user", "jane")];
    let reply = caller
        .send(http::Method::GET, "/api/v1/namespaces", &headers, Vec::new())
        .await;
    let message = format!(
        "users \"jane\" is forbidden: User \"system:serviceaccount:{}:a\" cannot impersonate resource \"users\" in API group \
         \"\" at the cluster scope",
        t.namespace
    );
    reply.fails(403, "Forbidden", message);
});

check!(a_group_is_not_impersonated_without_a_user, async |t| {
    let headers = [("impersonate-group", "team")];
    let reply = t
        .send(http::Method::GET, "/api/v1/namespaces", &headers, Vec::new())
        .await;
    reply.fails(
        400,
        "BadRequest",
        "requested [{Group  team    }] without impersonating a user",
    );
});

check!(who_says_nothing_is_anonymous, async |t| {
    let anonymous = t.anonymous();
    let message = concat!(
        r#"namespaces is forbidden: User "system:anonymous" cannot list resource "namespaces" in API group "" "#,
        "at the cluster scope"
    );
    anonymous
        .get("/api/v1/namespaces")
        .await
        .fails(403, "Forbidden", message);
    anonymous.get("/version").await.code(200);
    assert_eq!(anonymous.get("/readyz").await.text, "ok");
});

check!(everybody_who_is_known_may_discover, async |t| {
    let nobody = t.user("nobody", &[]);
    for path in [
        "/api",
        "/apis",
        "/api/v1",
        "/apis/apps/v1",
        "/version",
        "/openapi/v3",
    ] {
        assert_eq!(nobody.get(path).await.code, 200, "{path}");
    }
});
