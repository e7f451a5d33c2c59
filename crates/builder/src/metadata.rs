//! Labels and annotations that everything gets that is applied.

use std::collections::BTreeMap;

use model::Value;

/// Labels and annotations that are set on objects after the build, over whatever they have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommonMetadata {
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The annotations.
    pub annotations: BTreeMap<String, String>,
}

impl CommonMetadata {
    /// Sets them on an object.
    ///
    /// As in Flux, labels or annotations among which something is no string count as none, and are lost.
    pub fn set_on(&self, object: &mut Value) {
        set(object, "labels", &self.labels);
        set(object, "annotations", &self.annotations);
    }
}

fn set(object: &mut Value, field: &str, wanted: &BTreeMap<String, String>) {
    let path = ["metadata", field];
    let own = object.at(&path).and_then(Value::as_object);
    let own = own.filter(|own| own.values().all(|value| value.as_str().is_some()));
    let mut all = own.cloned().unwrap_or_default();
    for (key, value) in wanted {
        all.insert(key, value.as_str());
    }
    if !all.is_empty() {
        object.set_at(&path, Value::Object(all));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// §2.1 `commonMetadata`: applied after the build, over what objects have, owner labels too.
    #[test]
    fn what_is_common_wins_over_what_an_object_has() {
        let mut object = yaml::parse(b"metadata: {name: a, labels: {own: x, both: w}}").unwrap();
        let common = CommonMetadata {
            labels: [("both".to_owned(), "z".to_owned())].into(),
            annotations: [("note".to_owned(), "1".to_owned())].into(),
        };
        common.set_on(&mut object);
        assert_eq!(
            object,
            yaml::parse(b"metadata: {annotations: {note: '1'}, labels: {both: z, own: x}, name: a}").unwrap()
        );
    }

    #[test]
    fn nothing_common_adds_nothing() {
        let mut object = yaml::parse(b"metadata: {name: a}").unwrap();
        let before = object.clone();
        CommonMetadata::default().set_on(&mut object);
        assert_eq!(object, before);
    }
}
