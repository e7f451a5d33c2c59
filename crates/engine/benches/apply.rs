//! How fast new objects are applied: the 4,000 objects of 1,000 units through the engine, beside a bare loop of the same
//! server-side applies with the best concurrency. Both are run in turns, so that both see the same machine.
//!
//! `cargo bench -p engine --bench apply [-- UNITS [ROUNDS]]`, and the same behind `cargo xtask real-cluster exec --` for the
//! real API server.

mod bed;
mod podinfo;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::cluster::Verb;
use futures::StreamExt;
use http_body_util::BodyExt;
use kube::client::Body;
use model::{Value, json};

use bed::{Sources, cpu, head, row, server_cpu};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const UNITS: usize = 1_000;
/// Even, so that each comes first as often as last: the more there is in a server, the slower it is.
const ROUNDS: usize = 2;
const CONCURRENCIES: [usize; 5] = [4, 8, 16, 32, 64];
const OBJECTS_OF_A_UNIT: usize = 4;

fn main() {
    bed::main(measure);
}

async fn measure(numbers: Vec<usize>) {
    let units = numbers.first().copied().unwrap_or(UNITS);
    let rounds = numbers.get(1).copied().unwrap_or(ROUNDS);
    let mut bench = Bench::start().await;
    // The first objects of a kind make a server prepare for them.
    bench.bare("warm", 50, 8, Sent::Apply).await;
    let mut best = (0.0, 0);
    for concurrency in CONCURRENCIES {
        bench.renew().await;
        let name = format!("find-{concurrency}");
        let took = bench
            .bare(&name, units.div_ceil(4), concurrency, Sent::Apply)
            .await;
        println!(
            "bare loop, {concurrency:>2} at a time: {:>6.0} objects/s",
            took.rate
        );
        if took.rate > best.0 {
            best = (took.rate, concurrency);
        }
    }
    let concurrency = best.1;
    let mut taken = WHO.map(|_| Taken::default());
    for round in 0..rounds {
        let mut turns: Vec<usize> = (0..WHO.len()).collect();
        if round % 2 == 1 {
            // Whoever comes first has the emptier server: they take turns.
            turns.reverse();
        }
        for turn in turns {
            bench.renew().await;
            let name = format!("{:?}-{round}", WHO[turn]).to_lowercase();
            let round = match WHO[turn] {
                Who::Bare => bench.bare(&name, units, concurrency, Sent::Apply).await,
                Who::Both => bench.bare(&name, units, concurrency, Sent::DryRunAndApply).await,
                Who::Engine => bench.engine(&name, units, false).await,
                Who::Trusting => bench.engine(&name, units, true).await,
            };
            println!("{:?}: {:.0} objects/s", WHO[turn], round.rate);
            taken[turn].add(round);
        }
    }
    println!();
    head(&bench.test, &format!("bare loop, {concurrency} at a time"));
    let [bare, both, ours, trusting] = &taken;
    let objects = units * OBJECTS_OF_A_UNIT;
    println!("as is: each object is dry-run, then applied; the bare loop does the same");
    report(ours, both, objects);
    println!("as is, beside a bare loop that only applies");
    report(ours, bare, objects);
    println!("with trust_new: each object is only applied, and so by the bare loop");
    report(trusting, bare, objects);
    bench.test.finish().await;
}

fn report(ours: &Taken, bare: &Taken, objects: usize) {
    let each = |taken: &Taken, time: Duration| {
        let many = taken.rounds as f64 * objects as f64;
        format!("{:.2} ms", time.as_secs_f64() * 1000.0 / many)
    };
    let per_second = |taken: &Taken| format!("{:.0}", taken.rate());
    row(
        &format!("    {objects} new objects, per second"),
        &per_second(ours),
        &per_second(bare),
        "",
    );
    let share = format!("{:.0} %", 100.0 * ours.rate() / bare.rate());
    row("    share of the bare loop's rate", &share, "100 %", ">= 80 %");
    let requests = |taken: &Taken| format!("{:.2}", taken.requests as f64 / (taken.rounds * objects) as f64);
    row(
        "    writes and dry runs of each object",
        &requests(ours),
        &requests(bare),
        "",
    );
    row(
        "    processor time of this process, each",
        &each(ours, ours.cpu),
        &each(bare, bare.cpu),
        "",
    );
    row(
        "    processor time of a real API server, each",
        &each(ours, ours.server_cpu),
        &each(bare, bare.server_cpu),
        "",
    );
}

#[derive(Clone, Copy, Debug)]
enum Who {
    /// A loop of applies.
    Bare,
    /// A loop of dry runs and applies.
    Both,
    /// The engine.
    Engine,
    /// The engine, which writes new objects without a dry run.
    Trusting,
}

const WHO: [Who; 4] = [Who::Bare, Who::Both, Who::Engine, Who::Trusting];

#[derive(Clone, Copy, PartialEq)]
enum Sent {
    Apply,
    DryRunAndApply,
}

