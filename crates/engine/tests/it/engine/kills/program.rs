//! The program that is killed: an engine whose units are in files.

use std::io::{BufRead, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::Engine;
use engine::cluster::connect;
use engine::plan::Strategy;
use engine::unit::{
    Destination, Failure, Generated, ManifestGenerator, OneCluster, Operation, Policy, Source, Status,
    SyncUnit, SyncUnitStore,
};
use futures::future::BoxFuture;
use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use model::{Manifest, Value};
use serde::de::DeserializeOwned;

use super::super::outcomes;
use super::faulty;
use super::wishes::{BRIEF, UNITS};

/// The folder that the program works in. Without it there is nothing to do.
pub(super) const FOLDER: &str = "SLUICE_ENGINE_FOLDER";

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
    let engine = Engine::new(outcomes(), OneCluster::new(client), files.clone(), files);
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

/// What the program finds of a unit: its revision and its manifests.
pub(super) type Described = (String, Vec<Value>);

/// What is in a file, if it is there. It is there whole or not at all.
pub(super) fn stored<T: DeserializeOwned>(path: &Path) -> Option<T> {
    match std::fs::read(path) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap()),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => panic!("{}: {error}", path.display()),
    }
}

/// Puts a file in the place of another, whole.
pub(super) fn replace(path: &Path, content: &impl serde::Serialize) {
    // Not in the place of the extension: what this process and the other one write must not meet.
    let new = path.with_file_name(format!("{}.new", path.file_name().unwrap().display()));
    std::fs::write(&new, serde_json::to_vec(content).unwrap()).unwrap();
    std::fs::rename(new, path).unwrap();
}

/// Units, their sources, what is asked of them and what has become of them, in files.
#[derive(Clone)]
struct Files {
    folder: PathBuf,
    namespace: String,
}

impl Files {
    fn file(&self, unit: &str, what: &str) -> PathBuf {
        self.folder.join(format!("{unit}.{what}"))
    }

    /// A unit, if it has a source.
    fn unit(&self, id: &str) -> Option<SyncUnit> {
        if !self.file(id, "source").exists() {
            return None;
        }
        let strategy = match id {
            "waves" => Strategy::flux_with_waves(id, &self.namespace),
            "hooks" | BRIEF => Strategy::argo(id),
            _ => Strategy::flux(id, &self.namespace),
        };
        Some(SyncUnit {
            id: id.to_owned(),
            tenant: String::new(),
            status: stored(&self.file(id, "status")).unwrap_or_default(),
            source: Source::default(),
            destination: Destination {
                cluster: String::new(),
                namespace: self.namespace.clone(),
            },
            operation: stored(&self.file(id, "operation")),
            policy: Policy {
                strategy,
                retry: Duration::from_millis(200),
                ..Policy::default()
            },
        })
    }
}

impl SyncUnitStore for Files {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
        Box::pin(async { Ok(UNITS.iter().filter_map(|unit| self.unit(unit)).collect()) })
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
        Box::pin(async { Ok(self.unit(id)) })
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            replace(&self.file(id, "status"), &status);
            Ok(())
        })
    }

    /// The other process asks only where nobody does, so that nothing comes between.
    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, Failure>> {
        Box::pin(async move {
            let file = self.file(id, "operation");
            let is_it = stored::<Operation>(&file).as_ref() == from;
            match to {
                _ if !is_it => {}
                Some(to) => replace(&file, &to),
                None => std::fs::remove_file(&file)?,
            }
            Ok(is_it)
        })
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
            let described = stored::<Described>(&self.file(&unit.id, "source"));
            let (revision, manifests) = described.ok_or_else(|| Failure::new("there is no source"))?;
            let manifests = manifests
                .into_iter()
                .map(|manifest| Manifest::new(manifest, None));
            Ok(Generated {
                manifests: manifests.collect::<Result<_, _>>()?,
                revision,
            })
        })
    }
}
