//! What the process has done, for Prometheus: the names that Flux's dashboards and alerts ask for.
//!
//! | series | what |
//! |---|---|
//! | `gotk_reconcile_duration_seconds{kind,name,namespace}` | how long runs on an object took |
//! | `gotk_reconcile_condition{kind,name,namespace,status,type}` | whether an object is ready |
//! | `gotk_suspend_status{kind,name,namespace}` | whether it is suspended |
//! | `controller_runtime_*{controller}` | runs of a controller, by outcome, and how long they took |
//! | `workqueue_*{controller,name}` | what waits, for how long, and what is worked on |
//! | `rest_client_requests_total{code,host,method}` | requests to the cluster |
//! | `leader_election_master_status{name}` | whether this instance holds the lease |
//! | `gotk_cache_events_total{event_type,name,namespace}` | charts that were found without a look into the index of their repository, or with one |
//! | `gotk_token_cache_events_total{event_type,kind,name,namespace,operation}` | tokens of clouds that were kept or asked for anew |
//! | `gotk_token_*` | how many are kept, asked for, and had to make room |
//! | `process_*` | processor time, memory and open files |
//!
//! The series of an object disappear with it.

mod controller;
mod histogram;
mod indexes;
mod process;
mod requests;
mod text;
mod tokens;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use source::identity::Tally;

use super::queue::{Done, Load};
use super::writer::Key;
use controller::Controller;
use histogram::Histogram;
pub use indexes::IndexLookups;
use text::Text;

/// Bounds of the runs on one object: ten from 10 ms to half an hour, in equal ratios, to the digit what Go's
/// `ExponentialBucketsRange(0.01, 1800, 10)` gives.
const OBJECT_BOUNDS: &[f64] = &[
    0.01,
    0.038363583488692544,
    0.1471764538093883,
    0.5646216173286169,
    2.166090855590701,
    8.309900738254731,
    31.879757075478317,
    122.30217221643493,
    469.19495946736544,
    1799.9999999999986,
];

/// What can be the value of a condition.
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];

/// All that is counted. Clones are the same.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Mutex<Counted>>);

#[derive(Default)]
struct Counted {
    controllers: BTreeMap<String, Controller>,
    objects: BTreeMap<(&'static str, Key), Object>,
    requests: BTreeMap<(u16, String, String), u64>,
    leases: BTreeMap<String, bool>,
    /// What tells how tokens are kept.
    tokens: Option<Box<dyn Fn() -> Tally + Send + Sync>>,
    /// What tells how indexes of Helm repositories were looked into.
    indexes: Option<IndexLookups>,
}

struct Object {
    runs: Histogram,
    /// What `Ready` is.
    ready: &'static str,
    suspended: bool,
}

/// What a run came to.
pub(super) struct Ran {
    /// How long the object had waited for its turn.
    pub(super) waited: Duration,
    /// How long the run took.
    pub(super) took: Duration,
    pub(super) done: Done,
    pub(super) panicked: bool,
}

impl Metrics {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Metrics::default()
    }

    /// Makes a controller known, with its workers and what tells the load of its queue.
    pub(super) fn register(
        &self,
        kind: &str,
        workers: usize,
        load: impl Fn() -> Load + Send + Sync + 'static,
    ) {
        let controller = Controller::new(workers, Box::new(load));
        self.0
            .lock()
            .controllers
            .insert(kind.to_ascii_lowercase(), controller);
    }

    /// A worker of a controller begins or ends its work on an object.
    pub(super) fn count_active(&self, kind: &str, change: i64) {
        self.with_controller(kind, |controller| controller.active += change);
    }

    /// A run has ended.
    pub(super) fn count_run(&self, kind: &str, ran: &Ran) {
        self.with_controller(kind, |controller| controller.count(ran));
    }

