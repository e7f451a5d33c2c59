//! The objects that `sluice up` makes: a GitRepository and a Kustomization of it.

use std::path::Path;

use anyhow::{Context as _, bail};
use model::{ObjectKey, Value, value};

use super::address;
use super::ground::ORIGIN;
use super::index::Index;

/// Where they are.
pub(super) const NAMESPACE: &str = "flux-system";
/// What they are called where the files are those of a cluster, as with `flux bootstrap`: others refer to that name.
const OF_A_CLUSTER: &str = "flux-system";

/// The label of what installs Flux itself.
const FLUX_ITSELF: &str = "app.kubernetes.io/part-of=flux";

/// What is synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    pub(super) name: String,
    /// The path in the repository.
    pub(super) path: String,
    /// Whether the files have Kustomizations of their own.
    pub(super) is_cluster: bool,
    /// Where the files are, in words that are the same each time.
    origin: String,
}

/// Where the files come from.
pub(super) struct Origin<'a> {
    pub(super) url: &'a str,
    /// `branch`, `tag` or `name`, and its value.
    pub(super) reference: (&'a str, &'a str),
    /// How often it is asked for something new; of a directory that is told.
    pub(super) interval: &'a str,
    /// The Secret with the credentials.
    pub(super) secret: Option<&'a str>,
}

impl Root {
    /// That of a directory: its files say whether they are those of a cluster.
    pub(super) fn of_directory(
        folder: &Path,
        path: Option<&str>,
        name: Option<&str>,
        index: &Index,
    ) -> anyhow::Result<Self> {
        let path = match path {
            Some(path) => inside(path)?,
            None => chosen(folder, index)?,
        };
        let is_cluster = index.has_flux_objects(&path);
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let own = whole
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let origin = origin(&whole.display().to_string(), &path);
        Root::new(&own, name, path, is_cluster, origin)
    }

    /// That of a repository elsewhere, of which only the path tells what it is.
    pub(super) fn of_url(url: &str, path: Option<&str>, name: Option<&str>) -> anyhow::Result<Self> {
        let path = inside(path.unwrap_or_default())?;
        let is_cluster = path.starts_with("./clusters/");
        let own = url
            .trim_end_matches('/')
            .rsplit(['/', ':'])
            .next()
            .unwrap_or_default();
        let own = own.strip_suffix(".git").unwrap_or(own);
        let origin = origin(&address::public(url), &path);
        Root::new(own, name, path, is_cluster, origin)
    }

    fn new(
        own: &str,
        name: Option<&str>,
        path: String,
        is_cluster: bool,
        origin: String,
    ) -> anyhow::Result<Self> {
        let name = match (is_cluster, name) {
            (true, None) => OF_A_CLUSTER.to_owned(),
            (true, Some(_)) => bail!(
                "--name is not for the files of a cluster: their Kustomizations refer to {OF_A_CLUSTER}. Leave it out"
            ),
            (false, None) => named(own),
            (false, Some(name)) if named(name) == name => name.to_owned(),
            (false, Some(name)) => bail!("--name {name} can be no name: {} could", named(name)),
        };
        Ok(Root {
            name,
            path,
            is_cluster,
            origin,
        })
    }

    pub(super) fn source_key(&self) -> ObjectKey {
        self.key(api::source::GROUP, "GitRepository")
    }

    pub(super) fn key_of_kustomization(&self) -> ObjectKey {
        self.key(api::kustomize::GROUP, "Kustomization")
    }

    fn key(&self, group: &str, kind: &str) -> ObjectKey {
        ObjectKey {
            group: group.into(),
            kind: kind.into(),
            namespace: NAMESPACE.into(),
            name: self.name.as_str().into(),
        }
    }

    fn metadata(&self) -> Value {
        let mut metadata = value!({"name": (self.name.as_str()), "namespace": NAMESPACE});
        metadata.set_at(&["annotations", ORIGIN], self.origin.as_str());
        metadata
    }

    /// The GitRepository.
    pub(super) fn source(&self, origin: &Origin<'_>) -> Value {
        let (field, text) = origin.reference;
        let mut object = value!({
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": (self.metadata()),
            "spec": {"interval": (origin.interval), "url": (origin.url)},
        });
        object.set_at(&["spec", "ref", field], text);
        if let Some(secret) = origin.secret {
            object.set_at(&["spec", "secretRef", "name"], secret);
        }
        object
    }

    /// The Kustomization.
    ///
    /// It does not wait for health, so that what was changed is told at once; how the objects are is seen by whoever looks.
    pub(super) fn kustomization(&self) -> Value {
        let mut object = value!({
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": (self.metadata()),
            "spec": {
                "interval": "10m",
                "retryInterval": "5s",
                "timeout": "3m",
                "path": (self.path.as_str()),
                "prune": true,
                "sourceRef": {"kind": "GitRepository", "name": (self.name.as_str())},
            },
        });
        if self.is_cluster {
            object.set_at(&["spec", "patches"], in_place_of_bootstrap());
        }
        object
    }
}

