//! Builds that wait for servers of a tenant: nobody else waits for them.

use serde_json::json;
use testkit::http::{Fault, Reply, Request, Server};

use crate::kustomizations::bed::{Setting, config_map};
use crate::sources::bed::condition;

/// More than there are workers, and permits for builds.
const SLOW: usize = 10;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn builds_that_wait_for_servers_hold_up_no_others() {
    let server: Server<fn(&Request) -> Reply> = Server::serve(|_| Reply::text(config_map("late", "1")));
    server.fail(Fault::hang().forever());
    let list = format!("resources: [\"{}/late.yaml\"]\n", server.url());
    let setting = Setting::with(&[
        ("slow/kustomization.yaml", &list),
        ("quick/one.yaml", &config_map("one", "1")),
    ])
    .await;
    // The source is there.
    setting
        .create("first", json!({"path": "./quick", "namePrefix": "first-"}))
        .await;
    setting
        .bed
        .ready("first", "True", "ReconciliationSucceeded")
        .await;
    for number in 0..SLOW {
        let name = format!("slow-{number}");
        setting.create(&name, json!({"path": "./slow"})).await;
    }
    let all_begun = async {
        let mut requests = server.changes();
        requests.wait_for(|count| *count >= SLOW).await.unwrap();
    };
    tokio::time::timeout(testkit::DEADLINE, all_begun).await.unwrap();
    setting.create("quick", json!({"path": "./quick"})).await;
    setting
        .bed
        .ready("quick", "True", "ReconciliationSucceeded")
        .await;
    // The others have not just ended.
    for number in 0..SLOW {
        let object = setting.bed.api.get(&format!("slow-{number}")).await.unwrap();
        let ready = condition(&object, "Ready");
        let is_running = ready
            .as_ref()
            .is_none_or(|ready| ready.status.to_string() == "Unknown");
        assert!(is_running, "{ready:?}");
    }
}
