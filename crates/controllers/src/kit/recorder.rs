//! Tells what happened: as Events of the cluster, and to the notification controller.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use api::Reason;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use model::event::{self, Severity};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::chain::chain;
use super::cut::cut;

/// The longest message that is posted.
const LONGEST_POST: usize = 39_000;

/// The longest message that an Event of the cluster may have.
const LONGEST_EVENT: usize = 1024;

/// The prefix of annotations that are told with everything that is told of their object.
const OWN_FACTS: &str = "event.toolkit.fluxcd.io/";

/// How many different Events each lane remembers, so that the same is counted and not made anew.
const REMEMBERED: usize = 1024;

/// How many tell at the same time: while the cluster is busy with a thousand objects, one alone would be left behind. All that is told of
/// one object is told by the same, one after the other.
const LANES: usize = 4;

/// How many notices may wait to be told by each. What comes while so many wait is not told: a controller never waits for it.
const WAITING: usize = 1024;

/// Something to be told about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How grave it is. A trace is not posted.
    pub severity: Severity,
    /// What happened, for programs.
    pub reason: Reason,
    /// What happened, for people.
    pub message: String,
    /// Further facts, named without the group: `revision`.
    pub metadata: BTreeMap<String, String>,
}

impl Notice {
    /// What is of no interest to those who are notified.
    pub(crate) fn trace(reason: Reason, message: String) -> Self {
        Notice {
            severity: Severity::Trace,
            reason,
            message,
            metadata: BTreeMap::new(),
        }
    }
}

/// Tells notices, those of one object one after the other, beside the work that they are about. Clones are the same recorder.
#[derive(Clone)]
pub struct Recorder {
    lanes: Arc<[mpsc::Sender<Item>]>,
}

enum Item {
    Told(Box<Told>),
    /// Answered once all that was told before has arrived.
    Drain(oneshot::Sender<()>),
}

/// Where something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// In the cluster, and to the notification controller.
    Everywhere,
    /// To the notification controller alone.
    Posted,
}

struct Told {
    way: Way,
    object: ObjectReference,
    group: String,
    annotations: BTreeMap<String, String>,
    notice: Notice,
}

impl Recorder {
    /// Begins to tell. `controller` is who tells, `post_to` the address of the notification controller.
    pub fn new(client: Client, controller: &'static str, post_to: Option<String>) -> Self {
        let http = reqwest::Client::new();
        let lanes = (0..LANES).map(|_| {
            let (sender, receiver) = mpsc::channel(WAITING);
            let teller = Teller {
                client: client.clone(),
                controller,
                post_to: post_to.clone(),
                http: http.clone(),
                instance: hostname(),
                seen: Mutex::new(HashMap::new()),
            };
            tokio::spawn(teller.run(receiver));
            sender
        });
        Recorder {
            lanes: lanes.collect(),
        }
    }

    /// The lane of an object.
    fn lane(&self, object: &ObjectReference) -> &mpsc::Sender<Item> {
        let mut hasher = DefaultHasher::new();
        (&object.namespace, &object.name, &object.uid).hash(&mut hasher);
        let lane = usize::try_from(hasher.finish() % LANES as u64).unwrap_or_default();
        &self.lanes[lane]
    }

    /// Tells about an object.
    pub fn tell<K: Resource<DynamicType = ()>>(&self, object: &K, notice: Notice) {
        self.send(object, notice, Way::Everywhere);
    }

    /// Tells the notification controller about an object, and leaves no Event.
    pub fn post<K: Resource<DynamicType = ()>>(&self, object: &K, notice: Notice) {
        self.send(object, notice, Way::Posted);
    }

    fn send<K: Resource<DynamicType = ()>>(&self, object: &K, notice: Notice, way: Way) {
        let told = Told {
            way,
            object: object.object_ref(&()),
            group: K::group(&()).into_owned(),
            annotations: object.meta().annotations.clone().unwrap_or_default(),
            notice,
        };
        if self
            .lane(&told.object)
            .try_send(Item::Told(Box::new(told)))
            .is_err()
        {
            tracing::warn!("an event was not told: too many wait");
        }
    }

