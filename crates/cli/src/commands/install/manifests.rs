//! The manifests of `deploy` as they are wanted.

use anyhow::Context as _;
use model::{Value, value};

use super::component::{BASE, Component};

/// The namespace that the manifests are written for.
const NAMESPACE: &str = "flux-system";
/// The domain that they are written for.
const DOMAIN: &str = "cluster.local";

/// How an installation is to be.
pub(super) struct Wanted<'a> {
    pub(super) namespace: &'a str,
    pub(super) components: Vec<Component>,
    pub(super) registry: &'a str,
    pub(super) tag: &'a str,
    pub(super) image_pull_secret: &'a str,
    pub(super) watch_all_namespaces: bool,
    pub(super) network_policy: bool,
    pub(super) log_level: &'a str,
    pub(super) cluster_domain: &'a str,
    pub(super) toleration_keys: &'a [String],
    pub(super) events_address: &'a str,
}

/// All objects, in an order in which they can be applied one after the other.
pub(super) fn all(wanted: &Wanted<'_>) -> anyhow::Result<Vec<Value>> {
    let own = wanted.components.iter().flat_map(|component| component.files);
    let mut objects = definitions(wanted);
    let mut files: Vec<&str> = Vec::new();
    for file in BASE.iter().chain(own) {
        // Several components may need the same.
        if !files.contains(file) {
            files.push(file);
        }
    }
    for file in files {
        let text = file
            .replace(NAMESPACE, wanted.namespace)
            .replace(DOMAIN, wanted.cluster_domain);
        for document in yaml::documents(&text) {
            objects.push(document.context("a manifest cannot be read")?.value);
        }
    }
    objects.retain(|object| wanted.network_policy || kind(object) != "NetworkPolicy");
    for object in &mut objects {
        object.set_at(&["metadata", "labels", "app.kubernetes.io/version"], wanted.tag);
        match kind(object) {
            "Deployment" => change_deployment(object, wanted)?,
            "ServiceAccount" if !wanted.image_pull_secret.is_empty() => {
                let secrets = value!([{ "name": (wanted.image_pull_secret) }]);
                object.set_at(&["imagePullSecrets"], secrets);
            }
            _ => {}
        }
    }
    sort(&mut objects);
    Ok(objects)
}

/// Puts objects into an order in which they can be applied one after the other.
pub(super) fn sort(objects: &mut [Value]) {
    objects.sort_by_key(|object| rank(kind(object)));
}

fn kind(object: &Value) -> &str {
    object.str_at(&["kind"])
}

/// What others need comes before them; what is alike stays in the order of its file.
fn rank(kind: &str) -> usize {
    let order = [
        "Namespace",
        "CustomResourceDefinition",
        "NetworkPolicy",
        "ServiceAccount",
        "ClusterRole",
        "ClusterRoleBinding",
        "Service",
        "Deployment",
    ];
    order.iter().position(|one| *one == kind).unwrap_or(order.len())
}

/// The definitions of the kinds that the components work on, labelled as Flux labels them: `flux check` looks for that.
fn definitions(wanted: &Wanted<'_>) -> Vec<Value> {
    let mut objects = Vec::new();
    for definition in api::definitions() {
        let group = definition.names().group;
        let mut owners = wanted.components.iter();
        let Some(owner) = owners.find(|component| component.groups.contains(&group)) else {
            continue;
        };
        let mut object = definition.to_value();
        for (label, text) in [
            ("component", owner.name),
            ("instance", wanted.namespace),
            ("part-of", "flux"),
        ] {
            object.set_at(
                &["metadata", "labels", &format!("app.kubernetes.io/{label}")],
                text,
            );
        }
        objects.push(object);
    }
    objects
}

fn change_deployment(object: &mut Value, wanted: &Wanted<'_>) -> anyhow::Result<()> {
    let name = object.str_at(&["metadata", "name"]).to_owned();
    let pod = object.at_mut(&["spec", "template", "spec"]);
    let pod = pod.context("a Deployment has a pod")?;
    if !wanted.toleration_keys.is_empty() {
        let keys = wanted.toleration_keys.iter();
        let tolerations = keys.map(|key| value!({ "key": (key.as_str()), "operator": "Exists" }));
        pod.set_at(&["tolerations"], Value::from(tolerations.collect::<Vec<_>>()));
    }
    let containers = pod.get_mut("containers").and_then(Value::as_array_mut);
    let container = containers.and_then(|containers| containers.first_mut());
    let container = container.context("a pod has a container")?;
    container.set_at(&["image"], format!("{}/{name}:{}", wanted.registry, wanted.tag));
    let arguments = container.get_mut("args").and_then(Value::as_array_mut);
    for argument in arguments.context("a container has arguments")?.iter_mut() {
        let text = argument.as_str().unwrap_or_default();
        let flag = text.split('=').next().unwrap_or_default();
        let anew = match flag {
            "--events-addr" => format!("{flag}={}", wanted.events_address),
            "--watch-all-namespaces" => format!("{flag}={}", wanted.watch_all_namespaces),
            "--log-level" => format!("{flag}={}", wanted.log_level),
            _ => continue,
        };
        *argument = Value::str(anew);
    }
    Ok(())
}
