//! `sluice uninstall`: takes the controllers, their definitions and all objects of these out of a cluster. What the objects
//! have applied stays.
//!
//! The order is what keeps it there: as long as a controller runs, an object that is deleted takes along what it has applied. So
//! nothing else is touched before the last of them has ended, and no definition goes before its objects have lost the
//! finalizer that would wait for a controller.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use controllers::kit::FINALIZER;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::conditions::is_deleted;
use kube::runtime::wait::await_condition;
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use super::installation::PART_OF_FLUX;
use super::objects::{KINDS, MANAGER, Objects, Place, is_agreed, told};
use super::pflag;

/// Uninstall the controllers, their definitions and all objects of these; what the objects have applied stays
///
///   sluice uninstall --dry-run
///   sluice uninstall --namespace=infra --keep-namespace
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Leave the namespace of the controllers, with all else that is in it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    keep_namespace: bool,

    /// Only print what would be deleted
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    silent: bool,

    #[command(flatten)]
    place: Place,
}

/// Group, version, kind and plural of what is installed.
type Resource = [&'static str; 4];

const DEPLOYMENT: Resource = ["apps", "v1", "Deployment", "deployments"];
const SERVICE: Resource = ["", "v1", "Service", "services"];
const POLICY: Resource = ["networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies"];
const ACCOUNT: Resource = ["", "v1", "ServiceAccount", "serviceaccounts"];
const ROLE: Resource = ["rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles"];
const BINDING: Resource = [
    "rbac.authorization.k8s.io",
    "v1",
    "ClusterRoleBinding",
    "clusterrolebindings",
];
const DEFINITION: Resource = [
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
];
const NAMESPACE: Resource = ["", "v1", "Namespace", "namespaces"];

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    let client = args.place.reach().await?;
    if !args.dry_run && !args.silent {
        let question = format!(
            "Are you sure you want to delete the controllers in {}, their custom resource definitions and all objects of \
             these, in all namespaces",
            args.place.namespace
        );
        if !is_agreed(&question, "--silent deletes without asking")? {
            bail!("aborting");
        }
    }
    let namespace = args.place.namespace.clone();
    let removal = Removal {
        client,
        dry_run: args.dry_run,
    };
    args.place.limited(removal.controllers(&namespace)).await?;
    let rest = removal.rest(&namespace, args.keep_namespace);
    args.place.limited(rest).await?;
    eprintln!("✔ uninstall finished");
    Ok(ExitCode::SUCCESS)
}

struct Removal {
    client: Client,
    dry_run: bool,
}

impl Removal {
    /// Ends the controllers, and waits until the last of their pods is gone.
    async fn controllers(&self, namespace: &str) -> anyhow::Result<()> {
        eprintln!("► deleting components in {namespace} namespace");
        let deployments = self.api(DEPLOYMENT, Some(namespace));
        let deleted = self.labelled(DEPLOYMENT, &deployments).await;
        let deleted = deleted.context("nothing else was touched")?;
        if self.dry_run {
            return Ok(());
        }
        for deployment in deleted {
            let name = deployment.name_any();
            let uid = deployment.uid().unwrap_or_default();
            let gone = await_condition(deployments.clone(), &name, is_deleted(&uid));
            gone.await.with_context(|| {
                format!("Deployment/{namespace}/{name} does not end: nothing else was touched")
            })?;
        }
        Ok(())
    }

    /// All else, once no controller runs.
    async fn rest(&self, namespace: &str, keep_namespace: bool) -> anyhow::Result<()> {
        for resource in [SERVICE, POLICY, ACCOUNT] {
            self.labelled(resource, &self.api(resource, Some(namespace)))
                .await?;
        }
        for resource in [ROLE, BINDING] {
            self.labelled(resource, &self.api(resource, None)).await?;
        }
        eprintln!("► deleting toolkit.fluxcd.io finalizers in all namespaces");
        self.finalizers().await?;
        eprintln!("► deleting toolkit.fluxcd.io custom resource definitions");
        self.labelled(DEFINITION, &self.api(DEFINITION, None)).await?;
        if !keep_namespace {
            let namespaces = self.api(NAMESPACE, None);
            if let Some(object) = namespaces.get_opt(namespace).await.map_err(told)? {
                self.delete(NAMESPACE, &namespaces, &object).await?;
            }
        }
        Ok(())
    }

