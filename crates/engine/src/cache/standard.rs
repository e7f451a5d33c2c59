//! By what whoever follows objects tells how they are doing, where that is not by the settings of the cache alone.
//!
//! An object is assessed by the settings, and once more by each different standard of those who follow its kind. What nobody
//! goes by is not kept, so that a cache whose followers have no standards of their own has nothing to do for them.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use model::{Health, Str, Value};

use super::settings::{Assess, KindSettings, assessed};
use crate::health::Rules;
use crate::health::cel::{self, Work};

/// Rules of somebody's own, under a name. Rules of the same name are taken for the same: whoever reads them from somewhere each
/// time they are needed gives them a name that says what they are, and objects are neither looked at again nor assessed
/// twice.
///
/// Rules of a tenant are evaluated [in turn](crate::health::Evaluations) with others of the same tenant. Those of different tenants are
/// different rules, whatever their names, so that nobody waits for the turn of somebody else.
#[derive(Clone)]
pub struct OwnRules {
    named: Arc<Named>,
    author: Author,
}

struct Named {
    name: Str,
    rules: Box<dyn Assess>,
}

/// Who has written rules.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Author {
    /// Whoever writes this process: they take no longer than they have to.
    Process,
    /// A tenant: nobody knows how long they take.
    Tenant(Str),
}

impl OwnRules {
    /// Rules under a name.
    pub fn new(name: impl Into<Str>, rules: impl Assess + 'static) -> OwnRules {
        let named = Named {
            name: name.into(),
            rules: Box::new(rules),
        };
        OwnRules {
            named: Arc::new(named),
            author: Author::Tenant(Str::default()),
        }
    }

    /// The same rules as those of a tenant: the namespace of the unit that has them, never one that an object in a cluster names. Without
    /// it, they are those of the tenant without a name.
    #[must_use]
    pub fn of_tenant(mut self, tenant: impl Into<Str>) -> OwnRules {
        self.author = Author::Tenant(tenant.into());
        self
    }

    /// The same rules as those of the process itself. They are evaluated without a queue.
    #[must_use]
    pub fn built_in(mut self) -> OwnRules {
        self.author = Author::Process;
        self
    }

    /// Expressions, whose name is what they are: the `healthCheckExprs` of a Kustomization.
    ///
    /// # Errors
    /// The first check that cannot be used.
    pub fn expressions(checks: &[cel::Check]) -> Result<OwnRules, cel::Error> {
        Ok(OwnRules::new(format!("{checks:?}"), cel::Checks::new(checks)?))
    }

    /// Creates the same rules without parsing the expressions: that happens where the first object is assessed.
    pub fn unparsed_expressions(checks: Vec<cel::Check>) -> OwnRules {
        OwnRules::new(format!("{checks:?}"), cel::LazyChecks::new(checks))
    }
}

impl PartialEq for OwnRules {
    fn eq(&self, other: &Self) -> bool {
        let is_same = Arc::ptr_eq(&self.named, &other.named) || self.named.name == other.named.name;
        is_same && self.author == other.author
    }
}

impl Eq for OwnRules {}

impl fmt::Debug for OwnRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnRules")
            .field(&self.named.name)
            .field(&self.author)
            .finish()
    }
}

/// By what somebody tells how objects are doing. What says something of an object first counts: rules of one's own, what the
/// [settings](super::Settings::health_of) have for its kind, then the general rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standard {
    /// Rules of one's own.
    pub own: Option<OwnRules>,
    /// The general rules; those of the [settings](super::Settings::health) where this is missing.
    pub rules: Option<Rules>,
}

impl Standard {
    /// What of it matters for a kind.
    pub(crate) fn of(&self, group: &str, kind: &str) -> Standard {
        let own = self.own.as_ref();
        Standard {
            own: own.filter(|own| own.named.rules.is_about(group, kind)).cloned(),
            rules: self.rules,
        }
    }

    /// Whether rules of its own are about a kind.
    pub fn has_rules_for(&self, group: &str, kind: &str) -> bool {
        self.of(group, kind).own.is_some()
    }

    /// The tenant whose rules it has; none if all of its rules are built in.
    pub(super) fn tenant(&self) -> Option<&str> {
        match &self.own.as_ref()?.author {
            Author::Process => None,
            Author::Tenant(tenant) => Some(tenant),
        }
    }

