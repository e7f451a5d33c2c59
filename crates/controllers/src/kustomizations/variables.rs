//! The variables of a Kustomization: those in ConfigMaps and Secrets, and over them those in its spec.

use api::kustomize::{PostBuild, SubstituteStrategy, VariablesKind};
use builder::{Substitution, Variables};
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::Client;

use crate::kit::named;

/// Why there are no variables.
#[derive(Debug, thiserror::Error)]
#[error("substitute from '{kind}/{name}' error")]
pub struct VariablesError {
    /// `ConfigMap` or `Secret`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Why it cannot be read.
    pub source: kube::Error,
}

/// What is substituted. Without a client, ConfigMaps and Secrets count as empty.
///
/// # Errors
/// Names the ConfigMap or Secret that cannot be read, or is not there and not optional.
pub async fn variables(
    client: Option<&Client>,
    namespace: &str,
    post_build: &PostBuild,
    strict: bool,
) -> Result<Substitution, VariablesError> {
    let mut variables = Variables::default();
    variables.strict = strict;
    if let Some(client) = client {
        for reference in &post_build.substitute_from {
            let name = reference.name.as_str();
            let (kind, read) = match reference.kind {
                VariablesKind::ConfigMap => ("ConfigMap", config_map(client, namespace, name).await),
                VariablesKind::Secret => ("Secret", secret(client, namespace, name).await),
                // The schema knows no other; Flux passes over it.
                VariablesKind::Other(_) => continue,
            };
            match read {
                Ok(entries) => {
                    for (key, value) in entries {
                        variables.insert(key, &value);
                    }
                }
                Err(kube::Error::Api(status)) if status.is_not_found() && reference.optional => {}
                Err(source) => {
                    let name = name.to_owned();
                    return Err(VariablesError { kind, name, source });
                }
            }
        }
    }
    for (name, value) in &post_build.substitute {
        variables.insert(name, value);
    }
    Ok(Substitution {
        variables,
        always: post_build.substitute_strategy == Some(SubstituteStrategy::Always),
    })
}

type Entries = Vec<(String, String)>;

async fn config_map(client: &Client, namespace: &str, name: &str) -> kube::Result<Entries> {
    let found: ConfigMap = named::get(client, namespace, name).await?;
    Ok(found.data.unwrap_or_default().into_iter().collect())
}

async fn secret(client: &Client, namespace: &str, name: &str) -> kube::Result<Entries> {
    let found: Secret = named::get(client, namespace, name).await?;
    let entries = found.data.unwrap_or_default().into_iter();
    Ok(entries
        .map(|(key, value)| (key, String::from_utf8_lossy(&value.0).into_owned()))
        .collect())
}
