//! Keeps a cluster in sync with a directory of YAML: `cargo run -p engine --example directory -- DIR`.
//!
//! The cluster is the one of your kubeconfig. What is changed by hand is put right, what goes from the directory goes from
//! the cluster, also while this does not run: what it has applied is in DIR/.units. The directory is looked at every two seconds.

use std::path::PathBuf;
use std::time::Duration;

use engine::Engine;
use engine::futures::future::BoxFuture;
use engine::model::manifest::Origin;
use engine::model::{Manifest, Value};
use engine::plan::Strategy;
use engine::plan::objects::digest;
use engine::unit::{
    Failure, FileStore, Generated, ManifestGenerator, OneCluster, ReconciliationSettings, SyncUnit,
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
            let files = std::fs::read_dir(&self.0)?.collect::<Result<Vec<_>, _>>()?;
            let mut paths: Vec<PathBuf> = files.iter().map(|file| file.path()).collect();
            paths.sort();
            for path in paths {
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
            let all: Vec<Value> = manifests
                .iter()
                .map(|manifest| manifest.value().clone())
                .collect();
            let revision = digest(&Value::Array(all.into())).to_string();
            Ok(Generated { manifests, revision })
        })
    }
}

fn unit() -> SyncUnit {
    let mut unit = SyncUnit::new("directory");
    unit.destination.namespace = "default".to_owned();
    unit.policy.interval = Duration::from_secs(2);
    unit.policy.strategy = Strategy::flux("directory", "default");
    unit
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: directory DIR")?);
    let units = FileStore::open(directory.join(".units"), [unit()])?;
    let cluster = OneCluster::of(engine::kube::Config::infer().await?)?;
    let settings = ReconciliationSettings::default();
    let engine = Engine::new(settings, cluster, Directory(directory), units);
    let _events = engine.on_unit_event(|unit, event| println!("{unit}: {:?}: {}", event.kind, event.message));
    let stopped = async { drop(tokio::signal::ctrl_c().await) };
    Ok(engine.run(2, 2, stopped).await?)
}

#[tokio::test]
async fn a_revision_is_what_is_in_the_files_which_may_be_empty_between_separators() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let mut revisions = Vec::new();
    for name in ["a", "b"] {
        let text =
            format!("---\n# none\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n---\n");
        std::fs::write(directory.path().join("a.yaml"), text).expect("a file can be written");
        let generator = Directory(directory.path().into());
        let generated = generator.generate(&unit(), None, false).await;
        let generated = generated.expect("it can be read");
        assert_eq!(generated.manifests.len(), 1);
        revisions.push(generated.revision);
    }
    assert_ne!(revisions[0], revisions[1]);
}
