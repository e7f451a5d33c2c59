//! The owner of the files of a build chooses what it fetches. No more of it is read than a build may hold.

use builder::Remote;
use kustomize::remote::{Fetcher, RepoSpec};
use source::git::{Cache, DiskLimits};
use testkit::git::Server;

const MIB: usize = 1 << 20;

#[test]
fn files_of_git_bases_have_a_size_and_so_have_all_together() {
    let server = Server::start();
    let large = "#".repeat(65 * MIB);
    // 300 MiB in files that a build reads one by one.
    let some = "#".repeat(60 * MIB);
    let names = ["0", "1", "2", "3", "4"].map(|name| format!("{name}.yaml"));
    let files = names.iter().map(|name| (name.as_str(), some.as_str()));
    let files = files.chain([("large.yaml", large.as_str()), ("small.yaml", "a: 1\n")]);
    server.repository("team/app").commit("main", "Start", files);

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let cache = Cache::temporary(scratch.path()).unwrap();
    let remote = Remote::new(runtime.handle().clone(), source::http::Options::default(), cache);
    let spec = RepoSpec::parse(&format!("{}?ref=main", server.clone_url("team/app"))).unwrap();
    let tree = remote.repository(&spec).unwrap();
    assert_eq!(tree.read("small.yaml").unwrap().unwrap(), &b"a: 1\n"[..]);
    let error = tree.read("large.yaml").unwrap_err();
    assert!(
        error.contains("large.yaml") && error.contains("is larger than"),
        "{error}"
    );

    for name in &names[..4] {
        tree.read(name).unwrap().unwrap();
    }
    tree.read(&names[0]).expect("what was read is not counted again");
    let error = tree.read(&names[4]).unwrap_err();
    assert!(error.contains("all remote files of a build together"), "{error}");
    // What another base and files at URLs have is counted with it.
    let again = remote.repository(&spec).unwrap();
    let error = again.read(&names[4]).unwrap_err();
    assert!(error.contains("all remote files of a build together"), "{error}");
}

#[test]
fn bases_of_a_namespace_have_a_share_of_the_disk() {
    let server = Server::start();
    let random = |bytes: usize| -> Vec<u8> {
        // It must not compress: a generator of random numbers is enough.
        let mut state = 1u64;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        (0..bytes).map(next).collect()
    };
    for name in ["r0", "r1", "r2"] {
        let change = server.repository(&format!("team/{name}")).change("main");
        change.file("a.yaml", random(60_000)).file("name", name).commit();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let limits = DiskLimits {
        total: 1_000_000,
        owner: 150_000,
    };
    let cache = Cache::temporary_with(scratch.path(), limits).unwrap();
    let options = source::http::Options::default();
    let fetch = |name: &str, namespace: &str| {
        let remote = Remote::new(runtime.handle().clone(), options.clone(), cache.clone());
        let url = server.clone_url(&format!("team/{name}"));
        let spec = RepoSpec::parse(&format!("{url}?ref=main")).unwrap();
        remote.owned_by(namespace).repository(&spec)
    };
    fetch("r0", "ada").unwrap();
    let used = ["r0", "r1"].map(|name| fetch(name, "mallory").unwrap());
    let error = fetch("r2", "mallory").err().expect("Mallory's share is full");
    assert!(error.contains("'mallory' have more than 150000 bytes"), "{error}");
    fetch("r2", "ada").unwrap();
    drop(used);
    fetch("r2", "mallory").unwrap();
    fetch("r0", "ada").unwrap();
    assert_eq!(
        server.repository("team/r0").stats().fetches,
        2,
        "Ada's is still there"
    );
}
