//! Jobs.

use apiserver::simulator::ANNOTATION;
use model::{Value, value};

use super::{Cluster, PODS, number, says};

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const WORK: &str = "/apis/batch/v1/namespaces/default/jobs/work";

fn job(spec: Value) -> Value {
    let mut job = value!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "work"}, "spec": spec,
    });
    if job.at(&["spec", "template"]).is_none() {
        job.set_at(&["spec", "template"], template("Never", ""));
    }
    job
}

fn template(policy: &str, outcome: &str) -> Value {
    value!({
        "metadata": {"annotations": {ANNOTATION: outcome}},
        "spec": {"restartPolicy": policy, "containers": [{"name": "main", "image": "work:1"}]},
    })
}

fn is_over(job: &Value) -> bool {
    says(job, "Complete").starts_with("True") || says(job, "Failed").starts_with("True")
}

#[tokio::test(start_paused = true)]
async fn a_job_completes() {
    let cluster = Cluster::start();
    cluster.create(JOBS, job(value!({}))).await;
    let work = cluster.until(WORK, is_over).await;
    let said = "True/CompletionsReached: Reached expected number of succeeded pods";
    assert_eq!(says(&work, "SuccessCriteriaMet"), said);
    assert_eq!(says(&work, "Complete"), said);
    let status = work.get("status").unwrap();
    assert_eq!(number(status, &["succeeded"]), 1);
    assert_eq!(status.get("uncountedTerminatedPods"), Some(&value!({})));
    assert_eq!(status.get("ready"), Some(&0.into()));
    assert_eq!(status.get("active"), None);
    assert!(!status.str_at(&["startTime"]).is_empty() && !status.str_at(&["completionTime"]).is_empty());
    let pods = cluster.list(PODS).await;
    assert_eq!(pods.len(), 1);
    assert_eq!(pods[0].str_at(&["status", "phase"]), "Succeeded");
    assert!(pods[0].at(&["metadata", "finalizers"]).is_none());
    assert_eq!(cluster.events("Completed").await, ["Job completed"]);
    let created = format!("Created pod: {}", pods[0].str_at(&["metadata", "name"]));
    assert_eq!(cluster.events("SuccessfulCreate").await, [created]);
}

