//! Brings the cluster to what the files say: checks all, applies, prunes, and puts right what others change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use k8s_openapi::api::core::v1::Namespace;
use kube::Client;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::discovery::ApiResource;
use model::{ObjectKey, Value, convert};

use super::files::{Place, Wanted};
use super::refusal;
use super::served::Served;

const MANAGER: &str = "sluice";

/// Where objects are tried out whose own namespace is not there yet. Nobody deploys to it.
const STAND_IN: &str = "kube-node-lease";

/// What was applied.
pub(super) struct Applied {
    pub place: Place,
    /// How the kind is served.
    pub resource: ApiResource,
    /// The object as it was wanted.
    wanted: Value,
    /// Who owned which fields right after it was applied. A change of it is somebody else's doing.
    owners: Value,
    /// The version that our last write made.
    version: u64,
    /// It is known not to be as wanted: putting it right has failed.
    broken: bool,
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

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            What::Created => write!(f, "created   {}", self.key),
            What::Changed => write!(f, "changed   {}", self.key),
            What::Restored => write!(f, "restored  {}: somebody else had changed it", self.key),
            What::Pruned => write!(f, "pruned    {}: it is in no file any more", self.key),
            What::Failed(why) => write!(f, "failed    {}: {why}", self.key),
        }
    }
}

impl Outcome {
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.what, What::Failed(_))
    }
}

/// Keeps a cluster in sync.
pub(super) struct Sync {
    client: Client,
    pub applied: BTreeMap<ObjectKey, Applied>,
}

/// A wanted object that has to be sent.
struct Due<'w> {
    wanted: &'w Wanted,
    key: ObjectKey,
    resource: ApiResource,
}

