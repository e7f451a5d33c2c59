//! Several instances side by side, each with objects of its own.

use serde_json::json;

use super::bed::{Bed, free_port, is_ready};

/// D6, `sharding.fluxcd.io/key`: instances with complementary selectors divide the objects between them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_shard_works_on_its_own_objects_only() {
    let bed = Bed::start().await;
    let server = testkit::git::Server::start();
    server
        .repository("team/app")
        .commit("main", "Start", [("a", "1")]);
    let url = server.clone_url("team/app");
    let spec = json!({"url": url, "interval": "1h", "ref": {"branch": "main"}});
    let objects = [("one", "shard1"), ("two", "shard2"), ("none", "")];
    for (name, shard) in objects {
        let labels = match shard {
            "" => json!({}),
            shard => json!({"sharding.fluxcd.io/key": shard}),
        };
        bed.create("GitRepository", name, labels, spec.clone()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let shard = |name: &str, selector: &str| {
        let selector = format!("--watch-label-selector={selector}");
        let storage = folder.path().join(name);
        let options = bed.program_at(&storage, free_port());
        options.with(&[&selector, "--enable-leader-election"]).start()
    };
    let first = shard("first", "sharding.fluxcd.io/key=shard1");
    let others = shard("others", "sharding.fluxcd.io/key notin (shard1)");
    for (name, program, not) in [
        ("one", &first, &others),
        ("two", &others, &first),
        ("none", &others, &first),
    ] {
        let status = bed.until("GitRepository", name, is_ready).await;
        let url = status["artifact"]["url"].as_str().unwrap();
        assert!(url.starts_with(&program.url), "{name} is served by its own shard");
        let about = format!("\"name\":\"{name}\"");
        program.says(&about).await;
        assert!(!not.said().contains(&about), "{name} is not seen by the other");
    }
    for program in [first, others] {
        program.stop().await;
    }
}
