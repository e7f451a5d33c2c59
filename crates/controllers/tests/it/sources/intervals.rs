//! When an object is looked at again.

use std::time::Duration;

use api::source::{
    BucketSpec, GitRepository, GitRepositorySpec, HelmChartSpec, HelmRepositorySpec, OciRepositorySpec,
};
use api::{ReconcileStatus, Spec};
use controllers::kit::{Key, Queue};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories};
use k8s_openapi::api::core::v1::Event;
use serde_json::{Value, json};
use testkit::helm::Chart;
use testkit::oci::Artifact;
use testkit::{git, helm, oci, s3};

use super::bad_input::with;
use super::bed::{Bed, condition};
use super::follow::shown;

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Bed<S> {
    /// Creates an object, and says how long it is left alone once it is ready.
    async fn left_alone(&self, queue: &Queue<Key>, name: &str, spec: Value) -> Duration {
        self.create(name, spec).await;
        self.until(name, |object| {
            condition(object, "Ready").is_some_and(|ready| ready.status.to_string() == "True")
        })
        .await;
        self.next_run(queue, name).await
    }

    /// How long it is until the next run.
    async fn next_run(&self, queue: &Queue<Key>, name: &str) -> Duration {
        let key = (self.namespace.clone(), name.to_owned());
        let every = testkit::settled::Every(Duration::from_millis(20));
        let due = testkit::settled(testkit::DEADLINE, every, async || {
            // A run ends a moment after its status was written.
            queue.due(&key).ok_or("no run is due")
        });
        let due = due.await.unwrap();
        due.saturating_duration_since(tokio::time::Instant::now())
    }
}

/// Intervals are spread by a twentieth; what has passed of them by now is little, even where machines are slow.
fn assert_is(interval: Duration, left: Duration, kind: &str) {
    assert!(left <= interval.mul_f64(1.05), "{kind}: {left:?}");
    let least = interval.mul_f64(0.95).saturating_sub(Duration::from_secs(30));
    assert!(left >= least, "{kind}: {left:?}");
}

const INTERVAL: Duration = Duration::from_secs(20 * 60);

/// `interval` of GitRepository, OCIRepository and Bucket, D7: a success is followed by a rest of the interval, spread a little
#[tokio::test]
async fn sources_are_left_alone_for_their_interval() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    let queue = bed.run(GitRepositories::new);
    let spec = json!({"url": server.clone_url("app"), "interval": "20m", "ref": {"branch": "main"}});
    assert_is(INTERVAL, bed.left_alone(&queue, "app", spec).await, "Git");

    let registry = oci::Server::start();
    registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    let queue = bed.run(OciRepositories::new);
    let url = format!("oci://{}/team/app", registry.host());
    let spec = json!({"url": url, "interval": "20m", "insecure": true});
    assert_is(INTERVAL, bed.left_alone(&queue, "app", spec).await, "OCI");

    let store = s3::Server::start();
    store.bucket("manifests").put("a", "1");
    let mut bed = Bed::<BucketSpec>::start().await;
    let queue = bed.run(Buckets::new);
    let spec = json!({
        "endpoint": store.host(), "bucketName": "manifests", "interval": "20m", "insecure": true,
    });
    assert_is(INTERVAL, bed.left_alone(&queue, "app", spec).await, "Bucket");
}

