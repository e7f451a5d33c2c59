//! Decisions of kube-apiserver v1.35.8 on random roles and bindings: `objects` were created there, `reviews` are
//! SubjectAccessReviews with their answers, and `writes` are dry-run creations of roles and bindings by users who may
//! write them.

use apiserver::auth::bootstrap;
use apiserver::auth::rbac::escalation;
use apiserver::auth::review::{Context, Review};
use apiserver::auth::{Attributes, Resource};
use model::json;

use super::*;

fn recorded() -> (Value, Rbac) {
    let recorded = json::parse(include_bytes!("recorded_decisions.json")).unwrap();
    let mut objects = bootstrap::rbac();
    objects.extend_from_slice(recorded.list_at(&["objects"]));
    let rbac = rbac(&objects);
    (recorded, rbac)
}

/// The real server lists bindings in no order, so the parts of a list of errors are compared in any order, and of
/// several bindings that allow something any may be the reason.
fn parts(reason: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = reason.trim_matches(['[', ']']).split(", ").collect();
    parts.sort_unstable();
    parts
}

#[test]
fn reviews_are_answered_as_the_real_server_did() {
    let (recorded, rbac) = recorded();
    let authenticator = authenticator(Anonymous::Refused);
    let user = User::default();
    let context = Context {
        user: &user,
        namespace: "",
        rbac: &rbac,
        authenticator: &authenticator,
        now: now(),
        find: &nothing,
    };
    let reviews = recorded.list_at(&["reviews"]);
    assert!(reviews.len() > 200);
    for case in reviews {
        let answer = Review::SubjectAccess.answer(
            &value!({ "spec": (case.get("spec").cloned().unwrap()) }),
            &context,
        );
        let (ours, theirs) = (
            answer.unwrap().get("status").cloned().unwrap(),
            case.get("status").unwrap(),
        );
        assert_eq!(ours.get("allowed"), theirs.get("allowed"), "{case:?}");
        let reason = |status: &Value| status.str_at(&["reason"]).trim_start_matches("RBAC: ").to_owned();
        if ours.get("allowed") == Some(&Value::Bool(false)) {
            assert_eq!(parts(&reason(&ours)), parts(&reason(theirs)), "{case:?}");
        } else {
            assert!(reason(&ours).starts_with("allowed by "), "{case:?}");
        }
    }
}

#[test]
fn writes_of_roles_and_bindings_pass_and_fail_as_on_the_real_server() {
    let (recorded, rbac) = recorded();
    let writes = recorded.list_at(&["writes"]);
    assert!(writes.len() > 30);
    for case in writes {
        let groups: Vec<&str> = case
            .list_at(&["groups"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let user = User::new(case.str_at(&["user"]), &groups);
        let target = Resource {
            group: "rbac.authorization.k8s.io",
            resource: case.str_at(&["resource"]),
            namespace: case.str_at(&["namespace"]),
            ..Resource::default()
        };
        let request = Attributes::resource(&user, "create", target);
        let result = escalation::check(&rbac, &request, case.get("object").unwrap(), None);
        let (code, message) = match result {
            Ok(()) => (201, String::new()),
            Err(error) => (i64::from(error.code), error.message),
        };
        assert_eq!(Some(code), case.get("code").and_then(Value::as_i64), "{case:?}");
        let theirs = case.str_at(&["message"]);
        let split = |message: &str| match message.split_once("; resolution errors: ") {
            Some((missing, errors)) => (missing.to_owned(), parts(errors).join(", ")),
            None => (message.to_owned(), String::new()),
        };
        assert_eq!(split(&message), split(theirs));
    }
}
