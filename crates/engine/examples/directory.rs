//! Keeps a cluster in sync with a directory of YAML: `cargo run -p engine --example directory -- DIR`.
//!
//! The cluster is the one of your kubeconfig. What is changed by hand is put right, what goes from the directory goes from
//! the cluster. The directory is looked at every two seconds.

use std::path::PathBuf;
use std::time::Duration;

use engine::Engine;
use engine::futures::future::BoxFuture;
use engine::model::Manifest;
use engine::model::manifest::Origin;
use engine::plan::Strategy;
use engine::unit::{
    Destination, Failure, Generated, ManifestGenerator, MemoryStore, OneCluster, Policy,
    ReconciliationSettings, Source, Status, SyncUnit,
};

/// Reads all YAML files of a directory.
struct Directory(PathBuf);

impl ManifestGenerator for Directory {
    fn generate<'a>(
        &'a self,
        _: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async {
            let mut manifests = Vec::new();
            for file in std::fs::read_dir(&self.0)? {
                let path = file?.path();
                if path.extension().is_none_or(|extension| extension != "yaml") {
                    continue;
                }
                let text = std::fs::read_to_string(&path)?;
                for document in engine::yaml::documents(&text) {
                    let document = document?;
                    // Nothing stands behind a `---` at the end.
                    if document.value.is_null() {
                        continue;
                    }
                    let origin = Origin {
                        file: path.display().to_string().into(),
                        line: document.line,
                    };
                    manifests.push(Manifest::new(document.value, Some(origin))?);
                }
            }
            let revision = format!("{} manifests", manifests.len());
            Ok(Generated { manifests, revision })
        })
    }
}

fn unit() -> SyncUnit {
    SyncUnit {
        id: "directory".to_owned(),
        status: Status::default(),
        source: Source::default(),
        destination: Destination {
            cluster: String::new(),
            namespace: "default".to_owned(),
        },
        operation: None,
        policy: Policy {
            interval: Duration::from_secs(2),
            strategy: Strategy::flux("directory", "default"),
            ..Policy::default()
        },
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: directory DIR")?;
    let client = engine::kube::Client::try_default().await?;
    let engine = Engine::new(
        ReconciliationSettings::default(),
        OneCluster::new(client),
        Directory(directory.into()),
        MemoryStore::new([unit()]),
    );
    let _events = engine.on_unit_event(|unit, event| println!("{unit}: {:?}: {}", event.kind, event.message));
    let stopped = async { drop(tokio::signal::ctrl_c().await) };
    Ok(engine.run(2, 2, stopped).await?)
}

#[tokio::test]
async fn a_file_may_end_with_a_separator_and_have_comments_alone_between_two() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let text = "---\n# nothing yet\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n";
    std::fs::write(directory.path().join("a.yaml"), text).expect("a file can be written");
    let generated = Directory(directory.path().into())
        .generate(&unit(), None, false)
        .await;
    assert_eq!(generated.expect("it can be read").manifests.len(), 1);
}
