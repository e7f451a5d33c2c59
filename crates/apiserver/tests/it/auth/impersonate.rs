use apiserver::auth::impersonate::impersonate;
use apiserver::error::Error;
use http::{HeaderMap, HeaderName};

use super::*;

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
    }
    headers
}

fn as_master(pairs: &[(&str, &str)]) -> Result<Option<User>, Error> {
    impersonate(
        &headers(pairs),
        &User::new("root", &["system:masters"]),
        &Rbac::default(),
    )
}

fn refusal(user: &str, rbac: &Rbac, pairs: &[(&str, &str)]) -> String {
    let error = impersonate(&headers(pairs), &User::new(user, &[]), rbac).unwrap_err();
    assert_eq!(error.code, 403);
    error.message
}

#[test]
fn without_headers_nobody_is_impersonated() {
    assert_eq!(as_master(&[("accept", "application/json")]), Ok(None));
    assert_eq!(as_master(&[("Impersonate-User", "")]), Ok(None));
}

#[test]
fn all_parts_of_a_user_can_be_set() {
    let jane = as_master(&[
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
        ("Impersonate-Uid", "77"),
        ("Impersonate-Extra-Foo%2fBar", "x"),
        ("Impersonate-Extra-Foo%2fBar", "y"),
        ("Impersonate-Extra-Bad%zz", "q"),
    ]);
    assert_eq!(
        jane.unwrap().unwrap().to_value(),
        value!({
            "username": "jane", "uid": "77", "groups": ["a", "b", "system:authenticated"],
            "extra": { "bad%zz": ["q"], "foo/bar": ["x", "y"] },
        })
    );
}

#[test]
fn a_service_account_has_its_groups_unless_others_are_named() {
    let account = ("Impersonate-User", "system:serviceaccount:ns:sa");
    let bot = as_master(&[account]).unwrap().unwrap();
    assert_eq!(bot.name, "system:serviceaccount:ns:sa");
    assert_eq!(
        bot.groups,
        [
            "system:serviceaccounts",
            "system:serviceaccounts:ns",
            "system:authenticated"
        ]
    );
    let bot = as_master(&[account, ("Impersonate-Group", "a")])
        .unwrap()
        .unwrap();
    assert_eq!(bot.groups, ["a", "system:authenticated"]);
}

#[test]
fn the_anonymous_user_is_unauthenticated() {
    let nobody = as_master(&[("Impersonate-User", "system:anonymous")])
        .unwrap()
        .unwrap();
    assert_eq!(nobody, User::anonymous());
    let jane = as_master(&[
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "system:unauthenticated"),
    ]);
    assert_eq!(jane.unwrap().unwrap().groups, ["system:unauthenticated"]);
}

#[test]
fn parts_without_a_user_make_no_sense() {
    let message = |pairs: &[(&str, &str)]| {
        let error = as_master(pairs).unwrap_err();
        assert_eq!((error.code, error.reason), (400, "BadRequest"));
        error.message
    };
    assert_eq!(
        message(&[("Impersonate-Group", "g")]),
        "requested [{Group  g    }] without impersonating a user"
    );
    assert_eq!(
        message(&[("Impersonate-Uid", "1"), ("Impersonate-Extra-Foo%2fbar", "x")]),
        "requested [{UserExtra  x  authentication.k8s.io/v1  foo/bar} {UID  1  authentication.k8s.io/v1  }] without impersonating a user"
    );
}

#[test]
fn who_may_not_impersonate_is_told_what_is_missing() {
    let none = Rbac::default();
    assert_eq!(
        refusal("nobody-yet", &none, &[("Impersonate-User", "jane")]),
        r#"users "jane" is forbidden: User "nobody-yet" cannot impersonate resource "users" in API group "" at the cluster scope"#
    );
    assert_eq!(
        refusal(
            "nobody-yet",
            &none,
            &[("Impersonate-User", "system:serviceaccount:ns:sa")]
        ),
        r#"serviceaccounts "sa" is forbidden: User "nobody-yet" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "ns""#
    );
}

#[test]
fn every_part_needs_its_own_right() {
    let rules = value!([
        { "verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["jane"] },
        { "verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"], "resources": ["userextras/scopes"] },
    ]);
    let rbac = rbac(&[
        cluster_role("deputy", rules),
        cluster_binding("deputy", "deputy", super::user("carl")),
    ]);
    let carl = User::new("carl", &[]);
    let jane = ("Impersonate-User", "jane");
    let allowed = headers(&[jane, ("Impersonate-Extra-Scopes", "view")]);
    assert_eq!(impersonate(&allowed, &carl, &rbac).unwrap().unwrap().name, "jane");
    assert!(
        refusal("carl", &rbac, &[("Impersonate-User", "root")]).starts_with(r#"users "root" is forbidden"#)
    );
    assert!(
        refusal("carl", &rbac, &[jane, ("Impersonate-Group", "g")]).starts_with(r#"groups "g" is forbidden"#)
    );
    assert_eq!(
        refusal("carl", &rbac, &[jane, ("Impersonate-Extra-Other", "v")]),
        r#"userextras.authentication.k8s.io "v" is forbidden: User "carl" cannot impersonate resource "userextras/other" in API group "authentication.k8s.io" at the cluster scope"#
    );
    assert!(refusal("carl", &rbac, &[jane, ("Impersonate-Uid", "u")]).contains(r#"resource "uids""#));
}
