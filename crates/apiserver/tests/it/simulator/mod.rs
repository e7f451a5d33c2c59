//! The simulator, through requests to a server whose time is not real: nothing here sleeps.

mod claim;
mod cron_job;
mod daemon_set;
mod deployment;
mod job;
mod many;
mod pod;
mod policy;
mod replica_set;
mod service;
mod stateful_set;

use std::sync::Arc;
use std::time::Duration;

use apiserver::Server;
use apiserver::simulator::Options;
use http_body_util::{BodyExt, Full};
use jiff::{SignedDuration, Timestamp};
use model::{Value, json, value};
use tokio::time::Instant;
use tower::ServiceExt;

/// No test waits longer than this, on the clock of the test.
const PATIENCE: Duration = Duration::from_secs(3600);

/// A server with a simulator.
pub(super) struct Cluster {
    pub server: Server,
}

impl Cluster {
    pub(super) fn start() -> Self {
        Cluster::with(Options::default())
    }

    pub(super) fn with(options: Options) -> Self {
        let begin: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let start = Instant::now();
        let clock = move || begin + SignedDuration::try_from(start.elapsed()).unwrap();
        let server = Server::builder()
            .simulator(options)
            .seed(1)
            .clock(Arc::new(clock))
            .start();
        Cluster { server }
    }

    async fn send(&self, method: &str, path: &str, kind: &str, body: Option<&Value>) -> (u16, Vec<u8>) {
        let bytes = body.map(json::to_vec).unwrap_or_default();
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", kind)
            .header("user-agent", "test")
            .body(Full::new(bytes.into()))
            .unwrap();
        let answer = self.server.service().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, bytes.to_vec())
    }

    async fn call(&self, method: &str, path: &str, kind: &str, body: Option<&Value>) -> Value {
        let (status, bytes) = self.send(method, path, kind, body).await;
        let text = String::from_utf8_lossy(&bytes);
        assert!(status < 300, "{method} {path}: {status} {text}");
        json::parse(&bytes).unwrap()
    }

    /// Creates an object in the collection at `path`.
    pub(super) async fn create(&self, path: &str, object: Value) -> Value {
        self.call("POST", path, "application/json", Some(&object)).await
    }

    /// Changes an object by a merge patch.
    pub(super) async fn patch(&self, path: &str, patch: Value) -> Value {
        let kind = "application/merge-patch+json";
        self.call("PATCH", path, kind, Some(&patch)).await
    }

    pub(super) async fn delete(&self, path: &str) -> Value {
        let options = value!({"propagationPolicy": "Background"});
        self.call("DELETE", path, "application/json", Some(&options))
            .await
    }

    pub(super) async fn delete_by(&self, path: &str, policy: &str) -> Value {
        let options = value!({"propagationPolicy": policy});
        self.call("DELETE", path, "application/json", Some(&options))
            .await
    }

    /// The object at `path`; `None` where there is none.
    pub(super) async fn find(&self, path: &str) -> Option<Value> {
        let (status, bytes) = self.send("GET", path, "application/json", None).await;
        match status {
            404 => None,
            200 => Some(json::parse(&bytes).unwrap()),
            other => panic!("GET {path}: {other}"),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Value {
        let found = self.find(path).await;
        found.unwrap_or_else(|| panic!("there is no {path}"))
    }

    pub(super) async fn list(&self, path: &str) -> Vec<Value> {
        self.get(path).await.list_at(&["items"]).to_vec()
    }

    /// The newest revision.
    pub(super) async fn revision(&self) -> u64 {
        let list = self.get("/api/v1/nodes").await;
        list.str_at(&["metadata", "resourceVersion"]).parse().unwrap()
    }

    /// What happened to the objects of a collection since a revision: kinds of events and objects.
    pub(super) async fn changes(&self, path: &str, since: u64) -> Vec<(String, Value)> {
        let path = format!("{path}?watch=true&resourceVersion={since}&timeoutSeconds=1");
        let (status, bytes) = self.send("GET", &path, "application/json", None).await;
        assert_eq!(status, 200);
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let event = |line: &[u8]| {
            let event = json::parse(line).unwrap();
            (
                event.str_at(&["type"]).to_owned(),
                event.get("object").unwrap().clone(),
            )
        };
        lines.map(event).collect()
    }

    /// Waits until the object at `path` is as wanted.
    pub(super) async fn until(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            self.server.settled().await;
            let found = self.find(path).await;
            if let Some(found) = found.as_ref().filter(|found| wanted(found)) {
                return found.clone();
            }
            let text = found.as_ref().map(json::to_string);
            assert!(start.elapsed() < PATIENCE, "{path} stays as it is: {text:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until there is nothing at `path`.
    pub(super) async fn until_gone(&self, path: &str) {
        let start = Instant::now();
        while let Some(found) = self.find(path).await {
            let text = json::to_string(&found);
            assert!(start.elapsed() < PATIENCE, "{path} is still there: {text}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Lets time pass.
    pub(super) async fn pass(&self, seconds: f64) {
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        self.server.settled().await;
    }

    /// The names of the objects of a collection.
    pub(super) async fn names(&self, path: &str) -> Vec<String> {
        let items = self.list(path).await;
        let name = |item: &Value| item.str_at(&["metadata", "name"]).to_owned();
        items.iter().map(name).collect()
    }

    /// The messages of the events for one reason.
    pub(super) async fn events(&self, reason: &str) -> Vec<String> {
        let events = self.list("/api/v1/namespaces/default/events").await;
        let mut messages: Vec<String> = events
            .iter()
            .filter(|event| event.str_at(&["reason"]) == reason)
            .map(|event| event.str_at(&["message"]).to_owned())
            .collect();
        messages.sort();
        messages
    }
}

pub(super) const PODS: &str = "/api/v1/namespaces/default/pods";
pub(super) const APPS: &str = "/apis/apps/v1/namespaces/default";

/// A template of pods with this label and image.
pub(super) fn template(app: &str, image: &str) -> Value {
    value!({
        "metadata": {"labels": {"app": app}},
        "spec": {"containers": [{"name": "main", "image": image, "ports": [{"name": "http", "containerPort": 8080}]}]},
    })
}

/// A workload of `kind` with `replicas` pods.
pub(super) fn workload(kind: &str, name: &str, replicas: i64) -> Value {
    value!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": (template(name, "app:1")),
        },
    })
}

pub(super) fn number(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_i64).unwrap_or(0)
}

/// The condition of this type.
pub(super) fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    let all = object.list_at(&["status", "conditions"]);
    all.iter().find(|condition| condition.str_at(&["type"]) == kind)
}

/// `True/Reason: message` of a condition.
pub(super) fn says(object: &Value, kind: &str) -> String {
    condition(object, kind).map_or_else(String::new, |condition| {
        let text = |field: &str| condition.str_at(&[field]);
        format!("{}/{}: {}", text("status"), text("reason"), text("message"))
    })
}

pub(super) fn is_ready(pod: &Value) -> bool {
    condition(pod, "Ready").is_some_and(|ready| ready.str_at(&["status"]) == "True")
}
