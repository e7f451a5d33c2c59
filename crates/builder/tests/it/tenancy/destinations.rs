//! The owner of the files of a build chooses the URLs of remote files and bases. None leads to artifacts of others or to metadata servers.

use builder::Remote;
use kustomize::remote::{Fetcher, RepoSpec};
use source::git::Cache;
use source::store::serve;
use tokio::net::TcpListener;

#[test]
fn no_remote_file_or_base_is_an_artifact_or_of_a_metadata_server() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("ocirepository/victim/app");
    std::fs::create_dir_all(&artifact).unwrap();
    std::fs::write(artifact.join("latest.tar.gz"), "secret").unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    runtime.spawn(serve(folder.path().to_owned(), listener, std::future::pending()));

    let scratch = tempfile::tempdir().unwrap();
    let cache = Cache::temporary(scratch.path()).unwrap();
    let remote = Remote::new(runtime.handle().clone(), source::http::Options::default(), cache);
    let error = remote
        .file(&format!("{server}/ocirepository/victim/app/latest.tar.gz"))
        .unwrap_err();
    assert!(error.contains("403"), "{error}");

    let error = remote
        .file("http://169.254.169.254/latest/meta-data/iam/security-credentials/role")
        .unwrap_err();
    assert!(error.contains("link-local addresses"), "{error}");
    let spec = RepoSpec::parse("http://169.254.169.254/org/app.git").unwrap();
    let error = remote.repository(&spec).err().unwrap();
    assert!(error.contains("link-local addresses"), "{error}");
}
