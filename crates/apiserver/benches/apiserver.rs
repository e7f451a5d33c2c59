//! What the server promises: ready in 100 ms, 5,000 applies a second on one core, watch events within a millisecond,
//! 100,000 ConfigMaps of 1 KiB in 600 MiB. Prints one table; `cargo bench -p apiserver [-- applies]`.
//!
//! Rates are per second of CPU time, which is what "on one core" means on a machine that does other things too.

use std::time::{Duration, Instant};

use apiserver::{Body, Server};
use bytes::Bytes;
use futures::StreamExt as _;
use http::{Method, Request, Response};
use http_body_util::{BodyExt, BodyStream, Full};
use model::{Value, json, value};
use tower::ServiceExt;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // `cargo test --benches` only wants to know that this builds.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    // One thread: the figures are for one core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    println!("{:<46} {:>14} {:>14}", "", "measured", "target");
    let only: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wanted = |name: &str| only.is_empty() || only.iter().any(|one| one == name);
    runtime.block_on(async {
        if wanted("start") {
            start().await;
        }
        if wanted("applies") {
            applies().await;
        }
        if wanted("watch") {
            watch_events().await;
        }
        if wanted("memory") {
            memory().await;
        }
    });
}

fn row(what: &str, measured: String, target: &str) {
    println!("{what:<46} {measured:>14} {target:>14}");
}

async fn send(
    server: &Server,
    method: Method,
    path: &str,
    content_type: &str,
    body: Vec<u8>,
) -> Response<Body> {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content_type);
    let request = request.body(Full::new(Bytes::from(body))).expect("a request");
    server.service().oneshot(request).await.expect("an answer")
}

async fn finished(response: Response<Body>) -> Bytes {
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(
        status.is_success(),
        "{status}: {}",
        String::from_utf8_lossy(&body)
    );
    body
}

async fn start() {
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..10 {
        let begin = Instant::now();
        let server = Server::builder().start();
        finished(send(&server, Method::GET, "/readyz", "", Vec::new()).await).await;
        finished(send(&server, Method::GET, "/api/v1/namespaces/default", "", Vec::new()).await).await;
        times.push(begin.elapsed());
        server.stop();
    }
    times.sort();
    row(
        "start to ready, median of 10",
        format!("{:.1} ms", times[5].as_secs_f64() * 1e3),
        "< 100 ms",
    );
}

/// A Deployment as people write them, about 1.5 KB.
fn deployment(name: &str, image: &str) -> Value {
    let container = |name: &str| {
        value!({
            "name": name,
            "image": image,
            "args": ["--port=8080", "--level=info"],
            "env": [
                {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                {"name": "LOG_LEVEL", "value": "info"},
                {"name": "CACHE_SIZE", "value": "64Mi"}
            ],
            "ports": [{"containerPort": 8080, "name": "http"}, {"containerPort": 9797, "name": "metrics"}],
            "livenessProbe": {"httpGet": {"path": "/healthz", "port": "http"}, "initialDelaySeconds": 5},
            "readinessProbe": {"httpGet": {"path": "/readyz", "port": "http"}},
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}},
            "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "config", "mountPath": "/etc/config"}],
        })
    };
    value!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": name, "team": "shop"}},
        "spec": {
            "replicas": 3,
            "minReadySeconds": 3,
            "selector": {"matchLabels": {"app": name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0}},
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": {"prometheus.io/scrape": "true"}},
                "spec": {
                    "containers": [(container("web")), (container("sidecar"))],
                    "volumes": [{"name": "data", "emptyDir": {}}, {"name": "config", "configMap": {"name": "config"}}],
                },
            },
        },
    })
}

async fn apply(server: &Server, object: &Value) {
    let name = object.str_at(&["metadata", "name"]);
    let path = format!("/apis/apps/v1/namespaces/default/deployments/{name}?fieldManager=bench&force=true");
    finished(
        send(
            server,
            Method::PATCH,
            &path,
            "application/apply-patch+yaml",
            json::to_vec(object),
        )
        .await,
    )
    .await;
}

