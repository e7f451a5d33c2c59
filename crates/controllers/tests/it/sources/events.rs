//! What is told: as Events of the cluster and to the notification controller.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::Reason;
use api::source::OciRepositorySpec;
use controllers::kit::{Notice, Recorder};
use controllers::sources::OciRepositories;
use k8s_openapi::api::core::v1::{ConfigMap, Event};
use kube::api::{ListParams, PostParams};
use kube::client::Body;
use kube::{Api, Client};
use model::event::Severity;
use serde_json::{Value, json};
use testkit::Cluster;
use testkit::http::{Fault, Reply, Request};
use testkit::oci::{Artifact, Server};

use super::bed::Bed;

const LIMIT: Duration = testkit::DEADLINE;

type Service = Box<dyn Fn(&Request) -> Reply + Send + Sync>;

/// A notification controller that keeps what is posted.
pub(crate) struct Hook {
    pub(crate) server: testkit::http::Server<Service>,
    posted: Arc<Mutex<Vec<Value>>>,
}

impl Hook {
    pub(crate) fn start(status: u16) -> Self {
        let posted = Arc::new(Mutex::new(Vec::new()));
        let keep = Arc::clone(&posted);
        let service = move |request: &Request| {
            let body = serde_json::from_slice(&request.body).unwrap();
            keep.lock().unwrap().push(body);
            Reply::status(status)
        };
        Hook {
            server: testkit::http::Server::serve(Box::new(service) as Service),
            posted,
        }
    }

    /// What was posted, once there are so many.
    pub(crate) async fn posted(&self, count: usize) -> Vec<Value> {
        let settled = testkit::settled(LIMIT, self.server.changes(), async || {
            let posted = self.posted.lock().unwrap().clone();
            match posted.len() >= count {
                true => Ok(posted),
                false => Err(format!("{posted:?}")),
            }
        });
        settled.await.unwrap()
    }
}

impl Hook {
    /// The first post of which this holds.
    pub(crate) async fn until_posted(&self, holds: impl Fn(&Value) -> bool) -> Value {
        let settled = testkit::settled(LIMIT, self.server.changes(), async || {
            let posted = self.posted.lock().unwrap().clone();
            let found = posted.iter().find(|post| holds(post)).cloned();
            found.ok_or_else(|| format!("{posted:?}"))
        });
        settled.await.unwrap()
    }
}

/// E1, E2, and `event.toolkit.fluxcd.io/...` of the object
#[tokio::test]
async fn a_new_artifact_is_told_to_the_cluster_and_posted() {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let hook = Hook::start(202);
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    bed.post_to = Some(hook.server.url());
    let url = format!("oci://{}/team/app", registry.host());
    bed.create("app", json!({"url": url, "interval": "1h", "insecure": true}))
        .await;
    let own = json!({"metadata": {"annotations": {"event.toolkit.fluxcd.io/team": "a", "other": "b"}}});
    bed.patch("app", own).await;
    bed.run(OciRepositories::new);
    let object = bed.ready("app", "True", "Succeeded").await;
    let artifact = object.status.clone().unwrap().artifact.unwrap();
    let message = format!("stored artifact with revision 'latest@{digest}' from '{url}'");
    bed.until_told("app", "Normal", "NewArtifact", &message).await;

    let facts = json!({
        "source.toolkit.fluxcd.io/revision": format!("latest@{digest}"),
        "source.toolkit.fluxcd.io/digest": artifact.digest.unwrap().to_string(),
        "event.toolkit.fluxcd.io/team": "a",
    });
    let events: Api<Event> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let events = events.list(&ListParams::default()).await.unwrap();
    let event = events
        .iter()
        .find(|event| event.reason.as_deref() == Some("NewArtifact"));
    let event = event.unwrap();
    assert_eq!(serde_json::to_value(&event.metadata.annotations).unwrap(), facts);
    let component = event
        .source
        .as_ref()
        .and_then(|source| source.component.as_deref());
    assert_eq!(component, Some("source-controller"));
    assert_eq!(event.involved_object.kind.as_deref(), Some("OCIRepository"));

    let posted = hook.posted(1).await.remove(0);
    let involved = &posted["involvedObject"];
    assert_eq!(involved["kind"], "OCIRepository");
    assert_eq!(involved["apiVersion"], "source.toolkit.fluxcd.io/v1");
    assert_eq!(involved["name"], "app");
    assert_eq!(involved["namespace"], bed.namespace);
    assert_eq!(involved["uid"], object.metadata.uid.unwrap());
    assert_eq!(posted["severity"], "info");
    assert_eq!(posted["reason"], "NewArtifact");
    assert_eq!(posted["message"], message);
    assert_eq!(posted["metadata"], facts);
    assert_eq!(posted["reportingController"], "source-controller");
    assert!(posted["reportingInstance"].is_string() && posted["timestamp"].is_string());
}