/// What one round took.
struct Round {
    rate: f64,
    took: Duration,
    cpu: Duration,
    server_cpu: Duration,
    requests: u64,
}

/// What all rounds took.
#[derive(Default)]
struct Taken {
    rounds: usize,
    objects: f64,
    took: Duration,
    cpu: Duration,
    server_cpu: Duration,
    requests: u64,
}

impl Taken {
    fn add(&mut self, round: Round) {
        self.rounds += 1;
        self.objects += round.rate * round.took.as_secs_f64();
        self.took += round.took;
        self.cpu += round.cpu;
        self.server_cpu += round.server_cpu;
        self.requests += round.requests;
    }

    fn rate(&self) -> f64 {
        self.objects / self.took.as_secs_f64()
    }
}

struct Bench {
    test: testkit::Cluster,
    client: kube::Client,
}

impl Bench {
    async fn start() -> Bench {
        let test = testkit::Cluster::start().await;
        let client = bed::client(&test).await;
        Bench { test, client }
    }

    /// The embedded server is slower with each Service that it has, so that everybody gets a new one.
    async fn renew(&mut self) {
        if !self.test.is_real() {
            *self = Bench::start().await;
        }
    }

    /// Applies the objects of units in a namespace of their own, so many at a time.
    async fn bare(&self, name: &str, units: usize, concurrency: usize, sent: Sent) -> Round {
        let namespace = self.test.namespace(name).await;
        let objects = (0..units).flat_map(|number| podinfo::objects(&id(number), &namespace));
        let requests: Vec<(String, Bytes)> = objects.map(|object| request(&object)).collect();
        let count = requests.len();
        let measured = self.timed(count, async {
            let requests = futures::stream::iter(requests);
            requests
                .for_each_concurrent(concurrency, async |(path, body)| {
                    if sent == Sent::DryRunAndApply {
                        self.send(&format!("{path}&dryRun=All"), body.clone()).await;
                    }
                    self.send(&path, body).await;
                })
                .await;
            match sent {
                Sent::Apply => count as u64,
                Sent::DryRunAndApply => 2 * count as u64,
            }
        });
        measured.await
    }

    async fn send(&self, path: &str, body: Bytes) {
        let request = http::Request::patch(path)
            .header("content-type", "application/apply-patch+yaml")
            .header("accept", "application/json")
            .body(Body::from(body))
            .expect("the path is one");
        let answer = self.client.send(request).await.expect("the server answers");
        let status = answer.status();
        let body = answer
            .into_body()
            .collect()
            .await
            .expect("the whole answer")
            .to_bytes();
        assert!(
            status.is_success(),
            "{status}: {}",
            String::from_utf8_lossy(&body)
        );
    }

    /// Has the engine apply them, from its start on an empty namespace until the last unit says that it is applied.
    async fn engine(&self, name: &str, units: usize, trust_new: bool) -> Round {
        let namespace = self.test.namespace(name).await;
        let sources: HashMap<String, Vec<Value>> = (0..units)
            .map(|number| (id(number), podinfo::objects(&id(number), &namespace)))
            .collect();
        let sources = Sources(Arc::new(sources));
        let measured = self.timed(units * OBJECTS_OF_A_UNIT, async {
            let running = bed::start_trusting(self.client.clone(), &namespace, sources, trust_new);
            running.completed(units).await;
            let counts = running.engine.requests("").expect("units are in it");
            println!("    sent: {counts}");
            counts.of(Verb::Apply) + counts.of(Verb::DryRun) + counts.of(Verb::Create)
        });
        measured.await
    }

    async fn timed(&self, objects: usize, work: impl Future<Output = u64>) -> Round {
        let server_before = server_cpu(&self.test).await.unwrap_or_default();
        let (began, cpu_before) = (Instant::now(), cpu());
        let requests = work.await;
        let took = began.elapsed();
        let cpu = cpu() - cpu_before;
        let server_after = server_cpu(&self.test).await.unwrap_or_default();
        Round {
            rate: objects as f64 / took.as_secs_f64(),
            took,
            cpu,
            server_cpu: server_after.saturating_sub(server_before),
            requests,
        }
    }
}

fn id(number: usize) -> String {
    format!("app-{number}")
}

/// The path and the body of the apply of an object.
fn request(object: &Value) -> (String, Bytes) {
    let (api, plural) = match object.str_at(&["kind"]) {
        "ServiceAccount" => ("api/v1", "serviceaccounts"),
        "Service" => ("api/v1", "services"),
        "Deployment" => ("apis/apps/v1", "deployments"),
        _ => ("apis/networking.k8s.io/v1", "ingresses"),
    };
    let (namespace, name) = (
        object.str_at(&["metadata", "namespace"]),
        object.str_at(&["metadata", "name"]),
    );
    let path = format!("/{api}/namespaces/{namespace}/{plural}/{name}?fieldManager=sluice&force=true");
    (path, Bytes::from(json::to_vec(object)))
}
