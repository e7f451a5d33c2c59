use apiserver::error::Error;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::*;

fn with(header: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(AUTHORIZATION, header.parse().unwrap());
    headers
}

fn user(headers: &HeaderMap) -> Result<User, Error> {
    authenticator(Anonymous::Allowed).authenticate(headers, None, now(), &nothing)
}

#[test]
fn a_known_token_is_its_user_in_the_group_of_the_authenticated() {
    let admin = user(&with("Bearer admin-token")).unwrap();
    assert_eq!((admin.name.as_str(), admin.uid.as_str()), ("admin", "uid-1"));
    assert_eq!(admin.groups, ["system:masters", "system:authenticated"]);
    assert_eq!(
        user(&with("bearer user-token and more")).unwrap().name,
        "nobody-yet"
    );
}

#[test]
fn a_wrong_token_is_refused_even_if_nobody_need_show_one() {
    let error = user(&with("Bearer wrong")).unwrap_err();
    assert_eq!(
        (error.code, error.reason, error.message.as_str()),
        (401, "Unauthorized", "Unauthorized")
    );
    assert_eq!(user(&with("Bearer a.b.c")).unwrap_err().code, 401);
}

#[test]
fn no_token_is_the_anonymous_user_unless_that_is_switched_off() {
    for headers in [HeaderMap::new(), with("Basic abc"), with("Bearer  admin-token")] {
        assert_eq!(user(&headers).unwrap(), User::anonymous());
        let strict = authenticator(Anonymous::Refused);
        assert_eq!(
            strict
                .authenticate(&headers, None, now(), &nothing)
                .unwrap_err()
                .code,
            401
        );
    }
}

#[test]
fn a_certificate_goes_before_a_token() {
    let jane = User::new("jane", &["devs"]);
    let strict = authenticator(Anonymous::Refused);
    let user = strict
        .authenticate(&with("Bearer wrong"), Some(&jane), now(), &nothing)
        .unwrap();
    assert_eq!(user, User::new("jane", &["devs", "system:authenticated"]));
}

#[test]
fn a_service_account_comes_in_by_the_token_that_was_issued_to_it() {
    let authenticator = authenticator(Anonymous::Refused);
    let find = among(vec![("serviceaccounts", object("auth", "bot", "u1"))]);
    let claims = super::token::claims();
    let header = with(&format!("Bearer {}", authenticator.issuer().sign(&claims)));
    let user = authenticator.authenticate(&header, None, now(), &find).unwrap();
    assert_eq!(user.name, "system:serviceaccount:auth:bot");
    assert_eq!(
        user.groups,
        [
            "system:serviceaccounts",
            "system:serviceaccounts:auth",
            "system:authenticated"
        ]
    );
    assert_eq!(
        authenticator
            .authenticate(&header, None, now(), &nothing)
            .unwrap_err()
            .code,
        401
    );
}