    /// Whether objects are told by the settings alone.
    pub(super) fn is_plain(&self) -> bool {
        self.own.is_none() && self.rules.is_none()
    }

    /// How an object is doing that is `plain` by the settings.
    pub(super) fn assess(
        &self,
        object: &Value,
        now: Timestamp,
        settings: &KindSettings,
        plain: Option<&Health>,
        work: &mut Work,
    ) -> Option<Health> {
        let own = self.own.as_ref();
        if let Some(health) = own.and_then(|own| assessed(&*own.named.rules, object, now, work)) {
            return Some(health);
        }
        match self.rules {
            Some(rules) if !settings.special => rules.assess(object, now),
            _ => plain.cloned(),
        }
    }
}

/// The standards of those who follow a watch.
#[derive(Default)]
pub(super) struct Standards {
    /// Each, and how many have it.
    followed: Vec<(Standard, usize)>,
    /// The same without the numbers.
    all: Arc<[Standard]>,
    /// Those that all objects of the watch were assessed by.
    met: Vec<Standard>,
}

impl Standards {
    /// One more has this standard. Whether nobody had it before.
    pub(super) fn add(&mut self, standard: &Standard) -> bool {
        if standard.is_plain() {
            return false;
        }
        let known = self.followed.iter_mut().find(|(known, _)| known == standard);
        if let Some((_, count)) = known {
            *count += 1;
            return false;
        }
        self.followed.push((standard.clone(), 1));
        self.renew();
        true
    }

    /// One less has this standard. Objects are no longer assessed by what nobody has.
    pub(super) fn remove(&mut self, standard: &Standard) {
        let Some(at) = self.followed.iter().position(|(known, _)| known == standard) else {
            return;
        };
        self.followed[at].1 -= 1;
        if self.followed[at].1 == 0 {
            self.followed.remove(at);
            self.met.retain(|met| met != standard);
            self.renew();
        }
    }

    fn renew(&mut self) {
        self.all = self
            .followed
            .iter()
            .map(|(standard, _)| standard.clone())
            .collect();
    }

    /// All of them.
    pub(super) fn all(&self) -> Arc<[Standard]> {
        Arc::clone(&self.all)
    }

    /// All objects were assessed by these.
    pub(super) fn meet(&mut self, standards: &[Standard]) {
        let followed = standards.iter().filter(|standard| self.all.contains(standard));
        self.met = followed.cloned().collect();
    }

    /// Whether all objects were assessed by this one.
    pub(super) fn are_met(&self, standard: &Standard) -> bool {
        standard.is_plain() || self.met.contains(standard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argo() -> Standard {
        Standard {
            rules: Some(Rules::Argo),
            own: None,
        }
    }

    #[test]
    fn a_standard_is_there_for_as_long_as_somebody_has_it() {
        let mut standards = Standards::default();
        assert!(!standards.add(&Standard::default()));
        assert!(standards.are_met(&Standard::default()));
        assert!(standards.add(&argo()));
        assert!(!standards.add(&argo()));
        assert!(!standards.are_met(&argo()));
        standards.meet(&[argo()]);
        assert!(standards.are_met(&argo()));
        standards.remove(&argo());
        assert_eq!(*standards.all(), [argo()]);
        standards.remove(&argo());
        assert!(standards.all().is_empty());
        assert!(!standards.are_met(&argo()));
        // What nobody has any more is not met by a list that began before.
        standards.meet(&[argo()]);
        assert!(!standards.are_met(&argo()));
    }

    #[test]
    fn expressions_matter_for_the_kinds_that_they_are_about_and_are_the_same_if_they_say_the_same() {
        let check = |kind: &str| cel::Check {
            api_version: "example.com/v1".into(),
            kind: kind.into(),
            current: "true".into(),
            ..cel::Check::default()
        };
        let standard = |kind: &str| Standard {
            own: Some(OwnRules::expressions(&[check(kind)]).unwrap()),
            rules: None,
        };
        let widgets = standard("Widget");
        assert!(!widgets.of("example.com", "Widget").is_plain());
        assert!(widgets.has_rules_for("example.com", "Widget") && !widgets.has_rules_for("", "Widget"));
        assert!(widgets.of("example.com", "Gadget").is_plain());
        assert!(widgets.of("", "Widget").is_plain());
        assert!(!standard("").of("example.com", "Gadget").is_plain());
        assert_eq!(widgets, standard("Widget"));
        assert_ne!(widgets, standard("Gadget"));
    }
}
