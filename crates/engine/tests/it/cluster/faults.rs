//! A server that is in trouble. Only the embedded one can be told to be.

use std::time::Duration;

use apiserver::fault::{Fault, Rule};
use engine::cluster::{Apply, Error, Verb};
use tokio::time::Instant;

use super::{config_map, of};

async fn embedded() -> (
    testkit::Cluster,
    engine::cluster::Cluster,
    engine::cluster::Resource,
) {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let cluster = of(&test);
    let maps = cluster.preferred("", "ConfigMap").await.unwrap();
    (test, cluster, maps)
}

#[tokio::test(start_paused = true)]
async fn a_busy_server_is_asked_again_when_it_says_so_and_by_fewer_at_a_time() {
    let (test, cluster, maps) = embedded().await;
    let faults = test.server().unwrap().faults();
    faults.add(Rule::new(Fault::TooManyRequests(2)).verb("patch").times(2));
    let (before, limit, began) = (cluster.counts(), cluster.concurrency(), Instant::now());
    let applied = cluster
        .apply(&maps, &config_map("default", "a", "one"), &Apply::by("tests"))
        .await;
    assert!(applied.is_ok(), "{applied:?}");
    assert_eq!(cluster.counts().since(&before).of(Verb::Apply), 3);
    assert!(began.elapsed() >= Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(cluster.concurrency(), limit / 4);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stays_busy_is_left_alone_in_the_end() {
    let (test, cluster, maps) = embedded().await;
    let faults = test.server().unwrap().faults();
    faults.add(Rule::new(Fault::TooManyRequests(1)).verb("get"));
    let before = cluster.counts();
    let refused = cluster.get(&maps, "default", "a").await.unwrap_err();
    assert!(
        matches!(refused, Error::TooManyRequests { retry_after, .. } if retry_after == Duration::from_secs(1))
    );
    assert!(refused.is_transient());
    assert_eq!(cluster.counts().since(&before).of(Verb::Get), 6);
}

#[tokio::test]
async fn failures_are_told_at_once_and_not_repeated() {
    let (test, cluster, maps) = embedded().await;
    let faults = test.server().unwrap().faults();
    faults.add(Rule::new(Fault::Internal).verb("get").name("a"));
    faults.add(Rule::new(Fault::Unavailable).verb("get").name("b"));
    faults.add(Rule::new(Fault::Disconnect).verb("get").name("c"));
    faults.add(Rule::new(Fault::Conflict).verb("get").name("d"));
    let before = cluster.counts();
    let get = async |name| cluster.get(&maps, "default", name).await.unwrap_err();
    assert!(matches!(get("a").await, Error::Server(_)));
    assert!(matches!(get("b").await, Error::Server(_)));
    let broken = get("c").await;
    assert!(
        matches!(broken, Error::Transport { .. }) && broken.is_transient(),
        "{broken:?}"
    );
    assert!(matches!(get("d").await, Error::Conflict(_)));
    assert_eq!(cluster.counts().since(&before).of(Verb::Get), 4);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_is_a_timeout() {
    let (test, cluster, maps) = embedded().await;
    let faults = test.server().unwrap().faults();
    faults.add(Rule::new(Fault::Delay(Duration::from_secs(3600))).verb("get"));
    let late = cluster.get(&maps, "default", "a").await.unwrap_err();
    assert!(matches!(late, Error::Timeout { .. }), "{late:?}");
    assert_eq!(
        late.to_string(),
        "failed to get ConfigMap/default/a: no answer within 60s"
    );
}
