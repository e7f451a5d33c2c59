//! Brings the cluster to what the files say: applies, prunes, and puts right what others change.

use std::collections::{BTreeMap, HashMap};

use kube::api::{Api, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::discovery::{ApiResource, Scope};
use kube::{Client, Discovery};
use model::{ObjectKey, Value, convert};

use super::files::{Place, Wanted};

const MANAGER: &str = "sluice";

/// What was applied.
pub(super) struct Applied {
    pub place: Place,
    /// How the kind is served.
    pub resource: ApiResource,
    /// The object as it was wanted.
    wanted: Value,
    /// Who owned which fields right after it was applied. A change of it is somebody else's doing.
    owners: Value,
}

/// Something that was done or went wrong.
#[derive(Debug)]
pub(super) struct Outcome {
    pub key: ObjectKey,
    pub what: What,
}

/// What was done to an object.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum What {
    Created,
    Changed,
    Restored,
    Pruned,
    Failed(String),
}

/// Keeps a cluster in sync.
pub(super) struct Sync {
    client: Client,
    pub applied: BTreeMap<ObjectKey, Applied>,
}

impl Sync {
    pub(super) fn new(client: Client) -> Self {
        Sync {
            client,
            applied: BTreeMap::new(),
        }
    }

    /// Applies what is wanted and deletes what no longer is.
    ///
    /// Namespaces and definitions go first, as others need them; deletion goes the other way. What fails is told and
    /// keeps nothing else from being done, but while something fails, nothing is deleted.
    pub(super) async fn run(&mut self, mut wanted: Vec<Wanted>) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        wanted.sort_by_key(|one| (rank(&one.key), one.key.clone()));
        let mut kept: HashMap<ObjectKey, ()> = HashMap::new();
        let mut served = Served::read(&self.client).await;
        for one in wanted {
            if served.find(&one).is_none() {
                // A definition that was just applied is served a moment later.
                served = Served::wait_for(&self.client, &one).await;
            }
            let key = served.settle(&one);
            kept.insert(key.clone(), ());
            if let Some(what) = self.apply(&served, &key, one).await {
                outcomes.push(Outcome { key, what });
            }
        }
        let failed = outcomes
            .iter()
            .any(|outcome| matches!(outcome.what, What::Failed(_)));
        if !failed {
            outcomes.extend(self.prune(&kept).await);
        }
        outcomes
    }

    async fn apply(&mut self, served: &Served, key: &ObjectKey, one: Wanted) -> Option<What> {
        let Some((resource, _)) = served.find(&one) else {
            let what = format!(
                "{}: the cluster has no kind {} in {}",
                one.place, key.kind, one.api_version
            );
            return Some(What::Failed(what));
        };
        let before = self.applied.get(key);
        if before.is_some_and(|before| before.wanted == one.object) {
            return None;
        }
        let known = before.is_some();
        match self.send(&resource, key, &one.object).await {
            Ok((live, created)) => {
                let applied = Applied {
                    place: one.place,
                    resource,
                    wanted: one.object,
                    owners: owners(&live),
                };
                self.applied.insert(key.clone(), applied);
                Some(if created || !known {
                    What::Created
                } else {
                    What::Changed
                })
            }
            Err(error) => Some(What::Failed(format!("{}: {}", one.place, reason(&error)))),
        }
    }

    async fn send(
        &self,
        resource: &ApiResource,
        key: &ObjectKey,
        object: &Value,
    ) -> kube::Result<(Value, bool)> {
        let params = PatchParams {
            field_validation: Some(kube::api::ValidationDirective::Strict),
            ..PatchParams::apply(MANAGER).force()
        };
        let patch: serde_json::Value =
            convert::to_serde(object).map_err(|error| kube::Error::Service(Box::new(error)))?;
        let live = self
            .api(resource, key)
            .patch(&key.name, &params, &Patch::Apply(&patch))
            .await?;
        let live = convert::from_serde(&live).map_err(|error| kube::Error::Service(Box::new(error)))?;
        // A new object has been written once.
        let created = live.list_at(&["metadata", "managedFields"]).len() == 1;
        Ok((live, created))
    }

    /// Puts right an object that somebody changed or deleted. `live` is what is there now.
    pub(super) async fn restore(&mut self, key: &ObjectKey, live: Option<&Value>) -> Option<Outcome> {
        let applied = self.applied.get(key)?;
        if live.is_some_and(|live| {
            owners(live) == applied.owners || live.at(&["metadata", "deletionTimestamp"]).is_some()
        }) {
            return None;
        }
        let (resource, wanted) = (applied.resource.clone(), applied.wanted.clone());
        let what = match self.send(&resource, key, &wanted).await {
            Ok((now, _)) => {
                let owners = owners(&now);
                let same = live == Some(&now);
                self.applied.get_mut(key)?.owners = owners;
                if same {
                    return None;
                }
                What::Restored
            }
            Err(error) => What::Failed(reason(&error)),
        };
        Some(Outcome {
            key: key.clone(),
            what,
        })
    }

    async fn prune(&mut self, kept: &HashMap<ObjectKey, ()>) -> Vec<Outcome> {
        let mut gone: Vec<ObjectKey> = self
            .applied
            .keys()
            .filter(|key| !kept.contains_key(key))
            .cloned()
            .collect();
        gone.sort_by_key(|key| std::cmp::Reverse((rank(key), key.clone())));
        let mut outcomes = Vec::new();
        for key in gone {
            let Some(applied) = self.applied.get(&key) else {
                continue;
            };
            let deleted = self
                .api(&applied.resource, &key)
                .delete(&key.name, &DeleteParams::background())
                .await;
            let what = match deleted {
                Err(error) if !is_not_found(&error) => What::Failed(reason(&error)),
                _ => {
                    self.applied.remove(&key);
                    What::Pruned
                }
            };
            outcomes.push(Outcome { key, what });
        }
        outcomes
    }

    fn api(&self, resource: &ApiResource, key: &ObjectKey) -> Api<DynamicObject> {
        match key.namespace.as_str() {
            "" => Api::all_with(self.client.clone(), resource),
            namespace => Api::namespaced_with(self.client.clone(), namespace, resource),
        }
    }
}

