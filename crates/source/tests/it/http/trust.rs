//! Certificates of servers as people make them for Go's verifier, which is what Flux has.

use rcgen::{
    BasicConstraints, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, KeyUsagePurpose, NameConstraints,
};
use rcgen::{CertificateParams, date_time_ymd};
use testkit::tls::{Authority, Identity, LOOPBACK, Validity};

use super::ask;

fn may_issue(params: &mut CertificateParams) {
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
}

fn refused(answer: Result<(), String>, why: &str) {
    let told = answer.expect_err("it must not be trusted");
    assert!(told.contains(why), "{told}");
}

#[tokio::test]
async fn a_listed_certificate_of_a_server_that_is_an_authority_too_is_trusted() {
    let server = Identity::self_signed(&LOOPBACK, |_| ());
    ask(server.clone(), &server.certificate).await.unwrap();
    let among_others = format!("{}{}", Authority::default().pem(), server.certificate);
    ask(server.clone(), &among_others).await.unwrap();
    // One that is not on the list is not, not even if it looks the same.
    let other = Identity::self_signed(&LOOPBACK, |_| ());
    refused(ask(server, &other.certificate).await, "UnknownIssuer");
}

#[tokio::test]
async fn a_listed_certificate_of_a_server_needs_no_authority() {
    let plain = Identity::self_signed(&LOOPBACK, |params| params.is_ca = IsCa::NoCa);
    ask(plain.clone(), &plain.certificate).await.unwrap();
    let said = Identity::self_signed(&LOOPBACK, |params| params.is_ca = IsCa::ExplicitNoCa);
    ask(said.clone(), &said.certificate).await.unwrap();
    let issued = Authority::default().server(&LOOPBACK, Validity::Current);
    ask(issued.clone(), &issued.certificate).await.unwrap();
}

#[tokio::test]
async fn a_listed_certificate_of_a_server_must_be_good_otherwise() {
    let expired = Identity::self_signed(&LOOPBACK, |params| params.not_after = date_time_ymd(2001, 1, 1));
    refused(ask(expired.clone(), &expired.certificate).await, "expired");
    let early = Identity::self_signed(&LOOPBACK, |params| params.not_before = date_time_ymd(4000, 1, 1));
    refused(ask(early.clone(), &early.certificate).await, "not valid yet");
    let elsewhere = Identity::self_signed(&["git.example.com"], |_| ());
    refused(
        ask(elsewhere.clone(), &elsewhere.certificate).await,
        "not valid for name",
    );
    let client = Identity::self_signed(&LOOPBACK, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    refused(ask(client.clone(), &client.certificate).await, "Purpose");
    let both = Identity::self_signed(&LOOPBACK, |params| {
        params.extended_key_usages = vec![
            ExtendedKeyUsagePurpose::ClientAuth,
            ExtendedKeyUsagePurpose::ServerAuth,
        ];
    });
    ask(both.clone(), &both.certificate).await.unwrap();
}

#[tokio::test]
async fn the_issuer_alone_is_enough_whoever_issued_it() {
    let root = Authority::new("root");
    let middle = root.intermediate("middle");
    let mut server = middle.server(&LOOPBACK, Validity::Current);
    ask(server.clone(), &middle.pem()).await.unwrap();
    // From the root on, the server must show who is between.
    assert!(ask(server.clone(), &root.pem()).await.is_err());
    server.certificate.push_str(&middle.pem());
    ask(server.clone(), &root.pem()).await.unwrap();
    ask(server, &middle.pem()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_an_authority_too_is_trusted_by_its_issuer() {
    let authority = Authority::default();
    let server = authority.issue_with(&LOOPBACK, may_issue);
    ask(server.clone(), &authority.pem()).await.unwrap();
    let namesake = Authority::default();
    assert!(ask(server, &namesake.pem()).await.is_err());
    let elsewhere = authority.issue_with(&["git.example.com"], may_issue);
    refused(ask(elsewhere, &authority.pem()).await, "not valid for name");
    let expired = authority.issue_with(&LOOPBACK, |params| {
        may_issue(params);
        params.not_after = date_time_ymd(2001, 1, 1);
    });
    assert!(ask(expired, &authority.pem()).await.is_err());
    let client = authority.issue_with(&LOOPBACK, |params| {
        may_issue(params);
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    assert!(ask(client, &authority.pem()).await.is_err());
}

/// Whoever holds a listed certificate of a server must not be able to make others with it.
#[tokio::test]
async fn an_issuer_that_may_not_issue_this_is_not_enough() {
    let issue = |more: fn(&mut CertificateParams)| {
        let mut params = CertificateParams::new(vec!["issuer".to_owned()]).unwrap();
        may_issue(&mut params);
        more(&mut params);
        let key = rcgen::KeyPair::generate().unwrap();
        let issuer = rcgen::CertifiedIssuer::self_signed(params, key).unwrap();
        let names = LOOPBACK.map(str::to_owned);
        let mut params = CertificateParams::new(names).unwrap();
        may_issue(&mut params);
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let server = Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        };
        (server, issuer.pem())
    };
    let (server, issuer) = issue(|_| ());
    ask(server, &issuer).await.unwrap();
    for more in [
        |params: &mut CertificateParams| params.is_ca = IsCa::NoCa,
        |params: &mut CertificateParams| params.key_usages = vec![KeyUsagePurpose::DigitalSignature],
        |params: &mut CertificateParams| params.not_after = date_time_ymd(2001, 1, 1),
        |params: &mut CertificateParams| {
            params.name_constraints = Some(NameConstraints {
                permitted_subtrees: vec![GeneralSubtree::DnsName("example.com".to_owned())],
                excluded_subtrees: Vec::new(),
            });
        },
    ] {
        let (server, issuer) = issue(more);
        assert!(ask(server, &issuer).await.is_err());
    }
}

#[tokio::test]
async fn whoever_takes_any_certificate_takes_these_too() {
    let expired = Identity::self_signed(&["elsewhere"], |params| {
        params.not_after = date_time_ymd(2001, 1, 1)
    });
    let builder = testkit::http::Builder::new(|_: &testkit::http::Request| testkit::http::Reply::text("ok"));
    let server = builder.identity(expired).start();
    let mut options = source::http::Options::default();
    assert!(options.client().unwrap().get(server.url()).send().await.is_err());
    options.tls.accept_any = true;
    options.client().unwrap().get(server.url()).send().await.unwrap();
}