    fn with_controller(&self, kind: &str, change: impl FnOnce(&mut Controller)) {
        let mut counted = self.0.lock();
        if let Some(controller) = counted.controllers.get_mut(&kind.to_ascii_lowercase()) {
            change(controller);
        }
    }

    /// What a run on an object took, and how the object is after it.
    pub(super) fn observe(
        &self,
        kind: &'static str,
        key: &Key,
        took: Duration,
        ready: &str,
        suspended: bool,
    ) {
        let mut counted = self.0.lock();
        let object = counted.objects.entry((kind, key.clone())).or_insert(Object {
            runs: Histogram::new(OBJECT_BOUNDS),
            ready: "Unknown",
            suspended,
        });
        object.runs.observe(took.as_secs_f64());
        object.ready = STATUSES
            .into_iter()
            .find(|status| *status == ready)
            .unwrap_or("Unknown");
        object.suspended = suspended;
    }

    /// An object is gone.
    pub(super) fn forget(&self, kind: &'static str, key: &Key) {
        self.0.lock().objects.remove(&(kind, key.clone()));
    }

    /// A request to the cluster was answered.
    pub fn count_request(&self, code: u16, method: &str, host: &str) {
        let key = (code, host.to_owned(), method.to_owned());
        *self.0.lock().requests.entry(key).or_default() += 1;
    }

    /// Whether this instance holds a lease.
    pub fn set_leader(&self, lease: &str, leads: bool) {
        self.0.lock().leases.insert(lease.to_owned(), leads);
    }

    /// Has it told how tokens of clouds are kept.
    pub fn tell_tokens(&self, tally: impl Fn() -> Tally + Send + Sync + 'static) {
        self.0.lock().tokens = Some(Box::new(tally));
    }

    /// Has it told how indexes of Helm repositories are looked into.
    pub fn tell_indexes(&self, lookups: IndexLookups) {
        self.0.lock().indexes = Some(lookups);
    }

    /// Everything in the text format of Prometheus.
    pub fn render(&self) -> String {
        let counted = self.0.lock();
        let mut text = Text::default();
        controller::render(&counted.controllers, &mut text);
        counted.render_objects(&mut text);
        let name = "leader_election_master_status";
        text.family(name, "gauge", "Whether this instance holds the lease.");
        for (lease, leads) in &counted.leases {
            text.sample(name, &[("name", lease)], f64::from(u8::from(*leads)));
        }
        let name = "rest_client_requests_total";
        text.family(
            name,
            "counter",
            "Requests to the cluster, by status code, method and host.",
        );
        for ((code, host, method), count) in &counted.requests {
            let labels = [("code", &*code.to_string()), ("host", host), ("method", method)];
            text.count(name, &labels, *count);
        }
        if let Some(tally) = &counted.tokens {
            tokens::render(&tally(), &mut text);
        }
        if let Some(lookups) = &counted.indexes {
            lookups.render(&mut text);
        }
        drop(counted);
        process::render(&mut text);
        text.finish()
    }
}

