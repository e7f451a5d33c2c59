//! What a look at units costs that changes nothing: no request, as the test API server counts them, whether there is one object
//! or 10,000. Beside it, what Flux does for the same: a read and a dry run of each object.
//!
//! `cargo bench -p engine --bench requests [-- OBJECTS]`

mod bed;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::cluster::{Apply, Cluster};
use futures::StreamExt;
use model::{Value, value};

use bed::{Sources, cpu, head, row};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const OBJECTS: usize = 10_000;
const LOOKS: u32 = 10;

fn main() {
    bed::main(async |numbers| {
        let most = numbers.first().copied().unwrap_or(OBJECTS);
        let test = testkit::Cluster::embedded(apiserver::Server::builder());
        head(&test, "a read and a dry run");
        for (units, objects) in [(1, 1), (1, most), (most / 10, 10)] {
            measure(units, objects).await;
        }
    });
}

async fn measure(units: usize, objects_of_each: usize) {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let namespace = test.namespace("requests").await;
    let id = |number: usize| format!("unit-{number}");
    let objects = |unit: usize| -> Vec<Value> {
        let numbers = 0..objects_of_each;
        numbers
            .map(|number| config_map(unit, number, &namespace))
            .collect()
    };
    let sources: HashMap<String, Vec<Value>> =
        (0..units).map(|number| (id(number), objects(number))).collect();
    let sources = Sources(Arc::new(sources));
    let running = bed::start(bed::client(&test).await, &namespace, sources.clone());
    running.completed(units).await;
    let ids: Vec<String> = (0..units).map(id).collect();
    running.settle(&ids).await;

    let server = test.server().expect("it is the embedded one");
    let (before, began, cpu_before) = (server.requests().snapshot(), Instant::now(), cpu());
    for _ in 0..LOOKS {
        running.look(&ids).await;
    }
    let (took, used) = (began.elapsed() / LOOKS, (cpu() - cpu_before) / LOOKS);
    let requests = server.requests().snapshot().since(&before).total();
    drop(running);

    let (theirs, theirs_used, asked) = as_flux(&test, &sources).await;
    let what = match (units, objects_of_each) {
        (1, 1) => "a look at one unit of one object".to_owned(),
        (1, _) => format!("a look at one unit of {objects_of_each} objects"),
        _ => format!("a look at each of {units} units of {objects_of_each} objects"),
    };
    row(
        &format!("{what}: requests"),
        &requests.to_string(),
        &asked.to_string(),
        "0",
    );
    row("    time", &milliseconds(took), &milliseconds(theirs), "");
    row(
        "    processor time",
        &milliseconds(used),
        &milliseconds(theirs_used),
        "",
    );
    assert_eq!(requests, 0, "a look that changes nothing sends no request");
}

/// Reads and dry-runs each object, as Flux does each time.
async fn as_flux(test: &testkit::Cluster, sources: &Sources) -> (Duration, Duration, usize) {
    let cluster = Cluster::new(bed::client(test).await);
    let maps = cluster.preferred("", "ConfigMap").await.expect("they are served");
    let options = Apply {
        dry_run: true,
        ..Apply::by("sluice")
    };
    let objects: Vec<&Value> = sources.0.values().flatten().collect();
    let asked = 2 * objects.len();
    let (began, cpu_before) = (Instant::now(), cpu());
    futures::stream::iter(objects)
        .for_each_concurrent(16, async |object| {
            let (namespace, name) = (
                object.str_at(&["metadata", "namespace"]),
                object.str_at(&["metadata", "name"]),
            );
            cluster.get(&maps, namespace, name).await.expect("it is there");
            cluster.apply(&maps, object, &options).await.expect("it is valid");
        })
        .await;
    (began.elapsed(), cpu() - cpu_before, asked)
}

fn config_map(unit: usize, number: usize, namespace: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": { "name": (format!("settings-{unit}-{number}")), "namespace": namespace },
        "data": { "settings": (format!("{number} {}", "x".repeat(1000))) },
    })
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}
