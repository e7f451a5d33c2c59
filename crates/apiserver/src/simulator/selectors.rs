//! Which selectors select given labels, without asking all of them.

use std::collections::{BTreeSet, HashMap};

use model::selector::{LabelSelector, Operator};
use model::{Str, Value};

use super::{Kind, Task};
use crate::store::Key;

/// The selectors of services, disruption budgets and workloads.
///
/// Each stands under one pair of labels that it asks for, the one that fewest others stand under. So only those are
/// tried that have at least that in common with the labels.
#[derive(Default)]
pub(super) struct Selectors {
    entries: HashMap<Task, Entry>,
    /// By namespace and one label.
    by_label: HashMap<(Str, Str, Str), BTreeSet<Task>>,
    /// By namespace, for selectors that ask for no certain label.
    others: HashMap<Str, BTreeSet<Task>>,
}

struct Entry {
    selector: LabelSelector,
    anchor: Option<(Str, Str)>,
}

impl Selectors {
    /// Sets the selector of an object; `None` where it has none or is gone. Tells whether that changed anything.
    pub(super) fn set(&mut self, kind: Kind, key: &Key, selector: Option<LabelSelector>) -> bool {
        let task = (kind, key.clone());
        if self.entries.get(&task).map(|entry| &entry.selector) == selector.as_ref() {
            return false;
        }
        if let Some(old) = self.entries.remove(&task) {
            self.unlink(&task, old.anchor);
        }
        let Some(selector) = selector else {
            return true;
        };
        let anchor = self.rarest_pair(key.namespace(), &selector);
        match &anchor {
            Some((label, value)) => {
                let place = (key.namespace().into(), label.clone(), value.clone());
                self.by_label.entry(place).or_default().insert(task.clone());
            }
            None => {
                let place = key.namespace().into();
                self.others.entry(place).or_default().insert(task.clone());
            }
        }
        self.entries.insert(task, Entry { selector, anchor });
        true
    }

    /// The selector of an object.
    pub(super) fn get(&self, kind: Kind, key: &Key) -> Option<&LabelSelector> {
        self.entries
            .get(&(kind, key.clone()))
            .map(|entry| &entry.selector)
    }

    /// All whose selectors select these labels in this namespace.
    pub(super) fn matching(&self, namespace: &str, labels: &[(Str, Str)]) -> Vec<Task> {
        let under = labels.iter().filter_map(|(label, value)| {
            self.by_label
                .get(&(namespace.into(), label.clone(), value.clone()))
        });
        let candidates = under.chain(self.others.get(namespace)).flatten();
        let matches = |task: &&Task| {
            let entry = self.entries.get(*task);
            entry.is_some_and(|entry| entry.selector.matches(|key| find(labels, key)))
        };
        candidates.filter(matches).cloned().collect()
    }

    fn unlink(&mut self, task: &Task, anchor: Option<(Str, Str)>) {
        let namespace: Str = task.1.namespace().into();
        match anchor {
            Some((label, value)) => {
                let place = (namespace, label, value);
                if let Some(set) = self.by_label.get_mut(&place) {
                    set.remove(task);
                    if set.is_empty() {
                        self.by_label.remove(&place);
                    }
                }
            }
            None => {
                if let Some(set) = self.others.get_mut(&namespace) {
                    set.remove(task);
                    if set.is_empty() {
                        self.others.remove(&namespace);
                    }
                }
            }
        }
    }

    fn rarest_pair(&self, namespace: &str, selector: &LabelSelector) -> Option<(Str, Str)> {
        let requirements = selector.requirements()?.iter();
        let exact = requirements.filter_map(|requirement| match requirement.operator() {
            Operator::Equals | Operator::DoubleEquals | Operator::In => match requirement.values() {
                [value] => Some((Str::from(requirement.key()), Str::from(value.as_str()))),
                _ => None,
            },
            _ => None,
        });
        let users = |(label, value): &(Str, Str)| {
            let place = (Str::from(namespace), label.clone(), value.clone());
            self.by_label.get(&place).map_or(0, BTreeSet::len)
        };
        exact.min_by_key(users)
    }
}

/// The value of a label.
pub(super) fn find<'a>(labels: &'a [(Str, Str)], key: &str) -> Option<&'a str> {
    labels
        .iter()
        .find(|(label, _)| label == key)
        .map(|(_, value)| value.as_str())
}

/// The selector that an object of `kind` selects its pods (a Deployment: its ReplicaSets) by; `None` where it has none.
pub(super) fn of_object(kind: Kind, object: &Value) -> Option<LabelSelector> {
    let selector = object.at(&["spec", "selector"])?;
    let selector = match kind {
        // These have plain labels, and select nothing where they name none.
        Kind::Service | Kind::ReplicationController => {
            let labels = selector.as_object().filter(|labels| !labels.is_empty())?;
            LabelSelector::from_value(&model::value!({"matchLabels": (labels.clone())}))
        }
        _ => LabelSelector::from_value(selector),
    };
    // Validation lets no other in; one that cannot be read selects nothing.
    selector.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &[(&str, &str)]) -> Vec<(Str, Str)> {
        text.iter()
            .map(|(key, value)| ((*key).into(), (*value).into()))
            .collect()
    }

    fn set(selectors: &mut Selectors, name: &str, text: Option<&str>) -> bool {
        let selector = text.map(|text| text.parse().unwrap());
        selectors.set(Kind::Service, &Key::new("default", name), selector)
    }

    fn names(selectors: &Selectors, of: &[(&str, &str)]) -> Vec<String> {
        let tasks = selectors.matching("default", &labels(of));
        let mut names: Vec<String> = tasks.iter().map(|(_, key)| key.name().to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn selectors_are_found_by_the_labels_they_select() {
        let mut selectors = Selectors::default();
        assert!(set(&mut selectors, "a", Some("app=a,tier=web")));
        assert!(set(&mut selectors, "b", Some("app=b,tier=web")));
        assert!(set(&mut selectors, "any", Some("tier in (web,db)")));
        assert!(!set(&mut selectors, "a", Some("app=a,tier=web")));
        assert_eq!(names(&selectors, &[("app", "a"), ("tier", "web")]), ["a", "any"]);
        assert_eq!(names(&selectors, &[("app", "a")]), [""; 0]);
        assert_eq!(names(&selectors, &[("tier", "db")]), ["any"]);
        assert!(selectors.matching("other", &labels(&[("tier", "db")])).is_empty());
    }

    #[test]
    fn a_changed_selector_is_no_longer_found_by_its_old_labels() {
        let mut selectors = Selectors::default();
        set(&mut selectors, "a", Some("app=a"));
        assert!(set(&mut selectors, "a", Some("app=b")));
        assert_eq!(names(&selectors, &[("app", "a")]), [""; 0]);
        assert_eq!(names(&selectors, &[("app", "b")]), ["a"]);
        assert!(set(&mut selectors, "a", None));
        assert_eq!(names(&selectors, &[("app", "b")]), [""; 0]);
        assert!(selectors.by_label.is_empty() && selectors.others.is_empty());
    }
}
