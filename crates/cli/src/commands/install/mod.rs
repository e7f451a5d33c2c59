//! `sluice install`: the manifests of the controllers, printed or applied.

mod component;
mod directory;
mod manifests;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use engine::cluster::{Apply, Cluster};
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, Client};
use model::object_key::split_api_version;
use model::{ObjectKey, Value};

use super::create::secret::registry_secret;
use super::installation::{PART_OF_FLUX, deployment_ready, installation};
use super::objects::{MANAGER, Place, told};
use super::pflag;
use component::Component;
use manifests::Wanted;

/// How often is looked whether a controller is ready.
const LOOK: Duration = Duration::from_millis(500);

/// Install the controllers, or print what installs them
///
///   sluice install --export | kubectl apply --server-side -f -
///   sluice install --registry registry.example.com/sluice
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Print the manifests and ask no cluster
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    export: bool,

    /// What is installed: sluice is all controllers in one process, source-controller, kustomize-controller and helm-controller are
    /// processes of their own
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "sluice")]
    components: Vec<String>,

    /// More components, in addition to those of --components
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    components_extra: Vec<String>,

    /// Path to the manifest directory, which is built in place of the manifests of the components
    #[arg(long, value_name = "DIRECTORY")]
    manifests: Option<PathBuf>,

    /// The tag of the images
    #[arg(long, short, value_name = "TAG", default_value = concat!("v", env!("CARGO_PKG_VERSION")))]
    version: String,

    /// Where the images are
    #[arg(long, value_name = "REGISTRY", default_value = "sluice")]
    registry: String,

    /// Registry credentials in the format user:password, requires --image-pull-secret
    #[arg(
        long,
        value_name = "CREDENTIALS",
        default_value = "",
        hide_default_value = true
    )]
    registry_creds: String,

    /// The Secret, in the namespace of the controllers, with the credentials of the registry
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    image_pull_secret: String,

    /// Have the controllers work on objects of all namespaces; if false, only on those of their own
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    watch_all_namespaces: bool,

    /// Let only pods of the same namespace reach the controllers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "true", action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    network_policy: bool,

    /// How much the controllers tell: debug, info or error
    #[arg(long, value_name = "LEVEL", default_value = "info", value_parser = ["debug", "info", "error"])]
    log_level: String,

    /// The domain of the cluster's names
    #[arg(long, value_name = "DOMAIN", default_value = "cluster.local")]
    cluster_domain: String,

    /// Keys of taints that the controllers tolerate
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    toleration_keys: Vec<String>,

    /// Where events are posted to: the address of a notification controller
    #[arg(long, value_name = "URL", default_value = "", hide_default_value = true)]
    events_addr: String,

    /// Install over what a Kustomization has applied and would put back
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    force: bool,

    #[command(flatten)]
    place: Place,
}

impl Args {
    /// What is wanted, where all of it can be.
    fn wanted(&self) -> anyhow::Result<Wanted<'_>> {
        ensure!(
            is_name(&self.place.namespace, false),
            "{:?} is no name of a namespace; it has small letters, digits and dashes",
            self.place.namespace
        );
        ensure!(
            is_name(&self.cluster_domain, true),
            "invalid --cluster-domain: {:?} is no domain; write for example cluster.local",
            self.cluster_domain
        );
        for (flag, text) in [("--registry", &self.registry), ("--version", &self.version)] {
            let is_plain = |letter: char| letter.is_ascii_graphic();
            ensure!(
                !text.is_empty() && text.chars().all(is_plain),
                "invalid {flag}: {text:?} cannot be part of the name of an image"
            );
        }
        ensure!(
            !self.version.starts_with(|first: char| first.is_ascii_digit()),
            "invalid --version: tags of versions begin with v: write v{}",
            self.version
        );
        self.credentials()?;
        let components = [self.components.as_slice(), &self.components_extra].concat();
        Ok(Wanted {
            namespace: &self.place.namespace,
            components: component::chosen(&components)?,
            registry: self.registry.trim_end_matches('/'),
            tag: &self.version,
            image_pull_secret: &self.image_pull_secret,
            watch_all_namespaces: self.watch_all_namespaces,
            network_policy: self.network_policy,
            log_level: &self.log_level,
            cluster_domain: &self.cluster_domain,
            toleration_keys: &self.toleration_keys,
            events_address: &self.events_addr,
        })
    }
}

impl Args {
    /// The user and the password of the registry.
    fn credentials(&self) -> anyhow::Result<Option<(&str, &str)>> {
        if self.registry_creds.is_empty() {
            return Ok(None);
        }
        ensure!(
            !self.image_pull_secret.is_empty(),
            "--registry-creds requires --image-pull-secret to be set"
        );
        match self.registry_creds.split(':').collect::<Vec<_>>()[..] {
            [user, password] => Ok(Some((user, password))),
            _ => bail!("invalid --registry-creds format, expected 'user:password'"),
        }
    }

    /// The objects to install, and their text where it was built from a directory.
    async fn objects(&self, wanted: &Wanted<'_>) -> anyhow::Result<(Vec<Value>, Option<String>)> {
        let Some(directory) = &self.manifests else {
            return Ok((manifests::all(wanted)?, None));
        };
        let text = directory::build(directory).await.context("install failed")?;
        Ok((directory::objects(&text)?, Some(text)))
    }
}

