//! Objects that a spec names.
//!
//! The client puts namespaces and names into request paths as they are, so that `../../other/secrets/x`
//! or `x?watch=1` would be another request. Whatever comes from a spec is checked here first.

use std::fmt::Debug;

use k8s_openapi::NamespaceResourceScope;
use kube::core::request::Error as RequestError;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;

/// Checks that a name can be part of a request path.
///
/// # Errors
/// Where it cannot.
pub(crate) fn check(what: &str, name: &str) -> kube::Result<()> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if !name.is_empty() && !matches!(name, "." | "..") && name.bytes().all(is_plain) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    let why = match shown.is_empty() {
        true => format!("the {what} is empty"),
        false => format!("{what} {shown:?} is not valid: use letters, digits, '-' and '.'"),
    };
    Err(kube::Error::BuildRequest(RequestError::Validation(why)))
}

/// The objects of a namespace that a spec names.
///
/// # Errors
/// Where the namespace is no name.
pub(crate) fn api<K>(client: &Client, namespace: &str) -> kube::Result<Api<K>>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
{
    check("namespace", namespace)?;
    Ok(Api::namespaced(client.clone(), namespace))
}

/// An object that a spec names.
///
/// # Errors
/// Where namespace or name are none, or the cluster does not give the object.
pub(crate) async fn get<K>(client: &Client, namespace: &str, name: &str) -> kube::Result<K>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    check("name", name)?;
    api(client, namespace)?.get(name).await
}

/// An object that a spec names, if it exists.
///
/// # Errors
/// Where namespace or name are none, or the cluster does not answer.
pub(crate) async fn get_opt<K>(client: &Client, namespace: &str, name: &str) -> kube::Result<Option<K>>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    check("name", name)?;
    api(client, namespace)?.get_opt(name).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_change_the_request_are_refused() {
        for name in ["a", "a-b.c", "kube-root-ca.crt", "A_b"] {
            assert!(check("name", name).is_ok(), "{name}");
        }
        for name in [
            "",
            ".",
            "..",
            "../../secrets/x",
            "a?b",
            "a#b",
            "a%2fb",
            "a/b",
            "a b",
            "ä",
            "a\n",
        ] {
            assert!(check("name", name).is_err(), "{name}");
        }
        let why = check("name", "a?b").unwrap_err().to_string();
        assert!(why.contains("name \"a?b\" is not valid"), "{why}");
    }
}