/// S3: what only a change can mend stalls, what must come first is waited for, and all else is tried again and told as a failure
#[tokio::test]
async fn each_shape_of_a_failure_has_its_conditions_event_and_next_run() {
    let server = git::Server::start();
    server.repository("app").commit("main", "Start", [("a", "1")]);
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    let queue = bed.run(GitRepositories::new);
    let spec = |rest: Value| {
        let spec = json!({"url": server.clone_url("app"), "interval": "20m", "ref": {"branch": "main"}});
        with(spec, rest)
    };
    let observed = |object: &GitRepository| object.status.as_ref().unwrap().observed_generation;
    let told = |event: &Event, name: &str| {
        let is_it = event.involved_object.name.as_deref() == Some(name);
        is_it && event.reason.as_deref() != Some("NewArtifact")
    };
    let verify = json!({"verify": {"mode": "Tag", "secretRef": {"name": "keys"}}});
    bed.secret("keys", "Opaque", json!({"ada.sshpub": "ssh-ed25519 AAAA"}))
        .await;
    bed.create("stalled", spec(verify)).await;
    let object = bed.ready("stalled", "False", "InvalidVerificationMode").await;
    assert_eq!(shown(&object, "Stalled"), "True/InvalidVerificationMode");
    assert_eq!(shown(&object, "Reconciling"), "none");
    assert_eq!(observed(&object), Some(1));
    let event = bed.until_event(|event| told(event, "stalled")).await;
    assert_eq!(event.type_.as_deref(), Some("Warning"));
    // Nobody looks at it again once the run has ended.
    let (key, every) = (
        (bed.namespace.clone(), "stalled".to_owned()),
        testkit::settled::Every(Duration::from_millis(20)),
    );
    let load = testkit::settled(testkit::DEADLINE, every, async || match queue.load().unfinished {
        Duration::ZERO => Ok(()),
        _ => Err("a run goes on"),
    });
    load.await.unwrap();
    assert_eq!(queue.due(&key), None);

    let include = json!({"include": [{"repository": {"name": "nobody"}}]});
    bed.create("waiting", spec(include)).await;
    let object = bed.ready("waiting", "False", "NotFound").await;
    assert_eq!(shown(&object, "Reconciling"), "True/ProgressingWithRetry");
    assert_eq!(shown(&object, "Stalled"), "none");
    assert_eq!(observed(&object), Some(-1));
    let event = bed.until_event(|event| told(event, "waiting")).await;
    assert_eq!(event.type_.as_deref(), Some("Normal"));
    let left = bed.next_run(&queue, "waiting").await;
    assert!(left <= Duration::from_secs(30), "{left:?}");

    bed.create("failing", spec(json!({"ref": {"branch": "gone"}})))
        .await;
    let object = bed.ready("failing", "False", "GitOperationFailed").await;
    assert_eq!(shown(&object, "Reconciling"), "True/ProgressingWithRetry");
    assert_eq!(shown(&object, "Stalled"), "none");
    assert_eq!(observed(&object), Some(-1));
    let event = bed.until_event(|event| told(event, "failing")).await;
    assert_eq!(event.type_.as_deref(), Some("Warning"));
    let left = bed.next_run(&queue, "failing").await;
    assert!(left < Duration::from_secs(15 * 60), "{left:?}");
}

/// `interval` of HelmRepository, which is a minute where nothing is said, and of HelmChart
#[tokio::test]
async fn helm_repositories_are_left_alone_for_a_minute_if_nothing_else_is_said() {
    let charts = helm::Server::start();
    charts.add(&Chart::new("podinfo", "6.0.0"));
    let mut bed = Bed::<HelmRepositorySpec>::start().await;
    let queue = bed.run(HelmRepositories::new);
    let left = bed
        .left_alone(&queue, "default", json!({"url": charts.url()}))
        .await;
    assert_is(Duration::from_secs(60), left, "HelmRepository without interval");
    let spec = json!({"url": charts.url(), "interval": "20m"});
    assert_is(
        INTERVAL,
        bed.left_alone(&queue, "said", spec).await,
        "HelmRepository",
    );

    let mut bed = Bed::<HelmChartSpec>::start().await;
    bed.serve::<HelmRepositorySpec>().await;
    bed.serve::<GitRepositorySpec>().await;
    bed.serve::<BucketSpec>().await;
    bed.run(HelmRepositories::new);
    bed.create_other::<HelmRepositorySpec>("charts", json!({"url": charts.url(), "interval": "1h"}))
        .await;
    let queue = bed.run(HelmCharts::new);
    let reference = json!({"kind": "HelmRepository", "name": "charts"});
    let spec = json!({"chart": "podinfo", "interval": "20m", "sourceRef": reference});
    assert_is(INTERVAL, bed.left_alone(&queue, "app", spec).await, "HelmChart");
}