/// Leaves out of the files of a cluster what `flux bootstrap` has put there: the objects that these stand in for, which would point
/// to a remote, and Flux itself, whose controllers run in this process.
fn in_place_of_bootstrap() -> Value {
    let deleted = |kind: &str, version: &str| {
        format!(
            "$patch: delete\napiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {OF_A_CLUSTER}\n  namespace: {NAMESPACE}\n"
        )
    };
    let target = |group: &str, kind: &str| value!({"group": group, "kind": kind, "name": OF_A_CLUSTER, "namespace": NAMESPACE});
    value!([
        {
            "target": {"labelSelector": FLUX_ITSELF},
            "patch": (deleted("Deployment", "apps/v1")),
        },
        {
            "target": (target(api::source::GROUP, "GitRepository")),
            "patch": (deleted("GitRepository", "source.toolkit.fluxcd.io/v1")),
        },
        {
            "target": (target(api::kustomize::GROUP, "Kustomization")),
            "patch": (deleted("Kustomization", "kustomize.toolkit.fluxcd.io/v1")),
        },
    ])
}

/// What of a directory is applied where nothing is said: all of it, or its only cluster.
fn chosen(folder: &Path, index: &Index) -> anyhow::Result<String> {
    let clusters = index.directories("clusters");
    let clusters: Vec<String> = clusters
        .into_iter()
        .map(|name| format!("clusters/{name}"))
        .filter(|path| index.has_flux_objects(path))
        .collect();
    match &clusters[..] {
        [] => Ok("./".to_owned()),
        [one] => inside(one),
        several => bail!(
            "{} holds the files of several clusters; choose one with --path: {}",
            folder.display(),
            several.join(", ")
        ),
    }
}

/// A place and a path in it.
fn origin(place: &str, path: &str) -> String {
    match path.trim_start_matches("./") {
        "" => place.to_owned(),
        path => format!("{}/{path}", place.trim_end_matches('/')),
    }
}

/// A path in a repository, in the form that Kustomizations have it.
fn inside(path: &str) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(
                parts
                    .pop()
                    .with_context(|| format!("--path {path} leads out of the repository"))?,
            ),
            part => parts.push(part),
        }
    }
    Ok(format!("./{}", parts.join("/")))
}

/// A name for objects, made of that of a directory.
fn named(text: &str) -> String {
    let mut name = String::new();
    for letter in text.to_lowercase().chars() {
        match letter.is_ascii_alphanumeric() {
            true => name.push(letter),
            false if !name.ends_with('-') => name.push('-'),
            false => {}
        }
    }
    // Labels of what is applied have the name as their value.
    let name: String = name.trim_matches('-').chars().take(53).collect();
    match name.trim_end_matches('-') {
        "" => "files".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_directories_and_addresses() {
        for (text, name) in [
            ("hello", "hello"),
            ("My App_1", "my-app-1"),
            ("..", "files"),
            ("über", "ber"),
        ] {
            assert_eq!(named(text), name, "{text}");
        }
        let root = Root::of_url(
            "https://github.com/stefanprodan/podinfo.git",
            Some("kustomize"),
            None,
        )
        .unwrap();
        assert_eq!(
            (root.name.as_str(), root.path.as_str()),
            ("podinfo", "./kustomize")
        );
        let root = Root::of_url("ssh://git@example.com/fleet", Some("/clusters/dev/"), None).unwrap();
        assert_eq!(
            (root.name.as_str(), root.path.as_str()),
            ("flux-system", "./clusters/dev")
        );
        assert!(Root::of_url("https://example.com/a", Some("../b"), None).is_err());
    }

    #[test]
    fn a_name_can_be_chosen_where_nothing_refers_to_it() {
        let root = |name, path| Root::of_url("https://me:secret@example.com/a.git", Some(path), Some(name));
        assert_eq!(root("other", "b").unwrap().name, "other");
        assert_eq!(root("other", "b").unwrap().origin, "https://example.com/a.git/b");
        assert!(root("No Name", "b").is_err() && root("other", "clusters/dev").is_err());
    }

    #[test]
    fn what_bootstrap_has_put_there_is_left_out() {
        let root = |is_cluster| Root::new("fleet", None, "./".into(), is_cluster, "fleet".into()).unwrap();
        let patches = root(true).kustomization();
        let patches = patches.list_at(&["spec", "patches"]);
        assert_eq!(patches.len(), 3);
        assert!(root(false).kustomization().at(&["spec", "patches"]).is_none());
    }
}