async fn applies() {
    const OBJECTS: usize = 100;
    const ROUNDS: usize = 30;
    let server = Server::builder().start();
    let set = |image: &str| -> Vec<Value> {
        (0..OBJECTS)
            .map(|n| deployment(&format!("web-{n}"), image))
            .collect()
    };
    let begin = cpu_time();
    for object in set("shop/web:0") {
        apply(&server, &object).await;
    }
    row(
        "server-side apply, new Deployments",
        rate(OBJECTS, cpu_time() - begin),
        "",
    );
    let begin = cpu_time();
    for round in 1..=ROUNDS {
        for object in set(&format!("shop/web:{round}")) {
            apply(&server, &object).await;
        }
    }
    row(
        "server-side apply, changed Deployments",
        rate(OBJECTS * ROUNDS, cpu_time() - begin),
        ">= 5000 /s",
    );
    let same = set(&format!("shop/web:{ROUNDS}"));
    let begin = cpu_time();
    for _ in 0..ROUNDS {
        for object in &same {
            apply(&server, object).await;
        }
    }
    row(
        "server-side apply, unchanged Deployments",
        rate(OBJECTS * ROUNDS, cpu_time() - begin),
        ">= 5000 /s",
    );
    server.stop();
}

fn rate(count: usize, time: Duration) -> String {
    format!("{:.0} /s", count as f64 / time.as_secs_f64())
}

async fn watch_events() {
    const EVENTS: usize = 1000;
    let server = Server::builder().start();
    let path = "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0";
    let response = send(&server, Method::GET, path, "", Vec::new()).await;
    let mut stream = BodyStream::new(response.into_body());
    let reader = tokio::spawn(async move {
        let mut seen = Vec::new();
        let mut text: Vec<u8> = Vec::new();
        while let Some(Ok(frame)) = stream.next().await {
            text.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
            while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                let event = json::parse(&line).expect("an event");
                let name = event.str_at(&["object", "metadata", "name"]);
                if let Some(number) = name.strip_prefix("event-") {
                    seen.push((number.parse::<usize>().expect("a number"), Instant::now()));
                }
            }
            if seen.len() == EVENTS {
                break;
            }
        }
        seen
    });
    let mut sent = Vec::new();
    for number in 0..EVENTS {
        let object = config_map(&format!("event-{number}"), 100);
        sent.push(Instant::now());
        finished(create(&server, &object).await).await;
        tokio::task::yield_now().await;
    }
    let seen = reader.await.expect("the reader");
    let mut delays: Vec<Duration> = seen.iter().map(|(number, time)| *time - sent[*number]).collect();
    delays.sort();
    let show = |delay: Duration| format!("{:.3} ms", delay.as_secs_f64() * 1e3);
    row(
        "write to watch event, median of 1000",
        show(delays[delays.len() / 2]),
        "< 1 ms",
    );
    row(
        "write to watch event, 99th percentile",
        show(delays[delays.len() * 99 / 100]),
        "",
    );
    server.stop();
}

fn config_map(name: &str, size: usize) -> Value {
    // Text that repeats nothing would compress no better or worse here: bytes are bytes.
    value!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"content": ("x".repeat(size))},
    })
}

async fn create(server: &Server, object: &Value) -> Response<Body> {
    let path = "/api/v1/namespaces/default/configmaps?fieldManager=bench";
    send(
        server,
        Method::POST,
        path,
        "application/json",
        json::to_vec(object),
    )
    .await
}

async fn memory() {
    const OBJECTS: usize = 100_000;
    let server = Server::builder().start();
    let before = resident();
    let begin = cpu_time();
    for number in 0..OBJECTS {
        finished(create(&server, &config_map(&format!("config-{number}"), 1024)).await).await;
    }
    row(
        "create 100,000 ConfigMaps of 1 KiB",
        rate(OBJECTS, cpu_time() - begin),
        "",
    );
    server.settled().await;
    row(
        "memory of 100,000 ConfigMaps of 1 KiB",
        format!("{} MiB", (resident() - before) >> 20),
        "< 600 MiB",
    );
    let begin = Instant::now();
    let list = finished(send(&server, Method::GET, "/api/v1/configmaps", "", Vec::new()).await).await;
    let took = begin.elapsed().as_secs_f64() * 1e3;
    row("list them all", format!("{took:.0} ms"), "");
    assert!(list.len() > OBJECTS * 1024);
    server.stop();
}

/// The time this thread, which does all the work, was on a core.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|nanos| nanos.parse().ok());
    // Systems that do not tell have a clock at least.
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    nanos.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// The memory this process holds, in bytes; 0 where the system does not tell.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