/// What was found out before anything is touched.
struct Checked<'w> {
    /// Namespaces and definitions to send.
    first: Vec<Due<'w>>,
    /// What to send after them.
    due: Vec<Due<'w>>,
    /// Objects whose kinds are only defined by `first`.
    later: Vec<&'w Wanted>,
    failures: Vec<Outcome>,
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
    /// Everything is tried out before anything is touched. Namespaces and definitions then go first, as others need them;
    /// objects of kinds that are only now defined are tried out after that. While anything fails, nothing is deleted, and
    /// nothing is deleted because nothing at all is wanted.
    pub(super) async fn run(&mut self, wanted: &[Wanted]) -> Vec<Outcome> {
        let mut served = Served::read(&self.client).await;
        let Checked {
            first,
            mut due,
            later,
            mut failures,
        } = self.check(wanted, &served).await;
        if !failures.is_empty() {
            return failures;
        }
        let mut outcomes = self.apply_all(first).await;
        if let Some(one) = later.iter().find(|one| served.find(one).is_none()) {
            served = Served::wait_for(&self.client, one).await;
        }
        let later = self.due(&later, &served, &mut failures);
        failures.extend(self.try_out(later.iter()).await);
        if failures.is_empty() {
            due.extend(later);
            outcomes.extend(self.apply_all(due).await);
        }
        outcomes.extend(failures);
        if !wanted.is_empty() && !outcomes.iter().any(Outcome::is_failure) {
            let kept = wanted.iter().map(|one| served.settle(one)).collect();
            outcomes.extend(self.prune(&kept).await);
        }
        outcomes
    }

    /// What the API has against these, as far as that can be known without touching anything.
    pub(super) async fn problems(&self, wanted: &[Wanted]) -> Vec<Outcome> {
        let served = Served::read(&self.client).await;
        self.check(wanted, &served).await.failures
    }

    async fn check<'w>(&self, wanted: &'w [Wanted], served: &Served) -> Checked<'w> {
        let (first, rest): (Vec<&Wanted>, Vec<&Wanted>) = wanted.iter().partition(|one| rank(&one.key) < 2);
        let defined = defined_kinds(&first);
        let (later, now): (Vec<&Wanted>, Vec<&Wanted>) = rest
            .iter()
            .partition(|one| served.find(one).is_none() && defined.contains(&kind_of(one)));
        let mut failures = Vec::new();
        let first = self.due(&first, served, &mut failures);
        let due = self.due(&now, served, &mut failures);
        failures.extend(self.try_out(first.iter().chain(&due)).await);
        Checked {
            first,
            due,
            later,
            failures,
        }
    }

    /// Those that are not as they are wanted, in the order to send them.
    fn due<'w>(&self, wanted: &[&'w Wanted], served: &Served, failures: &mut Vec<Outcome>) -> Vec<Due<'w>> {
        let mut due = Vec::new();
        for &one in wanted {
            let key = served.settle(one);
            let Some((resource, _)) = served.find(one) else {
                let why = format!(
                    "{}: the cluster has no kind {} in {}; apply its definition first or mend the spelling",
                    one.place, key.kind, one.api_version
                );
                let what = What::Failed(why);
                failures.push(Outcome { key, what });
                continue;
            };
            let done = self
                .applied
                .get(&key)
                .is_some_and(|applied| applied.wanted == one.object && !applied.broken);
            if !done {
                due.push(Due {
                    wanted: one,
                    key,
                    resource,
                });
            }
        }
        due.sort_by_key(|one| (rank(&one.key), one.key.clone()));
        due
    }

    /// What the API would say against these.
    async fn try_out<'d>(&self, due: impl Iterator<Item = &'d Due<'d>>) -> Vec<Outcome> {
        let mut failures = Vec::new();
        let mut there: Option<BTreeSet<String>> = None;
        for one in due {
            let mut key = one.key.clone();
            let mut object = one.wanted.object.clone();
            if !key.namespace.is_empty() {
                if there.is_none() {
                    there = Some(self.namespaces().await);
                }
                if !there
                    .as_ref()
                    .is_some_and(|there| there.contains(key.namespace.as_str()))
                {
                    key.namespace = STAND_IN.into();
                    object.set_at(&["metadata", "namespace"], STAND_IN);
                }
            }
            if let Err(mut error) = self.send(&one.resource, &key, &object, true).await {
                if let kube::Error::Api(status) = &mut error {
                    // Nobody asked for the stand-in.
                    let own = format!("({}/", one.key.namespace);
                    status.message = status.message.replace(&format!("({STAND_IN}/"), &own);
                }
                let why = refusal::of(&error, &one.key, &one.wanted.object, &one.wanted.place);
                let what = What::Failed(why);
                failures.push(Outcome {
                    key: one.key.clone(),
                    what,
                });
            }
        }
        failures
    }

    async fn namespaces(&self) -> BTreeSet<String> {
        let api: Api<Namespace> = Api::all(self.client.clone());
        let list = api.list_metadata(&ListParams::default()).await;
        let items = list.map(|list| list.items).unwrap_or_default();
        items.into_iter().filter_map(|item| item.metadata.name).collect()
    }

    async fn apply_all(&mut self, due: Vec<Due<'_>>) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        for one in due {
            let key = one.key.clone();
            let what = self.apply(one).await;
            outcomes.push(Outcome { key, what });
        }
        outcomes
    }

    async fn apply(&mut self, one: Due<'_>) -> What {
        let Due {
            wanted,
            key,
            resource,
        } = one;
        let before = self.applied.get(&key);
        let mended = before.is_some_and(|before| before.broken && before.wanted == wanted.object);
        let there = match before {
            Some(_) => true,
            None => {
                let found = self.api(&resource, &key).get_metadata_opt(&key.name).await;
                found.is_ok_and(|found| found.is_some())
            }
        };
        match self.send(&resource, &key, &wanted.object, false).await {
            Ok(live) => {
                let applied = Applied {
                    place: wanted.place.clone(),
                    resource,
                    wanted: wanted.object.clone(),
                    owners: owners(&live),
                    version: version(&live),
                    broken: false,
                };
                self.applied.insert(key, applied);
                match (mended, there) {
                    (true, _) => What::Restored,
                    (false, true) => What::Changed,
                    (false, false) => What::Created,
                }
            }
            Err(error) => What::Failed(refusal::of(&error, &key, &wanted.object, &wanted.place)),
        }
    }

    async fn send(
        &self,
        resource: &ApiResource,
        key: &ObjectKey,
        object: &Value,
        dry_run: bool,
    ) -> kube::Result<Value> {
        let params = PatchParams {
            field_validation: Some(kube::api::ValidationDirective::Strict),
            dry_run,
            ..PatchParams::apply(MANAGER).force()
        };
        let patch: serde_json::Value =
            convert::to_serde(object).map_err(|error| kube::Error::Service(Box::new(error)))?;
        let live = self
            .api(resource, key)
            .patch(&key.name, &params, &Patch::Apply(&patch))
            .await?;
        convert::from_serde(&live).map_err(|error| kube::Error::Service(Box::new(error)))
    }

    /// Puts right an object that somebody changed or deleted. `live` is what is there now; `seen` is the version of the
    /// change that told of it.
    pub(super) async fn restore(
        &mut self,
        key: &ObjectKey,
        live: Option<&Value>,
        seen: u64,
    ) -> Option<Outcome> {
        let applied = self.applied.get(key)?;
        let old = seen <= applied.version;
        let ours = live.is_some_and(|live| owners(live) == applied.owners);
        let leaving = live.is_some_and(|live| live.at(&["metadata", "deletionTimestamp"]).is_some());
        if old || ours || leaving {
            return None;
        }
        let (resource, wanted) = (applied.resource.clone(), applied.wanted.clone());
        let sent = self.send(&resource, key, &wanted, false).await;
        let applied = self.applied.get_mut(key)?;
        let what = match sent {
            Ok(now) => {
                applied.owners = owners(&now);
                applied.version = version(&now);
                applied.broken = false;
                if live == Some(&now) {
                    return None;
                }
                What::Restored
            }
            Err(error) => {
                applied.broken = true;
                What::Failed(refusal::of(&error, key, &wanted, &applied.place))
            }
        };
        Some(Outcome {
            key: key.clone(),
            what,
        })
    }

    async fn prune(&mut self, kept: &BTreeSet<ObjectKey>) -> Vec<Outcome> {
        let gone = self.applied.keys().filter(|key| !kept.contains(key));
        let mut gone: Vec<ObjectKey> = gone.cloned().collect();
        gone.sort_by_key(|key| std::cmp::Reverse((rank(key), key.clone())));
        let mut outcomes = Vec::new();
        for key in gone {
            let Some(applied) = self.applied.get(&key) else {
                continue;
            };
            let api = self.api(&applied.resource, &key);
            let what = match api.delete(&key.name, &DeleteParams::background()).await {
                Err(error) if !is_not_found(&error) => {
                    What::Failed(refusal::of(&error, &key, &applied.wanted, &applied.place))
                }
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

/// The group and kind of what an object is.
fn kind_of(one: &Wanted) -> (String, String) {
    (one.key.group.to_string(), one.key.kind.to_string())
}

/// The kinds that the definitions among these define.
fn defined_kinds(wanted: &[&Wanted]) -> BTreeSet<(String, String)> {
    let definitions = wanted.iter().filter(|one| rank(&one.key) == 0);
    let kind = |one: &&Wanted| {
        let group = one.object.str_at(&["spec", "group"]).to_owned();
        (group, one.object.str_at(&["spec", "names", "kind"]).to_owned())
    };
    definitions.map(kind).collect()
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

/// The embedded API counts its versions, so that they can be compared.
pub(super) fn version(live: &Value) -> u64 {
    live.str_at(&["metadata", "resourceVersion"])
        .parse()
        .unwrap_or_default()
}

fn is_not_found(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 404)
}
