//! `sluice create tenant`

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{RoleBinding, RoleRef, Subject};
use kube::api::{Api, DeleteParams, ObjectMeta, PostParams};
use kube::{Client, Resource, ResourceExt as _};
use model::label;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Common;
use crate::commands::objects::{MANAGER, told, yaml_of};
use crate::commands::pflag;

const TENANT: &str = "toolkit.fluxcd.io/tenant";
const RBAC: &str = "rbac.authorization.k8s.io";

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,

    /// Namespace belonging to this tenant; may be repeated
    #[arg(long, value_name = "NAMESPACE", value_delimiter = ',')]
    with_namespace: Vec<String>,

    /// Cluster role of the tenant role binding
    #[arg(long, value_name = "NAME", default_value = "cluster-admin")]
    cluster_role: String,

    /// Service account belonging to this tenant; named after the tenant by default
    #[arg(long, value_name = "NAME")]
    with_service_account: Option<String>,

    /// Skip namespace creation; the namespaces must exist already
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    skip_namespace: bool,
}

/// The objects of a tenant in one of its namespaces.
struct Part {
    namespace: Namespace,
    account: ServiceAccount,
    binding: RoleBinding,
}

pub(super) async fn run(mut args: Args) -> anyhow::Result<()> {
    let parts = parts(&args)?;
    if args.common.export {
        for part in &parts {
            if !args.skip_namespace {
                export(&part.namespace)?;
            }
            export(&part.account)?;
            export(&part.binding)?;
        }
        return Ok(());
    }
    let client = args.common.place.reach().await?;
    let work = async {
        for part in &parts {
            if !args.skip_namespace {
                eprintln!("► applying namespace {}", part.namespace.name_any());
                put(&Api::all(client.clone()), &part.namespace).await?;
            }
            eprintln!("► applying service account {}", part.account.name_any());
            put(&namespaced(&client, &part.account), &part.account).await?;
            eprintln!("► applying role binding {}", part.binding.name_any());
            bind(&namespaced(&client, &part.binding), &part.binding).await?;
        }
        eprintln!("✔ tenant setup completed");
        Ok(())
    };
    args.common.place.limited(work).await
}

fn parts(args: &Args) -> anyhow::Result<Vec<Part>> {
    let tenant = args.common.name.as_str();
    let mut labels = args.common.labels()?;
    ensure!(!args.cluster_role.is_empty(), "cluster-role is required");
    ensure!(!args.with_namespace.is_empty(), "with-namespace is required");
    labels.insert(TENANT.to_owned(), tenant.to_owned());
    let given = args.with_service_account.as_deref();
    let account = given.filter(|account| !account.is_empty()).unwrap_or(tenant);
    let part = |namespace: &String| {
        check("namespace", namespace)?;
        check("service-account name", account)?;
        Ok(part(tenant, namespace, account, &args.cluster_role, &labels))
    };
    args.with_namespace.iter().map(part).collect()
}

fn check(what: &str, name: &str) -> anyhow::Result<()> {
    match &label::key_problems(name)[..] {
        [] => Ok(()),
        problems => bail!("invalid {what} '{name}': [{}]", problems.join(" ")),
    }
}

fn part(tenant: &str, namespace: &str, account: &str, role: &str, labels: &BTreeMap<String, String>) -> Part {
    let metadata = |name: &str, namespace: Option<&str>| ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        labels: Some(labels.clone()),
        ..ObjectMeta::default()
    };
    Part {
        namespace: Namespace {
            metadata: metadata(namespace, None),
            ..Namespace::default()
        },
        account: ServiceAccount {
            metadata: metadata(account, Some(namespace)),
            ..ServiceAccount::default()
        },
        binding: RoleBinding {
            metadata: metadata(&format!("{tenant}-reconciler"), Some(namespace)),
            role_ref: RoleRef {
                api_group: RBAC.to_owned(),
                kind: "ClusterRole".to_owned(),
                name: role.to_owned(),
            },
            subjects: Some(vec![
                Subject {
                    api_group: Some(RBAC.to_owned()),
                    kind: "User".to_owned(),
                    name: format!("gotk:{namespace}:reconciler"),
                    namespace: None,
                },
                Subject {
                    api_group: None,
                    kind: "ServiceAccount".to_owned(),
                    name: account.to_owned(),
                    namespace: Some(namespace.to_owned()),
                },
            ]),
        },
    }
}

fn export(object: &impl Serialize) -> anyhow::Result<()> {
    print!("---\n{}", yaml_of(&serde_json::to_value(object)?)?);
    Ok(())
}

fn namespaced<K>(client: &Client, object: &K) -> Api<K>
where
    K: Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>,
{
    Api::namespaced(client.clone(), &object.namespace().unwrap_or_default())
}

fn parameters() -> PostParams {
    PostParams {
        field_manager: Some(MANAGER.to_owned()),
        ..PostParams::default()
    }
}

/// Creates an object, or replaces the labels of the one that is there where it lacks some.
async fn put<K>(api: &Api<K>, object: &K) -> anyhow::Result<()>
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let name = object.name_any();
    let failed = || format!("failed to apply {} {name}", K::kind(&()));
    let found = api.get_opt(&name).await.map_err(told).with_context(failed)?;
    let done = match found {
        None => api.create(&parameters(), object).await,
        Some(found) if has_labels(&found, object) => return Ok(()),
        Some(mut found) => {
            found.meta_mut().labels.clone_from(&object.meta().labels);
            api.replace(&name, &parameters(), &found).await
        }
    };
    done.map_err(told).with_context(failed)?;
    Ok(())
}

/// Creates a binding, or replaces the one that is there where it differs: the role of a binding cannot be changed.
async fn bind(api: &Api<RoleBinding>, binding: &RoleBinding) -> anyhow::Result<()> {
    let name = binding.name_any();
    let failed = || format!("failed to apply RoleBinding {name}");
    let found = api.get_opt(&name).await.map_err(told).with_context(failed)?;
    if let Some(found) = found {
        let is_same = found.subjects == binding.subjects
            && found.role_ref == binding.role_ref
            && has_labels(&found, binding);
        if is_same {
            return Ok(());
        }
        let deleted = api.delete(&name, &DeleteParams::default()).await;
        deleted.map_err(told).with_context(failed)?;
    }
    let created = api.create(&parameters(), binding).await;
    created.map_err(told).with_context(failed)?;
    Ok(())
}

fn has_labels(found: &impl kube::ResourceExt, wanted: &impl kube::ResourceExt) -> bool {
    let found = found.labels();
    wanted
        .labels()
        .iter()
        .all(|(key, value)| found.get(key) == Some(value))
}
