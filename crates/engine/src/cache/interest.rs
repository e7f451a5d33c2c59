//! What somebody wants to be kept informed of.

use model::Str;

use crate::cluster::{Detail, Selection};

/// Objects of a kind that somebody wants to be kept informed of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interest {
    /// The group; empty for the core group.
    pub group: Str,
    /// The kind.
    pub kind: Str,
    /// The version; without one, the one that the server prefers.
    pub version: Option<Str>,
    /// Only those of this namespace.
    pub namespace: Option<Str>,
    /// Only those that this label selector selects.
    pub selector: Option<Str>,
    /// How much of each.
    pub detail: Detail,
}

impl Interest {
    /// All objects of a kind, whole.
    pub fn in_all(group: impl Into<Str>, kind: impl Into<Str>) -> Interest {
        Interest {
            group: group.into(),
            kind: kind.into(),
            version: None,
            namespace: None,
            selector: None,
            detail: Detail::Full,
        }
    }

    /// The definitions of custom resources, of which it is enough to hear that something changed.
    pub(super) fn in_definitions() -> Interest {
        Interest {
            detail: Detail::Metadata,
            ..Interest::in_all("apiextensions.k8s.io", "CustomResourceDefinition")
        }
    }

    pub(super) fn is_of(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }

    /// Whether whoever has this has the other too.
    pub(super) fn covers(&self, other: &Interest) -> bool {
        let wider = |mine: &Option<Str>, other: &Option<Str>| mine.is_none() || mine == other;
        self.is_of(&other.group, &other.kind)
            && (other.version.is_none() || self.version == other.version)
            && wider(&self.namespace, &other.namespace)
            && wider(&self.selector, &other.selector)
            && self.detail >= other.detail
    }

    /// Whether an object of the kind in this namespace would be among those, whatever its labels.
    pub(super) fn has_all_of(&self, namespace: &str) -> bool {
        self.selector.is_none() && self.has_some_of(namespace)
    }

    /// Whether an object of the kind in this namespace may be among those, if it has the labels.
    pub(super) fn has_some_of(&self, namespace: &str) -> bool {
        self.namespace.as_ref().is_none_or(|mine| mine == namespace)
    }

    pub(super) fn selection(&self) -> Selection {
        Selection {
            namespace: self.namespace.clone().unwrap_or_default(),
            labels: self.selector.clone().unwrap_or_default(),
            fields: Str::default(),
            detail: self.detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_interest_covers_a_narrower_one() {
        let all = Interest::in_all("apps", "Deployment");
        let one = Interest {
            namespace: Some("shop".into()),
            ..all.clone()
        };
        let managed = Interest {
            selector: Some("app=web".into()),
            ..all.clone()
        };
        let names = Interest {
            detail: Detail::Metadata,
            ..all.clone()
        };
        let old = Interest {
            version: Some("v1beta1".into()),
            ..all.clone()
        };
        for narrower in [&all, &one, &managed, &names] {
            assert!(all.covers(narrower), "{narrower:?}");
        }
        for (wider, narrower) in [
            (&one, &all),
            (&managed, &all),
            (&names, &all),
            (&one, &managed),
            (&all, &old),
        ] {
            assert!(!wider.covers(narrower), "{wider:?} {narrower:?}");
        }
        assert!(old.covers(&all));
        assert!(!all.covers(&Interest::in_all("", "Deployment")));
    }
}