/// Whether a text is a name as DNS has them, with dots or without.
fn is_name(text: &str, dots: bool) -> bool {
    let is_part = |part: &str| {
        let known = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-';
        (1..64).contains(&part.len())
            && part.bytes().all(known)
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    match dots {
        true => text.split('.').all(is_part),
        false => is_part(text),
    }
}

pub(crate) async fn run(mut args: Args) -> anyhow::Result<ExitCode> {
    if args.export {
        let wanted = args.wanted()?;
        let (objects, text) = args.objects(&wanted).await?;
        print(&objects, text.as_deref(), &wanted)?;
        return Ok(ExitCode::SUCCESS);
    }
    // What cannot be installed is told before the cluster is asked for anything.
    let (mut objects, _) = args.objects(&args.wanted()?).await?;
    let client = args.place.reach().await?;
    let wanted = args.wanted()?;
    if args.manifests.is_some() {
        manifests::sort(&mut objects);
    } else {
        // The namespace may be that of the kubeconfig.
        objects = manifests::all(&wanted)?;
    }
    args.place
        .limited(install(&client, &args, &wanted, &objects))
        .await?;
    verify(&client, &wanted, args.place.timeout).await?;
    eprintln!("✔ install finished");
    Ok(ExitCode::SUCCESS)
}

fn print(objects: &[Value], text: Option<&str>, wanted: &Wanted<'_>) -> anyhow::Result<()> {
    let mut out = std::io::BufWriter::new(crate::commands::printed::stdout());
    let names: Vec<&str> = wanted.components.iter().map(|component| component.name).collect();
    writeln!(
        out,
        "---\n# Printed by `sluice install --export`, version v{}.\n# Components: {}",
        env!("CARGO_PKG_VERSION"),
        names.join(",")
    )?;
    match text {
        Some(text) => write!(out, "{text}")?,
        None => {
            for object in objects {
                write!(out, "---\n{}", yaml::write(object))?;
            }
        }
    }
    out.flush().context("failed to write the output")
}

async fn install(client: &Client, args: &Args, wanted: &Wanted<'_>, objects: &[Value]) -> anyhow::Result<()> {
    if let Some(installation) = installation(client).await?
        && installation.is_bootstrapped
        && !args.force
    {
        bail!(
            "this cluster has already been bootstrapped with {}: a Kustomization would put back what is changed. Change \
             it in its repository, or install over it with --force",
            installation.distribution
        );
    }
    eprintln!("► installing components in {} namespace", wanted.namespace);
    let cluster = Cluster::new(client.clone());
    for object in objects {
        apply(&cluster, object).await?;
    }
    if let Some((user, password)) = args.credentials()? {
        let name = &args.image_pull_secret;
        eprintln!("► generating image pull secret {name}");
        let content = registry_secret(&args.registry, user, password)?;
        content
            .put(client.clone(), wanted.namespace, name, &BTreeMap::new())
            .await?;
    }
    tell_others(client, wanted).await
}

/// Waits for what was installed.
async fn verify(client: &Client, wanted: &Wanted<'_>, limit: Duration) -> anyhow::Result<()> {
    eprintln!("◎ verifying installation");
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), wanted.namespace);
    for Component { name, .. } in &wanted.components {
        let deployment = deployments.get(name).await.map_err(told)?;
        let ready = deployment_ready(client, deployment, LOOK, limit).await;
        ready.with_context(|| format!("{name}: deployment not ready"))?;
        eprintln!("✔ {name}: deployment ready");
    }
    Ok(())
}

/// Applies an object, and says which.
async fn apply(cluster: &Cluster, object: &Value) -> anyhow::Result<()> {
    let key = ObjectKey::of(object);
    let (group, version) = split_api_version(object.str_at(&["apiVersion"]));
    let resource = cluster.resource(group, version, &key.kind).await;
    let resource = resource.with_context(|| format!("{key} cannot be applied"))?;
    let before = cluster.get(&resource, &key.namespace, &key.name).await?;
    let after = cluster.apply(&resource, object, &Apply::by(MANAGER)).await;
    let after = after.with_context(|| format!("{key} cannot be applied"))?;
    let version = |object: &Value| object.str_at(&["metadata", "resourceVersion"]).to_owned();
    let what = match before {
        None => "created",
        Some(before) if version(&before) == version(&after) => "unchanged",
        Some(_) => "configured",
    };
    println!("{key} {what}");
    Ok(())
}

/// Names controllers that were there before and hold what the new ones wait for.
async fn tell_others(client: &Client, wanted: &Wanted<'_>) -> anyhow::Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), wanted.namespace);
    let labelled = kube::api::ListParams::default().labels(PART_OF_FLUX);
    let there = deployments.list(&labelled).await.map_err(told)?;
    let stand_for: Vec<&str> = wanted
        .components
        .iter()
        .flat_map(|component| component.stands_for)
        .copied()
        .collect();
    for deployment in there {
        let name = deployment.metadata.name.unwrap_or_default();
        let is_new = wanted.components.iter().any(|component| component.name == name);
        if stand_for.contains(&name.as_str()) && !is_new {
            eprintln!(
                "⚠️ {name} does the same and holds its lease: delete it, with kubectl delete deployment {name} -n {}",
                wanted.namespace
            );
        }
    }
    Ok(())
}
