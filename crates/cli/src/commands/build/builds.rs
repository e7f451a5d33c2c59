//! Builds Kustomizations of local files, and those that are among what they build.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use api::kustomize::Kustomization;
use builder::{Directory, Request, Tools};
use kube::Client;
use model::Value;
use source::archive::ignore::Rules;
use yaml::node::Node;

use super::{definition, mask};
use crate::commands::cluster::Cluster;
use crate::commands::kustomize::remote;
use crate::commands::pflag;

const OWNER: &str = "kustomize.toolkit.fluxcd.io";

/// What a Kustomization is built with: the flags that `build`, `diff` and `plan` have in common.
#[derive(clap::Args)]
pub(crate) struct Flags {
    /// A file with the Kustomization; without it, it is read from the cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) kustomization_file: Option<PathBuf>,

    /// Fail where a variable without a default is missing
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    strict_substitute: bool,

    /// Files to leave out, as in .gitignore
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    ignore_paths: Vec<String>,

    /// Take the Kustomizations that are among the manifests, too
    #[arg(long, short, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    pub(crate) recursive: bool,

    /// Where the sources of those are: Kind/namespace/name=DIR
    #[arg(long, value_name = "SOURCES", value_delimiter = ',')]
    local_sources: Vec<String>,

    /// Read no files but those below the working directory; none are written in any case
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    in_memory_build: bool,

    #[command(flatten)]
    pub(crate) at: At,
}

/// Where the Kustomization is, and how long everything may take.
#[derive(clap::Args)]
pub(crate) struct At {
    /// The namespace of the Kustomization
    #[arg(long, short, default_value = "flux-system", env = "FLUX_SYSTEM_NAMESPACE")]
    pub(crate) namespace: String,

    /// Take the namespace of the kubeconfig's context instead
    #[arg(long, env = "FLUX_NS_FOLLOWS_KUBE_CONTEXT", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    ns_follows_kube_context: bool,

    /// The time everything may take, such as 30s or 5m
    #[arg(long, default_value = "5m", value_name = "DURATION", value_parser = pflag::duration)]
    timeout: Duration,

    /// Taken as Flux takes it; nothing more is said
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value = "false", hide_default_value = true, action = clap::ArgAction::Set, value_parser = pflag::boolean)]
    verbose: bool,

    #[command(flatten)]
    cluster: Cluster,
}

impl At {
    /// Reaches the cluster, which may say in which namespace the Kustomization is.
    pub(crate) async fn reach(&mut self) -> anyhow::Result<Client> {
        let (client, namespace) = self.cluster.client().await?;
        if self.ns_follows_kube_context {
            self.namespace = namespace;
        }
        Ok(client)
    }

    /// What comes of it in time.
    pub(crate) async fn limited<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        match tokio::time::timeout(self.timeout, work).await {
            Ok(done) => done,
            Err(_) => bail!("not done after {:?}: --timeout gives it more time", self.timeout),
        }
    }
}

fn local_sources(given: &[String]) -> anyhow::Result<BTreeMap<String, PathBuf>> {
    let pairs = given.iter().map(|pair| {
        let (source, path) = pair
            .split_once('=')
            .with_context(|| format!("{pair} must be formatted as Kind/namespace/name=DIR"))?;
        Ok((source.to_owned(), PathBuf::from(path)))
    });
    pairs.collect()
}

/// A Kustomization to be built, and from where.
pub(crate) struct Unit {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) path: PathBuf,
    /// As it stands among the manifests of another one.
    pub(crate) found: Option<Kustomization>,
}

/// What builds Kustomizations.
pub(crate) struct Builds<'a> {
    flags: &'a Flags,
    client: Option<Client>,
    sources: BTreeMap<String, PathBuf>,
}

impl<'a> Builds<'a> {
    /// As the flags say; without a client no cluster is asked.
    pub(crate) fn new(flags: &'a Flags, client: Option<Client>) -> anyhow::Result<Self> {
        Ok(Builds {
            flags,
            client,
            sources: local_sources(&flags.local_sources)?,
        })
    }

    /// The Kustomization that was named.
    pub(crate) fn first(&self, name: &str, path: &Path) -> Unit {
        Unit {
            name: name.to_owned(),
            namespace: self.flags.at.namespace.clone(),
            path: path.to_owned(),
            found: None,
        }
    }

    /// The objects of the Kustomization, and of those among them if that is wanted.
    pub(super) async fn all(&self, first: Unit) -> anyhow::Result<Vec<Value>> {
        let mut objects = Vec::new();
        let mut open = vec![first];
        let mut visited = BTreeSet::new();
        while let Some(unit) = open.pop() {
            // A Kustomization that builds itself again, in whatever way, is built once.
            if !visited.insert((unit.namespace.clone(), unit.name.clone())) {
                continue;
            }
            let definition = self.definition(&unit).await?;
            let built = self.build(&definition, &unit.path).await?;
            if self.flags.recursive {
                visited.insert((own_namespace(&definition), unit.name.clone()));
                let inner = built
                    .iter()
                    .rev()
                    .filter(|object| definition::is_kustomization(object));
                for object in inner {
                    open.push(self.inner(object)?);
                }
            }
            objects.extend(built);
        }
        Ok(objects)
    }