/// Which kinds the cluster serves.
struct Served(Option<Discovery>);

impl Served {
    async fn read(client: &Client) -> Self {
        Served(Discovery::new(client.clone()).run_aggregated().await.ok())
    }

    /// Reads until the kind of `one` is there, for up to three seconds.
    async fn wait_for(client: &Client, one: &Wanted) -> Self {
        const TRIES: u32 = 30;
        let mut served = Served::read(client).await;
        for _ in 0..TRIES {
            if served.find(one).is_some() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            served = Served::read(client).await;
        }
        served
    }

    fn find(&self, one: &Wanted) -> Option<(ApiResource, Scope)> {
        let (group, version) = one.api_version.split_once('/').unwrap_or(("", &one.api_version));
        let gvk = kube::api::GroupVersionKind::gvk(group, version, &one.key.kind);
        let (resource, capabilities) = self.0.as_ref()?.resolve_gvk(&gvk)?;
        Some((resource, capabilities.scope))
    }

    /// The key with the namespace the object will be in.
    fn settle(&self, one: &Wanted) -> ObjectKey {
        let mut key = one.key.clone();
        match self.find(one).map(|(_, scope)| scope) {
            Some(Scope::Namespaced) if key.namespace.is_empty() => key.namespace = "default".into(),
            Some(Scope::Cluster) => key.namespace = model::Str::default(),
            _ => {}
        }
        key
    }
}

/// What others need comes first.
fn rank(key: &ObjectKey) -> u8 {
    match (key.group.as_str(), key.kind.as_str()) {
        ("apiextensions.k8s.io", _) => 0,
        ("", "Namespace") => 1,
        ("", "ServiceAccount" | "ConfigMap" | "Secret") | ("rbac.authorization.k8s.io", _) => 2,
        _ => 3,
    }
}

/// Who owns what, leaving status aside, which controllers write all the time.
fn owners(live: &Value) -> Value {
    let entries = live.list_at(&["metadata", "managedFields"]).iter();
    entries
        .filter(|entry| entry.str_at(&["subresource"]) != "status")
        .cloned()
        .collect()
}

fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}

fn reason(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}
