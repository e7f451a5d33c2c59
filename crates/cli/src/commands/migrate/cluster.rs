//! Objects in a cluster: each is stored in the storage version of its definition, which then forgets older versions.

use anyhow::{Context as _, bail};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, ListParams, ObjectList, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, ResourceExt as _};
use serde_json::json;

use crate::commands::installation::PART_OF_FLUX;
use crate::commands::objects::{MANAGER, told};

/// Conflicts with other writers after which a definition is given up.
const TRIES: usize = 5;
/// Objects in one page of a list.
const PAGE: u32 = 500;

/// Migrates the objects of all definitions that belong to Flux.
pub(super) async fn migrate(client: Client) -> anyhow::Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let labelled = ListParams::default().labels(PART_OF_FLUX);
    let listed = definitions.list_metadata(&labelled).await.map_err(told);
    for found in listed.context("failed to list CRDs")? {
        definition(&client, &definitions, &found.name_any()).await?;
    }
    Ok(())
}

async fn definition(
    client: &Client,
    definitions: &Api<CustomResourceDefinition>,
    name: &str,
) -> anyhow::Result<()> {
    let found = definitions.get(name).await.map_err(told);
    let definition = found.with_context(|| format!("failed to get CRD {name}"))?;
    let storage = definition.spec.versions.iter().find(|version| version.storage);
    let Some(storage) = storage.map(|version| version.name.as_str()) else {
        bail!("no storage version found for CRD {name}");
    };
    let mut tries = 1;
    while let Err(error) = objects(client, &definition, storage).await {
        let is_conflict = matches!(&error, Failure::Api(kube::Error::Api(status), _) if status.code == 409);
        if !is_conflict || tries == TRIES {
            return Err(error.into_error())
                .with_context(|| format!("failed to migrate resources for CRD {name}"));
        }
        tries += 1;
    }
    let stored = definition
        .status
        .as_ref()
        .and_then(|status| status.stored_versions.as_deref());
    if stored.is_some_and(|stored| stored == [storage]) {
        return Ok(());
    }
    // Whoever has changed the definition meanwhile may have stored another version.
    let change = json!({
        "metadata": {"resourceVersion": definition.metadata.resource_version},
        "status": {"storedVersions": [storage]},
    });
    let changed = definitions
        .patch_status(name, &parameters(), &Patch::Merge(&change))
        .await;
    changed
        .map_err(told)
        .with_context(|| format!("failed to update CRD {name} status"))?;
    eprintln!("✔ {name} migrated to storage version {storage}");
    Ok(())
}

fn parameters() -> PatchParams {
    PatchParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PatchParams::default()
    }
}

/// A request that failed, and what it was for.
enum Failure {
    Api(kube::Error, String),
    Other(anyhow::Error),
}

impl Failure {
    fn into_error(self) -> anyhow::Error {
        match self {
            Failure::Api(error, what) => told(error).context(what),
            Failure::Other(error) => error,
        }
    }
}

/// Stores all objects of a definition in a version.
async fn objects(
    client: &Client,
    definition: &CustomResourceDefinition,
    version: &str,
) -> Result<(), Failure> {
    let (group, names) = (&definition.spec.group, &definition.spec.names);
    let kind = GroupVersionKind::gvk(group, version, &names.kind);
    let resource = ApiResource::from_gvk_with_plural(&kind, &names.plural);
    let all: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let listed = all.list(&page).await.map_err(|error| {
            Failure::Api(
                error,
                format!("failed to list resources for CRD {}", definition.name_any()),
            )
        })?;
        let ObjectList { metadata, items, .. } = listed;
        for object in &items {
            store(client, &resource, object).await?;
            eprintln!("✔ {} migrated to version {version}", shown(&resource, object));
        }
        match metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(()),
        }
    }
}

fn shown(resource: &ApiResource, object: &DynamicObject) -> String {
    format!(
        "{}/{}/{}",
        resource.kind,
        object.namespace().unwrap_or_default(),
        object.name_any()
    )
}

/// Has the server write an object. Entries of managed fields name the version too: an apply that uses a newer schema would fail on
/// those of an older one.
async fn store(client: &Client, resource: &ApiResource, object: &DynamicObject) -> Result<(), Failure> {
    let api: Api<DynamicObject> = match object.namespace() {
        Some(namespace) => Api::namespaced_with(client.clone(), &namespace, resource),
        None => Api::all_with(client.clone(), resource),
    };
    let mut entries = object.managed_fields().to_vec();
    let mut is_older = false;
    for entry in &mut entries {
        if entry.api_version.as_deref() != Some(&resource.api_version) {
            entry.api_version = Some(resource.api_version.clone());
            is_older = true;
        }
    }
    let name = object.name_any();
    let (done, what) = if is_older {
        let operations = json!([{"op": "replace", "path": "/metadata/managedFields", "value": entries}]);
        let operations = serde_json::from_value(operations).map_err(|error| Failure::Other(error.into()))?;
        let patch: Patch<()> = Patch::Json(operations);
        (
            api.patch(&name, &parameters(), &patch).await,
            "failed to migrate managed fields",
        )
    } else {
        let patch = Patch::Merge(json!({}));
        (api.patch(&name, &parameters(), &patch).await, "failed to migrate")
    };
    match done {
        Ok(_) => Ok(()),
        // What was deleted meanwhile needs no version.
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(Failure::Api(error, format!("{} {what}", shown(resource, object)))),
    }
}
