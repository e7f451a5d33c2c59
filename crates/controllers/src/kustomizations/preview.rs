//! What the controller would do for a Kustomization, found out without doing it.
//!
//! The objects are built and the plan is made by what builds and plans in the controller; the engine is only asked for a dry run.

use std::path::Path;
use std::sync::Arc;

use api::kustomize::Kustomization;
use builder::Directory;
use engine::Engine;
use engine::plan::Plan;
use engine::unit::{
    Failure as NotDone, Generated, ManifestGenerator, MemoryStore, Operation, Phase, ReconciliationSettings,
    Status, SyncUnit, SyncUnitStore,
};
use futures::future::BoxFuture;
use model::Manifest;
use parking_lot::Mutex;
use source::archive::ignore::Rules;
use tokio::sync::oneshot;

use super::artifact::Artifacts;
use super::beyond::{Asks, judged, with_remedy};
use super::{Shared, generate, request, source as sources, unit};
use crate::kit::Failure;

/// Where the files of a Kustomization are.
#[derive(Clone, Copy, Debug)]
pub enum Files<'f> {
    /// In the artifact of its source.
    Artifact,
    /// In this directory, which stands for its path in the source.
    Directory {
        /// The directory.
        path: &'f Path,
        /// Files to leave out, as in `.gitignore`.
        ignore: &'f str,
    },
}

/// Why nothing can be told of a Kustomization.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("\n"))]
pub struct NoPlan(Vec<String>);

impl From<Failure> for NoPlan {
    fn from(failure: Failure) -> Self {
        NoPlan(vec![failure.message])
    }
}

/// The plan that the controller would carry out for an object of the cluster. Nothing is changed.
///
/// Other Kustomizations are not looked at: what they want too is not told.
///
/// # Errors
/// What the controller would tell instead.
pub async fn preview(shared: Shared, object: &Kustomization, files: Files<'_>) -> Result<Plan, NoPlan> {
    if let Some(problem) = unit::problem(&object.spec) {
        return Err(NoPlan(vec![problem.to_string()]));
    }
    let ignore = unit::ignored(&object.spec).map_err(|problem| NoPlan(vec![problem.to_string()]))?;
    let asks = Asks::of(object).map_err(|unclear| NoPlan(vec![unclear.to_string()]))?;
    let shared = Arc::new(shared);
    let generated = generated(&shared, object, files).await?;
    let asked = Operation {
        dry_run: true,
        ..Operation::default()
    };
    let status = unit::first_status(object);
    let mut unit = unit::unit(object, status, Some(asked), &shared.settings, ignore);
    // Nothing but the dry run is done, whatever is found.
    unit.policy.automatic = false;
    let (answer, answered) = oneshot::channel();
    let units = Asked {
        units: MemoryStore::new([unit]),
        answer: Mutex::new(Some(answer)),
    };
    let clusters = shared.settings.clusters(&shared.client);
    let engine = Engine::new(ReconciliationSettings::default(), clusters, generated, units);
    let asks = asks.or_budget(shared.settings.default_prune_budget);
    let budget = engine.on_before_sync(move |unit, plan| Ok(judged(&asks, unit, plan).0));
    budget.forever();
    let found = Mutex::new(None);
    let until = async {
        *found.lock() = answered.await.ok();
    };
    if let Err(error) = engine.run(1, 1, until).await {
        return Err(NoPlan(vec![error.to_string()]));
    }
    let found = found.into_inner();
    found.unwrap_or_else(|| Err(NoPlan(vec!["the engine ended without an answer".to_owned()])))
}

/// The objects, as the controller builds them.
async fn generated(shared: &Arc<Shared>, object: &Kustomization, files: Files<'_>) -> Result<Fixed, Failure> {
    let mut wanted = request(&object.spec);
    let (files, revision) = match files {
        Files::Artifact => {
            let artifact = sources::asked(&shared.client, object, &shared.settings).await?;
            let artifact = sources::asked_pinned(&shared.client, object, &shared.settings, artifact).await?;
            let files = Artifacts::new(shared).files(&artifact, &shared.settings).await?;
            generate::check_path(&files, &wanted.path)?;
            (files, artifact.revision.to_string())
        }
        Files::Directory { path, ignore } => {
            let failed = |error: &dyn std::fmt::Display| {
                let message = format!("{}: {error}", path.display());
                Failure::transient(api::Reason::ARTIFACT_FAILED, message)
            };
            let real = std::fs::canonicalize(path).map_err(|error| failed(&error))?;
            let text = real.to_str().ok_or_else(|| failed(&"it is not UTF-8"))?;
            wanted.path = text.trim_start_matches('/').to_owned();
            let tree = source::archive::Directory::new(path);
            let rules = Rules::with_defaults(&tree, Some(ignore)).map_err(|error| failed(&error))?;
            wanted.ignore = Some(rules);
            // Bases may be anywhere: the tree is the whole file system.
            let files = Directory::new(Path::new("/")).map_err(|error| failed(&error))?;
            (Arc::new(files), text.to_owned())
        }
    };
    let made = generate::manifests(shared, object, files, wanted, None).await?;
    Ok(Fixed {
        manifests: made.manifests,
        revision,
    })
}

/// What was built.
struct Fixed {
    manifests: Vec<Manifest>,
    revision: String,
}

impl ManifestGenerator for Fixed {
    fn generate<'a>(
        &'a self,
        _: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, NotDone>> {
        let generated = Generated {
            manifests: self.manifests.clone(),
            revision: self.revision.clone(),
        };
        Box::pin(async { Ok(generated) })
    }
}

/// One unit, and who waits for what the engine says of it.
struct Asked {
    units: MemoryStore,
    answer: Mutex<Option<oneshot::Sender<Result<Plan, NoPlan>>>>,
}

impl Asked {
    fn hear(&self, status: &Status) {
        let done = status
            .operation
            .as_ref()
            .filter(|operation| operation.phase.is_final());
        let answer = match done {
            Some(operation) if operation.phase == Phase::Succeeded => Ok(operation.plan.clone()),
            _ if !status.errors.is_empty() => Err(NoPlan(
                status.errors.iter().map(|error| with_remedy(error)).collect(),
            )),
            Some(operation) => Err(NoPlan(vec![operation.message.clone()])),
            None => return,
        };
        if let Some(sender) = self.answer.lock().take() {
            // Whoever waits no longer needs no answer.
            let _ = sender.send(answer);
        }
    }
}

impl SyncUnitStore for Asked {
    fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, NotDone>> {
        self.units.list()
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, NotDone>> {
        self.units.get(id)
    }

    fn set_status<'a>(&'a self, id: &'a str, status: Status) -> BoxFuture<'a, Result<(), NotDone>> {
        self.hear(&status);
        self.units.set_status(id, status)
    }

    fn set_operation<'a>(
        &'a self,
        id: &'a str,
        from: Option<&'a Operation>,
        to: Option<Operation>,
    ) -> BoxFuture<'a, Result<bool, NotDone>> {
        self.units.set_operation(id, from, to)
    }
}
