//! What the controllers store, served over HTTP and unpacked by the real programs.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use api::{Object, ReconcileStatus, Spec};
use testkit::http::Client;
use testkit::program;

use super::git::files;
use crate::sources::bad_input::artifact;
use crate::sources::bed::Bed;

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Bed<S> {
    /// Fetches the artifact of an object from the artifact server, into a file.
    pub(super) async fn fetch(&self, object: &Object<S>, file: &Path) {
        let artifact = artifact(object).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let root = self.store.root().to_owned();
        let server = tokio::spawn(source::store::serve(root, listener, std::future::pending()));
        let url = format!("http://{address}/{}", artifact.path);
        let answer = Client::new().get(&url).await.unwrap();
        assert_eq!(answer.status, 200, "{url}");
        assert_eq!(i64::try_from(answer.body.len()).unwrap(), artifact.size.unwrap());
        std::fs::write(file, &answer.body).unwrap();
        server.abort();
    }

    /// The files of an artifact as the real tar unpacks them, without the rules that travel with them.
    pub(super) async fn unpacked(&self, object: &Object<S>) -> BTreeMap<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let (archive, content) = (folder.path().join("a.tgz"), folder.path().join("content"));
        self.fetch(object, &archive).await;
        std::fs::create_dir(&content).unwrap();
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(&archive).arg("-C").arg(&content);
        program::run(&mut tar);
        files(&content)
    }
}
