//! A thousand OCIRepositories of one artifact: what it costs until all are ready, and what it costs to keep looking.
//!
//! `cargo bench -p cli --bench sources [-- COUNT]` runs our program, and Flux's source controller beside it where that is on the
//! `PATH` (`cargo xtask real-programs exec -- cargo bench …` brings it), each on an embedded API of its own and with the same
//! registry. It fails where ours pulls more than once, or writes to the cluster though nothing has changed.

mod process;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use apiserver::Server;
use kube::Api;
use kube::api::{DynamicObject, ListParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::json;
use testkit::Cluster;
use testkit::oci::{self, Artifact};

use process::Running;

const NAMESPACE: &str = "bench";
/// How often each object looks, and for how long we watch it.
const INTERVAL: Duration = Duration::from_secs(10);
const WATCHED: Duration = Duration::from_secs(30);

fn main() {
    let count = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    let count: usize = count.unwrap_or(1000);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    println!("{count} OCIRepositories of one artifact, looking every {INTERVAL:?}");
    let ours = Path::new(env!("CARGO_BIN_EXE_sluice"));
    let ours = runtime.block_on(measure("sluice", ours, &["controller", "source"], count));
    if let Some(program) = testkit::program::find("source-controller") {
        runtime.block_on(measure("flux", &program, &[], count));
    }
    assert_eq!(ours.pulls, 1, "all objects share one pull");
    assert_eq!(
        ours.idle_writes, 0,
        "a look that finds nothing new writes nothing"
    );
    assert!(
        ours.idle_requests <= ours.looks,
        "a look that finds nothing new asks once: {} requests in {} looks",
        ours.idle_requests,
        ours.looks
    );
}

struct Figures {
    pulls: usize,
    looks: usize,
    idle_requests: usize,
    idle_writes: u64,
}

async fn measure(name: &str, program: &Path, first: &[&str], count: usize) -> Figures {
    let registry = oci::Server::start();
    let files: Vec<(String, String)> = (0..200)
        .map(|number| {
            (
                format!("apps/{number}.yaml"),
                format!("number: {number}\n").repeat(50),
            )
        })
        .collect();
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    registry.push("team/app", "latest", &Artifact::files(&files));
    let cluster = Cluster::embedded(Server::builder());
    let api = objects(&cluster, &registry, count).await;
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    let server = cluster.server().expect("it is embedded");
    server.requests().reset();
    let running = start(program, first, &cluster.kubeconfig().await, folder.path());
    let begun = Instant::now();
    while ready(&api).await < count {
        assert!(
            begun.elapsed() < Duration::from_secs(600),
            "{name} does not get ready"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (took, cpu) = (begun.elapsed(), running.cpu());
    let pulls = asked(&registry, "/blobs/");
    println!(
        "{name}: all ready in {:.1} s, {:.1} s of CPU, {} MiB at most, {pulls} blobs and {} manifests asked for, {} writes",
        took.as_secs_f64(),
        cpu.as_secs_f64(),
        running.memory() / 1024,
        asked(&registry, "/manifests/"),
        writes(server),
    );
    // What was begun before comes to its end.
    tokio::time::sleep(Duration::from_secs(2)).await;
    registry.forget_requests();
    let (written, cpu) = (writes(server), running.cpu());
    tokio::time::sleep(WATCHED).await;
    let requests = registry.requests().len();
    let idle_writes = writes(server) - written;
    let looks = count * usize::try_from(WATCHED.as_secs() / INTERVAL.as_secs()).unwrap_or_default();
    println!(
        "{name}: {WATCHED:?} without a change: {requests} requests to the registry ({:.2} per look), {idle_writes} writes to the \
         cluster, {:.1} s of CPU",
        requests as f64 / looks as f64,
        (running.cpu() - cpu).as_secs_f64(),
    );
    Figures {
        pulls,
        // Looks are spread by a twentieth, so that a few more than a third of them may fall into the time.
        looks: looks + looks / 10,
        idle_requests: requests,
        idle_writes,
    }
}

/// Makes the objects.
async fn objects(cluster: &Cluster, registry: &oci::Server, count: usize) -> Api<DynamicObject> {
    for definition in api::definitions() {
        let definition = serde_json::to_value(definition.to_value()).expect("a definition is JSON");
        if definition["spec"]["group"] == "source.toolkit.fluxcd.io" {
            cluster.serve(&definition).await;
        }
    }
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(cluster.client());
    let namespace =
        serde_json::from_value(json!({"metadata": {"name": NAMESPACE}})).expect("it is a Namespace");
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .expect("a namespace can be made");
    let kind = GroupVersionKind::gvk("source.toolkit.fluxcd.io", "v1", "OCIRepository");
    let resource = ApiResource::from_gvk_with_plural(&kind, "ocirepositories");
    let api: Api<DynamicObject> = Api::namespaced_with(cluster.client(), NAMESPACE, &resource);
    let url = format!("oci://{}/team/app", registry.host());
    for number in 0..count {
        let object = json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository",
            "metadata": {"name": format!("app-{number}"), "namespace": NAMESPACE},
            "spec": {"url": url, "interval": format!("{}s", INTERVAL.as_secs()), "insecure": true},
        });
        let object = serde_json::from_value(object).expect("it is an object");
        let made = api.create(&PostParams::default(), &object).await;
        made.expect("an object can be made");
    }
    api
}

async fn ready(api: &Api<DynamicObject>) -> usize {
    let list = api
        .list(&ListParams::default())
        .await
        .expect("objects can be listed");
    let is_ready = |object: &&DynamicObject| {
        let conditions = object.data["status"]["conditions"].as_array();
        let mut conditions = conditions.into_iter().flatten();
        conditions.any(|one| one["type"] == "Ready" && one["status"] == "True")
    };
    list.items.iter().filter(is_ready).count()
}

fn asked(registry: &oci::Server, part: &str) -> usize {
    let requests = registry.requests();
    requests
        .iter()
        .filter(|request| request.path.contains(part))
        .count()
}

/// What the program has written to the cluster, but for leases.
fn writes(server: &Server) -> u64 {
    let counts = server.requests().snapshot();
    let writes = ["create", "update", "patch", "delete"];
    counts.sum(|row| writes.contains(&row.verb.as_str()) && !row.resource.starts_with("leases"))
}

fn start(program: &Path, first: &[&str], kubeconfig: &Path, folder: &Path) -> Running {
    let storage = folder.join("data");
    std::fs::create_dir(&storage).expect("a directory can be made");
    let mut command = Command::new(program);
    command
        .args(first)
        .args([
            "--events-addr=",
            "--metrics-addr=127.0.0.1:0",
            "--health-addr=127.0.0.1:0",
        ])
        .args(["--storage-addr=127.0.0.1:0", "--storage-adv-addr=store.test"])
        .arg(format!("--storage-path={}", storage.display()))
        .env("KUBECONFIG", kubeconfig)
        .env("RUNTIME_NAMESPACE", NAMESPACE)
        .stderr(Stdio::null());
    Running::start(&mut command)
}