    /// Waits until all that was told so far has arrived or was given up.
    pub async fn drain(&self) {
        for lane in &*self.lanes {
            let (sender, receiver) = oneshot::channel();
            if lane.send(Item::Drain(sender)).await.is_ok() {
                let _ = receiver.await;
            }
        }
    }
}

struct Teller {
    client: Client,
    controller: &'static str,
    post_to: Option<String>,
    http: reqwest::Client,
    instance: String,
    seen: Mutex<HashMap<Same, (String, i32)>>,
}

/// What makes two Events the same.
type Same = (Option<String>, &'static str, String, Severity);

impl Teller {
    async fn run(self, mut receiver: mpsc::Receiver<Item>) {
        let teller = Arc::new(self);
        let mut posts = JoinSet::new();
        while let Some(item) = receiver.recv().await {
            while posts.try_join_next().is_some() {}
            let told = match item {
                Item::Told(told) => *told,
                Item::Drain(done) => {
                    while posts.join_next().await.is_some() {}
                    let _ = done.send(());
                    continue;
                }
            };
            if told.way == Way::Everywhere
                && let Err(error) = teller.record(&told).await
            {
                tracing::debug!("failed to write an event: {}", chain(&error));
            }
            if told.notice.severity != Severity::Trace && teller.post_to.is_some() {
                // A notification controller that hangs holds back no Event of the cluster.
                posts.spawn(Arc::clone(&teller).post(told));
            }
        }
    }

    /// Makes an Event in the cluster, or counts up the one that is there.
    async fn record(&self, told: &Told) -> kube::Result<()> {
        let Told { object, notice, .. } = told;
        let namespace = object.namespace.clone().unwrap_or_else(|| "default".into());
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        let same = (
            object.uid.clone(),
            notice.reason.as_str(),
            notice.message.clone(),
            notice.severity,
        );
        let now = Time(jiff::Timestamp::now());
        let known = self.seen.lock().get(&same).cloned();
        if let Some((name, count)) = known {
            let change = json!({"count": count + 1, "lastTimestamp": now});
            let patched = api
                .patch(&name, &PatchParams::default(), &Patch::Merge(&change))
                .await;
            match patched {
                Ok(_) => {
                    self.seen.lock().insert(same, (name, count + 1));
                    return Ok(());
                }
                // Events do not live long.
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => return Err(error),
            }
        }
        let event = self.event(told, &namespace, &now);
        let name = event.metadata.name.clone().unwrap_or_default();
        api.create(&PostParams::default(), &event).await?;
        let mut seen = self.seen.lock();
        if seen.len() >= REMEMBERED {
            seen.clear();
        }
        seen.insert(same, (name, 1));
        Ok(())
    }

    fn event(&self, told: &Told, namespace: &str, now: &Time) -> Event {
        let Told { object, notice, .. } = told;
        let name = object.name.as_deref().unwrap_or_default();
        let annotations = facts(told);
        Event {
            metadata: ObjectMeta {
                name: Some(format!("{name}.{:x}", now.0.as_nanosecond())),
                namespace: Some(namespace.to_owned()),
                annotations: (!annotations.is_empty()).then_some(annotations),
                ..ObjectMeta::default()
            },
            involved_object: object.clone(),
            reason: Some(notice.reason.as_str().to_owned()),
            message: Some(cut(&notice.message, LONGEST_EVENT)),
            type_: Some(
                match notice.severity {
                    Severity::Error => "Warning",
                    Severity::Info | Severity::Trace => "Normal",
                }
                .to_owned(),
            ),
            source: Some(EventSource {
                component: Some(self.controller.to_owned()),
                host: None,
            }),
            reporting_component: Some(self.controller.to_owned()),
            count: Some(1),
            first_timestamp: Some(now.clone()),
            last_timestamp: Some(now.clone()),
            ..Event::default()
        }
    }

    /// Posts to the notification controller, a few times if it does not answer.
    async fn post(self: Arc<Self>, told: Told) {
        // Those of the client that Flux's controllers post with.
        const WAITS: [u64; 4] = [1, 2, 4, 8];
        let Some(address) = &self.post_to else { return };
        let Ok(body) = serde_json::to_vec(&self.posted(&told)) else {
            return;
        };
        for wait in WAITS.map(Some).into_iter().chain([None]) {
            let request = self
                .http
                .post(address)
                .header("content-type", "application/json")
                .timeout(Duration::from_secs(5))
                .body(body.clone());
            match request.send().await {
                // 429 says that it knows this already.
                Ok(answer) if answer.status().is_success() || answer.status().as_u16() == 429 => return,
                Ok(answer) if answer.status().is_client_error() => {
                    tracing::warn!(status = answer.status().as_u16(), "an event was not taken");
                    return;
                }
                Ok(_) | Err(_) => {}
            }
            if let Some(seconds) = wait {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
            }
        }
        tracing::warn!("the notification controller cannot be reached: an event was not told");
    }

    fn posted(&self, told: &Told) -> event::Event {
        let Told { object, notice, .. } = told;
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        event::Event {
            involved_object: event::ObjectReference {
                kind: text(&object.kind),
                namespace: text(&object.namespace),
                name: text(&object.name),
                uid: text(&object.uid),
                api_version: text(&object.api_version),
                resource_version: text(&object.resource_version),
                field_path: String::new(),
            },
            severity: notice.severity,
            timestamp: model::Time::new(jiff::Timestamp::now()),
            message: cut(&notice.message, LONGEST_POST),
            reason: notice.reason.as_str().to_owned(),
            metadata: facts(told),
            reporting_controller: self.controller.to_owned(),
            reporting_instance: self.instance.clone(),
        }
    }
}

/// The facts of a notice under names with the group of the object, and what the object itself wants to be told with it.
fn facts(told: &Told) -> BTreeMap<String, String> {
    let facts = told.notice.metadata.iter();
    let facts = facts.map(|(key, value)| (format!("{}/{key}", told.group), value.clone()));
    let own = told.annotations.iter();
    let own = own.filter(|(key, _)| key.starts_with(OWN_FACTS));
    facts
        .chain(own.map(|(key, value)| (key.clone(), value.clone())))
        .collect()
}

/// The name of this host, which in a cluster is that of the pod.
pub fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use testkit::Cluster;
    use testkit::http::{Fault, Reply, Request, Server};

    use super::*;

    /// E2: who does not answer is given five seconds, five times, with the pauses of Flux in between.
    #[tokio::test(start_paused = true)]
    async fn a_notification_controller_that_hangs_is_given_five_seconds() {
        let cluster = Cluster::embedded(apiserver::Server::builder());
        let server = Server::serve(|_: &Request| Reply::status(202));
        server.fail(Fault::hang().forever());
        let recorder = Recorder::new(cluster.client(), "source-controller", Some(server.url()));
        let object = json!({"metadata": {"name": "one", "namespace": "default", "uid": "u"}});
        let object: ConfigMap = serde_json::from_value(object).unwrap();
        let notice = Notice {
            severity: Severity::Info,
            reason: Reason::SUCCEEDED,
            message: "news".into(),
            metadata: BTreeMap::new(),
        };
        let start = tokio::time::Instant::now();
        recorder.tell(&object, notice);
        recorder.drain().await;
        let took = start.elapsed();
        let expected = Duration::from_secs(5 * 5 + 1 + 2 + 4 + 8);
        assert!(
            took >= expected && took < expected + Duration::from_secs(1),
            "{took:?}"
        );
    }
}
