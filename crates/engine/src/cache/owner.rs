//! Whose an object is: by its owner references, and for a few kinds by what is known of them.
//!
//! Some objects belong to others without saying so in `ownerReferences`: Endpoints to the Service of their name, a token
//! Secret to its ServiceAccount, a ClusterServiceVersion to the OperatorGroup that its annotation names, and the claims that a
//! StatefulSet makes of its templates to that StatefulSet.

use std::sync::Arc;

use model::object_key::split_api_version;
use model::{Str, Value};

use super::uid::Uid;

/// One owner of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The group of the owner.
    pub group: Str,
    /// The kind of the owner.
    pub kind: Str,
    /// The name of the owner. Of the StatefulSet of a claim it is unknown which part of the claim's name is the set's: it
    /// is the whole name without its number.
    pub name: Str,
    /// The uid of the owner; empty where it is known by name alone.
    pub uid: Uid,
    /// Whether the owner manages the object.
    pub controller: bool,
    /// Whether no owner reference says so.
    pub inferred: bool,
}

/// What the children of an owner are found by.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum OwnerKey {
    /// An owner reference.
    Uid(Uid),
    /// A name in the same namespace.
    Name(Named),
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Named {
    pub(super) kind: Inferred,
    pub(super) namespace: Arc<str>,
    pub(super) name: Str,
}

/// The kinds of owners that are known by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Inferred {
    Service,
    ServiceAccount,
    OperatorGroup,
    /// A StatefulSet by `<template>-<set>`.
    Claims,
}

impl Owner {
    /// What this object is to be found by as a child of this owner.
    pub(super) fn key(&self, namespace: &Arc<str>) -> Option<OwnerKey> {
        if !self.uid.is_empty() {
            return Some(OwnerKey::Uid(self.uid.clone()));
        }
        if !self.inferred {
            return None;
        }
        let kind = match self.kind.as_str() {
            "Service" => Inferred::Service,
            "ServiceAccount" => Inferred::ServiceAccount,
            "OperatorGroup" => Inferred::OperatorGroup,
            _ => Inferred::Claims,
        };
        Some(OwnerKey::Name(Named {
            kind,
            namespace: Arc::clone(namespace),
            name: self.name.clone(),
        }))
    }
}

/// The kinds that own others by name, as group, kind and what they are found by.
pub(super) fn inferred_kind(group: &str, kind: &str) -> Option<Inferred> {
    match (group, kind) {
        ("", "Service") => Some(Inferred::Service),
        ("", "ServiceAccount") => Some(Inferred::ServiceAccount),
        ("operators.coreos.com", "OperatorGroup") => Some(Inferred::OperatorGroup),
        ("apps", "StatefulSet") => Some(Inferred::Claims),
        _ => None,
    }
}

/// All owners of an object.
pub(super) fn owners(object: &Value) -> Box<[Owner]> {
    let references = object.list_at(&["metadata", "ownerReferences"]).iter();
    let references = references.map(|reference| Owner {
        group: split_api_version(reference.str_at(&["apiVersion"])).0.into(),
        kind: reference.str_at(&["kind"]).into(),
        name: reference.str_at(&["name"]).into(),
        uid: Uid::new(reference.str_at(&["uid"])),
        controller: reference.get("controller").and_then(Value::as_bool) == Some(true),
        inferred: false,
    });
    references.chain(inferred(object)).collect()
}

fn inferred(object: &Value) -> Option<Owner> {
    let annotation = |key: &str| object.str_at(&["metadata", "annotations", key]);
    let owner = |group: &str, kind: &str, name: &str, uid: &str| Owner {
        group: group.into(),
        kind: kind.into(),
        name: name.into(),
        uid: Uid::new(uid),
        controller: false,
        inferred: true,
    };
    let (group, _) = split_api_version(object.str_at(&["apiVersion"]));
    let name = object.str_at(&["metadata", "name"]);
    match (group, object.str_at(&["kind"])) {
        ("", "Endpoints") => Some(owner("", "Service", name, "")),
        ("", "Secret") => {
            let account = annotation("kubernetes.io/service-account.name");
            let uid = annotation("kubernetes.io/service-account.uid");
            // Only the type says that the annotations mean something; of bare metadata it is not known.
            let kind = object.get("type").and_then(Value::as_str);
            let is_token = kind.is_none_or(|kind| kind == "kubernetes.io/service-account-token");
            (!account.is_empty() && is_token).then(|| owner("", "ServiceAccount", account, uid))
        }
        ("operators.coreos.com", "ClusterServiceVersion") => {
            let group = annotation("olm.operatorGroup");
            (!group.is_empty()).then(|| owner("operators.coreos.com", "OperatorGroup", group, ""))
        }
        ("", "PersistentVolumeClaim") => {
            let (stem, number) = name.rsplit_once('-')?;
            let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            numbered.then(|| owner("apps", "StatefulSet", stem, ""))
        }
        _ => None,
    }
}

/// The names of the claim templates of a StatefulSet; empty for everything else.
pub(super) fn claim_templates(object: &Value) -> Box<[Str]> {
    if object.str_at(&["kind"]) != "StatefulSet" {
        return Box::default();
    }
    let templates = object.list_at(&["spec", "volumeClaimTemplates"]).iter();
    templates
        .map(|template| template.str_at(&["metadata", "name"]).into())
        .collect()
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn inferred_of(object: &Value) -> Option<(String, String)> {
        let owner = inferred(object)?;
        Some((owner.kind.to_string(), owner.name.to_string()))
    }

    #[test]
    fn owners_are_inferred_for_the_kinds_that_do_not_name_theirs() {
        let named = |api: &str, kind: &str, name: &str| value!({ "apiVersion": api, "kind": kind, "metadata": { "name": name } });
        let pair = |kind: &str, name: &str| Some((kind.to_owned(), name.to_owned()));
        assert_eq!(
            inferred_of(&named("v1", "Endpoints", "web")),
            pair("Service", "web")
        );
        assert_eq!(
            inferred_of(&named("v1", "PersistentVolumeClaim", "data-web-12")),
            pair("StatefulSet", "data-web")
        );
        for plain in ["data", "data-web-", "data-web-x1"] {
            assert_eq!(inferred_of(&named("v1", "PersistentVolumeClaim", plain)), None);
        }
        let mut version = named("operators.coreos.com/v1alpha1", "ClusterServiceVersion", "etcd");
        assert_eq!(inferred_of(&version), None);
        version.set_at(&["metadata", "annotations", "olm.operatorGroup"], "global");
        assert_eq!(inferred_of(&version), pair("OperatorGroup", "global"));
        let mut secret = named("v1", "Secret", "token");
        secret.set_at(
            &["metadata", "annotations", "kubernetes.io/service-account.name"],
            "robot",
        );
        secret.set_at(&["type"], "kubernetes.io/service-account-token");
        assert_eq!(inferred_of(&secret), pair("ServiceAccount", "robot"));
        secret.set_at(&["type"], "Opaque");
        assert_eq!(inferred_of(&secret), None);
    }
}
