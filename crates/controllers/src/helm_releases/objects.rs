//! The objects of a release: what applying them would change, and the plans for that.

use std::collections::HashMap;

use api::helm::HelmRelease;
use engine::diff::{self, IgnoreRules, Takeover};
use engine::health::Evaluations;
use engine::model::Manifest;
use engine::observe::Observer;
use engine::plan::{
    self, Candidate, Desired, Found, Health, Input, Objects, Observed, OnFailure, Options, Plan, Propagation,
    Strategy,
};
use engine::workers::WorkerPermit;
use helm::decision::message::{DriftChange, DriftKind};
use helm::inventory::Listed;
use helm::ownership;
use model::inventory::Entry;
use model::{Inventory, ObjectKey, Value};

use super::FIELD_MANAGER;
use super::client_side::Writing;
use super::site::Site;

/// A release whose objects are to be brought to the cluster.
pub(super) struct Wanted<'w> {
    /// Its name.
    pub(super) name: &'w str,
    /// Where it is installed.
    pub(super) namespace: &'w str,
    /// Its objects.
    pub(super) objects: Vec<Value>,
    /// What the release before has in the cluster.
    pub(super) previous: Inventory,
    /// The objects of the release before, where they are written without server-side apply.
    pub(super) client_side: Option<Vec<Value>>,
    /// Whether an object that cannot be changed is deleted and made anew.
    pub(super) force: bool,
    /// How long all of it may take to be ready; nothing where nobody waits.
    pub(super) wait: Option<u64>,
    /// Those that nobody waits for.
    pub(super) unawaited: &'w (dyn Fn(&Value) -> bool + Sync),
}

/// Managers whose fields are ours: what releases were made with before.
const BEFORE: [&str; 2] = ["helm", "Helm"];

/// Whose fields are taken over.
pub(super) fn takeover(others: &[String]) -> Takeover {
    let others = BEFORE.iter().copied().chain(others.iter().map(String::as_str));
    Takeover::helm(FIELD_MANAGER, others)
}

