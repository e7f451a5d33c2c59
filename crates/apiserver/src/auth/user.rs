//! Users, and the names that service accounts have as users.

use std::collections::BTreeMap;

use model::{Map, Str, Value};

/// The group of everyone who showed valid credentials.
pub const AUTHENTICATED: &str = "system:authenticated";
/// The group of everyone who showed none.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// The group whose members may do everything, whatever the roles say.
pub const MASTERS: &str = "system:masters";
/// The name of the user who showed no credentials.
pub const ANONYMOUS: &str = "system:anonymous";

const SERVICE_ACCOUNT_PREFIX: &str = "system:serviceaccount:";
const SERVICE_ACCOUNTS_GROUP: &str = "system:serviceaccounts";

/// Who is asking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name, unique among users.
    pub name: Str,
    /// Tells users of the same name apart over time; may be empty.
    pub uid: Str,
    /// The groups the user is in.
    pub groups: Vec<Str>,
    /// What else the authenticator knows.
    pub extra: BTreeMap<Str, Vec<Str>>,
}

impl User {
    /// A user in some groups.
    pub fn new(name: impl AsRef<str>, groups: &[&str]) -> Self {
        User {
            name: Str::new(name),
            groups: groups.iter().map(Str::new).collect(),
            ..User::default()
        }
    }

    /// The user who showed no credentials.
    pub fn anonymous() -> Self {
        User::new(ANONYMOUS, &[UNAUTHENTICATED])
    }

    /// The user that a service account is.
    pub fn service_account(namespace: &str, name: &str, uid: &str) -> Self {
        User {
            name: service_account_name(namespace, name),
            uid: Str::new(uid),
            groups: service_account_groups(namespace),
            extra: BTreeMap::new(),
        }
    }

    /// Whether the user is in this group.
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    /// Whether the user may do everything.
    pub fn is_master(&self) -> bool {
        self.in_group(MASTERS)
    }

    /// Adds the group of all authenticated users, unless one of the two such groups is there.
    pub fn add_authenticated(&mut self) {
        if !self.in_group(AUTHENTICATED) && !self.in_group(UNAUTHENTICATED) {
            self.groups.push(Str::new(AUTHENTICATED));
        }
    }

    /// The user as a `UserInfo` object; what is empty is left out.
    pub fn to_value(&self) -> Value {
        let mut info = Map::new();
        if !self.extra.is_empty() {
            let extra: Map = self
                .extra
                .iter()
                .map(|(key, values)| (key, values.iter().cloned().collect::<Value>()))
                .collect();
            info.insert("extra", extra);
        }
        if !self.groups.is_empty() {
            info.insert("groups", self.groups.iter().cloned().collect::<Value>());
        }
        if !self.uid.is_empty() {
            info.insert("uid", self.uid.clone());
        }
        if !self.name.is_empty() {
            info.insert("username", self.name.clone());
        }
        Value::Object(info)
    }
}

/// The name of a service account as a user.
pub fn service_account_name(namespace: &str, name: &str) -> Str {
    Str::from(format!("{SERVICE_ACCOUNT_PREFIX}{namespace}:{name}"))
}

/// The groups that every service account of a namespace is in.
pub fn service_account_groups(namespace: &str) -> Vec<Str> {
    vec![
        Str::new(SERVICE_ACCOUNTS_GROUP),
        Str::from(format!("{SERVICE_ACCOUNTS_GROUP}:{namespace}")),
    ]
}

/// Namespace and name, if the user's name is a well-formed name of a service account.
pub fn split_service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix(SERVICE_ACCOUNT_PREFIX)?.split_once(':')?;
    let well_formed = namespace.len() <= 63 && is_dns_label(namespace) && is_dns_subdomain(name);
    well_formed.then_some((namespace, name))
}

fn is_dns_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_dns_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_account_is_split_only_when_well_formed() {
        assert_eq!(
            split_service_account("system:serviceaccount:ns:a.b-c"),
            Some(("ns", "a.b-c"))
        );
        for other in [
            "jane",
            "system:serviceaccount:ns",
            "system:serviceaccount:ns:a:b",
            "system:serviceaccount:n.s:a",
            "system:serviceaccount::a",
            "system:serviceaccount:ns:",
            "system:serviceaccount:ns:A",
            "system:serviceaccount:ns:a..b",
        ] {
            assert_eq!(split_service_account(other), None, "{other}");
        }
    }

    #[test]
    fn only_one_of_the_two_authentication_groups_is_ever_added() {
        let mut jane = User::new("jane", &["devs"]);
        jane.add_authenticated();
        jane.add_authenticated();
        assert_eq!(jane.groups, ["devs", AUTHENTICATED]);
        let mut nobody = User::anonymous();
        nobody.add_authenticated();
        assert_eq!(nobody, User::anonymous());
    }

    #[test]
    fn empty_parts_of_a_user_are_not_printed() {
        assert_eq!(User::default().to_value(), Value::object());
        let mut jane = User::new("jane", &["devs"]);
        jane.extra.insert("k".into(), vec!["v".into()]);
        assert_eq!(
            jane.to_value(),
            model::value!({ "username": "jane", "groups": ["devs"], "extra": { "k": ["v"] } })
        );
    }
}
