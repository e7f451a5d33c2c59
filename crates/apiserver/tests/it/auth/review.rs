use apiserver::auth::review::{Context, Review};
use apiserver::error::{Error, Result};

use super::*;

/// What `user` is answered in a cluster where carl may read pods and a role is missing.
fn ask_in(review: Review, namespace: &str, user: &User, body: &Value) -> Result<Value> {
    let pods = value!([{ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }]);
    let discovery = value!([{ "verbs": ["get"], "nonResourceURLs": ["/api", "/api/*"] }]);
    let rbac = rbac(&[
        cluster_role("auth-rbac-editor", pods),
        cluster_binding("auth-carl", "auth-rbac-editor", super::user("carl")),
        cluster_role("system:discovery", discovery),
        cluster_binding(
            "system:discovery",
            "system:discovery",
            value!([{ "kind": "Group", "name": "system:authenticated" }]),
        ),
        binding("broken", "b", "Role/none", super::user("carl")),
    ]);
    let authenticator = authenticator(Anonymous::Allowed);
    let context = Context {
        user,
        namespace,
        rbac: &rbac,
        authenticator: &authenticator,
        now: now(),
        find: &nothing,
    };
    review.answer(body, &context)
}

fn nobody() -> User {
    User::new("nobody-yet", &["system:authenticated"])
}

fn ask(review: Review, body: Value) -> Value {
    ask_in(review, "", &nobody(), &body).unwrap()
}

fn status(review: Review, body: Value) -> Value {
    ask(review, body).get("status").cloned().unwrap()
}

fn refusal(review: Review, namespace: &str, body: Value) -> Error {
    ask_in(review, namespace, &nobody(), &body).unwrap_err()
}

#[test]
fn one_may_ask_about_oneself() {
    let spec =
        value!({ "resourceAttributes": { "namespace": "default", "verb": "get", "resource": "pods" } });
    assert_eq!(
        ask(Review::SelfSubjectAccess, value!({ "spec": (spec.clone()) })),
        value!({
            "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
            "spec": spec, "status": { "allowed": false },
        })
    );
    assert_eq!(
        status(
            Review::SelfSubjectAccess,
            value!({ "spec": { "nonResourceAttributes": { "path": "/api", "verb": "get" } } })
        ),
        value!({
            "allowed": true,
            "reason": "RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \"system:authenticated\"",
        })
    );
}

#[test]
fn one_may_ask_about_others() {
    let pods = value!({ "verb": "get", "resource": "pods" });
    let about = |spec: Value| status(Review::SubjectAccess, value!({ "spec": spec }));
    assert_eq!(
        about(value!({ "user": "x", "groups": ["g"], "resourceAttributes": (pods.clone()) })),
        value!({ "allowed": false })
    );
    assert_eq!(
        about(value!({ "groups": ["system:masters"], "resourceAttributes": (pods.clone()) })),
        value!({ "allowed": true })
    );
    assert_eq!(
        about(value!({ "user": "carl", "resourceAttributes": pods })),
        value!({
            "allowed": true,
            "reason": "RBAC: allowed by ClusterRoleBinding \"auth-carl\" of ClusterRole \"auth-rbac-editor\" to User \"carl\"",
        })
    );
    assert_eq!(
        about(value!({
            "user": "carl", "resourceAttributes": { "namespace": "broken", "verb": "list", "resource": "secrets" },
        })),
        value!({ "allowed": false, "reason": "RBAC: role.rbac.authorization.k8s.io \"none\" not found" })
    );
}