impl Site {
    fn observer<'o>(
        &'o self,
        takeover: &'o Takeover,
        ignore: &'o IgnoreRules,
        strategy: &'o Strategy,
        force: &'o (dyn Fn(&Value, &plan::Live) -> bool + Send + Sync),
    ) -> Observer<'o> {
        Observer {
            cluster: self.cluster(),
            cache: &self.cache,
            memory: &self.memory,
            manager: FIELD_MANAGER,
            takeover,
            ignore,
            keep_ignored: false,
            markers: &strategy.markers,
            forced: force,
            trust_new: false,
            left: &|_| false,
            unobserved: &|_| false,
        }
    }

    /// What applying the objects of a release comes to. Those that the server does not apply are written by then, and the new ones noted.
    ///
    /// # Errors
    /// All that the server does not accept.
    pub(super) async fn planned(
        &self,
        mut wanted: Wanted<'_>,
        takeover: &Takeover,
        created: &mut Vec<ObjectKey>,
    ) -> Result<(Plan, Objects), Vec<String>> {
        let strategy = Strategy::helm();
        let ignore = IgnoreRules::default();
        let force = wanted.force;
        let forced = move |_: &Value, _: &plan::Live| force;
        let observer = self.observer(takeover, &ignore, &strategy, &forced);
        let found = std::mem::take(&mut wanted.objects);
        let manifests = manifests(found, wanted.name, wanted.namespace)?;
        let mut options = Options {
            prune: true,
            allow_empty: true,
            force,
            namespace: wanted.namespace.to_owned(),
            ..Options::default()
        };
        let desired = observer.scoped(manifests).await;
        let desired = plan::prepare(desired, &strategy, &options, wanted.name);
        let mut desired = match &wanted.client_side {
            // They are as they should be then, and what is left is to delete others and to wait.
            Some(previous) if self.rehearsed.is_none() => {
                let writing = Writing {
                    namespace: wanted.namespace,
                    previous,
                    force,
                };
                self.write(desired, &writing, created).await?
            }
            _ => observer.look(desired).await,
        };
        for one in &mut desired {
            if let Observed::NamespaceMissing { .. } = one.observed
                && self.rehearses(&one.key(wanted.namespace).namespace)
            {
                one.observed = Observed::Missing;
            }
        }
        if let Some(seconds) = wanted.wait {
            let awaited = desired
                .iter()
                .filter(|desired| !(wanted.unawaited)(&desired.object));
            options.wait = Some(Health {
                objects: Some(awaited.map(|desired| desired.key(wanted.namespace)).collect()),
                except: None,
                seconds,
                fail_fast: true,
            });
        }
        let stale = plan::stale(&wanted.previous, &desired, wanted.namespace);
        let mut candidates = observer.candidates(stale).await;
        candidates.retain(|candidate| !is_of_another(candidate, wanted.name, wanted.namespace));
        let input = Input {
            unit: format!("{}/{}", wanted.namespace, wanted.name),
            revision: wanted.name.to_owned(),
            desired,
            previous: wanted.previous.clone(),
            candidates,
            options,
            ..Input::default()
        };
        let planned = plan::plan(&input, &strategy);
        planned.map_err(|refusals| refusals.iter().map(ToString::to_string).collect())
    }

    /// The plan to delete all objects of a release but those that are to stay.
    pub(super) async fn deletion(
        &self,
        inventory: Inventory,
        name: &str,
        namespace: &str,
        propagation: Propagation,
        wait: Option<u64>,
    ) -> Result<(Plan, Objects), Vec<String>> {
        let strategy = Strategy::helm();
        let (takeover, ignore) = (Takeover::default(), IgnoreRules::default());
        let never = |_: &Value, _: &plan::Live| false;
        let observer = self.observer(&takeover, &ignore, &strategy, &never);
        let stale = plan::stale(&inventory, &[], namespace);
        let mut candidates = observer.candidates(stale).await;
        candidates.retain(|candidate| !is_of_another(candidate, name, namespace));
        let input = Input {
            unit: namespace.to_owned(),
            candidates,
            options: Options {
                propagation,
                allow_empty: true,
                namespace: namespace.to_owned(),
                ..Options::default()
            },
            previous: inventory.clone(),
            ..Input::default()
        };
        let planned = plan::deletion(&input, &strategy, wait);
        planned.map_err(|refusals| refusals.iter().map(ToString::to_string).collect())
    }

    /// Why objects that are there cannot become part of a release: they belong to nobody, or to another one. Its own are not asked for.
    pub(super) async fn owned_by_others(
        &self,
        manifest: &str,
        name: &str,
        namespace: &str,
        own: &Inventory,
    ) -> Result<Vec<String>, String> {
        let mut problems = Vec::new();
        for object in helm::inventory::objects(manifest)? {
            let mut key = ObjectKey::of(&object);
            if key.namespace.is_empty() {
                key.namespace = namespace.into();
            }
            let is_it = |entry: &Entry| {
                let id = &entry.id.0;
                let is_near = id.namespace.is_empty() || id.namespace == key.namespace;
                is_near && (&id.group, &id.kind, &id.name) == (&key.group, &key.kind, &key.name)
            };
            if own.entries.iter().any(is_it) {
                continue;
            }
            if let Some(live) = self.read(&object, &key).await? {
                problems.extend(ownership::check_import(&live, name, namespace).err());
            }
        }
        Ok(problems)
    }

    /// An object as it is in the cluster.
    pub(super) async fn read(&self, object: &Value, key: &ObjectKey) -> Result<Option<Value>, String> {
        let (group, version) = model::object_key::split_api_version(object.str_at(&["apiVersion"]));
        let told = |error: engine::cluster::Error| format!("{key}: {error}");
        let resource = self
            .cluster()
            .resource(group, version, &key.kind)
            .await
            .map_err(told)?;
        let namespace = if resource.namespaced { &*key.namespace } else { "" };
        self.cluster()
            .get(&resource, namespace, &key.name)
            .await
            .map_err(told)
    }
}