    fn api(&self, [group, version, kind, plural]: Resource, namespace: Option<&str>) -> Api<DynamicObject> {
        let kind = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, plural);
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        }
    }

    /// Deletes all of a kind that have the label of what is installed; those.
    async fn labelled(
        &self,
        resource: Resource,
        objects: &Api<DynamicObject>,
    ) -> anyhow::Result<Vec<DynamicObject>> {
        let labelled = ListParams::default().labels(PART_OF_FLUX);
        let found = objects.list(&labelled).await.map_err(told);
        let found = found.with_context(|| format!("failed to list {}", resource[3]))?;
        let mut failed = Vec::new();
        for object in &found.items {
            if let Err(error) = self.delete(resource, objects, object).await {
                failed.push(format!("{error:#}"));
            }
        }
        all_of(&failed).map(|()| found.items)
    }

    async fn delete(
        &self,
        resource: Resource,
        objects: &Api<DynamicObject>,
        object: &DynamicObject,
    ) -> anyhow::Result<()> {
        // Not in the background: a Deployment that is gone leaves pods behind that work on for a while.
        let parameters = DeleteParams {
            dry_run: self.dry_run,
            ..DeleteParams::foreground()
        };
        let name = name_of(resource[2], object);
        let deleted = objects.delete(&object.name_any(), &parameters).await;
        match deleted {
            // Somebody else was quicker.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            deleted => drop(
                deleted
                    .map_err(told)
                    .with_context(|| format!("{name} cannot be deleted"))?,
            ),
        }
        println!("{name} deleted{}", self.ending());
        Ok(())
    }

    /// Takes the finalizer of the controllers from all objects; those of others stay.
    async fn finalizers(&self) -> anyhow::Result<()> {
        let mut failed = Vec::new();
        for kind in &KINDS {
            let objects = Objects::new(self.client.clone(), kind, None);
            for object in objects.list(&ListParams::default()).await?.unwrap_or_default() {
                if let Err(error) = self.finalizer(kind.names, &object).await {
                    failed.push(format!("{error:#}"));
                }
            }
        }
        all_of(&failed)
    }

    async fn finalizer(&self, names: &'static api::Names, object: &Value) -> anyhow::Result<()> {
        let there = object["metadata"]["finalizers"].as_array();
        let there = there.map(Vec::as_slice).unwrap_or_default();
        let others: Vec<&Value> = there.iter().filter(|one| *one != FINALIZER).collect();
        if others.len() == there.len() {
            return Ok(());
        }
        // With its version, so that no finalizer is lost that somebody sets at this moment.
        let metadata = &object["metadata"];
        let patch =
            json!({"metadata": {"finalizers": others, "resourceVersion": metadata["resourceVersion"]}});
        let parameters = PatchParams {
            dry_run: self.dry_run,
            field_manager: Some(MANAGER.to_owned()),
            ..PatchParams::default()
        };
        let resource = [names.group, names.version, names.kind, names.plural];
        let objects = self.api(resource, metadata["namespace"].as_str());
        let object: DynamicObject = serde_json::from_value(object.clone())?;
        let name = name_of(names.kind, &object);
        let patched = objects
            .patch(&object.name_any(), &parameters, &Patch::Merge(&patch))
            .await;
        match patched {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            patched => {
                let patched = patched.map_err(told);
                drop(patched.with_context(|| format!("the finalizer of {name} cannot be taken away"))?);
            }
        }
        println!("{name} finalizers deleted{}", self.ending());
        Ok(())
    }

    fn ending(&self) -> &'static str {
        match self.dry_run {
            true => " (dry run)",
            false => "",
        }
    }
}

fn name_of(kind: &str, object: &DynamicObject) -> String {
    match object.namespace() {
        Some(namespace) => format!("{kind}/{namespace}/{}", object.name_any()),
        None => format!("{kind}/{}", object.name_any()),
    }
}

/// All of what failed, if anything did; what is left is deleted by another run.
fn all_of(failed: &[String]) -> anyhow::Result<()> {
    match failed {
        [] => Ok(()),
        failed => bail!("{}; run it again once that is mended", failed.join("; ")),
    }
}
