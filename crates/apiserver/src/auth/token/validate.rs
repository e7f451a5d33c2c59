//! Whether a token is good for now.

use jiff::Timestamp;
use model::quote::quote;
use model::{Str, Value};

use super::claims::{Claims, Reference};
use super::issuer::Issuer;
use crate::auth::Find;
use crate::auth::quote::quote_list;
use crate::auth::user::User;

/// Clocks may differ by this many seconds.
const LEEWAY: i64 = 60;

const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
const POD_UID: &str = "authentication.kubernetes.io/pod-uid";
const NODE_NAME: &str = "authentication.kubernetes.io/node-name";
const NODE_UID: &str = "authentication.kubernetes.io/node-uid";
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

/// Credentials that are good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Whose they are.
    pub user: User,
    /// The audiences asked for that they are meant for.
    pub audiences: Vec<Str>,
}

/// Why a token is not good. The texts are those that a `TokenReview` shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It is signed with another key.
    #[error("invalid signature, no keys found")]
    UnknownKey,
    /// Its signature is wrong.
    #[error("go-jose/go-jose: error in cryptographic primitive")]
    Signature,
    /// It is meant for others.
    #[error("token audiences {} is invalid for the target audiences {}", quote_list(.token), quote_list(.wanted))]
    Audience {
        /// Whom it is meant for.
        token: Vec<Str>,
        /// Who asked.
        wanted: Vec<Str>,
    },
    /// It has ended.
    #[error("service account token has expired")]
    Expired,
    /// It has not begun.
    #[error("service account token is not valid yet")]
    NotYetValid,
    /// The service account is gone.
    #[error("serviceaccounts {} not found", quote(.name))]
    NoServiceAccount {
        /// Its name.
        name: Str,
    },
    /// An object of that name is another one than at the time.
    #[error("{what} UID ({found}) does not match {claim} ({claimed})")]
    OtherObject {
        /// What kind of object.
        what: &'static str,
        /// The UID it has now.
        found: Str,
        /// Which claim differs.
        claim: &'static str,
        /// The UID it had.
        claimed: Str,
    },
    /// The service account is being deleted.
    #[error("service account {namespace}/{name} has been deleted")]
    Deleted {
        /// Its namespace.
        namespace: Str,
        /// Its name.
        name: Str,
    },
    /// The object it was bound to is gone.
    #[error("service account token has been invalidated")]
    Invalidated,
}

impl Issuer {
    /// Whose token this is, if it is good now and for one of these audiences. `None` says that the text is no token of
    /// this issuer.
    ///
    /// # Errors
    /// It is one, but not good.
    pub fn accept(
        &self,
        token: &str,
        audiences: &[Str],
        now: Timestamp,
        find: Find<'_>,
    ) -> Result<Option<Accepted>, Rejected> {
        let Some(claims) = self.verify(token)? else {
            return Ok(None);
        };
        let common: Vec<Str> = audiences
            .iter()
            .filter(|wanted| claims.audiences.contains(wanted))
            .cloned()
            .collect();
        if common.is_empty() {
            return Err(Rejected::Audience {
                token: claims.audiences,
                wanted: audiences.to_vec(),
            });
        }
        check_times(&claims, now)?;
        check_objects(&claims, now, find)?;
        Ok(Some(Accepted {
            user: user(&claims),
            audiences: common,
        }))
    }
}

fn check_times(claims: &Claims, now: Timestamp) -> Result<(), Rejected> {
    let now = now.as_second();
    if now + LEEWAY < claims.issued {
        return Err(Rejected::NotYetValid);
    }
    if now - LEEWAY > claims.expires {
        return Err(Rejected::Expired);
    }
    Ok(())
}

fn check_objects(claims: &Claims, now: Timestamp, find: Find<'_>) -> Result<(), Rejected> {
    let (namespace, account) = (claims.namespace.as_str(), &claims.service_account);
    let Some(object) = find("serviceaccounts", namespace, &account.name) else {
        return Err(Rejected::NoServiceAccount {
            name: account.name.clone(),
        });
    };
    check_identity(&object, account, "service account", "claim")?;
    if deleted(&object, now) {
        return Err(Rejected::Deleted {
            namespace: claims.namespace.clone(),
            name: account.name.clone(),
        });
    }
    // Beside a pod, a node is only information.
    let node = claims.node.as_ref().filter(|_| claims.pod.is_none());
    let bound = [
        (
            "secrets",
            namespace,
            claims.secret.as_ref(),
            "secret",
            "service account secret ref claim",
        ),
        (
            "pods",
            namespace,
            claims.pod.as_ref(),
            "pod",
            "service account pod ref claim",
        ),
        ("nodes", "", node, "node", "service account node ref claim"),
    ];
    for (resource, namespace, reference, what, claim) in bound {
        let Some(reference) = reference else { continue };
        let object = find(resource, namespace, &reference.name).ok_or(Rejected::Invalidated)?;
        check_identity(&object, reference, what, claim)?;
        if deleted(&object, now) {
            return Err(Rejected::Invalidated);
        }
    }
    Ok(())
}

fn check_identity(
    object: &Value,
    reference: &Reference,
    what: &'static str,
    claim: &'static str,
) -> Result<(), Rejected> {
    let found = object.str_at(&["metadata", "uid"]);
    match found == reference.uid {
        true => Ok(()),
        false => Err(Rejected::OtherObject {
            what,
            found: Str::new(found),
            claim,
            claimed: reference.uid.clone(),
        }),
    }
}

/// Whether the object was to be gone by now.
fn deleted(object: &Value, now: Timestamp) -> bool {
    let time: Option<Timestamp> = object.str_at(&["metadata", "deletionTimestamp"]).parse().ok();
    time.is_some_and(|time| time.as_second() < now.as_second() - LEEWAY)
}

fn user(claims: &Claims) -> User {
    let account = &claims.service_account;
    let mut user = User::service_account(&claims.namespace, &account.name, &account.uid);
    let mut add = |key, value: &Str| {
        if !value.is_empty() {
            user.extra.insert(Str::new(key), vec![value.clone()]);
        }
    };
    if !claims.id.is_empty() {
        add(CREDENTIAL_ID, &Str::from(format!("JTI={}", claims.id)));
    }
    if let Some(pod) = &claims.pod {
        add(POD_NAME, &pod.name);
        add(POD_UID, &pod.uid);
    }
    if let Some(node) = &claims.node {
        add(NODE_NAME, &node.name);
        add(NODE_UID, &node.uid);
    }
    user
}