    /// What a Kustomization is: in its file, in the cluster, or where it was found.
    pub(crate) async fn definition(&self, unit: &Unit) -> anyhow::Result<Kustomization> {
        if unit.found.is_none()
            && let Some(file) = &self.flags.kustomization_file
        {
            return definition::from_file(file, &unit.name, &unit.namespace);
        }
        let live = match &self.client {
            Some(client) => definition::from_cluster(client, &unit.name, &unit.namespace).await?,
            None => None,
        };
        live.or_else(|| unit.found.clone()).with_context(|| {
            let (namespace, name) = (&unit.namespace, &unit.name);
            format!(
                "failed to get kustomization object: kustomizations.{OWNER} {namespace}/{name} not found: create it, or name a \
                 file that has it with --kustomization-file"
            )
        })
    }

    /// A Kustomization that is among what another one builds.
    pub(crate) fn inner(&self, object: &Value) -> anyhow::Result<Unit> {
        let found = definition::from_object(object)?;
        let name = found.metadata.name.clone().unwrap_or_default();
        let reference = &found.spec.source_ref;
        let namespace = own_namespace(&found);
        let key = format!(
            "{}/{}/{}",
            reference.kind,
            reference.namespace.as_ref().unwrap_or(&namespace),
            reference.name
        );
        let source = self.sources.get(&key).with_context(|| {
            format!("cannot get local path for {key} of kustomization {name}: name it with --local-sources {key}=DIR")
        })?;
        let inside = found
            .spec
            .path
            .as_deref()
            .unwrap_or_default()
            .trim_start_matches('/');
        Ok(Unit {
            path: source.join(inside),
            name,
            namespace,
            found: Some(found),
        })
    }

    /// The objects of a Kustomization, as `build` prints them.
    pub(crate) async fn build(&self, definition: &Kustomization, path: &Path) -> anyhow::Result<Vec<Value>> {
        let namespace = own_namespace(definition);
        let mut request = controllers::kustomizations::request(&definition.spec);
        if let Some(post_build) = &definition.spec.post_build {
            let strict = self.flags.strict_substitute;
            let client = self.client.as_ref();
            let substitution =
                controllers::kustomizations::variables(client, &namespace, post_build, strict).await;
            request.substitution = Some(substitution?);
        }
        let ignore = self.flags.ignore_paths.join("\n");
        let rules = Rules::with_defaults(&source::archive::Directory::new(path), Some(&ignore))?;
        request.ignore = Some(rules);
        let real = std::fs::canonicalize(path).with_context(|| format!("invalid resource path {path:?}"))?;
        let real = real
            .to_str()
            .with_context(|| format!("{} is not UTF-8", real.display()))?;
        request.path = real.trim_start_matches('/').to_owned();
        let readable = self.readable(Path::new(real))?;
        let owner = Owner {
            name: definition.metadata.name.clone().unwrap_or_default(),
            namespace,
        };
        // Building waits for remote files, which it gets through this runtime.
        let runtime = tokio::runtime::Handle::current();
        let built = tokio::task::spawn_blocking(move || build(&request, &owner, &readable, runtime)).await;
        let mut objects = built??;
        let common = controllers::kustomizations::common_metadata(&definition.spec);
        objects.iter_mut().for_each(|object| common.set_on(object));
        Ok(objects)
    }
}

impl Builds<'_> {
    /// What a build in a directory may read: everything, or with `--in-memory-build` what is below the working directory. The
    /// flux client does the same.
    fn readable(&self, built: &Path) -> anyhow::Result<PathBuf> {
        if !self.flags.in_memory_build {
            return Ok(PathBuf::from("/"));
        }
        let here = std::env::current_dir().and_then(std::fs::canonicalize);
        let here = here.context("failed to get the working directory")?;
        if !built.starts_with(&here) {
            bail!(
                "path '{}' is not in or below '{}', which is all that --in-memory-build reads: change to a directory above it",
                built.display(),
                here.display()
            );
        }
        Ok(here)
    }
}

/// The namespace that a Kustomization says it is in.
pub(crate) fn own_namespace(definition: &Kustomization) -> String {
    definition.metadata.namespace.clone().unwrap_or_default()
}

struct Owner {
    name: String,
    namespace: String,
}

fn build(
    request: &Request,
    owner: &Owner,
    readable: &Path,
    runtime: tokio::runtime::Handle,
) -> anyhow::Result<Vec<Value>> {
    // Bases may be anywhere, as with flux: the tree is the whole file system.
    let files = Directory::new(Path::new("/"))?.reading_only(readable)?;
    let fetcher = remote::Elsewhere::new(runtime)?;
    let tools = Tools {
        fetcher: Some(&fetcher),
        ..Tools::default()
    };
    let mut manifests = builder::build(&files, request, &tools)?;
    for object in manifests.objects_mut() {
        label(object, owner);
        mask::mask(object)?;
    }
    Ok(manifests.into_objects()?)
}

/// Sets the labels by which the owner of an object is known.
fn label(object: &mut Node, owner: &Owner) {
    let metadata = object.as_map_mut().map(|map| map.entry("metadata", Node::map));
    let labels = metadata
        .and_then(Node::as_map_mut)
        .map(|map| map.entry("labels", Node::map));
    let Some(labels) = labels else {
        return;
    };
    if labels.is_null() {
        *labels = Node::map();
    }
    if let Some(labels) = labels.as_map_mut() {
        labels.insert(format!("{OWNER}/name"), Node::str(&owner.name));
        labels.insert(format!("{OWNER}/namespace"), Node::str(&owner.namespace));
    }
}
