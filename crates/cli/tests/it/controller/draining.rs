//! A process that was told to end leads until its last run has ended: no other instance works beside it.

use std::sync::Arc;

use futures::StreamExt as _;
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;
use kube::runtime::watcher::{Config, Event, watcher};
use kube::{Api, ResourceExt as _};
use parking_lot::Mutex;
use rustix::process::Signal;
use serde_json::json;
use testkit::cluster::object_settled;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use super::bed::{Bed, LIMIT, eventually, free_port, is_ready};

const LEASE: &str = "source-controller-leader-election";

/// Others take the lease soon after it was not renewed any more, and runs may go on for longer than that.
const FLAGS: [&str; 5] = [
    "--enable-leader-election",
    "--leader-election-lease-duration=3s",
    "--leader-election-renew-deadline=2s",
    "--leader-election-retry-period=100ms",
    "--graceful-shutdown-timeout=60s",
];

/// A Helm repository that answers when it is told to.
struct Slow {
    url: String,
    asked: Arc<Notify>,
    answer: Arc<Notify>,
}

impl Slow {
    async fn start() -> Slow {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let slow = Slow {
            url: format!("http://{}", listener.local_addr().unwrap()),
            asked: Arc::default(),
            answer: Arc::default(),
        };
        let (asked, answer) = (Arc::clone(&slow.asked), Arc::clone(&slow.answer));
        tokio::spawn(async move {
            let index = concat!(
                "apiVersion: v1\nentries:\n  app:\n  - apiVersion: v2\n    name: app\n    version: 1.0.0\n",
                "    urls: [app-1.0.0.tgz]\n"
            );
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let size = stream.read(&mut request).await.unwrap();
                assert!(size > 0, "nothing is asked for");
                asked.notify_one();
                answer.notified().await;
                // What is asked later is answered at once.
                answer.notify_one();
                let reply = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{index}",
                    index.len()
                );
                stream.write_all(reply.as_bytes()).await.unwrap();
            }
        });
        slow
    }
}

/// The holders of the lease one after another, with the version of the object from which each held it.
fn follow_holders(bed: &Bed) -> Arc<Mutex<Vec<(String, u64)>>> {
    let holders = Arc::new(Mutex::new(Vec::<(String, u64)>::new()));
    let leases: Api<Lease> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let sink = Arc::clone(&holders);
    tokio::spawn(async move {
        let mut events = std::pin::pin!(watcher(leases, Config::default()));
        while let Some(event) = events.next().await {
            let Ok(Event::Apply(lease) | Event::InitApply(lease)) = event else {
                continue;
            };
            let version = version(lease.resource_version());
            let holder = lease.spec.clone().and_then(|spec| spec.holder_identity);
            let (holder, mut holders) = (holder.unwrap_or_default(), sink.lock());
            if lease.name_any() == LEASE && holders.last().is_none_or(|(last, _)| *last != holder) {
                holders.push((holder, version));
            }
        }
    });
    holders
}

fn version(text: Option<String>) -> u64 {
    text.unwrap_or_default().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_ends_leads_until_its_last_write_and_hands_over_then() {
    let bed = Bed::start().await;
    let slow = Slow::start().await;
    let holders = follow_holders(&bed);
    let first = bed.program().with_all().with(&FLAGS).start();
    first.serves().await;
    let spec = json!({"url": slow.url, "interval": "1h"});
    bed.create("HelmRepository", "slow", json!({}), spec).await;
    tokio::time::timeout(LIMIT, slow.asked.notified()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let second = bed.program_at(&folder.path().join("data"), free_port());
    let second = second.with_all().with(&FLAGS).start();
    second.says("attempting to acquire leader lease").await;

    first.signal(Signal::TERM);
    first.says("waiting for what is being worked on").await;
    let told = Timestamp::now();
    let leases: Api<Lease> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    eventually(
        "that the lease is renewed while the run goes on",
        &first,
        async || {
            let spec = leases.get(LEASE).await.unwrap().spec.unwrap();
            let seen: Vec<_> = holders.lock().iter().map(|(holder, _)| holder.clone()).collect();
            assert!(seen.len() <= 1, "another leads while the first works: {seen:?}");
            // Who does not renew it has lost it by then.
            let long_after = told + SignedDuration::from_secs(5);
            spec.renew_time.is_some_and(|renewed| renewed.0 > long_after)
        },
    )
    .await;
    assert!(first.ended_already().is_none());

    let repositories = bed.api("HelmRepository");
    let written = tokio::spawn(async move {
        object_settled(repositories, "slow", LIMIT, |object| match object {
            Some(object) if is_ready(&object.data["status"]) => Ok(version(object.resource_version())),
            _ => Err("it is not ready".to_owned()),
        })
        .await
        .unwrap()
    });
    slow.answer.notify_one();
    let written = written.await.unwrap();
    assert!(first.ended().await.success(), "{}", first.said());
    second.serves().await;
    eventually("the next leader", &second, async || holders.lock().len() >= 3).await;
    let holders = holders.lock().clone();
    assert_eq!(holders[1].0, "", "it was not given up, but taken: {holders:?}");
    assert_ne!(holders[2].0, holders[0].0);
    assert!(holders[1].1 > written, "{holders:?}, written at {written}");
    second.stop().await;
}