/// The objects of a release, with the marks that tell whose they are.
fn manifests(objects: Vec<Value>, name: &str, namespace: &str) -> Result<Vec<Manifest>, Vec<String>> {
    let (mut manifests, mut problems) = (Vec::new(), Vec::new());
    for mut object in objects {
        ownership::set(&mut object, name, namespace);
        match Manifest::new(object, None) {
            Ok(manifest) => manifests.push(manifest),
            Err(error) => problems.push(error.to_string()),
        }
    }
    match problems.is_empty() {
        true => Ok(manifests),
        false => Err(problems),
    }
}

/// Whether an object that a release had is marked as that of another one by now. Then it stays.
fn is_of_another(candidate: &Candidate, name: &str, namespace: &str) -> bool {
    let Found::There(live) = &candidate.found else {
        return false;
    };
    let differs = |key: &str, own: &str| live.annotations.get(key).is_some_and(|marked| marked != own);
    differs("meta.helm.sh/release-name", name) || differs("meta.helm.sh/release-namespace", namespace)
}

/// The differences that do not count. Reading the rules takes time: it waits for its turn like evaluations.
pub(super) async fn ignore_rules(object: &HelmRelease, worker: &WorkerPermit) -> Result<IgnoreRules, String> {
    let drift = object.spec.drift_detection.as_ref();
    let rules = drift.map(|drift| drift.ignore.as_slice()).unwrap_or_default();
    if rules.is_empty() {
        return Ok(IgnoreRules::default());
    }
    let read = || {
        let rules: Vec<diff::IgnoreRule> = rules.iter().map(crate::kustomizations::ignore_rule).collect();
        IgnoreRules::new(&rules).map_err(|problem| match problem.is_limit() {
            true => format!("spec.driftDetection.ignore: {problem}"),
            false => problem.to_string(),
        })
    };
    let tenant = object.metadata.namespace.as_deref().unwrap_or_default();
    Evaluations::default().run_beside(worker, tenant, read).await
}

/// The label or annotation of objects that nobody compares.
const DRIFT_DETECTION: &str = "helm.toolkit.fluxcd.io/driftDetection";

/// Whether an object of a release asks not to be compared.
pub(super) fn is_excluded(object: &Value) -> bool {
    let marks = ["labels", "annotations"].map(|kind| object.str_at(&["metadata", kind, DRIFT_DETECTION]));
    marks.iter().any(|mark| mark.eq_ignore_ascii_case("disabled"))
}

/// Whether the object in the cluster asks for that.
pub(super) fn is_marked_excluded(observed: &Observed) -> bool {
    let Observed::Drifted { live, .. } = observed else {
        return false;
    };
    let marks = [&live.labels, &live.annotations].map(|marks| marks.get(DRIFT_DETECTION));
    let mut marks = marks.into_iter().flatten();
    marks.any(|mark| mark.eq_ignore_ascii_case("disabled"))
}

/// What differs, in Flux's words, and what cannot be compared.
pub(super) fn changes(looked: &[Desired], namespace: &str) -> (Vec<DriftChange>, Vec<String>) {
    let (mut changes, mut problems) = (Vec::new(), Vec::new());
    for desired in looked {
        let key = desired.key(namespace);
        let kind = match &desired.observed {
            Observed::Unchanged(_) | Observed::Uncompared(_) => continue,
            Observed::Missing | Observed::KindMissing { .. } | Observed::NamespaceMissing { .. } => {
                DriftKind::Removed
            }
            Observed::Drifted { live, fields } => DriftKind::Changed {
                additions: live.lacking,
                changes: fields.len().saturating_sub(live.lacking + live.surplus),
                removals: live.surplus,
            },
            Observed::Immutable { error, .. } | Observed::Failed { error, .. } => {
                problems.push(format!("{key} {error}"));
                continue;
            }
        };
        changes.push(DriftChange { object: key, kind });
    }
    (changes, problems)
}