#[test]
fn a_question_must_be_one() {
    for body in [value!({}), value!({ "spec": {} })] {
        let error = refusal(Review::SelfSubjectAccess, "", body);
        assert_eq!(
            error.to_status(),
            value!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
                "reason": "Invalid",
                "details": { "group": "authorization.k8s.io", "causes": [{
                    "reason": "FieldValueInvalid",
                    "message": "Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified",
                    "field": "spec.resourceAttributes",
                }] },
                "code": 422,
            })
        );
    }
    let pods = value!({ "spec": { "resourceAttributes": { "verb": "get", "resource": "pods" } } });
    assert_eq!(
        refusal(Review::SubjectAccess, "", pods).message,
        ".authorization.k8s.io \"\" is invalid: spec.user: Invalid value: \"\": at least one of user or group must be specified"
    );
    let both = value!({
        "metadata": { "name": "x", "labels": { "a": "b" } },
        "spec": { "nonResourceAttributes": { "path": "/api", "verb": "get" }, "resourceAttributes": { "verb": "get" } },
    });
    assert_eq!(
        refusal(Review::SelfSubjectAccess, "", both).message,
        r#".authorization.k8s.io "" is invalid: [spec.nonResourceAttributes: Invalid value: {"Path":"/api","Verb":"get"}: cannot be specified in combination with resourceAttributes, metadata: Invalid value: {"name":"x","labels":{"a":"b"}}: must be empty]"#
    );
}

#[test]
fn a_local_question_is_about_its_namespace() {
    let pods = |namespace: &str| value!({ "user": "x", "resourceAttributes": { "namespace": namespace, "verb": "get", "resource": "pods" } });
    let local = |body: Value| refusal(Review::LocalSubjectAccess, "auth", body).message;
    assert_eq!(
        local(value!({ "spec": (pods("")) })),
        ".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: \"\": must match metadata.namespace"
    );
    assert_eq!(
        local(value!({ "metadata": { "namespace": "other" }, "spec": (pods("other")) })),
        "the namespace of the provided object does not match the namespace sent on the request"
    );
    assert_eq!(
        local(
            value!({ "metadata": { "name": "n" }, "spec": { "user": "x", "nonResourceAttributes": { "path": "/x", "verb": "get" } } })
        ),
        r#".authorization.k8s.io "" is invalid: [metadata: Invalid value: {"name":"n","namespace":"auth"}: must be empty except for namespace, spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request]"#
    );
    let answer = ask_in(
        Review::LocalSubjectAccess,
        "auth",
        &nobody(),
        &value!({ "spec": (pods("auth")) }),
    )
    .unwrap();
    assert_eq!(answer.str_at(&["metadata", "namespace"]), "auth");
    assert_eq!(answer.get("status"), Some(&value!({ "allowed": false })));
}

#[test]
fn selectors_must_be_well_formed_but_need_not_be_understood() {
    let with = |attributes: Value| value!({ "spec": { "resourceAttributes": attributes } });
    let malformed = with(value!({
        "verb": "get", "resource": "pods", "fieldSelector": {},
        "labelSelector": { "rawSelector": "a=b", "requirements": [{ "key": "k", "operator": "In" }] },
    }));
    assert_eq!(
        refusal(Review::SelfSubjectAccess, "", malformed).message,
        ".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes.fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required, spec.resourceAttributes.labelSelector.rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements, spec.resourceAttributes.labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn']"
    );
    let unreadable = with(value!({
        "verb": "get", "resource": "pods",
        "fieldSelector": { "rawSelector": "a" }, "labelSelector": { "rawSelector": "a in (" },
    }));
    assert_eq!(
        status(Review::SelfSubjectAccess, unreadable),
        value!({
            "allowed": false,
            "evaluationError": "spec.resourceAttributes.fieldSelector ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error",
        })
    );
}

#[test]
fn one_may_ask_for_all_ones_rules() {
    assert_eq!(
        refusal(Review::SelfSubjectRules, "", value!({ "spec": {} })).message,
        "no namespace on request"
    );
    let carl = User::new("carl", &["system:authenticated"]);
    let body = value!({ "spec": { "namespace": "broken" } });
    assert_eq!(
        ask_in(Review::SelfSubjectRules, "", &carl, &body).unwrap(),
        value!({
            "kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": {},
            "status": {
                "resourceRules": [{ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }],
                "nonResourceRules": [{ "verbs": ["get"], "nonResourceURLs": ["/api", "/api/*"] }],
                "incomplete": false,
                "evaluationError": "role.rbac.authorization.k8s.io \"none\" not found",
            },
        })
    );
}

