//! Which objects a rule is for.

use model::Value;
use model::object_key::split_api_version;
use model::selector::LabelSelector;
use serde::{Deserialize, Serialize};

use super::Error;
use super::patterns::{Budget, Pattern};

/// Which objects a rule is for. What is empty fits everything; the others are regular expressions that must fit the whole
/// text, and selectors in the form of label selectors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Target {
    /// The API group; that of core kinds is empty.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// Selects by labels.
    pub label_selector: String,
    /// Selects by annotations.
    pub annotation_selector: String,
}

/// A [`Target`] that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Matcher {
    group: Option<Pattern>,
    version: Option<Pattern>,
    kind: Option<Pattern>,
    name: Option<Pattern>,
    namespace: Option<Pattern>,
    labels: Option<LabelSelector>,
    annotations: Option<LabelSelector>,
}

impl Matcher {
    pub(super) fn new(at: usize, target: &Target, budget: &mut Budget) -> Result<Self, Error> {
        let mut pattern = |what: &'static str, text: &str| Pattern::new(at, what, text, budget);
        Ok(Matcher {
            group: pattern("group", &target.group)?,
            version: pattern("version", &target.version)?,
            kind: pattern("kind", &target.kind)?,
            name: pattern("name", &target.name)?,
            namespace: pattern("namespace", &target.namespace)?,
            labels: selector("label", &target.label_selector)?,
            annotations: selector("annotation", &target.annotation_selector)?,
        })
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        let (group, version) = split_api_version(object.str_at(&["apiVersion"]));
        let fits =
            |pattern: &Option<Pattern>, text: &str| pattern.as_ref().is_none_or(|pattern| pattern.fits(text));
        let selects = |selector: &Option<LabelSelector>, map: &str| {
            selector.as_ref().is_none_or(|selector| {
                selector.matches(|name| object.at(&["metadata", map, name]).and_then(Value::as_str))
            })
        };
        fits(&self.group, group)
            && fits(&self.version, version)
            && fits(&self.kind, object.str_at(&["kind"]))
            && fits(&self.name, object.str_at(&["metadata", "name"]))
            && fits(&self.namespace, object.str_at(&["metadata", "namespace"]))
            && selects(&self.labels, "labels")
            && selects(&self.annotations, "annotations")
    }
}

fn selector(what: &'static str, text: &str) -> Result<Option<LabelSelector>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let selector = text.parse::<LabelSelector>();
    selector.map(Some).map_err(|source| Error::Selector {
        what,
        text: text.to_owned(),
        source,
    })
}