impl Counted {
    fn render_objects(&self, text: &mut Text) {
        let labels = |kind: &'static str, key: &Key| {
            [
                ("kind", kind.to_owned()),
                ("name", key.1.clone()),
                ("namespace", key.0.clone()),
            ]
        };
        let name = "gotk_reconcile_duration_seconds";
        text.family(
            name,
            "histogram",
            "The duration in seconds of a GitOps Toolkit resource reconciliation.",
        );
        for ((kind, key), object) in &self.objects {
            text.histogram(name, &labels(kind, key), &object.runs);
        }
        let name = "gotk_reconcile_condition";
        text.family(
            name,
            "gauge",
            "The current condition status of a GitOps Toolkit resource reconciliation.",
        );
        for ((kind, key), object) in &self.objects {
            let [kind, object_name, namespace] = labels(kind, key);
            for status in STATUSES {
                let more = [("status", status.to_owned()), ("type", "Ready".to_owned())];
                let labels = [kind.clone(), object_name.clone(), namespace.clone()];
                let value = f64::from(u8::from(object.ready == status));
                text.sample(name, &[&labels[..], &more[..]].concat(), value);
            }
        }
        let name = "gotk_suspend_status";
        text.family(
            name,
            "gauge",
            "The current suspend status of a GitOps Toolkit resource.",
        );
        for ((kind, key), object) in &self.objects {
            text.sample(name, &labels(kind, key), f64::from(u8::from(object.suspended)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> Key {
        ("apps".into(), "web".into())
    }

    /// E4: the names, labels and bounds are those of Flux.
    #[test]
    fn the_duration_of_runs_is_told_by_object_in_the_buckets_of_flux() {
        let metrics = Metrics::new();
        metrics.observe("GitRepository", &key(), Duration::from_millis(100), "True", false);
        metrics.observe("GitRepository", &key(), Duration::from_secs(3), "True", false);
        let text = metrics.render();
        let buckets: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("gotk_reconcile_duration_seconds_bucket"))
            .collect();
        let labels = r#"kind="GitRepository",name="web",namespace="apps""#;
        let bucket = |bound: &str, count| {
            format!(r#"gotk_reconcile_duration_seconds_bucket{{{labels},le="{bound}"}} {count}"#)
        };
        // The bounds are printed by a Go program that calls prometheus.ExponentialBucketsRange(10e-3, 1800, 10).
        let expected = [
            bucket("0.01", 0),
            bucket("0.038363583488692544", 0),
            bucket("0.1471764538093883", 1),
            bucket("0.5646216173286169", 1),
            bucket("2.166090855590701", 1),
            bucket("8.309900738254731", 2),
            bucket("31.879757075478317", 2),
            bucket("122.30217221643493", 2),
            bucket("469.19495946736544", 2),
            bucket("1799.9999999999986", 2),
            bucket("+Inf", 2),
        ];
        assert_eq!(buckets, expected);
        assert!(text.contains(&format!("gotk_reconcile_duration_seconds_sum{{{labels}}} 3.1\n")));
        assert!(text.contains(&format!("gotk_reconcile_duration_seconds_count{{{labels}}} 2\n")));
    }

    /// E4: the gauges that older dashboards read.
    #[test]
    fn readiness_and_suspension_are_gauges() {
        let metrics = Metrics::new();
        metrics.observe("Bucket", &key(), Duration::ZERO, "False", true);
        let text = metrics.render();
        let labels = r#"kind="Bucket",name="web",namespace="apps""#;
        for (status, value) in [("False", 1), ("True", 0), ("Unknown", 0)] {
            let line =
                format!("gotk_reconcile_condition{{{labels},status=\"{status}\",type=\"Ready\"}} {value}\n");
            assert!(text.contains(&line), "{text}");
        }
        assert!(text.contains(&format!("gotk_suspend_status{{{labels}}} 1\n")));
    }

    #[test]
    fn the_series_of_an_object_disappear_with_it() {
        let metrics = Metrics::new();
        metrics.observe("Bucket", &key(), Duration::ZERO, "True", false);
        assert!(metrics.render().contains("name=\"web\""));
        metrics.forget("Bucket", &key());
        assert!(!metrics.render().contains("name=\"web\""));
    }

    #[test]
    fn requests_and_leases_are_told() {
        let metrics = Metrics::new();
        metrics.count_request(200, "GET", "10.0.0.1:443");
        metrics.count_request(200, "GET", "10.0.0.1:443");
        metrics.set_leader("source-controller-leader-election", true);
        let text = metrics.render();
        let line = r#"rest_client_requests_total{code="200",host="10.0.0.1:443",method="GET"} 2"#;
        assert!(text.contains(line), "{text}");
        let line = r#"leader_election_master_status{name="source-controller-leader-election"} 1"#;
        assert!(text.contains(line), "{text}");
    }
}