#[test]
fn one_may_ask_who_one_is() {
    let body = value!({ "metadata": { "name": "x" } });
    assert_eq!(
        ask(Review::SelfSubject, body),
        value!({
            "kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1",
            "metadata": { "creationTimestamp": "2026-11-15T19:49:13Z" },
            "status": { "userInfo": { "username": "nobody-yet", "groups": ["system:authenticated"] } },
        })
    );
}

#[test]
fn one_may_ask_whose_a_token_is() {
    let about = |spec: Value| status(Review::Token, value!({ "spec": spec }));
    assert_eq!(
        about(value!({ "token": "user-token" })),
        value!({
            "authenticated": true,
            "user": { "username": "nobody-yet", "uid": "uid-2", "groups": ["system:authenticated"] },
            "audiences": [ISSUER],
        })
    );
    let wrong = value!({ "user": {}, "error": "invalid bearer token" });
    assert_eq!(about(value!({ "token": "wrong" })), wrong);
    assert_eq!(
        about(value!({ "token": "user-token", "audiences": ["z"] })),
        wrong
    );
    // What is left of a header with nothing but blanks is no token.
    assert_eq!(
        about(value!({ "token": "  " })),
        value!({
            "authenticated": true,
            "user": { "username": "system:anonymous", "groups": ["system:unauthenticated"] },
            "audiences": [ISSUER],
        })
    );
    assert_eq!(
        refusal(Review::Token, "", value!({ "spec": { "token": "" } })).message,
        "token is required for TokenReview in authentication"
    );
}

#[test]
fn the_review_of_an_issued_token_tells_what_is_wrong_with_it() {
    let authenticator = authenticator(Anonymous::Allowed);
    let token = authenticator.issuer().sign(&super::token::claims());
    let (user, rbac) = (nobody(), Rbac::default());
    let find = among(vec![("serviceaccounts", object("auth", "bot", "u1"))]);
    let review = |token: &str, audiences: Value, find: apiserver::auth::Find<'_>| {
        let body = value!({ "spec": { "token": token, "audiences": audiences } });
        let context = Context {
            user: &user,
            namespace: "",
            rbac: &rbac,
            authenticator: &authenticator,
            now: now(),
            find,
        };
        Review::Token
            .answer(&body, &context)
            .unwrap()
            .get("status")
            .cloned()
            .unwrap()
    };
    assert_eq!(
        review(&token, value!(["z"]), &find).str_at(&["error"]),
        r#"[invalid bearer token, token audiences ["https://kubernetes.default.svc"] is invalid for the target audiences ["z"]]"#
    );
    assert_eq!(
        review(&token, value!([]), &nothing).str_at(&["error"]),
        r#"[invalid bearer token, serviceaccounts "bot" not found]"#
    );
    assert_eq!(
        review(&token[..token.len() - 4], value!([]), &find).str_at(&["error"]),
        "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]"
    );
    let good = review(&token, value!(["z", ISSUER]), &find);
    assert_eq!(good.get("audiences"), Some(&value!([ISSUER])));
    assert_eq!(
        good.str_at(&["user", "username"]),
        "system:serviceaccount:auth:bot"
    );
    assert_eq!(
        good.list_at(&["user", "groups"])[2],
        Value::str("system:authenticated")
    );
}

#[test]
fn resources_name_their_questions() {
    assert_eq!(
        Review::of_resource("authorization.k8s.io", "subjectaccessreviews"),
        Some(Review::SubjectAccess)
    );
    assert_eq!(
        Review::of_resource("authentication.k8s.io", "tokenreviews"),
        Some(Review::Token)
    );
    assert_eq!(
        Review::of_resource("authentication.k8s.io", "subjectaccessreviews"),
        None
    );
}
