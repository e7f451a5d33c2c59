//! EndpointSlices: the addresses behind a service, in pieces of at most a hundred.

use model::{Map, Value, value};

use super::{Groups, Port, fill_and_note, hostname, is_headless, target};
use crate::simulator::facts::PodFacts;
use crate::simulator::{Kind, Step, children};
use crate::store::Key;
use crate::verbs::delete::DeleteOptions;

/// So many addresses are in one slice.
const LARGEST: usize = 100;
const SERVICE: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpointslice-controller.k8s.io";
const HEADLESS: &str = "service.kubernetes.io/headless";

/// What a slice shall hold.
struct Content {
    ports: Value,
    endpoints: Value,
}

/// Brings the slices of a service up to date: those that are there are filled, missing ones are made, others go.
pub(super) fn write(step: &Step<'_>, service: &Value, groups: &Groups<'_>) {
    let mut wanted: Vec<Content> = groups
        .groups
        .iter()
        .flat_map(|(ports, pods)| {
            let ports = ports.iter().map(port).collect::<Value>();
            pods.chunks(LARGEST).map(move |pods| Content {
                ports: ports.clone(),
                endpoints: pods
                    .iter()
                    .map(|pod| endpoint(service, pod, groups.all_ready))
                    .collect(),
            })
        })
        .collect();
    if wanted.is_empty() {
        // A service always has a slice.
        wanted.push(Content {
            ports: Value::Null,
            endpoints: Value::Null,
        });
    }
    let uid = service.str_at(&["metadata", "uid"]);
    let is_ours = |key: &&Key| {
        let slice = step.find(Kind::EndpointSlice, key);
        slice.is_some_and(|slice| slice.label(MANAGED_BY) == Some(CONTROLLER))
    };
    let there = step.index.children(uid, Kind::EndpointSlice);
    let mut there: Vec<&Key> = there.filter(is_ours).collect();
    let labels = labels(service);
    let now = step.now_text();
    let surplus = there.split_off(wanted.len().min(there.len()));
    for (number, content) in wanted.iter().enumerate() {
        let fill = |slice: &mut Value| {
            fill_and_note(slice, &now, |slice| {
                slice.set_at(&["metadata", "labels"], labels.clone());
                slice.set_at(&["ports"], content.ports.clone());
                slice.set_at(&["endpoints"], content.endpoints.clone());
            });
        };
        match there.get(number) {
            Some(key) => drop(step.change(Kind::EndpointSlice, key, fill)),
            None => {
                let mut slice = empty(service);
                fill(&mut slice);
                // The namespace may be on its way out.
                let _ = step.create(Kind::EndpointSlice, slice);
            }
        }
    }
    for key in surplus {
        step.delete(Kind::EndpointSlice, key, &DeleteOptions::default());
    }
}

fn empty(service: &Value) -> Value {
    let name = service.str_at(&["metadata", "name"]);
    value!({
        "metadata": {
            "generateName": (format!("{name}-")),
            "namespace": (service.str_at(&["metadata", "namespace"])),
            "ownerReferences": [(children::reference(service))],
        },
        "addressType": "IPv4",
    })
}

fn labels(service: &Value) -> Map {
    let own = service.at(&["metadata", "labels"]).and_then(Value::as_object);
    let mut labels = own.cloned().unwrap_or_default();
    labels.remove(HEADLESS);
    if is_headless(service) {
        labels.insert(HEADLESS, "");
    }
    labels.insert(SERVICE, service.str_at(&["metadata", "name"]));
    labels.insert(MANAGED_BY, CONTROLLER);
    labels
}

fn endpoint(service: &Value, pod: &PodFacts, all_ready: bool) -> Value {
    let serving = pod.is_ready();
    let mut endpoint = value!({
        "addresses": [(pod.address.clone())],
        "conditions": {
            "ready": (all_ready || (serving && !pod.deleting())),
            "serving": serving,
            "terminating": (pod.deleting()),
        },
        "nodeName": (pod.node.clone()),
        "targetRef": (target(pod)),
    });
    if let Some(name) = hostname(service, pod) {
        endpoint.set_at(&["hostname"], name);
    }
    endpoint
}

fn port(port: &Port) -> Value {
    let mut value = value!({
        "name": (port.name.as_str()), "port": (port.number), "protocol": (port.protocol.as_str()),
    });
    if !port.app_protocol.is_empty() {
        value.set_at(&["appProtocol"], port.app_protocol.as_str());
    }
    value
}
