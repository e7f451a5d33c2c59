//! Which of several candidates a reference means.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;

use model::Str;
use yaml::node::Node;

use super::candidates::{Candidate, Candidates};
use crate::id::{Gvk, ResId};
use crate::resource::{Affixes, Empty, Resource};
use crate::schema::Schema;

/// The resource that a reference is in.
pub(super) struct Referrer<'c> {
    pub(super) id: ResId,
    candidates: &'c Candidates,
    /// The namespaces of the service accounts that a role binding binds.
    bound: HashSet<Str>,
    affixes: Cow<'c, Affixes>,
    /// Whether its own name may be another one, through a mistake elsewhere.
    is_doubtful: bool,
    /// Whether it could not be chosen what was meant last since names may be others.
    pub(super) doubts: Cell<bool>,
}

impl<'c> Referrer<'c> {
    pub(super) fn new(
        position: usize,
        resource: &Resource,
        candidates: &'c Candidates,
        schema: &Schema,
    ) -> Self {
        // There is none for what has no affixes.
        let affixes = candidates.at(position).map(|own| Cow::Borrowed(&own.affixes));
        Referrer {
            id: resource.id(schema),
            candidates,
            bound: bound_namespaces(resource),
            affixes: affixes.unwrap_or_default(),
            is_doubtful: resource.may_be_another(),
            doubts: Cell::new(false),
        }
    }

    /// Whether something in a namespace, or in none, can be referred to from here.
    fn reaches(&self, namespace: &str, cluster_scoped: bool, written: &str) -> bool {
        self.id.cluster_scoped
            || cluster_scoped
            || namespace == self.id.effective_namespace()
            || self.bound.contains(written)
    }

    fn reaches_candidate(&self, candidate: &Candidate) -> bool {
        self.reaches(
            candidate.effective_namespace(),
            candidate.cluster_scoped(),
            &candidate.namespace,
        )
    }
}

fn bound_namespaces(resource: &Resource) -> HashSet<Str> {
    if resource.kind() != "RoleBinding" {
        return HashSet::new();
    }
    let subjects = resource.node.get("subjects").and_then(Node::as_list);
    let accounts = subjects.into_iter().flatten().filter(|subject| {
        subject
            .get("kind")
            .is_some_and(|kind| kind.text() == "ServiceAccount")
    });
    accounts
        .filter_map(|subject| subject.get("namespace"))
        .map(|namespace| Str::new(namespace.text()))
        .collect()
}

/// A reference: where it is and what it can mean.
pub(super) struct Referral<'r> {
    pub(super) referrer: &'r Referrer<'r>,
    pub(super) target: &'r Gvk,
    /// For the role of a binding, the kind that the binding says it is of.
    pub(super) role_ref: Option<Gvk>,
}

impl<'r> Referral<'r> {
    /// What a name alone means.
    pub(super) fn by_name(&self, name: &str) -> Result<Option<&'r Candidate>, String> {
        let candidates = self.reachable(name).collect();
        self.choose(candidates, |a, b| a.name == b.name)
    }

    /// What a name and perhaps a namespace mean.
    pub(super) fn by_name_and_namespace(
        &self,
        name: &str,
        namespace: Option<&str>,
    ) -> Result<Option<&'r Candidate>, String> {
        let same = |a: &Candidate, b: &Candidate| a.name == b.name && a.namespace == b.namespace;
        let Some(namespace) = namespace else {
            return self.choose(self.reachable(name).collect(), same);
        };
        // The namespace is the one of old if anything was in it, else the one of now.
        let was_there = self
            .referrer
            .candidates
            .first_in(namespace)
            .iter()
            .any(|(now, cluster_scoped)| self.referrer.reaches(now, *cluster_scoped, now));
        let fits = |candidate: &&Candidate| {
            if was_there {
                candidate.original_namespace() == namespace
            } else {
                !candidate.cluster_scoped() && candidate.effective_namespace() == namespace
            }
        };
        self.choose(self.reachable(name).filter(fits).collect(), same)
    }

    fn reachable(&self, name: &str) -> impl Iterator<Item = &'r Candidate> {
        let referrer = self.referrer;
        referrer
            .candidates
            .named(name)
            .filter(move |candidate| referrer.reaches_candidate(candidate))
    }

    fn choose(
        &self,
        mut found: Vec<&'r Candidate>,
        same: impl Fn(&Candidate, &Candidate) -> bool,
    ) -> Result<Option<&'r Candidate>, String> {
        let was = |candidate: &Candidate, selector: &Gvk| {
            candidate
                .kinds
                .before
                .iter()
                .any(|gvk| gvk.is_selected_by(selector))
        };
        found.retain(|candidate| was(candidate, self.target));
        if let Some(role) = &self.role_ref {
            found.retain(|candidate| was(candidate, role));
        }
        let here = &self.referrer.id;
        if !here.cluster_scoped {
            // Service accounts may be bound from other namespaces.
            found.retain(|candidate| {
                candidate.cluster_scoped()
                    || candidate.kinds.now.kind == "ServiceAccount"
                    || candidate.effective_namespace() == here.effective_namespace()
            });
        }
        if let [one] = found.as_slice() {
            return Ok(Some(one));
        }
        let affixes = &self.referrer.affixes;
        found.retain(|candidate| candidate.affixes.fit(affixes, Empty::Fits));
        if found.len() > 1 {
            found.retain(|candidate| candidate.affixes.fit(affixes, Empty::Differs));
        }
        let Some((first, others)) = found.split_first() else {
            return Ok(None);
        };
        if others.iter().all(|other| same(first, other)) {
            return Ok(Some(first));
        }
        let certain = found.iter().filter(|candidate| !candidate.kinds.is_doubtful);
        let is_certain = !self.referrer.is_doubtful && certain.count() > 1;
        self.referrer.doubts.set(!is_certain);
        let ids: Vec<String> = found.iter().map(|candidate| candidate.id().to_string()).collect();
        Err(format!("found multiple possible referrals: {}", ids.join(", ")))
    }
}
