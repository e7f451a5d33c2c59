//! Objects written without server-side apply, as Helm 3 does and Helm 4 for releases that were made so: they are created, or changed by a patch of what was wanted
//! before, what is wanted and what is there. Their fields are owned by an update.

use std::sync::{Arc, OnceLock};

use engine::cluster::{Error, Resource, Write};
use engine::plan::{Desired, Live, Observed};
use model::{ObjectKey, Value};
use smd::Schema;
use smd::patch::strategic::three_way;

use super::FIELD_MANAGER;
use super::site::Site;

/// The types of built-in kinds, read when the first release needs them.
pub(super) type Types = Arc<OnceLock<Schema>>;

/// Definitions are of a built-in kind, but Helm patches them as if they were not.
const DEFINITION: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");

/// An object that is wanted, and what there is of it.
struct Pair {
    desired: Desired,
    resource: Resource,
    live: Option<Value>,
}

/// How objects are written.
pub(super) struct Writing<'w> {
    /// The namespace of the release.
    pub(super) namespace: &'w str,
    /// The objects of the release before.
    pub(super) previous: &'w [Value],
    /// Whether objects are replaced instead of changed.
    pub(super) force: bool,
}

impl Site {
    /// Writes the objects of a release one after the other. Takes note of those that were not there.
    ///
    /// # Errors
    /// What cannot be had, before anything is written; then the first object that the server does not take.
    pub(super) async fn write(
        &self,
        desired: Vec<Desired>,
        writing: &Writing<'_>,
        created: &mut Vec<ObjectKey>,
    ) -> Result<Vec<Desired>, Vec<String>> {
        let mut pairs = Vec::with_capacity(desired.len());
        let mut problems = Vec::new();
        for desired in desired {
            match self.paired(desired).await {
                Ok(pair) => pairs.push(pair),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut written = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let key = pair.desired.key(writing.namespace);
            let before = writing.previous.iter().find(|object| is_of(object, &key));
            let done = self.one(&pair, before, writing.force).await;
            let live = done.map_err(|error| vec![format!("{key}: {error}")])?;
            if pair.live.is_none() {
                created.push(key);
            }
            let observed = Observed::Unchanged(Live::of(&live));
            written.push(pair.desired.observed(observed));
        }
        Ok(written)
    }

    async fn paired(&self, desired: Desired) -> Result<Pair, String> {
        let key = ObjectKey::of(&desired.object);
        let (group, version) = model::object_key::split_api_version(desired.object.str_at(&["apiVersion"]));
        let told = |error: Error| format!("{key}: {error}");
        let resource = self.cluster().resource(group, version, &key.kind).await;
        let resource = resource.map_err(told)?;
        let live = self.cluster().get(&resource, &key.namespace, &key.name).await;
        Ok(Pair {
            live: live.map_err(told)?,
            desired,
            resource,
        })
    }

    /// Writes one object, and returns what it has become.
    async fn one(&self, pair: &Pair, before: Option<&Value>, is_replaced: bool) -> Result<Value, Error> {
        let (cluster, by) = (self.cluster(), Write::by(FIELD_MANAGER));
        let (object, resource) = (&*pair.desired.object, &pair.resource);
        let Some(live) = &pair.live else {
            return cluster.create(resource, object, &by).await;
        };
        if is_replaced {
            let mut object = object.clone();
            let version = live.str_at(&["metadata", "resourceVersion"]);
            object.set_at(&["metadata", "resourceVersion"], version);
            return cluster.replace(resource, &object, &by).await;
        }
        let schema = self.types.get_or_init(Schema::builtin);
        let ty = schema.kind(&resource.group, &resource.version, &resource.kind);
        let ty = ty.filter(|_| (&*resource.group, &*resource.kind) != DEFINITION);
        // What was not of the release before is taken as if it had been the same.
        let patch = three_way(before.unwrap_or(object), object, live, ty.map(|ty| (schema, ty)));
        if patch.as_object().is_none_or(|fields| fields.is_empty()) {
            return Ok(live.clone());
        }
        let key = ObjectKey::of(live);
        let place = (&*key.namespace, &*key.name);
        match ty {
            Some(_) => {
                cluster
                    .strategic_patch(resource, place.0, place.1, &patch, &by)
                    .await
            }
            None => cluster.merge_patch(resource, place.0, place.1, &patch, &by).await,
        }
    }
}

/// Whether an object of a manifest, which may not name its namespace, is this.
fn is_of(object: &Value, key: &ObjectKey) -> bool {
    let own = ObjectKey::of(object);
    let is_there = own.namespace.is_empty() || own.namespace == key.namespace;
    is_there && (own.group, own.kind, own.name) == (key.group.clone(), key.kind.clone(), key.name.clone())
}
