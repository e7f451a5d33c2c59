//! The program that is killed: an engine whose units are in files.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::Engine;
use engine::cluster::connect;
use engine::plan::Strategy;
use engine::unit::{
    Destination, Failure, Generated, ManifestGenerator, OneCluster, Operation, Policy,
    ReconciliationSettings, Source, Status, SyncUnit, SyncUnitStore,
};
use futures::future::BoxFuture;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use model::{Manifest, value};

use super::faulty;

/// The folder that the program works in. Without it there is nothing to do.
pub(super) const FOLDER: &str = "SLUICE_ENGINE_FOLDER";
/// One that is applied at once, and one that is applied in waves, so that its operations have several stages.
pub(super) const UNITS: [&str; 2] = ["plain", "waves"];

/// The program that is killed: this test, started by the other one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_runs_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let file = Kubeconfig::read_from(folder.join("kubeconfig")).unwrap();
    let config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await;
    let mut config = config.unwrap();
    config.proxy_url = None;
    let client = faulty::client(connect(config).unwrap());
    let files = Files {
        namespace: std::fs::read_to_string(folder.join("namespace")).unwrap(),
        folder,
    };
    let settings = ReconciliationSettings::default();
    let engine = Engine::new(settings, OneCluster::new(client), files.clone(), files);
    engine
        .on_unit_event(|unit, event| eprintln!("{unit}: {:?}: {}", event.kind, event.message))
        .forever();
    let told = engine.clone();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() {
                break;
            }
            UNITS.iter().for_each(|unit| told.refresh(unit));
        }
        // Whoever has started us is gone.
        std::process::exit(0);
    });
    engine.run(2, 2, std::future::pending()).await.unwrap();
}

/// Units, their sources and what has become of them, in files.
#[derive(Clone)]
struct Files {
    folder: PathBuf,
    namespace: String,
}

/// What has become of a unit, if anything is stored.
pub(super) fn stored(folder: &Path, unit: &str) -> Option<Status> {
    let bytes = std::fs::read(folder.join(format!("{unit}.status"))).ok()?;
    Some(serde_json::from_slice(&bytes).expect("a file is there whole or not at all"))
}

/// Puts a file in the place of another, whole.
pub(super) fn replace(path: &Path, content: &impl serde::Serialize) {
    // Not in the place of the extension: what this process and the other one write must not meet.
    let new = path.with_file_name(format!("{}.new", path.file_name().unwrap().display()));
    std::fs::write(&new, serde_json::to_vec(content).unwrap()).unwrap();
    std::fs::rename(new, path).unwrap();
}

impl Files {
    fn unit(&self, id: &str) -> SyncUnit {
        let strategy = match id {
            "waves" => Strategy::flux_with_waves(id, &self.namespace),
            _ => Strategy::flux(id, &self.namespace),
        };
        SyncUnit {
            id: id.to_owned(),
            status: stored(&self.folder, id).unwrap_or_default(),
            source: Source::default(),
            destination: Destination {
                cluster: String::new(),
                namespace: self.namespace.clone(),
            },
            operation: None,
            policy: Policy {
                strategy,
                retry: Duration::from_millis(200),
                ..Policy::default()
            },
        }
    }
}

impl SyncUnitStore for Files {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(async { Ok(UNITS.iter().map(|unit| self.unit(unit)).collect()) })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async { Ok(Some(self.unit(id))) })
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            replace(&self.folder.join(format!("{id}.status")), &status);
            Ok(())
        })
    }

    fn set_operation<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a Operation>,
        _: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async { Ok(true) })
    }
}

impl ManifestGenerator for Files {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async {
            let bytes = std::fs::read(self.folder.join(format!("{}.source", unit.id)))?;
            let source: serde_json::Value = serde_json::from_slice(&bytes)?;
            let objects = source["objects"].as_array().into_iter().flatten();
            let manifests = objects.enumerate().map(|(wave, object)| {
                let (name, key) = (object["name"].as_str(), object["key"].as_str());
                let object = value!({
                    "apiVersion": "v1", "kind": "ConfigMap",
                    "metadata": {
                        "name": (name.unwrap()),
                        "annotations": { "argocd.argoproj.io/sync-wave": (wave.to_string()) },
                    },
                    "data": { "key": (key.unwrap()) },
                });
                Manifest::new(object, None)
            });
            Ok(Generated {
                manifests: manifests.collect::<Result<_, _>>()?,
                revision: source["revision"].as_str().unwrap().to_owned(),
            })
        })
    }
}
