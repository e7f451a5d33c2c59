//! Mallory chooses how much there is to fetch. No more of it is taken than the process can hold.

use std::io::{self, Read};
use std::sync::atomic::AtomicBool;

use model::digest::Algorithm;
use source::archive::ignore::Rules;
use source::archive::{Entry, Kind, MemoryTree, Modes, Stoppable, Tree, pack};
use source::bucket;
use source::helm::NoRepositories;
use source::helm::build::{Options, from_tree};
use source::helm::chart::Limits;
use source::verify::cosign;
use testkit::http::Method;
use testkit::oci::{Artifact, Server};

use crate::git::chain;
use crate::oci::{anonymous, repository};

const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json";
const KEY: &[u8] = include_bytes!("../../data/cosign/cosign.pub");

/// Pushes an artifact with signature bundles and returns how many of them a verification fetches.
async fn bundles_fetched(bundles: impl Iterator<Item = String>) -> usize {
    let registry = Server::start();
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let attached = bundles.fold(Artifact::empty(BUNDLE), |attached, bundle| {
        attached.layer(BUNDLE, bundle)
    });
    registry.attach("team/app", &digest, &attached);
    let keys = cosign::keys([("cosign.pub", KEY)]).unwrap();
    let repository = repository(&registry, "team/app");
    let verified = cosign::verify_with_keys(&anonymous(), &repository, digest.parse().unwrap(), &keys).await;
    verified.unwrap_err();
    registry.count(Method::GET, "/blobs/")
}

#[tokio::test]
async fn the_bundles_of_an_artifact_are_limited_in_number_and_size() {
    let many = bundles_fetched((0..200).map(|number| format!("{{\"number\": {number}}}"))).await;
    assert_eq!(many, 50);
    let large = |number: usize| format!("{number:08}").repeat(1 << 20);
    let large = bundles_fetched((0..20).map(large)).await;
    assert!(large < 8, "{large} bundles of 8 MiB were fetched");
}

/// A tree that lists the same large file many times, as a commit of a few bytes can.
struct Bomb;

impl Tree for Bomb {
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let kind = Kind::File { executable: false };
        let entry = |number: usize| Entry {
            path: format!("{number:08}"),
            kind,
        };
        Ok((0..8).map(entry).collect())
    }

    fn open(&self, _: &str) -> io::Result<Box<dyn Read + '_>> {
        panic!("nothing is read of what is refused");
    }

    fn size(&self, _: &str) -> io::Result<Option<u64>> {
        Ok(Some(1 << 30))
    }
}

fn packed(tree: &dyn Tree) -> io::Result<source::archive::Packed> {
    pack(tree, &Rules::none(), Modes::OWN, Algorithm::Sha256, io::sink())
}

#[test]
fn a_tree_that_is_too_large_is_not_packed() {
    let error = packed(&Bomb).unwrap_err().to_string();
    assert!(error.contains("more than 4294967296 bytes together"), "{error}");
}

#[test]
fn packing_ends_when_nobody_waits_for_the_archive() {
    let tree = MemoryTree::new().with("a", "1");
    let stop = AtomicBool::new(false);
    packed(&Stoppable::new(&tree, &stop)).unwrap();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    packed(&Stoppable::new(&tree, &stop)).unwrap_err();
}

#[tokio::test]
async fn all_objects_of_a_bucket_together_have_a_size() {
    let server = testkit::s3::Server::builder().key("access", "secret").start();
    let files = server.bucket("manifests");
    for number in 0..10 {
        files.put(&format!("{number}.yaml"), "x".repeat(100));
    }
    let options = bucket::s3::Options {
        endpoint: server.host(),
        bucket: "manifests".into(),
        region: String::new(),
        insecure: true,
        credentials: bucket::s3::Credentials::Key(bucket::s3::Key {
            id: "access".into(),
            secret: "secret".into(),
            session: None,
        }),
        http: source::http::Options::default(),
    };
    let store = bucket::s3::Bucket::new(options).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut index = bucket::index(&store, "", None).await.unwrap();
    let downloaded = bucket::download(&store, &mut index, directory.path(), 999).await;
    let error = downloaded.unwrap_err().to_string();
    assert!(error.contains("more than 999 bytes"), "{error}");
    bucket::download(&store, &mut index, directory.path(), 1000)
        .await
        .unwrap();
}

/// A chart that needs the chart in `large` under many names.
fn chart_with(dependencies: usize) -> MemoryTree {
    let mut chart = "apiVersion: v2\nname: app\nversion: 0.1.0\ndependencies:\n".to_owned();
    for number in 0..dependencies {
        chart +=
            &format!("- {{name: large, alias: a{number}, version: 1.0.0, repository: 'file://../large'}}\n");
    }
    MemoryTree::new()
        .with("app/Chart.yaml", chart)
        .with(
            "large/Chart.yaml",
            "apiVersion: v2\nname: large\nversion: 1.0.0\n",
        )
        .with("large/README.md", "x".repeat(1000))
}

#[tokio::test]
async fn the_dependencies_of_a_chart_are_limited_in_number_and_size() {
    let limits = Limits {
        unpacked: 50_000,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    let built = async |dependencies: usize| {
        let tree = chart_with(dependencies);
        let built = from_tree(&tree, "app", &NoRepositories, &options).await;
        built.map(drop).map_err(|error| chain(&error))
    };
    built(10).await.unwrap();
    let error = built(100).await.unwrap_err();
    assert!(error.contains("more than 50000 bytes"), "{error}");
    let error = built(257).await.unwrap_err();
    assert!(error.contains("more than 256 charts"), "{error}");
}
