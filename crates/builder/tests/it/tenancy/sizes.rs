//! The owner of the files of a build chooses what it fetches. No more of it is read than a build may hold.

use builder::Remote;
use kustomize::remote::{Fetcher, RepoSpec};
use source::git::Cache;
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
