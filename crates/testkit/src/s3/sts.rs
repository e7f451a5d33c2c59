//! Temporary keys for the token of a service account (`AssumeRoleWithWebIdentity`).

use jiff::{SignedDuration, Timestamp};

use super::identity::Key;
use super::xml::Xml;
use crate::http::{Reply, Request, query_pairs};

const NAMESPACE: &str = "xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"";

/// A token that is exchanged for a key, if the role is the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WebIdentity {
    pub(super) token: String,
    pub(super) role: String,
}

/// The key for the token in the request, with the answer that hands it over; or the refusal.
pub(super) fn assume(
    request: &Request,
    known: &[WebIdentity],
    count: usize,
    now: Timestamp,
) -> (Option<Key>, Reply) {
    let body = String::from_utf8_lossy(&request.body).into_owned();
    let form: Vec<_> = query_pairs(&body)
        .chain(query_pairs(request.uri.query().unwrap_or_default()))
        .collect();
    let value = |name: &str| {
        form.iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
            .unwrap_or_default()
    };
    if value("Action") != "AssumeRoleWithWebIdentity" {
        return (
            None,
            refusal("InvalidAction", "only AssumeRoleWithWebIdentity is known here"),
        );
    }
    let shown = WebIdentity {
        token: value("WebIdentityToken"),
        role: value("RoleArn"),
    };
    match known.iter().find(|known| known.token == shown.token) {
        None => (
            None,
            refusal("InvalidIdentityToken", "the token is not known here"),
        ),
        Some(known) if known.role != shown.role => (
            None,
            refusal(
                "AccessDenied",
                "Not authorized to perform sts:AssumeRoleWithWebIdentity",
            )
            .with_status(403),
        ),
        Some(known) => {
            let key = Key {
                id: format!("ASIATESTKIT{count:09}"),
                secret: format!("temporary-secret-{count}"),
                session: Some(format!("session-{count}")),
            };
            let reply = answer(&key, &known.role, &value("RoleSessionName"), now);
            (Some(key), reply)
        }
    }
}

fn answer(key: &Key, role: &str, session: &str, now: Timestamp) -> Reply {
    let expires = now.saturating_add(SignedDuration::from_hours(1)).unwrap_or(now);
    let mut xml = Xml::new();
    xml.element(&format!("AssumeRoleWithWebIdentityResponse {NAMESPACE}"), |xml| {
        xml.element("AssumeRoleWithWebIdentityResult", |xml| {
            xml.element("Credentials", |xml| {
                xml.text("AccessKeyId", &key.id);
                xml.text("SecretAccessKey", &key.secret);
                xml.text("SessionToken", key.session.as_deref().unwrap_or_default());
                xml.text("Expiration", format!("{expires:.0}"));
            });
            xml.element("AssumedRoleUser", |xml| {
                xml.text("Arn", format!("{role}/{session}"))
            });
        });
        xml.element("ResponseMetadata", |xml| xml.text("RequestId", "testkit"));
    });
    xml.reply()
}

fn refusal(code: &str, message: &str) -> Reply {
    let mut xml = Xml::new();
    xml.element(&format!("ErrorResponse {NAMESPACE}"), |xml| {
        xml.element("Error", |xml| {
            xml.text("Type", "Sender");
            xml.text("Code", code);
            xml.text("Message", message);
        });
        xml.text("RequestId", "testkit");
    });
    xml.reply().with_status(400)
}
