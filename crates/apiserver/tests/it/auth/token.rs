use apiserver::auth::token::{Claims, Reference, Rejected};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use jiff::SignedDuration;
use model::json;

use super::*;

pub(super) fn claims() -> Claims {
    Claims {
        audiences: vec![ISSUER.into()],
        issued: now().as_second(),
        expires: now().as_second() + 3600,
        id: "j1".into(),
        namespace: "auth".into(),
        service_account: reference("bot", "u1"),
        ..Claims::default()
    }
}

pub(super) fn claims_of(name: &str, uid: &str) -> Claims {
    Claims {
        service_account: reference(name, uid),
        ..claims()
    }
}

fn reference(name: &str, uid: &str) -> Reference {
    Reference {
        name: name.into(),
        uid: uid.into(),
    }
}

fn bot() -> (&'static str, Value) {
    ("serviceaccounts", object("auth", "bot", "u1"))
}

/// Why a token with these claims is not accepted.
fn rejection(claims: &Claims, seconds_later: i64, objects: Vec<(&'static str, Value)>) -> String {
    let issuer = issuer();
    let time = now() + SignedDuration::from_secs(seconds_later);
    let result = issuer.accept(&issuer.sign(claims), &[ISSUER.into()], time, &among(objects));
    result.unwrap_err().to_string()
}

fn accepted(claims: &Claims, seconds_later: i64, objects: Vec<(&'static str, Value)>) -> User {
    let issuer = issuer();
    let time = now() + SignedDuration::from_secs(seconds_later);
    let result = issuer.accept(&issuer.sign(claims), &[ISSUER.into()], time, &among(objects));
    result.unwrap().expect("it is a token of this issuer").user
}

#[test]
fn a_token_is_the_service_account_it_was_issued_to() {
    let user = accepted(&claims(), 0, vec![bot()]);
    assert_eq!(
        user.to_value(),
        value!({
            "username": "system:serviceaccount:auth:bot",
            "uid": "u1",
            "groups": ["system:serviceaccounts", "system:serviceaccounts:auth"],
            "extra": { "authentication.kubernetes.io/credential-id": ["JTI=j1"] },
        })
    );
}

#[test]
fn a_pod_and_its_node_are_part_of_the_user() {
    let bound = Claims {
        pod: Some(reference("p1", "u2")),
        node: Some(reference("nonode", "")),
        ..claims()
    };
    let user = accepted(&bound, 0, vec![bot(), ("pods", object("auth", "p1", "u2"))]);
    let extra = user.to_value().get("extra").cloned().unwrap();
    assert_eq!(
        extra,
        value!({
            "authentication.kubernetes.io/credential-id": ["JTI=j1"],
            "authentication.kubernetes.io/node-name": ["nonode"],
            "authentication.kubernetes.io/pod-name": ["p1"],
            "authentication.kubernetes.io/pod-uid": ["u2"],
        })
    );
}

#[test]
fn a_token_has_a_beginning_and_an_end_with_a_minute_of_leeway() {
    accepted(&claims(), 3660, vec![bot()]);
    assert_eq!(
        rejection(&claims(), 3661, vec![bot()]),
        "service account token has expired"
    );
    accepted(&claims(), -60, vec![bot()]);
    assert_eq!(
        rejection(&claims(), -61, vec![bot()]),
        "service account token is not valid yet"
    );
}

#[test]
fn a_token_ends_with_its_service_account() {
    assert_eq!(
        rejection(&claims(), 0, vec![]),
        "serviceaccounts \"bot\" not found"
    );
    assert_eq!(
        rejection(
            &claims(),
            0,
            vec![("serviceaccounts", object("auth", "bot", "u9"))]
        ),
        "service account UID (u9) does not match claim (u1)"
    );
    let mut ending = object("auth", "bot", "u1");
    ending.set_at(&["metadata", "deletionTimestamp"], "2026-11-15T19:49:00Z");
    accepted(&claims(), 0, vec![("serviceaccounts", ending.clone())]);
    assert_eq!(
        rejection(&claims(), 60, vec![("serviceaccounts", ending)]),
        "service account auth/bot has been deleted"
    );
}

#[test]
fn a_bound_token_ends_with_what_it_is_bound_to() {
    let secret = Claims {
        secret: Some(reference("s1", "u2")),
        ..claims()
    };
    assert_eq!(
        rejection(&secret, 0, vec![bot()]),
        "service account token has been invalidated"
    );
    accepted(&secret, 0, vec![bot(), ("secrets", object("auth", "s1", "u2"))]);
    assert_eq!(
        rejection(&secret, 0, vec![bot(), ("secrets", object("auth", "s1", "u3"))]),
        "secret UID (u3) does not match service account secret ref claim (u2)"
    );
    let node = Claims {
        node: Some(reference("n1", "u2")),
        ..claims()
    };
    assert_eq!(
        rejection(&node, 0, vec![bot()]),
        "service account token has been invalidated"
    );
    accepted(&node, 0, vec![bot(), ("nodes", object("", "n1", "u2"))]);
}

#[test]
fn a_token_is_for_its_audiences_only() {
    let issuer = issuer();
    let find = among(vec![bot()]);
    let token = issuer.sign(&Claims {
        audiences: vec!["a".into(), "b".into()],
        ..claims()
    });
    let accept = |wanted: &[&str]| {
        let wanted: Vec<Str> = wanted.iter().map(Str::new).collect();
        issuer.accept(&token, &wanted, now(), &find)
    };
    assert_eq!(accept(&["z", "b", "a"]).unwrap().unwrap().audiences, ["b", "a"]);
    assert_eq!(
        accept(&["z"]).unwrap_err().to_string(),
        r#"token audiences ["a" "b"] is invalid for the target audiences ["z"]"#
    );
}

#[test]
fn what_is_no_token_of_this_issuer_is_left_to_others() {
    let issuer = issuer();
    let foreign = Issuer::new("https://elsewhere", &[], &Issuer::new_key().unwrap())
        .unwrap()
        .sign(&claims());
    for text in [
        "",
        "x",
        "a.b",
        "a.b.c",
        "..",
        "{}.{}.{}",
        &foreign,
        &format!("{foreign}.x"),
    ] {
        assert_eq!(issuer.verify(text), Ok(None), "{text}");
    }
}

#[test]
fn a_forged_token_is_rejected() {
    let issuer = issuer();
    let token = issuer.sign(&claims());
    let parts: Vec<&str> = token.split('.').collect();
    let header = |text: &str| format!("{}.{}.{}", BASE64.encode(text), parts[1], parts[2]);

    let mut payload = json::parse(&BASE64.decode(parts[1]).unwrap()).unwrap();
    payload.set_at(&["kubernetes.io", "serviceaccount", "name"], "root");
    let payload = BASE64.encode(json::to_string(&payload));
    let renamed = format!("{}.{payload}.{}", parts[0], parts[2]);
    for forged in [
        renamed,
        header(r#"{"alg":"none"}"#),
        header(r#"{"alg":"HS256"}"#),
        header("{}"),
    ] {
        assert_eq!(issuer.verify(&forged), Err(Rejected::Signature), "{forged}");
    }
    let unsigned = format!("{}.{}.", parts[0], parts[1]);
    assert_eq!(issuer.verify(&unsigned), Err(Rejected::Signature));
    assert_eq!(
        issuer.verify(&header(r#"{"alg":"ES256","kid":"other"}"#)),
        Err(Rejected::UnknownKey)
    );

    // Another server of the same name has another key.
    let twin = super::issuer().sign(&claims());
    assert_eq!(issuer.verify(&twin), Err(Rejected::UnknownKey));
}

#[test]
fn the_public_key_verifies_what_the_issuer_signs() {
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    let issuer = issuer();
    let token = issuer.sign(&claims());
    let keys = issuer.key_set();
    let key = &keys.list_at(&["keys"])[0];
    let header = json::parse(&BASE64.decode(token.split('.').next().unwrap()).unwrap()).unwrap();
    assert_eq!(header.str_at(&["kid"]), key.str_at(&["kid"]));
    let coordinate = |name| BASE64.decode(key.str_at(&[name])).unwrap();
    let point = [vec![4], coordinate("x"), coordinate("y")].concat();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    public
        .verify(signed.as_bytes(), &BASE64.decode(signature).unwrap())
        .unwrap();
    assert_eq!(
        issuer.configuration("https://h:1"),
        value!({
            "issuer": ISSUER, "jwks_uri": "https://h:1/openid/v1/jwks",
            "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        })
    );
}

#[test]
fn a_key_that_is_none_is_refused() {
    assert!(Issuer::new(ISSUER, &[], b"nonsense").is_err());
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_issuer_panic(text in "[a-zA-Z0-9_.{}\":-]{0,60}") {
        let _ = issuer().verify(&text);
    }
}
