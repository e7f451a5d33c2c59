//! The GitOps engine: brings a cluster to a desired state and keeps it there. It knows no custom resource of ours.
//!
//! ```text
//! unit ─▶ manifests ─▶ observe ─▶ plan ─▶ sync ─▶ status
//!                      cluster    diff    cluster
//!                      cache      (pure)  cache, health
//! ```
//!
//! [`Engine`] does all of it for the units of a store. Each part can also be used alone: [`cluster`] is one API server and
//! what can be asked of it, [`cache`] what is known of it without asking, [`diff`] what an object lacks, [`health`] how it is
//! doing, [`plan`] what would be done, [`sync`] carries that out.
//!
//! # Embedding it
//!
//! Whoever embeds the engine brings a [store of units](unit::SyncUnitStore), a [generator of
//! manifests](unit::ManifestGenerator) and [access to clusters](unit::CredentialsStore). How a unit is looked after is its
//! [policy](unit::Policy): unless that says otherwise, objects are applied in the order of Helm, all that was applied is the unit's own, and there
//! are neither hooks nor marks in the cluster ([`plan::Strategy::helm`]).
//!
//! A generator turns the source of a unit into objects, and says which revision they are of. In `value!`, values are literals, names or
//! `(expressions)`:
//!
//! ```
//! use engine::futures::future::BoxFuture;
//! use engine::model::{Manifest, value};
//! use engine::unit::{Failure, Generated, ManifestGenerator, SyncUnit};
//!
//! /// A greeting for each unit: a config map with what its source has as parameters.
//! struct Greetings;
//!
//! impl ManifestGenerator for Greetings {
//!     fn generate<'a>(
//!         &'a self,
//!         unit: &'a SyncUnit,
//!         revision: Option<&'a str>, // what somebody asks for, instead of what the source says
//!         _fresh: bool,              // nothing is kept here that could be out of date
//!     ) -> BoxFuture<'a, Result<Generated, Failure>> {
//!         Box::pin(async move {
//!             let text = unit.source.parameters.str_at(&["text"]);
//!             if text.is_empty() {
//!                 return Err(Failure::new(format!("{} has no text: set parameters.text", unit.id)));
//!             }
//!             let object = value!({
//!                 "apiVersion": "v1", "kind": "ConfigMap",
//!                 "metadata": { "name": "greeting" }, "data": { "text": text },
//!             });
//!             Ok(Generated {
//!                 manifests: vec![Manifest::new(object, None)?],
//!                 revision: revision.unwrap_or(&unit.source.revision).to_owned(),
//!             })
//!         })
//!     }
//! }
//!
//! let mut unit = SyncUnit::new("hello");
//! unit.destination.namespace = "default".to_owned();
//! unit.source.parameters = value!({ "text": "Hello!" });
//! # let generated = engine::futures::executor::block_on(Greetings.generate(&unit, Some("v1"), false)).unwrap();
//! # assert_eq!((generated.revision.as_str(), generated.manifests[0].value().str_at(&["data", "text"])), ("v1", "Hello!"));
//! ```
//!
//! A store has the units, and keeps what the engine writes of each. What it returns from `get` has to have the status that was
//! written last, so that another process can go on from it. The engine takes it over: whoever [asks for operations](unit::Operation)
//! keeps an `Arc` of it. [`unit::MemoryStore`] is one, and [`unit::FileStore`], which outlives the
//! process; this one has a single unit and a file, which it writes by the crate `serde_json`:
//!
//! ```
//! use std::path::PathBuf;
//! use std::sync::{Mutex, MutexGuard, PoisonError};
//!
//! use engine::futures::future::BoxFuture;
//! use engine::unit::{Failure, Operation, Status, SyncUnit, SyncUnitStore};
//!
//! struct OneUnit {
//!     unit: Mutex<SyncUnit>,
//!     file: PathBuf,
//! }
//!
//! impl OneUnit {
//!     /// The unit, with the status that a process before this one has left.
//!     fn open(mut unit: SyncUnit, file: PathBuf) -> Result<Self, Failure> {
//!         if file.exists() {
//!             unit.status = serde_json::from_slice(&std::fs::read(&file)?)?;
//!         }
//!         Ok(OneUnit { unit: Mutex::new(unit), file })
//!     }
//!
//!     fn unit(&self) -> MutexGuard<'_, SyncUnit> {
//!         self.unit.lock().unwrap_or_else(PoisonError::into_inner)
//!     }
//! }
//!
//! impl SyncUnitStore for OneUnit {
//!     fn list(&self) -> BoxFuture<'_, Result<Vec<SyncUnit>, Failure>> {
//!         Box::pin(async { Ok(vec![self.unit().clone()]) })
//!     }
//!
//!     fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<SyncUnit>, Failure>> {
//!         Box::pin(async move { Ok(Some(self.unit().clone()).filter(|unit| unit.id == id)) })
//!     }
//!
//!     fn set_status<'a>(&'a self, _: &'a str, status: Status) -> BoxFuture<'a, Result<(), Failure>> {
//!         Box::pin(async move {
//!             let mut unit = self.unit();
//!             // A process that ends while it writes leaves the file as it was.
//!             let new = self.file.with_extension("new");
//!             std::fs::write(&new, serde_json::to_vec(&status)?)?;
//!             std::fs::rename(&new, &self.file)?;
//!             unit.status = status;
//!             Ok(())
//!         })
//!     }
//!
//!     fn set_operation<'a>(
//!         &'a self,
//!         _: &'a str,
//!         from: Option<&'a Operation>,
//!         to: Option<Operation>,
//!     ) -> BoxFuture<'a, Result<bool, Failure>> {
//!         Box::pin(async move {
//!             let mut unit = self.unit();
//!             let is_it = unit.operation.as_ref() == from;
//!             if is_it {
//!                 unit.operation = to;
//!             }
//!             Ok(is_it)
//!         })
//!     }
//! }
//! # use engine::futures;
//! # let unit = SyncUnit::new("a");
//! # let file = std::env::temp_dir().join(format!("engine-doc-{}", std::process::id()));
//! # let store = OneUnit::open(unit.clone(), file.clone()).unwrap();
//! # let status = Status { revision: "v1".into(), ..Status::default() };
//! # futures::executor::block_on(store.set_status("a", status)).unwrap();
//! # let again = OneUnit::open(unit, file.clone()).unwrap();
//! # let unit = futures::executor::block_on(again.get("a")).unwrap().unwrap();
//! # assert_eq!(unit.status.revision, "v1");
//! # std::fs::remove_file(file).unwrap();
//! ```
//!
//! With both, the engine runs until it is told to end. `examples/directory.rs` is a whole program; besides `engine` it needs `tokio`, and
//! nothing to store with, as it has a [`unit::FileStore`].
//!
//! ```no_run
//! use engine::kube::Client;
//! use engine::unit::{Failure, ManifestGenerator, OneCluster, ReconciliationSettings, SyncUnitStore};
//! use engine::{Engine, RunError};
//!
//! async fn keep_in_sync(
//!     client: Client, // Client::try_default().await? is the one of the kubeconfig
//!     generator: impl ManifestGenerator,
//!     store: impl SyncUnitStore,
//! ) -> Result<(), RunError> {
//!     let engine = Engine::new(ReconciliationSettings::default(), OneCluster::new(client), generator, store);
//!     let _frozen = engine.on_before_sync(|unit, plan| match unit.id.starts_with("prod/") {
//!         true => Err(Failure::new("nothing is changed before Monday")),
//!         false => Ok(plan),
//!     });
//!     let _events = engine.on_unit_event(|unit, event| println!("{unit}: {:?} {}", event.kind, event.message));
//!     engine.run(20, 10, async { drop(tokio::signal::ctrl_c().await) }).await
//! }
//! ```

pub mod cache;
pub mod cluster;
pub mod diff;
mod engine;
pub mod health;
pub mod observe;
mod panics;
pub mod plan;
pub mod queue;
pub mod sync;
pub mod unit;
pub mod workers;

/// The crates whose types stand in signatures of this one, in the versions that fit: objects are [`model`]'s, read by [`yaml`]; clients
/// are [`kube`]'s; what traits return are boxed futures and streams of [`futures`]; times are [`jiff`]'s; the schemas that objects are
/// compared by offline are [`smd`]'s. Whoever embeds the engine needs `tokio` besides, and what its own store writes with.
pub use {futures, jiff, kube, model, smd, yaml};

pub use engine::{Engine, RunError, Subscription, UnitEvent, UnitEventKind};
