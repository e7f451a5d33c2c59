//! CronJobs.

use apiserver::simulator::ANNOTATION;
use model::{Value, value};

use super::{Cluster, PODS};

const CRON_JOBS: &str = "/apis/batch/v1/namespaces/default/cronjobs";
const TICK: &str = "/apis/batch/v1/namespaces/default/cronjobs/tick";
const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";

fn cron_job(schedule: &str) -> Value {
    value!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"},
        "spec": {
            "schedule": schedule,
            "jobTemplate": {"spec": {"template": {"spec": {
                "restartPolicy": "Never", "containers": [{"name": "main", "image": "work:1"}],
            }}}},
        },
    })
}

#[tokio::test(start_paused = true)]
async fn a_job_is_made_at_each_time_and_old_ones_go() {
    let cluster = Cluster::start();
    cluster.create(CRON_JOBS, cron_job("*/10 * * * *")).await;
    cluster.pass(590.0).await;
    assert!(cluster.list(JOBS).await.is_empty());
    cluster.pass(15.0).await;
    // 2026-03-01T12:10:00Z in minutes.
    assert_eq!(cluster.names(JOBS).await, ["tick-29539450"]);
    let tick = cluster.get(TICK).await;
    assert_eq!(
        tick.str_at(&["status", "lastScheduleTime"]),
        "2026-03-01T12:10:00Z"
    );
    assert!(tick.at(&["status", "active"]).is_none());
    assert!(!tick.str_at(&["status", "lastSuccessfulTime"]).is_empty());
    let jobs = cluster.list(JOBS).await;
    let scheduled = "batch.kubernetes.io/cronjob-scheduled-timestamp";
    assert_eq!(
        jobs[0].str_at(&["metadata", "annotations", scheduled]),
        "2026-03-01T12:10:00Z"
    );
    cluster.pass(3600.0).await;
    // Three that ended well are kept.
    assert_eq!(
        cluster.names(JOBS).await,
        ["tick-29539490", "tick-29539500", "tick-29539510"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_suspended_one_makes_nothing() {
    let cluster = Cluster::start();
    let mut tick = cron_job("* * * * *");
    tick.set_at(&["spec", "suspend"], true);
    cluster.create(CRON_JOBS, tick).await;
    cluster.pass(600.0).await;
    assert!(cluster.list(JOBS).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_job_that_still_runs_is_kept_or_replaced_as_the_policy_says() {
    for (policy, expected) in [("Allow", 3), ("Forbid", 1), ("Replace", 1)] {
        let cluster = Cluster::start();
        let mut tick = cron_job("* * * * *");
        tick.set_at(&["spec", "concurrencyPolicy"], policy);
        let annotations = value!({ANNOTATION: "never-ready"});
        tick.set_at(
            &[
                "spec",
                "jobTemplate",
                "spec",
                "template",
                "metadata",
                "annotations",
            ],
            annotations,
        );
        cluster.create(CRON_JOBS, tick).await;
        cluster.pass(190.0).await;
        let jobs = cluster.names(JOBS).await;
        assert_eq!(jobs.len(), expected, "{policy}");
        let tick = cluster.get(TICK).await;
        let active = tick.list_at(&["status", "active"]);
        assert_eq!(active.len(), expected, "{policy}");
        let last = &active[active.len() - 1];
        let newest = if policy == "Forbid" {
            "tick-29539441"
        } else {
            "tick-29539443"
        };
        assert_eq!(last.str_at(&["name"]), newest, "{policy}");
        assert_eq!(cluster.list(PODS).await.len(), expected, "{policy}");
    }
}