/// The plan that sets right what differs, and deletes nothing. What cannot be set right holds up no others.
pub(super) fn correction(
    mut looked: Vec<Desired>,
    name: &str,
    namespace: &str,
) -> Result<(Plan, Objects), String> {
    looked.retain(|desired| {
        !matches!(
            desired.observed,
            Observed::Immutable { .. } | Observed::Failed { .. }
        )
    });
    let strategy = Strategy {
        on_failure: OnFailure::GoOn,
        ..Strategy::helm()
    };
    let input = Input {
        unit: format!("{namespace}/{name}"),
        revision: name.to_owned(),
        desired: looked,
        options: Options {
            prune: false,
            allow_empty: true,
            namespace: namespace.to_owned(),
            ..Options::default()
        },
        ..Input::default()
    };
    let planned = plan::plan(&input, &strategy);
    planned.map_err(|refusals| {
        refusals
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    })
}

impl Site {
    /// The objects of a release, each with how it is in the cluster.
    pub(super) async fn looked_at(
        &self,
        objects: Vec<Value>,
        name: &str,
        namespace: &str,
        takeover: &Takeover,
        ignore: &IgnoreRules,
    ) -> Result<Vec<Desired>, String> {
        let strategy = Strategy::helm();
        let never = |_: &Value, _: &plan::Live| false;
        // How an object differs is remembered, so that one that is left so is not asked about again.
        let observer = Observer {
            left: &|_| true,
            // Whoever puts something else right leaves alone what others may set.
            keep_ignored: true,
            ..self.observer(takeover, ignore, &strategy, &never)
        };
        let manifests = manifests(objects, name, namespace).map_err(|problems| problems.join("\n"))?;
        let options = Options {
            namespace: namespace.to_owned(),
            ..Options::default()
        };
        let desired = observer.scoped(manifests).await;
        let mut desired = plan::prepare(desired, &strategy, &options, name);
        desired.retain(|desired| !ignore.excludes(&desired.object));
        Ok(observer.look(desired).await)
    }

    /// The objects of a manifest and of files in `crds/`, as an inventory lists them.
    pub(super) async fn listed(
        &self,
        manifest: &str,
        crds: &[(String, bytes::Bytes)],
        namespace: &str,
    ) -> Result<Listed, String> {
        let mut known: HashMap<(String, String, String), Result<bool, String>> = HashMap::new();
        for object in helm::inventory::objects(manifest)? {
            let (group, version) = model::object_key::split_api_version(object.str_at(&["apiVersion"]));
            let kind = object.str_at(&["kind"]);
            let name = (group.to_owned(), version.to_owned(), kind.to_owned());
            if let std::collections::hash_map::Entry::Vacant(place) = known.entry(name) {
                let resource = self.cluster().resource(group, version, kind).await;
                place.insert(
                    resource
                        .map(|found| found.namespaced)
                        .map_err(|error| error.to_string()),
                );
            }
        }
        let scope = |group: &str, version: &str, kind: &str| {
            let name = (group.to_owned(), version.to_owned(), kind.to_owned());
            known
                .get(&name)
                .cloned()
                .unwrap_or_else(|| Err("nobody has asked".to_owned()))
        };
        helm::inventory::list(manifest, crds, namespace, &scope)
    }

    /// Whether the cluster serves all kinds of a manifest: Helm asks before it stores anything.
    pub(super) async fn check_kinds(&self, manifest: &str) -> Result<(), String> {
        let mut problems = Vec::new();
        for object in helm::inventory::objects(manifest)? {
            let (group, version) = model::object_key::split_api_version(object.str_at(&["apiVersion"]));
            if let Err(error) = self
                .cluster()
                .resource(group, version, object.str_at(&["kind"]))
                .await
            {
                problems.push(format!("{}: {error}", ObjectKey::of(&object)));
            }
        }
        problems.dedup();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(format!(
                "unable to build kubernetes objects from release manifest: {}",
                problems.join("\n")
            )),
        }
    }
}
