//! Finds out what a plan is made from: what of the desired objects is there, and what applying them would change.
//!
//! An object that is [known](Memory) to be as it should be costs nothing, and neither does one that is known to differ and is left as it is. Of any other the server is asked what applying it would make
//! of it; its answer also says whether the object exists, so that one is only read when it differs, to tell how.

mod candidates;
mod memory;
mod refused;

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::future::join_all;
use model::object_key::split_api_version;
use model::{Manifest, ObjectKey, Str, Value};

use crate::cache::{self, Cache, Lookup};
use crate::cluster::{Apply, Cluster, Error, Resource};
use crate::diff::{Drift, IgnoreRules, Takeover, drift, dry_run_failure};
use crate::plan::{self, Desired, Live, Markers, Observed, Verdict};

pub use memory::Memory;

/// What is needed to look at the objects of one unit.
pub struct Observer<'a> {
    /// Where requests go.
    pub cluster: &'a Cluster,
    /// What is known of the cluster.
    pub cache: &'a Cache,
    /// What is known to be as it should be.
    pub memory: &'a Memory,
    /// The field manager.
    pub manager: &'a str,
    /// Whose fields are taken over.
    pub takeover: &'a Takeover,
    /// Differences that do not count.
    pub ignore: &'a IgnoreRules,
    /// Whether what is ignored stays as it is when something else is changed.
    pub keep_ignored: bool,
    /// How objects ask to be left alone.
    pub markers: &'a Markers,
    /// Which objects may be deleted and made anew, by what is desired and what is there.
    pub forced: &'a (dyn Fn(&Value, &Live) -> bool + Send + Sync),
    /// Whether an object that is known to be missing is not dry-run.
    pub trust_new: bool,
    /// Which objects are left as they are though they differ, as far as can be told: how they do is remembered.
    pub left: &'a (dyn Fn(&ObjectKey) -> bool + Send + Sync),
    /// Which objects are not looked at, as nothing will be done to them: hooks that do not run.
    pub unobserved: &'a (dyn Fn(&Value) -> bool + Send + Sync),
}

/// What a comparison depends on besides the two objects.
fn rules(observer: &Observer<'_>) -> u64 {
    rules_of(observer.manager, observer.takeover, observer.ignore)
}

/// What a comparison depends on besides the two objects, as a number that is only told apart from others in this process.
pub(crate) fn rules_of(manager: &str, takeover: &Takeover, ignore: &IgnoreRules) -> u64 {
    let mut hasher = DefaultHasher::new();
    (manager, takeover, ignore).hash(&mut hasher);
    hasher.finish()
}

