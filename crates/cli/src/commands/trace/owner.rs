//! Who has applied an object: its labels say so, or those of an object that it belongs to.

use kube::Client;
use serde_json::Value;

use crate::commands::served::Served;

/// Objects belong to others no deeper than this.
const DEPTH: usize = 16;

/// The namespace and name of the object of `group` that an object was applied by.
pub(super) async fn managed_by(
    client: &Client,
    served: &Served,
    object: &Value,
    group: &str,
) -> Option<(String, String)> {
    let mut object = object.clone();
    for _ in 0..DEPTH {
        if let Some(found) = labelled(&object, group) {
            return Some(found);
        }
        object = owner(client, served, &object, group).await?;
    }
    None
}

fn labelled(object: &Value, group: &str) -> Option<(String, String)> {
    let labels = &object["metadata"]["labels"];
    let label = |part: &str| {
        labels[format!("{group}/{part}")]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let name = label("name");
    (!name.is_empty()).then(|| (label("namespace"), name))
}

/// The first owner that is labelled, or that belongs to somebody itself.
async fn owner(client: &Client, served: &Served, object: &Value, group: &str) -> Option<Value> {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
    for reference in object["metadata"]["ownerReferences"].as_array()? {
        let text = |field: &str| reference[field].as_str().unwrap_or_default();
        let resource = served.of(text("apiVersion"), text("kind")).ok()?;
        let owner = resource
            .objects(client.clone(), namespace)
            .get(text("name"))
            .await
            .ok()?;
        let owner = serde_json::to_value(owner).ok()?;
        if labelled(&owner, group).is_some() || owner["metadata"]["ownerReferences"].is_array() {
            return Some(owner);
        }
    }
    None
}
