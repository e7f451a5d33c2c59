//! What is left of units that are gone: nothing.

use std::time::Duration;

use futures::future::BoxFuture;
use model::{Manifest, value};
use tokio::sync::oneshot;

use crate::Engine;
use crate::plan;
use crate::unit::{
    Access, CredentialsStore, Destination, Failure, Generated, ManifestGenerator, MemoryStore, Policy,
    ReconciliationSettings, Source, Status, SyncUnit,
};

/// Each name is a cluster of its own, all at one address.
struct Names(kube::Client);

impl CredentialsStore for Names {
    fn get_cluster<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Access, Failure>> {
        Box::pin(async move {
            match name {
                "unreachable" => Err(Failure::new("it cannot be reached")),
                name => Ok(Access {
                    endpoint: "https://one.example".to_owned(),
                    identity: name.to_owned(),
                    vouched_by: String::new(),
                    client: self.0.clone(),
                }),
            }
        })
    }
}

/// A config map for each unit, and a source that cannot be read for some.
struct Maps;

impl ManifestGenerator for Maps {
    fn generate<'a>(
        &'a self,
        unit: &'a SyncUnit,
        _: Option<&'a str>,
        _: bool,
    ) -> BoxFuture<'a, Result<Generated, Failure>> {
        Box::pin(async {
            if unit.id.starts_with("broken") {
                return Err(Failure::new("there is no source"));
            }
            let object = value!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": { "name": (unit.id.as_str()), "namespace": "default" },
            });
            Ok(Generated {
                manifests: vec![Manifest::unnamed(object, None)?],
                revision: "v1".to_owned(),
            })
        })
    }
}

fn unit(id: &str, cluster: &str) -> SyncUnit {
    let mut policy = Policy::default();
    if id.starts_with("waits") {
        // For something that never comes.
        let awaited = model::ObjectKey {
            group: "".into(),
            kind: "ConfigMap".into(),
            namespace: "default".into(),
            name: "nothing".into(),
        };
        policy.options.wait = Some(plan::Health {
            objects: Some(vec![awaited]),
            seconds: 3600,
            ..plan::Health::default()
        });
    }
    SyncUnit {
        id: id.to_owned(),
        tenant: String::new(),
        status: Status::default(),
        source: Source::default(),
        destination: Destination {
            cluster: cluster.to_owned(),
            namespace: "default".to_owned(),
        },
        operation: None,
        policy,
    }
}

/// How much the engine keeps of units, by what it is.
fn kept(engine: &Engine) -> Vec<(&'static str, usize)> {
    let shared = &engine.shared;
    vec![
        ("units", shared.known.all().len()),
        ("claims", shared.known.claims.kept()),
        ("awaited", shared.known.awaited.kept()),
        ("heard", shared.heard.kept()),
        ("starting", shared.starting.kept()),
        ("status", shared.status.keys()),
        ("operations", shared.operations.keys()),
        ("clusters", shared.clusters.names()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_units_that_are_gone() {
    let test = testkit::Cluster::embedded(apiserver::Server::builder());
    let ids: Vec<(String, String)> = (0..40)
        .map(|at| match at % 4 {
            0 => (format!("fine-{at}"), format!("cluster-{at}")),
            1 => (format!("waits-{at}"), "shared".to_owned()),
            2 => (format!("broken-{at}"), "shared".to_owned()),
            _ => (format!("far-{at}"), "unreachable".to_owned()),
        })
        .collect();
    let units = MemoryStore::new(ids.iter().map(|(id, cluster)| unit(id, cluster)));
    let settings = ReconciliationSettings::default();
    let engine = Engine::new(settings, Names(test.client()), Maps, units.clone());
    let (end, ended) = oneshot::channel::<()>();
    let running = engine.clone();
    let running = tokio::spawn(async move {
        let until = async { drop(ended.await) };
        running.run(4, 4, until).await
    });
    let every = testkit::settled::Every(Duration::from_millis(10));
    let limit = Duration::from_secs(60);
    let all_seen = testkit::settled(limit, every, async || {
        let is_seen = |id: &str| {
            let status = units.unit(id).map(|unit| unit.status).unwrap_or_default();
            match id.split_once('-').map(|(kind, _)| kind) {
                Some("fine") => status.revision == "v1",
                Some("waits") => status.operation.is_some(),
                _ => !status.errors.is_empty(),
            }
        };
        match ids.iter().find(|(id, _)| !is_seen(id)) {
            None => Ok(()),
            Some((id, _)) => Err(format!("{id} was not looked at")),
        }
    });
    all_seen.await.unwrap();
    for (id, _) in &ids {
        // Nobody has deleted what they applied.
        units.remove(id);
        engine.refresh(id);
    }
    let every = testkit::settled::Every(Duration::from_millis(10));
    let forgotten = testkit::settled(limit, every, async || {
        // Who was at work when the last unit was forgotten may have kept its cluster.
        engine.terminate("never there");
        let kept = kept(&engine);
        match kept.iter().all(|(_, count)| *count == 0) {
            true => Ok(()),
            false => Err(format!("{kept:?}")),
        }
    });
    forgotten.await.unwrap();
    drop(end);
    running.await.unwrap().unwrap();
}
