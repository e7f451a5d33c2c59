//! Helm repositories and charts.

mod hostile;
mod local;
mod program;
mod redirects;
mod registry;
mod remote;
mod repository;

use std::sync::Arc;

use futures::future::BoxFuture;
use source::archive::{MemoryTree, Tree};
use source::helm::build::{Built, Content};
use source::helm::chart::{Chart, File, Limits};
use source::helm::repository::Options;
use source::helm::{ChartFetcher, FetchError, Repositories, Repository};
use testkit::helm::Server;

fn repository(server: &Server) -> Repository {
    Repository::new(Options::new(server.url())).unwrap()
}

/// Finds any HTTP repository, without credentials.
struct Anyone;

impl Repositories for Anyone {
    fn repository<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Arc<dyn ChartFetcher>, FetchError>> {
        Box::pin(async move {
            let repository = Repository::new(Options::new(url))?;
            Ok(Arc::new(repository) as Arc<dyn ChartFetcher>)
        })
    }
}

fn archive(built: &Built) -> &[u8] {
    match &built.content {
        Content::Archive(bytes) => bytes,
        Content::Stored => panic!("nothing was built"),
    }
}

fn chart(built: &Built) -> Chart {
    Chart::from_archive(archive(built), &Limits::default()).unwrap()
}

fn text<'a>(chart: &'a Chart, path: &str) -> &'a str {
    std::str::from_utf8(chart.file(path).unwrap()).unwrap()
}

/// The files of a packed chart, by path.
fn files(archive: &[u8]) -> Vec<File> {
    let mut files = source::helm::chart::files::from_archive(archive, &Limits::default()).unwrap();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

/// The error with all its causes, as a status would show it.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += ": ";
        text += &error.to_string();
        cause = error.source();
    }
    text
}

/// A small chart below `charts/app`.
fn tree() -> MemoryTree {
    MemoryTree::new()
        .with(
            "charts/app/Chart.yaml",
            "apiVersion: v2\nname: app\nversion: 0.1.0\nappVersion: 1.10\n",
        )
        .with(
            "charts/app/values.yaml",
            "# default\nreplicas: 1\nimage: {tag: a}\n",
        )
        .with("charts/app/templates/cm.yaml", "kind: ConfigMap\n")
        .with("charts/app/templates/.hidden", "x")
        .with("charts/app/README.md", "read me\n")
        .with("charts/app/notes.txt", "not packed\n")
        .with("charts/app/.helmignore", "*.txt\n/private/\n")
        .with("charts/app/private/key", "secret\n")
        .with("envs/prod.yaml", "replicas: 3\nimage: {pull: Always}\n")
        .with("envs/null.yaml", "image: null\n")
}

/// Writes a tree to a directory, for programs.
fn write(tree: &MemoryTree, root: &std::path::Path) {
    for entry in tree.entries().unwrap() {
        let path = root.join(&entry.path);
        if entry.kind == source::archive::Kind::Directory {
            std::fs::create_dir_all(path).unwrap();
        } else {
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut tree.open(&entry.path).unwrap(), &mut content).unwrap();
            std::fs::write(path, content).unwrap();
        }
    }
}