/// E2: a failure is an error to those who are notified and a warning to the cluster
#[tokio::test]
async fn a_failure_is_posted_as_an_error() {
    let registry = Server::start();
    registry.fail(Fault::status(403).forever());
    let hook = Hook::start(202);
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    bed.post_to = Some(hook.server.url());
    let url = format!("oci://{}/team/app", registry.host());
    bed.create("app", json!({"url": url, "interval": "1h", "insecure": true}))
        .await;
    bed.run(OciRepositories::new);
    bed.ready("app", "False", "OCIArtifactPullFailed").await;
    let posted = hook.posted(1).await.remove(0);
    assert_eq!(posted["severity"], "error");
    assert_eq!(posted["reason"], "OCIArtifactPullFailed");
    let message = posted["message"].as_str().unwrap();
    bed.until_told("app", "Warning", "OCIArtifactPullFailed", message)
        .await;
}

/// A client whose first writes of a status with these words fail, so often as it is told to.
fn forgetful(client: Client, words: &'static str, failures: usize) -> Client {
    let left = Arc::new(AtomicUsize::new(failures));
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, left) = (client.clone(), Arc::clone(&left));
        async move {
            let is_status =
                request.method() == http::Method::PATCH && request.uri().path().ends_with("/status");
            let (head, body) = request.into_parts();
            let bytes = body.collect_bytes().await?;
            let has_words = String::from_utf8_lossy(&bytes).contains(words);
            let take = |left: usize| left.checked_sub(1);
            if is_status
                && has_words
                && left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                    .is_ok()
            {
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500, "reason": "InternalError",
                    "message": "it was forgotten",
                });
                let answer = http::Response::builder().status(500);
                return answer
                    .body(Body::from(status.to_string().into_bytes()))
                    .map_err(kube::Error::HttpError);
            }
            client
                .send(http::Request::from_parts(head, Body::from(bytes)))
                .await
        }
    });
    Client::new(service, "default")
}

/// S4, E1: a run whose status cannot be written is done again and has nothing new to tell
#[tokio::test]
async fn what_was_told_is_not_told_again_where_a_status_cannot_be_written() {
    let registry = Server::start();
    let first = registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let hook = Hook::start(202);
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    bed.post_to = Some(hook.server.url());
    let url = format!("oci://{}/team/app", registry.host());
    bed.create("app", json!({"url": url, "interval": "1h", "insecure": true}))
        .await;
    let client = forgetful(bed.cluster.client(), "stored artifact for digest", 2);
    bed.run_through(client, OciRepositories::new);
    bed.ready("app", "True", "Succeeded").await;
    let message = |digest: &str| format!("stored artifact with revision 'latest@{digest}' from '{url}'");
    bed.until_told("app", "Normal", "NewArtifact", &message(&first))
        .await;
    let second = registry.push("team/app", "latest", &Artifact::files(&[("a", "2")]));
    bed.requested("app", "now").await;
    bed.until_told("app", "Normal", "NewArtifact", &message(&second))
        .await;
    let posted = hook.posted(2).await;
    let mut messages: Vec<&str> = posted
        .iter()
        .filter_map(|posted| posted["message"].as_str())
        .collect();
    messages.sort_unstable();
    let mut wanted = [message(&first), message(&second)];
    wanted.sort_unstable();
    assert_eq!(messages, wanted);
    let events: Api<Event> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let events = events.list(&ListParams::default()).await.unwrap();
    let told = events
        .iter()
        .filter(|event| event.reason.as_deref() == Some("NewArtifact"));
    let counts: Vec<Option<i32>> = told.map(|event| event.count).collect();
    assert_eq!(counts, [Some(1), Some(1)]);
}

