//! The labels and annotations that say to which release an object belongs.

use model::{ObjectKey, Value};

const MANAGED_BY: &str = "app.kubernetes.io/managed-by";
const HELM: &str = "Helm";
const RELEASE_NAME: &str = "meta.helm.sh/release-name";
const RELEASE_NAMESPACE: &str = "meta.helm.sh/release-namespace";
const GROUP: &str = "helm.toolkit.fluxcd.io";

/// Says that an object belongs to a release.
pub fn set(object: &mut Value, release: &str, namespace: &str) {
    object.set_at(&["metadata", "labels", MANAGED_BY], HELM);
    object.set_at(&["metadata", "annotations", RELEASE_NAME], release);
    object.set_at(&["metadata", "annotations", RELEASE_NAMESPACE], namespace);
}

/// Checks that an object of the cluster belongs to a release.
///
/// # Errors
/// What Helm says if it does not.
pub fn check(live: &Value, release: &str, namespace: &str) -> Result<(), String> {
    let mut problems = Vec::new();
    for (what, field, key, wanted) in [
        ("label", "labels", MANAGED_BY, HELM),
        ("annotation", "annotations", RELEASE_NAME, release),
        ("annotation", "annotations", RELEASE_NAMESPACE, namespace),
    ] {
        let found = live.at(&["metadata", field, key]).and_then(Value::as_str);
        if let Some(problem) = require(found, key, wanted) {
            problems.push(format!("{what} validation error: {problem}"));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    Err(format!("invalid ownership metadata; {}", problems.join("; ")))
}

fn require(found: Option<&str>, key: &str, wanted: &str) -> Option<String> {
    let quote = model::quote::quote;
    match found {
        None => Some(format!(
            "missing key {}: must be set to {}",
            quote(key),
            quote(wanted)
        )),
        Some(found) if found != wanted => Some(format!(
            "key {} must equal {}: current value is {}",
            quote(key),
            quote(wanted),
            quote(found)
        )),
        Some(_) => None,
    }
}

/// Checks that an object of the cluster can become part of a release, if objects of others are not taken over.
///
/// # Errors
/// What Helm says if it cannot.
pub fn check_import(live: &Value, release: &str, namespace: &str) -> Result<(), String> {
    check(live, release, namespace).map_err(|problem| {
        let key = ObjectKey::of(live);
        let quote = model::quote::quote;
        format!(
            "{} {} in namespace {} exists and cannot be imported into the current release: {problem}",
            key.kind,
            quote(&key.name),
            quote(&key.namespace)
        )
    })
}

/// The labels that say which HelmRelease an object comes from.
pub fn origin_labels(namespace: &str, name: &str) -> [(String, String); 2] {
    [
        (format!("{GROUP}/name"), name.to_owned()),
        (format!("{GROUP}/namespace"), namespace.to_owned()),
    ]
}

/// Adds labels and annotations for all objects, and then the labels of the origin, which win.
pub fn add_metadata<'m>(
    object: &mut Value,
    labels: impl IntoIterator<Item = (&'m str, &'m str)>,
    annotations: impl IntoIterator<Item = (&'m str, &'m str)>,
    origin: &[(String, String)],
) {
    for (key, value) in labels {
        object.set_at(&["metadata", "labels", key], value);
    }
    for (key, value) in annotations {
        object.set_at(&["metadata", "annotations", key], value);
    }
    for (key, value) in origin {
        object.set_at(&["metadata", "labels", key], value.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> Value {
        yaml::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn objects_of_others_are_refused_in_the_words_of_helm() {
        let mut live = object("apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}");
        assert_eq!(
            check_import(&live, "web", "shop").unwrap_err(),
            "Service \"web\" in namespace \"shop\" exists and cannot be imported into the current release: invalid ownership metadata; \
             label validation error: missing key \"app.kubernetes.io/managed-by\": must be set to \"Helm\"; \
             annotation validation error: missing key \"meta.helm.sh/release-name\": must be set to \"web\"; \
             annotation validation error: missing key \"meta.helm.sh/release-namespace\": must be set to \"shop\""
        );
        set(&mut live, "other", "shop");
        assert_eq!(
            check(&live, "web", "shop").unwrap_err(),
            "invalid ownership metadata; annotation validation error: key \"meta.helm.sh/release-name\" must equal \"web\": current value is \"other\""
        );
        assert_eq!(check_import(&live, "other", "shop"), Ok(()));
    }

    #[test]
    fn labels_of_the_origin_win_over_common_ones() {
        let mut object = object("metadata: {labels: {a: '1'}}");
        let common = [("a", "2"), ("helm.toolkit.fluxcd.io/name", "mine")];
        add_metadata(&mut object, common, [("x", "y")], &origin_labels("shop", "web"));
        assert_eq!(
            model::json::to_string(&object),
            r#"{"metadata":{"annotations":{"x":"y"},"labels":{"a":"2","helm.toolkit.fluxcd.io/name":"web","helm.toolkit.fluxcd.io/namespace":"shop"}}}"#
        );
    }
}
