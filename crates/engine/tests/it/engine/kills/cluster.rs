//! What is in the cluster, and what others than the program do there.

use std::collections::BTreeMap;
use std::time::Duration;

use engine::cluster::{Apply, Cluster, Delete, Error, Resource, Selection, Write};
use model::{Value, value};
use tokio::task::AbortHandle;

use super::super::config_map;
use super::wishes::BYSTANDER;

/// Objects that are there, with their keys and identities.
pub(super) type Live = BTreeMap<String, (String, String)>;

/// A namespace of a cluster.
pub(super) struct Place {
    pub(super) test: testkit::Cluster,
    pub(super) namespace: String,
    /// The group of the kind that is defined by a unit.
    pub(super) group: String,
    cluster: Cluster,
    config_maps: Resource,
    widgets: Resource,
    definitions: Resource,
    nursing: AbortHandle,
}

impl Place {
    pub(super) async fn start() -> Place {
        let test = testkit::Cluster::start().await;
        let namespace = test.namespace("kills").await;
        let cluster = Cluster::with_agent(test.client(), "tests");
        let config_maps = cluster.preferred("", "ConfigMap").await.unwrap();
        let definitions = cluster.preferred("apiextensions.k8s.io", "CustomResourceDefinition");
        let definitions = definitions.await.unwrap();
        let group = format!("{}.example.com", test.prefix());
        // It need not be served, so that nobody can be asked where it is.
        let widgets = Resource {
            group: group.as_str().into(),
            version: "v1".into(),
            kind: "Widget".into(),
            plural: "widgets".into(),
            ..config_maps.clone()
        };
        let nursing = tokio::spawn(nurse(cluster.clone(), config_maps.clone(), namespace.clone()));
        let place = Place {
            nursing: nursing.abort_handle(),
            test,
            namespace,
            group,
            cluster,
            config_maps,
            widgets,
            definitions,
        };
        let mut bystander = config_map(BYSTANDER, "mine");
        bystander.set_at(&["metadata", "namespace"], place.namespace.as_str());
        let by = Apply::by("hand");
        let applied = place.cluster.apply(&place.config_maps, &bystander, &by);
        applied.await.unwrap();
        place
    }

    /// Versions that watches go on from are too old from now on, where that can be had.
    pub(super) fn compact(&self) {
        if let Some(server) = self.test.server() {
            server.compact();
        }
    }

    /// Somebody changes an object.
    pub(super) async fn change(&self, name: &str) {
        // It need not be there, and must not come to be: nobody would look after it.
        let (patch, by) = (value!({ "data": { "key": "by hand" } }), Write::by("hand"));
        let resource = self.resource(name);
        let changed = self
            .cluster
            .merge_patch(resource, &self.namespace, name, &patch, &by);
        drop(changed.await);
    }

    /// Somebody deletes an object, which need not be there.
    pub(super) async fn delete(&self, name: &str) {
        let options = Delete::default();
        let resource = self.resource(name);
        let deleted = self.cluster.delete(resource, &self.namespace, name, &options);
        drop(deleted.await);
    }

    fn resource(&self, name: &str) -> &Resource {
        match name.ends_with("-widget") {
            true => &self.widgets,
            false => &self.config_maps,
        }
    }

    /// All objects that are there.
    pub(super) async fn objects(&self) -> Live {
        let mut all = list(&self.cluster, &self.config_maps, &self.namespace).await;
        all.extend(list(&self.cluster, &self.widgets, &self.namespace).await);
        let text = |object: &Value, path: &[&str]| object.str_at(path).to_owned();
        let all = all.iter().map(|object| {
            let about = (text(object, &["data", "key"]), text(object, &["metadata", "uid"]));
            (text(object, &["metadata", "name"]), about)
        });
        // The cluster itself puts its certificate into each namespace.
        all.filter(|(name, _)| name != "kube-root-ca.crt").collect()
    }

    /// Whether the kind is defined.
    pub(super) async fn is_defined(&self) -> bool {
        let name = format!("widgets.{}", self.group);
        let live = self.cluster.get(&self.definitions, "", &name).await.unwrap();
        live.is_some()
    }

    pub(super) async fn end(self) {
        self.nursing.abort();
        self.test.finish().await;
    }
}

async fn list(cluster: &Cluster, resource: &Resource, namespace: &str) -> Vec<Value> {
    let selection = Selection {
        namespace: namespace.into(),
        ..Selection::default()
    };
    match cluster.list(resource, &selection, 500, None).await {
        Ok(page) => page.items.into_iter().collect(),
        // The kind is not served.
        Err(Error::NotFound(_) | Error::NoSuchKind { .. }) => Vec::new(),
        Err(error) => panic!("{resource:?}: {error}"),
    }
}

/// Sees to it that what takes its time is done after a while.
async fn nurse(cluster: Cluster, config_maps: Resource, namespace: String) {
    let (patch, by) = (value!({ "data": { "outcome": "done" } }), Write::by("nurse"));
    loop {
        for object in list(&cluster, &config_maps, &namespace).await {
            let is_patient = object.str_at(&["data", "slow"]) == "yes";
            if is_patient && object.str_at(&["data", "outcome"]).is_empty() {
                let name = object.str_at(&["metadata", "name"]);
                // It may be gone since.
                drop(
                    cluster
                        .merge_patch(&config_maps, &namespace, name, &patch, &by)
                        .await,
                );
            }
        }
        tokio::time::sleep(Duration::from_millis(fastrand::u64(20..120))).await;
    }
}