/// S3: a failure is told at once, though its status is written late, and once
#[tokio::test]
async fn a_failure_is_told_once_though_its_status_cannot_be_written() {
    let registry = Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    registry.fail(Fault::status(403).forever());
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    let url = format!("oci://{}/team/app", registry.host());
    bed.create("app", json!({"url": url, "interval": "1h", "insecure": true}))
        .await;
    // No failure is ever written.
    let client = forgetful(bed.cluster.client(), "OCIArtifactPullFailed", usize::MAX);
    bed.run_through(client, OciRepositories::new);
    let is_told = |event: &Event| event.reason.as_deref() == Some("OCIArtifactPullFailed");
    let told = bed.until_event(is_told).await;
    let asked = registry.requests().len();
    let again = testkit::settled(LIMIT, registry.changes(), async || {
        match registry.requests().len() >= asked + 2 {
            true => Ok(()),
            false => Err("nobody asked again"),
        }
    });
    again.await.unwrap();
    registry.heal();
    bed.ready("app", "True", "Succeeded").await;
    let events: Api<Event> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let event = events.get(&told.metadata.name.unwrap()).await.unwrap();
    assert_eq!(event.count, Some(1));
}

/// A cluster, an object in it to tell of, and a notification controller that answers in one way.
struct Telling {
    cluster: Cluster,
    namespace: String,
    object: ConfigMap,
    hook: Hook,
    recorder: Recorder,
}

impl Telling {
    async fn start(status: u16) -> Self {
        let cluster = Cluster::start().await;
        let namespace = cluster.namespace("told").await;
        let api: Api<ConfigMap> = Api::namespaced(cluster.client(), &namespace);
        let object = serde_json::from_value(json!({"metadata": {"name": "it"}})).unwrap();
        let object = api.create(&PostParams::default(), &object).await.unwrap();
        let hook = Hook::start(status);
        let recorder = Recorder::new(cluster.client(), "source-controller", Some(hook.server.url()));
        Telling {
            cluster,
            namespace,
            object,
            hook,
            recorder,
        }
    }

    fn tell(&self, severity: Severity, message: &str) {
        let notice = Notice {
            severity,
            reason: Reason::SUCCEEDED,
            message: message.into(),
            metadata: BTreeMap::new(),
        };
        self.recorder.tell(&self.object, notice);
    }
}

/// E3: what is told as a trace is a normal Event and is not posted
#[tokio::test]
async fn a_trace_stays_in_the_cluster() {
    let telling = Telling::start(202).await;
    telling.tell(Severity::Trace, "a trace");
    telling.tell(Severity::Info, "news");
    let posted = telling.hook.posted(1).await;
    let messages: Vec<&Value> = posted.iter().map(|posted| &posted["message"]).collect();
    assert_eq!(messages, ["news"]);
    // Notices are told one after the other: the trace was told before the news was posted.
    let events: Api<Event> = Api::namespaced(telling.cluster.client(), &telling.namespace);
    let events = events.list(&ListParams::default()).await.unwrap();
    let trace = events
        .iter()
        .find(|event| event.message.as_deref() == Some("a trace"));
    assert_eq!(trace.unwrap().type_.as_deref(), Some("Normal"));
}

/// E2: 429 says that the event is known already; a server that fails is asked again
#[tokio::test]
async fn what_is_known_already_is_not_posted_again() {
    let telling = Telling::start(429).await;
    telling.tell(Severity::Info, "first");
    telling.hook.posted(1).await;
    telling.hook.server.fail(Fault::status(503));
    telling.tell(Severity::Info, "second");
    let posted = telling.hook.posted(2).await;
    let messages: Vec<&Value> = posted.iter().map(|posted| &posted["message"]).collect();
    assert_eq!(
        messages,
        ["first", "second"],
        "the first was not posted again meanwhile"
    );
    assert_eq!(telling.hook.server.requests().len(), 3);
}

/// E2: no message is longer than the notification controller takes
#[tokio::test]
async fn long_messages_are_cut_before_they_are_posted() {
    let telling = Telling::start(202).await;
    telling.tell(Severity::Error, &"x".repeat(50_000));
    let posted = telling.hook.posted(1).await.remove(0);
    assert_eq!(posted["message"].as_str().unwrap().len(), 39_000);
}
