//! A process that is killed while it fetches leaves a cache that the next one can use.

use std::path::Path;
use std::process::{Command, Stdio};

use source::git::{Cache, Reference, Remote, Settings};
use testkit::git;

use super::{content, fetch};

const URL: &str = "SLUICE_TEST_KILLED_URL";
const CACHE: &str = "SLUICE_TEST_KILLED_CACHE";

fn remote(url: &str, cache: &Path) -> Remote {
    Remote::new(Settings::new(url.parse().unwrap()), Cache::open(cache).unwrap())
}

/// What the process does that is killed. Run as a test of its own it has nothing to do.
#[tokio::test]
async fn the_process_that_is_killed() {
    let (Ok(url), Ok(cache)) = (std::env::var(URL), std::env::var(CACHE)) else {
        return;
    };
    let _ = fetch(&remote(&url, Path::new(&cache)), Reference::branch("main")).await;
}

#[tokio::test]
async fn a_cache_survives_kills_at_any_step_of_a_fetch() {
    let server = git::Server::start();
    let repository = server.repository("app");
    let cache = tempfile::tempdir().unwrap();
    let url = server.clone_url("app");
    for round in 0..12 {
        let text = round.to_string();
        let files: Vec<(String, String)> = (0..50)
            .map(|n| (format!("f{n}"), format!("{n} {round}")))
            .collect();
        repository.commit(
            "main",
            &text,
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())),
        );
        server.forget_requests();
        let mut changes = server.changes();
        let before = *changes.borrow_and_update();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "git::killed::the_process_that_is_killed"])
            .env(URL, &url)
            .env(CACHE, cache.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Killed before it asks, after it was greeted, after the listing, while the pack is stored; or not at all.
        let requests = before + round % 4;
        let limit = testkit::DEADLINE;
        let waited = tokio::time::timeout(limit, changes.wait_for(|count| *count >= requests)).await;
        assert!(waited.is_ok(), "the process asked for nothing");
        drop(waited);
        child.kill().unwrap();
        child.wait().unwrap();
        let checkout = fetch(&remote(&url, cache.path()), Reference::branch("main"))
            .await
            .unwrap();
        assert_eq!(content(&*checkout).len(), 50);
        assert!(content(&*checkout).contains(&format!("f7 7 {round}")));
    }
}
