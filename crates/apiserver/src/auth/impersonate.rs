//! Acting as somebody else.
//!
//! The `Impersonate-*` headers name a user, groups, a UID and more. Each of them is a thing that one needs the verb
//! `impersonate` for; who may not impersonate one part may not impersonate at all.

use http::{HeaderMap, HeaderName};
use model::Str;

use super::attributes::{Attributes, Resource};
use super::rbac::Rbac;
use super::user::{ANONYMOUS, UNAUTHENTICATED, User, service_account_groups, split_service_account};
use crate::error::{Error, Result};

const USER: HeaderName = HeaderName::from_static("impersonate-user");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const EXTRA: &str = "impersonate-extra-";

const AUTHENTICATION_GROUP: &str = "authentication.k8s.io";

/// One thing that is to be impersonated.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    ServiceAccount { namespace: String, name: String },
    User(String),
    Group(String),
    Extra { key: String, value: String },
    Uid(String),
}

/// The user that the request wants to act as, or `None` if it does not want to.
///
/// # Errors
/// `BadRequest` if parts of a user are named without the user; `Forbidden` if `requestor` may not impersonate a part.
pub fn impersonate(headers: &HeaderMap, requestor: &User, rbac: &Rbac) -> Result<Option<User>> {
    let parts = parts(headers)?;
    for part in &parts {
        rbac.check(&Attributes::resource(requestor, "impersonate", part.resource()))?;
    }
    Ok((!parts.is_empty()).then(|| user(parts)))
}

fn parts(headers: &HeaderMap) -> Result<Vec<Part>> {
    let values = |name: &HeaderName| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    };
    let first = |name: &HeaderName| values(name).into_iter().next().filter(|value| !value.is_empty());

    let mut parts = Vec::new();
    let user = first(&USER);
    if let Some(name) = &user {
        parts.push(match split_service_account(name) {
            Some((namespace, name)) => Part::ServiceAccount {
                namespace: namespace.into(),
                name: name.into(),
            },
            None => Part::User(name.clone()),
        });
    }
    parts.extend(values(&GROUP).into_iter().map(Part::Group));
    for name in headers.keys() {
        if let Some(key) = name.as_str().strip_prefix(EXTRA) {
            let key = unescape(key);
            parts.extend(values(name).into_iter().map(|value| Part::Extra {
                key: key.clone(),
                value,
            }));
        }
    }
    parts.extend(first(&UID).map(Part::Uid));

    if user.is_none() && !parts.is_empty() {
        let texts: Vec<String> = parts.iter().map(Part::to_reference).collect();
        return Err(Error::bad_request(format!(
            "requested [{}] without impersonating a user",
            texts.join(" ")
        )));
    }
    Ok(parts)
}

fn user(parts: Vec<Part>) -> User {
    let mut user = User::default();
    let mut account_groups = Vec::new();
    for part in parts {
        match part {
            Part::ServiceAccount { namespace, name } => {
                user.name = super::user::service_account_name(&namespace, &name);
                account_groups = service_account_groups(&namespace);
            }
            Part::User(name) => user.name = name.into(),
            Part::Group(name) => user.groups.push(name.into()),
            Part::Extra { key, value } => user.extra.entry(key.into()).or_default().push(value.into()),
            Part::Uid(uid) => user.uid = uid.into(),
        }
    }
    // Groups that are named are all there are; else a service account has those it always has.
    if user.groups.is_empty() {
        user.groups = account_groups;
    }
    match user.name == ANONYMOUS {
        true if user.in_group(UNAUTHENTICATED) => {}
        true => user.groups.push(Str::new(UNAUTHENTICATED)),
        false => user.add_authenticated(),
    }
    user
}

impl Part {
    /// The resource that the verb `impersonate` is asked for.
    fn resource(&self) -> Resource<'_> {
        let none = Resource::default();
        match self {
            Part::ServiceAccount { namespace, name } => Resource {
                resource: "serviceaccounts",
                namespace,
                name,
                ..none
            },
            Part::User(name) => Resource {
                resource: "users",
                name,
                ..none
            },
            Part::Group(name) => Resource {
                resource: "groups",
                name,
                ..none
            },
            Part::Extra { key, value } => Resource {
                group: AUTHENTICATION_GROUP,
                resource: "userextras",
                subresource: key,
                name: value,
                ..none
            },
            Part::Uid(uid) => Resource {
                group: AUTHENTICATION_GROUP,
                resource: "uids",
                name: uid,
                ..none
            },
        }
    }

    /// The part as Go prints the object reference that stands for it in the real server: kind, namespace, name, UID,
    /// version, resource version and field path, each after a space.
    fn to_reference(&self) -> String {
        match self {
            Part::ServiceAccount { namespace, name } => format!("{{ServiceAccount {namespace} {name}    }}"),
            Part::User(name) => format!("{{User  {name}    }}"),
            Part::Group(name) => format!("{{Group  {name}    }}"),
            Part::Extra { key, value } => format!("{{UserExtra  {value}  {AUTHENTICATION_GROUP}/v1  {key}}}"),
            Part::Uid(uid) => format!("{{UID  {uid}  {AUTHENTICATION_GROUP}/v1  }}"),
        }
    }
}

/// Undoes percent-encoding; a key with a broken escape stays as it is.
fn unescape(key: &str) -> String {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (digit(rest.next()), digit(rest.next())) {
            (Some(high), Some(low)) => bytes.push((high * 16 + low) as u8),
            _ => return key.to_owned(),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone_unless_one_is_broken() {
        assert_eq!(unescape("foo%2fbar%20%C3%bc"), "foo/bar ü");
        for broken in ["bad%zz", "bad%2", "bad%", "ok%20bad%"] {
            assert_eq!(unescape(broken), broken);
        }
    }
}
