use apiserver::auth::token_request::{Request, create};
use apiserver::error::Result;

use super::*;

fn pod(account: &str) -> Value {
    let mut pod = object("auth", "p1", "u2");
    pod.set_at(
        &["spec"],
        value!({ "serviceAccountName": account, "nodeName": "nonode" }),
    );
    pod
}

fn ask(issuer: &Issuer, name: &str, body: &Value) -> Result<Value> {
    let find = among(vec![
        ("serviceaccounts", object("auth", "default", "u1")),
        ("secrets", object("auth", "s1", "u3")),
        ("pods", pod("default")),
        ("serviceaccounts", object("auth", "other", "u4")),
    ]);
    create(
        issuer,
        &Request {
            namespace: "auth",
            name,
            body,
            now: now(),
            id: "j1",
        },
        &find,
    )
}

fn answer(body: Value) -> (Value, apiserver::auth::token::Claims) {
    let issuer = issuer();
    let answer = ask(&issuer, "default", &body).unwrap();
    let claims = issuer
        .verify(answer.str_at(&["status", "token"]))
        .unwrap()
        .expect("it is our token");
    (answer, claims)
}

/// Code, reason and message.
fn refusal(name: &str, body: Value) -> (u16, &'static str, String) {
    let error = ask(&issuer(), name, &body).unwrap_err();
    (error.code, error.reason, error.message)
}

#[test]
fn an_empty_request_gives_an_hour_for_the_api_itself() {
    let (mut answer, claims) = answer(value!({}));
    assert!(
        !answer
            .remove_at(&["status", "token"])
            .unwrap()
            .as_str()
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        answer,
        value!({
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": "default", "namespace": "auth", "uid": "u1", "creationTimestamp": "2026-11-15T19:49:13Z",
            },
            "spec": { "audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": null },
            "status": { "expirationTimestamp": "2026-11-15T20:49:13Z" },
        })
    );
    assert_eq!(claims, super::token::claims_of("default", "u1"));
}

#[test]
fn what_is_asked_for_is_given() {
    let (answer, claims) = answer(value!({
        "metadata": { "labels": { "a": "b" } },
        "spec": { "expirationSeconds": 600, "audiences": ["a", "b"] },
    }));
    assert_eq!(
        answer.str_at(&["status", "expirationTimestamp"]),
        "2026-11-15T19:59:13Z"
    );
    assert_eq!(answer.str_at(&["metadata", "labels", "a"]), "b");
    assert_eq!(claims.audiences, ["a", "b"]);
    assert_eq!(claims.expires - claims.issued, 600);
}

#[test]
fn a_life_too_short_or_too_long_is_refused() {
    let with = |seconds: i64| refusal("default", value!({ "spec": { "expirationSeconds": seconds } }));
    let invalid = |why: &str| {
        (
            422,
            "Invalid",
            format!(
                "TokenRequest.authentication.k8s.io \"\" is invalid: spec.expirationSeconds: Invalid value: {why}"
            ),
        )
    };
    assert_eq!(
        with(599),
        invalid("599: may not specify a duration less than 10 minutes")
    );
    assert_eq!(
        with(5_000_000_000),
        invalid("5000000000: may not specify a duration larger than 2^32 seconds")
    );
    answer(value!({ "spec": { "expirationSeconds": 4_294_967_296i64 } }));
}

#[test]
fn metadata_must_fit_the_path() {
    assert_eq!(
        refusal("default", value!({ "metadata": { "name": "x" } })),
        (422, "Invalid", "TokenRequest.authentication.k8s.io \"default\" is invalid: metadata.name: Invalid value: \"x\": must match the service account name if specified".into())
    );
    assert_eq!(
        refusal("default", value!({ "metadata": { "namespace": "x" } })),
        (
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request".into()
        )
    );
    assert_eq!(
        refusal("default", value!({ "metadata": { "uid": "x" } })),
        (409, "Conflict", "Operation cannot be fulfilled on TokenRequest.authentication.k8s.io \"default\": the UID in the token request (x) does not match the UID of the service account (u1)".into())
    );
    assert_eq!(
        refusal("nope", value!({})),
        (404, "NotFound", "serviceaccounts \"nope\" not found".into())
    );
}

fn bound(kind: &str, version: &str, name: &str, uid: &str) -> Value {
    value!({ "spec": { "boundObjectRef": { "kind": kind, "apiVersion": version, "name": name, "uid": uid } } })
}

#[test]
fn a_token_can_be_bound_to_what_is_there() {
    let (answer, claims) = answer(bound("Secret", "v1", "s1", ""));
    assert_eq!(answer.str_at(&["spec", "boundObjectRef", "name"]), "s1");
    assert_eq!(claims.secret.unwrap().uid, "u3");
    for (kind, resource) in [("Secret", "secrets"), ("Pod", "pods"), ("Node", "nodes")] {
        let message = format!("{resource} \"none\" not found");
        assert_eq!(
            refusal("default", bound(kind, "v1", "none", "")),
            (404, "NotFound", message)
        );
    }
    assert_eq!(
        refusal("default", bound("Deployment", "apps/v1", "none", "")),
        (
            400,
            "BadRequest",
            "cannot bind token to object of type apps/v1, Kind=Deployment".into()
        )
    );
    assert_eq!(
        refusal("default", bound("Secret", "v1", "s1", "abc")),
        (409, "Conflict", "Operation cannot be fulfilled on Secret \"s1\": the UID in the bound object reference (abc) does not match the UID in record. The object might have been deleted and then recreated".into())
    );
    assert_eq!(
        refusal("other", bound("Pod", "v1", "p1", "")),
        (400, "BadRequest", "cannot bind token for serviceaccount \"other\" to pod running with different serviceaccount name.".into())
    );
}

#[test]
fn the_token_of_a_pod_that_a_kubelet_asks_for_lives_a_year() {
    let mut body = bound("Pod", "v1", "p1", "");
    body.set_at(&["spec", "expirationSeconds"], 3607);
    let (reply, claims) = answer(body.clone());
    assert_eq!(
        reply.str_at(&["status", "expirationTimestamp"]),
        "2026-11-15T20:49:20Z"
    );
    assert_eq!(claims.expires - claims.issued, 31_536_000);
    assert_eq!(claims.warn_after, Some(claims.issued + 3607));
    assert_eq!(claims.pod.unwrap().uid, "u2");
    assert_eq!(claims.node.unwrap().name, "nonode");

    body.set_at(&["spec", "audiences"], value!(["vault"]));
    let (_, claims) = answer(body);
    assert_eq!((claims.expires - claims.issued, claims.warn_after), (3607, None));
}
