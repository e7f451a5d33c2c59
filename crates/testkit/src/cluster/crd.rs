//! CustomResourceDefinitions that are ready to use.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use serde_json::Value;

use super::wait::object_settled;
use super::{Cluster, Error};
use crate::settled::{Every, settled};

const LIMIT: Duration = crate::DEADLINE;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Creates the definition and waits until each served version of it answers.
pub(super) async fn establish(cluster: &Cluster, definition: &Value) -> Result<(), Error> {
    cluster.create(DEFINITIONS, definition).await?;
    answers(cluster, definition).await
}

/// Applies the definition and waits until each served version of it answers.
pub(super) async fn serve(cluster: &Cluster, definition: &Value) -> Result<(), Error> {
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    cluster
        .apply(&format!("{DEFINITIONS}/{name}"), definition)
        .await?;
    answers(cluster, definition).await
}

async fn answers(cluster: &Cluster, definition: &Value) -> Result<(), Error> {
    let name = definition["metadata"]["name"].as_str().unwrap_or_default();
    let api: Api<CustomResourceDefinition> = Api::all(cluster.client());
    object_settled(api, name, LIMIT, established).await?;

    // The condition is written a moment before the handler of the new paths has seen it.
    for path in collections(definition) {
        let client = cluster.client();
        let asked = settled(LIMIT, Every(Duration::from_millis(20)), async || {
            let request = http::Request::get(format!("{path}?limit=1"))
                .body(Vec::new())
                .expect("names make a path");
            client
                .request_text(request)
                .await
                .map(drop)
                .map_err(|error| error.to_string())
        });
        asked.await.map_err(|unsettled| Error::NotSettled {
            what: path.clone(),
            reason: unsettled.to_string(),
        })?;
    }
    Ok(())
}

fn established(definition: Option<&CustomResourceDefinition>) -> Result<(), String> {
    let definition = definition.ok_or("it does not exist")?;
    let conditions = definition
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    let mut problems = Vec::new();
    for condition in conditions {
        match (condition.type_.as_str(), condition.status.as_str()) {
            ("Established", "True") => return Ok(()),
            ("NamesAccepted", "False") | ("NonStructuralSchema", "True") => {
                problems.push(format!(
                    "{}: {}",
                    condition.type_,
                    condition.message.as_deref().unwrap_or_default()
                ));
            }
            _ => {}
        }
    }
    Err(if problems.is_empty() {
        "it is not established".to_owned()
    } else {
        problems.join("; ")
    })
}

/// The path of each served version.
fn collections(definition: &Value) -> Vec<String> {
    let spec = &definition["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (group, plural) = (text(&spec["group"]), text(&spec["names"]["plural"]));
    let versions = spec["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|version| version["served"] == true);
    versions
        .map(|version| format!("/apis/{group}/{}/{plural}", text(&version["name"])))
        .collect()
}