impl Observer<'_> {
    /// Finds out which of the manifests live in namespaces; the rest of what a plan needs to know of them is found by
    /// [`look`](Observer::look), when they are [prepared](crate::plan::prepare).
    pub async fn scoped(&self, manifests: Vec<Manifest>) -> Vec<Desired> {
        let defined: HashMap<_, _> = manifests.iter().filter_map(scope_of_defined).collect();
        let scoped = manifests
            .into_iter()
            .map(|manifest| self.scope(manifest, &defined));
        join_all(scoped).await
    }

    /// Looks at the desired objects. Of several with one key the last counts, and only that one is looked at.
    pub async fn look(&self, desired: Vec<Desired>) -> Vec<Desired> {
        let rules = rules(self);
        let mut last: HashMap<ObjectKey, usize> = HashMap::with_capacity(desired.len());
        for (place, desired) in desired.iter().enumerate() {
            last.insert(ObjectKey::of(&desired.object), place);
        }
        let looks = desired.into_iter().enumerate().map(|(place, desired)| {
            let counts = last.get(&ObjectKey::of(&desired.object)) == Some(&place);
            async move {
                match counts {
                    true => self.one(desired, rules).await,
                    false => desired,
                }
            }
        });
        join_all(looks).await
    }

    async fn scope(&self, manifest: Manifest, defined: &HashMap<(Str, Str), bool>) -> Desired {
        let (group, version, kind) = (manifest.group(), manifest.version(), manifest.kind());
        match self.cluster.resource(group, version, kind).await {
            Ok(resource) => Desired::new(manifest).namespaced(resource.namespaced),
            Err(error) => {
                let observed = unserved(manifest.value(), &error);
                let kind = (group.into(), kind.into());
                let desired = Desired::new(manifest).observed(observed);
                match defined.get(&kind) {
                    Some(namespaced) => desired.namespaced(*namespaced),
                    None => desired,
                }
            }
        }
    }

    async fn one(&self, mut desired: Desired, rules: u64) -> Desired {
        if (self.unobserved)(&desired.object) {
            return desired;
        }
        let (group, version) = split_api_version(desired.object.str_at(&["apiVersion"]));
        let kind = desired.object.str_at(&["kind"]);
        desired.observed = match self.cluster.resource(group, version, kind).await {
            Ok(resource) => self.observed(&mut desired, &resource, rules).await,
            Err(error) => {
                desired.verdict = verdict(&error);
                unserved(&desired.object, &error)
            }
        };
        desired
    }

    async fn observed(&self, desired: &mut Desired, resource: &Resource, rules: u64) -> Observed {
        let key = ObjectKey::of(&desired.object);
        // A watch that is behind may have missed a change: then the server is asked.
        let entry = self.cache.fresh(&key);
        if let Some(entry) = &entry {
            let known = self
                .memory
                .is_settled(&key, desired.digest, entry.content(), rules);
            if known && !entry.deleting() {
                desired.verdict = Verdict::Accepted;
                return Observed::Unchanged(live_of(entry));
            }
            let (version, by) = (entry.resource_version(), (rules, self.keep_ignored));
            if (self.left)(&key)
                && let Some(differs) = self.memory.recall(&key, desired.digest, version, by)
            {
                desired.verdict = Verdict::Accepted;
                return differs.of(desired);
            }
        }
        if self.markers.leave_alone(&desired.object)
            && let Some(alone) = self.left_alone(&key, desired, resource).await
        {
            return alone;
        }
        if entry.is_none() && matches!(self.cache.find(&key), Lookup::Missing) {
            return self.missing(desired, &key, resource, rules).await;
        }
        self.dry_run(desired, key, entry, resource, rules).await
    }

    /// An object that is not there as far as is known: the server is only asked whether it would take it, and answers little.
    async fn missing(
        &self,
        desired: &mut Desired,
        key: &ObjectKey,
        resource: &Resource,
        rules: u64,
    ) -> Observed {
        if self.trust_new {
            return Observed::Missing;
        }
        let options = Apply {
            dry_run: true,
            brief: true,
            ..Apply::by(self.manager)
        };
        match self.cluster.apply(resource, &desired.object, &options).await {
            Ok(merged) if is_new(&merged) => {
                desired.verdict = Verdict::Accepted;
                Observed::Missing
            }
            // It has come since.
            Ok(_) => self.dry_run(desired, key.clone(), None, resource, rules).await,
            Err(error) => self.refused(desired, key, resource, error).await,
        }
    }

    /// Asks the server what applying an object would make of it.
    async fn dry_run(
        &self,
        desired: &mut Desired,
        key: ObjectKey,
        entry: Option<Arc<cache::Entry>>,
        resource: &Resource,
        rules: u64,
    ) -> Observed {
        let options = Apply {
            dry_run: true,
            ..Apply::by(self.manager)
        };
        let merged = match self.cluster.apply(resource, &desired.object, &options).await {
            Ok(merged) => merged,
            Err(error) => return self.refused(desired, &key, resource, error).await,
        };
        desired.verdict = Verdict::Accepted;
        if is_new(&merged) {
            return Observed::Missing;
        }
        let content = cache::content(&merged);
        let takes_over = matches!(self.takeover.patch(&merged, &desired.object), Ok(Some(_)));
        if !takes_over && entry.as_ref().is_some_and(|entry| entry.content() == content) {
            self.memory.settle(key, desired.digest, content, rules);
            return Observed::Unchanged(Live::of(&merged));
        }
        match self.cluster.get(resource, &key.namespace, &key.name).await {
            Ok(Some(live)) => {
                let content = entry.map_or_else(|| cache::content(&live), |entry| entry.content());
                let (wanted, known) = (desired.digest, key.clone());
                let by = (rules, self.keep_ignored);
                let observed = self.compared(key, desired, (content, rules), &live, &merged);
                // Both are of one version, unless it was changed in between.
                let version = |object: &Value| object.str_at(&["metadata", "resourceVersion"]).to_owned();
                if version(&live) == version(&merged) && (self.left)(&known) {
                    self.memory
                        .remember(known, wanted, version(&live), by, desired, &observed);
                }
                observed
            }
            // It was deleted between the two requests.
            Ok(None) => Observed::Missing,
            Err(error) => failed(&key, Some(Live::of(&merged)), &error),
        }
    }

    /// What is known of an object that is left alone if it is there. Nothing if it is not and is to be created: then the server
    /// has to accept it.
    async fn left_alone(&self, key: &ObjectKey, desired: &Desired, resource: &Resource) -> Option<Observed> {
        match self.cache.find(key) {
            Lookup::Found(entry) => return Some(Observed::Uncompared(live_of(&entry))),
            Lookup::Missing => {}
            Lookup::Unknown => match self.cluster.get(resource, &key.namespace, &key.name).await {
                Ok(Some(live)) => return Some(Observed::Uncompared(Live::of(&live))),
                Ok(None) => {}
                Err(error) => return Some(failed(key, None, &error)),
            },
        }
        self.markers.skips(&desired.object).then_some(Observed::Missing)
    }

    /// Compares what is there with what it would become. `content` is that of the live object as the cache has it, which may
    /// be in another version than the desired one.
    fn compared(
        &self,
        key: ObjectKey,
        desired: &mut Desired,
        (content, rules): (u128, u64),
        live: &Value,
        merged: &Value,
    ) -> Observed {
        let mut seen = Live::of(live);
        match self.takeover.patch(live, &desired.object) {
            Ok(patch) => seen.takeover = patch.map(Arc::new),
            Err(error) => {
                let error = format!("cannot be taken over: {error}");
                return Observed::Failed {
                    live: Some(seen),
                    error,
                };
            }
        }
        match drift(Some(live), merged, self.ignore) {
            Drift::None if seen.takeover.is_none() => {
                self.memory.settle(key, desired.digest, content, rules);
                Observed::Unchanged(seen)
            }
            Drift::None => Observed::Drifted {
                live: seen,
                fields: vec!["metadata.managedFields".to_owned()],
            },
            Drift::Created => Observed::Missing,
            Drift::Changed(fields) => {
                if let Err(error) = self.settle_ignored(desired, live, merged) {
                    return Observed::Failed {
                        live: Some(seen),
                        error,
                    };
                }
                seen.lacking = fields.iter().filter(|field| field.live.is_none()).count();
                seen.surplus = fields.iter().filter(|field| field.desired.is_none()).count();
                Observed::Drifted {
                    live: seen,
                    fields: fields.into_iter().map(|field| field.path).collect(),
                }
            }
        }
    }

    /// What is ignored is not changed either, although something else is.
    fn settle_ignored(&self, desired: &mut Desired, live: &Value, merged: &Value) -> Result<(), String> {
        if !self.keep_ignored || self.ignore.is_empty() {
            return Ok(());
        }
        let mut applied = Value::clone(&desired.object);
        let settled = self.ignore.settle(&mut applied, live, merged, self.manager);
        settled.map_err(|missing| format!("cannot be applied without what is ignored: {missing}"))?;
        if applied != *desired.object {
            // Whoever goes on with this after a crash must not take the other for it.
            desired.digest = plan::objects::digest(&applied);
            desired.object = Arc::new(applied);
        }
        Ok(())
    }
}

