//! Units of tenants that do not trust each other: what one may not do in the cluster it may not bring about through the engine either.

mod budgets;
mod claims;
mod expression_costs;
mod expressions;
mod hearings;
mod nesting;
mod queues;
mod servers;
mod slow_builds;
mod slow_servers;

use std::time::Duration;

use engine::Engine;
use engine::plan::Strategy;
use engine::unit::{MemoryStore, Status, SyncUnit};
use model::{Value, value};

use crate::engine::LIMIT;
use crate::engine::bed::{Bed, Running, Sources};
use crate::engine::clusters::{Names, run};

/// An engine with units of the platform, which may do everything, and of a tenant, who may do as they like in a namespace of their own.
struct Tenants {
    bed: Bed,
    /// The namespace of the tenant.
    theirs: String,
    names: Names,
    sources: Sources,
    units: MemoryStore,
    engine: Engine,
    running: Running,
}

impl Tenants {
    async fn start() -> Tenants {
        Tenants::on(Bed::start().await).await
    }

    /// The same on the embedded server, for a paused clock.
    async fn paused() -> Tenants {
        let cluster = testkit::Cluster::embedded(apiserver::Server::builder());
        Tenants::on(Bed::on(cluster).await).await
    }

    async fn on(bed: Bed) -> Tenants {
        let theirs = bed.test.namespace("tenant").await;
        let user = bed.test.name("tenant");
        let names = Names::new();
        let tenant = bed.test.client_as(&user, &["system:authenticated"]);
        names.set("platform", "https://one.example", "platform", bed.test.client());
        names.set("tenant", "https://one.example", "tenant", tenant);
        let binding = value!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": { "name": "tenant", "namespace": (theirs.as_str()) },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "admin" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": (user.as_str()) }],
        });
        let bindings = bed.resource("rbac.authorization.k8s.io", "RoleBinding").await;
        let by = engine::cluster::Apply::by("tests");
        bed.cluster.apply(&bindings, &binding, &by).await.unwrap();
        let (sources, units) = (Sources::default(), MemoryStore::default());
        let (engine, running) = run(&names, &sources, &units);
        let tenants = Tenants {
            bed,
            theirs,
            names,
            sources,
            units,
            engine,
            running,
        };
        tenants.has_rights().await;
        tenants
    }

    /// Waits until the tenant may write in their namespace: a real server takes a moment until it knows the binding.
    async fn has_rights(&self) {
        let user = self.bed.test.name("tenant");
        let client = self.bed.test.client_as(&user, &["system:authenticated"]);
        let cluster = engine::cluster::Cluster::with_agent(client, "tests");
        let maps = cluster.resource("", "v1", "ConfigMap").await.unwrap();
        let every = testkit::settled::Every(Duration::from_millis(50));
        let settled = testkit::settled(LIMIT, every, async || {
            cluster.get(&maps, &self.theirs, "any").await.map(drop)
        });
        settled.await.unwrap();
    }

    /// A unit as Flux would look after it, in the cluster of this name.
    fn flux_unit(&self, id: &str, cluster: &str) -> SyncUnit {
        let strategy = self.bed.unit(id).policy.strategy;
        let mut unit = self.unit(id, cluster);
        unit.policy.strategy = strategy;
        unit
    }

    /// Ends the engine and starts another, which knows of a unit what the status of a Kustomization says: no place.
    async fn restart_without_place(&mut self, id: &str) {
        self.running.end().await;
        let mut unit = self.units.unit(id).unwrap();
        unit.status.place = None;
        unit.status.wanted.clear();
        unit.status.operation = None;
        self.units.put(unit);
        (self.engine, self.running) = run(&self.names, &self.sources, &self.units);
    }

    /// A unit in the cluster of this name.
    fn unit(&self, id: &str, cluster: &str) -> SyncUnit {
        let mut unit = self.bed.unit(id);
        unit.policy.strategy = Strategy::helm();
        unit.destination.cluster = cluster.to_owned();
        if cluster == "tenant" {
            unit.destination.namespace.clone_from(&self.theirs);
        }
        unit
    }

    /// The source of a unit in the cluster of this name is this from now on.
    fn sync(&self, id: &str, cluster: &str, revision: &str, objects: impl IntoIterator<Item = Value>) {
        self.sources.set(id, revision, objects);
        if self.units.unit(id).is_none() {
            self.units.put(self.unit(id, cluster));
        }
        self.engine.refresh(id);
    }

    /// Waits until the status of a unit is as wanted.
    async fn until(&self, unit: &str, wanted: impl Fn(&Status) -> bool) -> Status {
        let every = testkit::settled::Every(Duration::from_millis(10));
        let settled = testkit::settled(LIMIT, every, async || {
            let status = self.units.unit(unit).unwrap().status;
            match wanted(&status) {
                true => Ok(status),
                false => Err(format!("{status:#?}")),
            }
        });
        settled.await.unwrap_or_else(|error| panic!("{unit}: {error}"))
    }

    async fn applied(&self, unit: &str, revision: &str) -> Status {
        self.until(unit, |status| status.revision == revision).await
    }

    /// Waits until the server has refused something of a unit.
    async fn refused(&self, unit: &str) {
        let is_refused = |status: &Status| status.errors.iter().any(|error| error.contains("orbidden"));
        self.until(unit, is_refused).await;
    }

    /// Ends the engine where it is and starts another with the same store.
    async fn restart(&mut self) {
        self.running.end().await;
        (self.engine, self.running) = run(&self.names, &self.sources, &self.units);
    }

    async fn finish(self) {
        self.running.end().await;
        self.bed.finish().await;
    }
}