#[tokio::test(start_paused = true)]
async fn no_more_pods_run_than_allowed() {
    let cluster = Cluster::start();
    let start = cluster.revision().await;
    cluster
        .create(JOBS, job(value!({"completions": 5, "parallelism": 2})))
        .await;
    let work = cluster.until(WORK, is_over).await;
    assert_eq!(number(&work, &["status", "succeeded"]), 5);
    let most = cluster.changes(JOBS, start).await;
    let most = most
        .iter()
        .map(|(_, job)| number(job, &["status", "active"]))
        .max();
    assert_eq!(most, Some(2));
    assert_eq!(cluster.list(PODS).await.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn each_index_runs_once() {
    let cluster = Cluster::start();
    let spec = value!({"completions": 4, "parallelism": 4, "completionMode": "Indexed"});
    cluster.create(JOBS, job(spec)).await;
    let work = cluster.until(WORK, is_over).await;
    assert_eq!(work.str_at(&["status", "completedIndexes"]), "0-3");
    let mut hosts: Vec<String> = cluster
        .list(PODS)
        .await
        .iter()
        .map(|pod| pod.str_at(&["spec", "hostname"]).to_owned())
        .collect();
    hosts.sort();
    assert_eq!(hosts, ["work-0", "work-1", "work-2", "work-3"]);
}

#[tokio::test(start_paused = true)]
async fn a_job_whose_pods_fail_gives_up_at_its_limit() {
    let cluster = Cluster::start();
    let spec = value!({"backoffLimit": 2, "template": (template("Never", "crash"))});
    cluster.create(JOBS, job(spec)).await;
    let begin = tokio::time::Instant::now();
    let work = cluster.until(WORK, is_over).await;
    let said = "True/BackoffLimitExceeded: Job has reached the specified backoff limit";
    assert_eq!(says(&work, "FailureTarget"), said);
    assert_eq!(says(&work, "Failed"), said);
    assert_eq!(number(&work, &["status", "failed"]), 3);
    assert!(work.at(&["status", "completionTime"]).is_none());
    // The second try comes 10 s after the first, the third 20 s after the second.
    let passed = begin.elapsed().as_secs();
    assert!((29..33).contains(&passed), "{passed}");
    let message = "Job has reached the specified backoff limit";
    assert_eq!(cluster.events("BackoffLimitExceeded").await, [message]);
}

#[tokio::test(start_paused = true)]
async fn restarts_inside_a_pod_count_as_failures() {
    let cluster = Cluster::start();
    let spec = value!({"backoffLimit": 3, "template": (template("OnFailure", "crash"))});
    cluster.create(JOBS, job(spec)).await;
    let work = cluster.until(WORK, is_over).await;
    assert!(says(&work, "Failed").starts_with("True/BackoffLimitExceeded"));
    cluster.pass(2.0).await;
    assert!(cluster.list(PODS).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_job_that_takes_too_long_fails() {
    let cluster = Cluster::start();
    let spec = value!({"activeDeadlineSeconds": 20, "template": (template("Never", "never-ready"))});
    cluster.create(JOBS, job(spec)).await;
    cluster.pass(15.0).await;
    let work = cluster.get(WORK).await;
    assert_eq!(number(&work, &["status", "active"]), 1);
    assert!(!is_over(&work));
    let work = cluster.until(WORK, is_over).await;
    assert_eq!(
        says(&work, "Failed"),
        "True/DeadlineExceeded: Job was active longer than specified deadline"
    );
    assert_eq!(number(&work, &["status", "active"]), 0);
    assert_eq!(number(&work, &["status", "terminating"]), 0);
    cluster.pass(2.0).await;
    assert!(cluster.list(PODS).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_finished_job_goes_when_its_time_is_over() {
    let cluster = Cluster::start();
    cluster
        .create(JOBS, job(value!({"ttlSecondsAfterFinished": 30})))
        .await;
    cluster.until(WORK, is_over).await;
    cluster.pass(25.0).await;
    assert!(cluster.find(WORK).await.is_some());
    cluster.pass(10.0).await;
    assert!(cluster.find(WORK).await.is_none());
    assert!(cluster.list(PODS).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_suspended_job_runs_nothing_until_it_is_resumed() {
    let cluster = Cluster::start();
    cluster.create(JOBS, job(value!({"suspend": true}))).await;
    cluster.pass(5.0).await;
    let work = cluster.get(WORK).await;
    assert_eq!(says(&work, "Suspended"), "True/JobSuspended: Job suspended");
    assert!(work.at(&["status", "startTime"]).is_none());
    assert!(cluster.list(PODS).await.is_empty());
    cluster.patch(WORK, value!({"spec": {"suspend": false}})).await;
    let work = cluster.until(WORK, is_over).await;
    assert_eq!(says(&work, "Suspended"), "False/JobResumed: Job resumed");
}

#[tokio::test(start_paused = true)]
async fn deleting_a_running_job_leaves_no_pods() {
    for policy in ["Background", "Foreground"] {
        let cluster = Cluster::start();
        let spec = value!({"parallelism": 3, "template": (template("Never", "never-ready"))});
        cluster.create(JOBS, job(spec)).await;
        cluster.pass(2.0).await;
        assert_eq!(cluster.list(PODS).await.len(), 3);
        cluster.delete_by(WORK, policy).await;
        cluster.pass(2.0).await;
        assert!(cluster.find(WORK).await.is_none(), "{policy}");
        assert!(cluster.list(PODS).await.is_empty(), "{policy}");
    }
}