/// What a manifest defines, if it is a definition, and whether that lives in namespaces. Its objects may come along with it.
fn scope_of_defined(manifest: &Manifest) -> Option<((Str, Str), bool)> {
    if manifest.kind() != "CustomResourceDefinition" {
        return None;
    }
    let spec = |path: &[&str]| manifest.value().at(&["spec"]).map(|spec| spec.str_at(path));
    let kind = (spec(&["group"])?.into(), spec(&["names", "kind"])?.into());
    Some((kind, spec(&["scope"])? == "Namespaced"))
}

/// Whether a dry run has found nothing there: what is stored has a version.
fn is_new(merged: &Value) -> bool {
    merged.str_at(&["metadata", "resourceVersion"]).is_empty()
}

fn failed(key: &ObjectKey, live: Option<Live>, error: &Error) -> Observed {
    Observed::Failed {
        live,
        error: dry_run_failure(&key.namespace, error),
    }
}

/// What a failed write says of whether the unit may write the object.
///
/// The server reads an object after it has authorized the user: one that it finds invalid comes from a unit that may write it.
pub(crate) fn verdict(error: &Error) -> Verdict {
    match error {
        Error::Invalid(_) | Error::Immutable(_) => Verdict::Accepted,
        Error::Rejected(refusal) if refusal.code == 400 => Verdict::Accepted,
        // A conflict passes, and a new account is known a moment later.
        Error::Conflict(_) | Error::AlreadyExists(_) | Error::Unauthorized(_) => Verdict::Unanswered,
        error if error.is_transient() => Verdict::Unanswered,
        _ => Verdict::Refused,
    }
}

/// What is known of an object whose kind is not.
fn unserved(desired: &Value, error: &Error) -> Observed {
    match error {
        // What is expected to be served may be on its way up.
        Error::NoSuchKind { .. } | Error::KindUnknown { .. } => Observed::KindMissing {
            error: dry_run_failure("", error),
        },
        _ => failed(&ObjectKey::of(desired), None, error),
    }
}

fn live_of(entry: &cache::Entry) -> Live {
    Live {
        key: entry.key(),
        uid: entry.uid().to_string(),
        resource_version: entry.resource_version().to_owned(),
        deleting: entry.deleting(),
        owned: !entry.owners().is_empty(),
        // What is as it should be is left as it is, whatever is written on it.
        labels: BTreeMap::new(),
        annotations: BTreeMap::new(),
        finalizers: Vec::new(),
        takeover: None,
        lacking: 0,
        surplus: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_may_write_what_the_server_reads_from_it() {
        for (code, expected) in [
            (400, Verdict::Accepted),
            (401, Verdict::Unanswered),
            (403, Verdict::Refused),
            (404, Verdict::Refused),
            (409, Verdict::Unanswered),
            (413, Verdict::Refused),
            (422, Verdict::Accepted),
            (429, Verdict::Unanswered),
            (503, Verdict::Unanswered),
        ] {
            assert_eq!(verdict(&Error::with_code(code)), expected, "{code}");
        }
    }
}
