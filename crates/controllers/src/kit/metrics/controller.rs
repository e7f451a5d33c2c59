//! What controllers did: the series of controller-runtime and of client-go's queues.

use std::collections::BTreeMap;

use super::histogram::Histogram;
use super::text::Text;
use super::{Done, Load, Ran};

/// controller-runtime's bounds of runs.
const RUN_BOUNDS: &[f64] = &[
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

/// The bounds of client-go's queues: powers of ten from 10 ns on, with Go's errors of rounding.
const QUEUE_BOUNDS: &[f64] = &[
    1e-8,
    1e-7,
    1e-6,
    9.999999999999999e-6,
    9.999999999999999e-5,
    0.001,
    0.01,
    0.1,
    1.0,
    10.0,
    100.0,
    1000.0,
];

/// What a run can come to, in the words of controller-runtime.
const RESULTS: [&str; 4] = ["error", "requeue", "requeue_after", "success"];

pub(super) struct Controller {
    workers: usize,
    load: Box<dyn Fn() -> Load + Send + Sync>,
    pub(super) active: i64,
    results: [u64; 4],
    panics: u64,
    took: Histogram,
    /// The same in the bounds of queues.
    worked: Histogram,
    waited: Histogram,
}

impl Controller {
    pub(super) fn new(workers: usize, load: Box<dyn Fn() -> Load + Send + Sync>) -> Self {
        Controller {
            workers,
            load,
            active: 0,
            results: [0; 4],
            panics: 0,
            took: Histogram::new(RUN_BOUNDS),
            worked: Histogram::new(QUEUE_BOUNDS),
            waited: Histogram::new(QUEUE_BOUNDS),
        }
    }

    pub(super) fn count(&mut self, ran: &Ran) {
        let result = match ran.done {
            Done::Retry => 0,
            Done::After(wait) if wait.is_zero() => 1,
            Done::After(_) => 2,
            Done::Forget => 3,
        };
        self.results[result] += 1;
        self.panics += u64::from(ran.panicked);
        self.took.observe(ran.took.as_secs_f64());
        self.worked.observe(ran.took.as_secs_f64());
        self.waited.observe(ran.waited.as_secs_f64());
    }
}

/// All controllers.
pub(super) fn render(controllers: &BTreeMap<String, Controller>, text: &mut Text) {
    render_runs(controllers, text);
    render_queues(controllers, text);
}

fn render_runs(controllers: &BTreeMap<String, Controller>, text: &mut Text) {
    let name = "controller_runtime_reconcile_total";
    text.family(name, "counter", "Runs by controller and result.");
    for (controller, counted) in controllers {
        for (result, count) in RESULTS.iter().zip(counted.results) {
            text.count(
                name,
                &[("controller", controller.as_str()), ("result", result)],
                count,
            );
        }
    }
    type Value = fn(&Controller) -> u64;
    let counters: [(&str, &str, Value); 2] = [
        (
            "controller_runtime_reconcile_errors_total",
            "Runs by controller that failed.",
            |counted| counted.results[0],
        ),
        (
            "controller_runtime_reconcile_panics_total",
            "Runs by controller that panicked.",
            |counted| counted.panics,
        ),
    ];
    for (name, help, value) in counters {
        text.family(name, "counter", help);
        for (controller, counted) in controllers {
            text.count(name, &[("controller", controller)], value(counted));
        }
    }
    let name = "controller_runtime_reconcile_time_seconds";
    text.family(name, "histogram", "How long runs of a controller took.");
    for (controller, counted) in controllers {
        text.histogram(name, &[("controller", controller)], &counted.took);
    }
    let name = "controller_runtime_max_concurrent_reconciles";
    text.family(name, "gauge", "How many runs of a controller can go on at once.");
    for (controller, counted) in controllers {
        text.count(name, &[("controller", controller)], counted.workers as u64);
    }
    let name = "controller_runtime_active_workers";
    text.family(name, "gauge", "How many runs of a controller go on now.");
    for (controller, counted) in controllers {
        let active = u64::try_from(counted.active).unwrap_or_default();
        text.count(name, &[("controller", controller)], active);
    }
}

fn render_queues(controllers: &BTreeMap<String, Controller>, text: &mut Text) {
    let loads: Vec<(&String, Load)> = controllers
        .iter()
        .map(|(controller, counted)| (controller, (counted.load)()))
        .collect();
    type Value = fn(&Load) -> f64;
    #[allow(clippy::cast_precision_loss, reason = "no counter gets near 2^53")]
    let gauges: [(&str, &str, &str, Value); 5] = [
        (
            "workqueue_adds_total",
            "counter",
            "Objects that were queued.",
            |load| load.adds as f64,
        ),
        (
            "workqueue_depth",
            "gauge",
            "Objects that wait for a worker.",
            |load| load.depth as f64,
        ),
        (
            "workqueue_longest_running_processor_seconds",
            "gauge",
            "How long the longest of the runs that go on has taken so far.",
            |load| load.longest.as_secs_f64(),
        ),
        (
            "workqueue_retries_total",
            "counter",
            "Objects that were queued again after a failure.",
            |load| load.retries as f64,
        ),
        (
            "workqueue_unfinished_work_seconds",
            "gauge",
            "How long all the runs that go on have taken so far.",
            |load| load.unfinished.as_secs_f64(),
        ),
    ];
    for (name, kind, help, value) in gauges {
        text.family(name, kind, help);
        for (controller, load) in &loads {
            text.sample(
                name,
                &[("controller", controller), ("name", controller)],
                value(load),
            );
        }
    }
    type Values = fn(&Controller) -> &Histogram;
    let histograms: [(&str, &str, Values); 2] = [
        (
            "workqueue_queue_duration_seconds",
            "How long objects waited for a worker.",
            |counted| &counted.waited,
        ),
        (
            "workqueue_work_duration_seconds",
            "How long work on objects took.",
            |counted| &counted.worked,
        ),
    ];
    for (name, help, values) in histograms {
        text.family(name, "histogram", help);
        for (controller, counted) in controllers {
            let labels = [("controller", controller), ("name", controller)];
            text.histogram(name, &labels, values(counted));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::Metrics;
    use super::*;

    /// E4: what the dashboards of Flux's control plane ask for.
    #[test]
    fn runs_and_queues_are_told_by_controller() {
        let metrics = Metrics::new();
        metrics.register("GitRepository", 4, || Load {
            depth: 2,
            adds: 7,
            retries: 1,
            unfinished: Duration::from_secs(3),
            longest: Duration::from_secs(2),
        });
        let ran = |done| Ran {
            waited: Duration::from_millis(5),
            took: Duration::from_secs(2),
            done,
            panicked: false,
        };
        metrics.count_run("GitRepository", &ran(Done::Retry));
        metrics.count_run("GitRepository", &ran(Done::After(Duration::from_secs(60))));
        metrics.count_active("GitRepository", 1);
        let text = metrics.render();
        for line in [
            r#"controller_runtime_reconcile_total{controller="gitrepository",result="error"} 1"#,
            r#"controller_runtime_reconcile_total{controller="gitrepository",result="requeue_after"} 1"#,
            r#"controller_runtime_reconcile_total{controller="gitrepository",result="success"} 0"#,
            r#"controller_runtime_reconcile_errors_total{controller="gitrepository"} 1"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{controller="gitrepository",le="1.75"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{controller="gitrepository",le="2"} 2"#,
            r#"controller_runtime_reconcile_time_seconds_sum{controller="gitrepository"} 4"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="gitrepository"} 4"#,
            r#"controller_runtime_active_workers{controller="gitrepository"} 1"#,
            r#"workqueue_depth{controller="gitrepository",name="gitrepository"} 2"#,
            r#"workqueue_adds_total{controller="gitrepository",name="gitrepository"} 7"#,
            r#"workqueue_retries_total{controller="gitrepository",name="gitrepository"} 1"#,
            r#"workqueue_longest_running_processor_seconds{controller="gitrepository",name="gitrepository"} 2"#,
            r#"workqueue_unfinished_work_seconds{controller="gitrepository",name="gitrepository"} 3"#,
            r#"workqueue_queue_duration_seconds_bucket{controller="gitrepository",name="gitrepository",le="0.001"} 0"#,
            r#"workqueue_queue_duration_seconds_bucket{controller="gitrepository",name="gitrepository",le="0.01"} 2"#,
            r#"workqueue_work_duration_seconds_bucket{controller="gitrepository",name="gitrepository",le="1"} 0"#,
            r#"workqueue_work_duration_seconds_bucket{controller="gitrepository",name="gitrepository",le="10"} 2"#,
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
    }
}
