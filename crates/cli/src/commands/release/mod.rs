//! Releases: what would become of one, and what became of it.

mod history;
mod records;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use api::helm::{GROUP, HelmRelease};
use controllers::helm_releases::{Look, Preview, ROLLED_BACK_TO, Settings, Shared, preview};
use kube::{Api, Client, ResourceExt as _};

use super::objects::{Place, told};

pub(crate) use history::{History, run as history};
pub(crate) use records::{record, records};

/// The HelmRelease that something is asked of.
#[derive(clap::Args)]
pub(crate) struct Which {
    /// The name of the HelmRelease
    pub(crate) name: String,

    /// A file with the HelmRelease as it would be; without it, it is read from the cluster
    #[arg(long, value_name = "FILE")]
    helmrelease_file: Option<PathBuf>,

    #[command(flatten)]
    place: Place,
}

impl Which {
    /// What the controller would do for it next.
    pub(crate) async fn preview(&mut self, look: Look) -> anyhow::Result<Preview> {
        let client = self.place.reach().await?;
        let work = async {
            let object = self.object(&client).await?;
            tell_of_hold(&object);
            let shared = Shared {
                client: client.clone(),
                store: None,
                settings: Settings {
                    external_artifact: true,
                    source_host: std::env::var("SOURCE_CONTROLLER_LOCALHOST")
                        .ok()
                        .filter(|host| !host.is_empty()),
                    // Nobody waits for a server that is not there.
                    http_retry: 2,
                    ..Settings::default()
                },
            };
            Ok(preview(shared, &object, look).await?)
        };
        self.place.limited(work).await
    }

    /// What comes of something in time.
    pub(crate) async fn limited<T>(
        &self,
        work: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        self.place.limited(work).await
    }

    /// The HelmRelease; of a file, with what the cluster says of it.
    async fn object(&self, client: &Client) -> anyhow::Result<HelmRelease> {
        let (name, namespace) = (&self.name, &self.place.namespace);
        let api: Api<HelmRelease> = Api::namespaced(client.clone(), namespace);
        let live = api.get_opt(name).await.map_err(told)?;
        let Some(file) = &self.helmrelease_file else {
            return live.with_context(|| {
                format!("there is no HelmRelease {namespace}/{name}; name a file that has it with --helmrelease-file")
            });
        };
        let mut object = from_file(file, name, namespace)?;
        object.metadata.namespace.get_or_insert_with(|| namespace.clone());
        if let Some(live) = live {
            // What is applied is a new state of the object that is there.
            object.metadata.uid = live.metadata.uid;
            object.metadata.generation = live.metadata.generation.map(|generation| generation + 1);
            object.status = live.status;
        }
        Ok(object)
    }
}

/// Says why the controller does nothing of what is shown.
fn tell_of_hold(object: &HelmRelease) {
    let name = object.name_any();
    if object.spec.suspend {
        eprintln!("◎ HelmRelease {name} is suspended: this is what would be done once it is resumed");
    }
    if let Some(version) = object.annotations().get(ROLLED_BACK_TO) {
        eprintln!(
            "◎ HelmRelease {name} is held at version {version}: this is what would be done once it is unpinned or wants something else"
        );
    }
}

/// The HelmRelease of a name in a file with any number of objects.
fn from_file(file: &Path, name: &str, namespace: &str) -> anyhow::Result<HelmRelease> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).with_context(|| format!("failed to read {shown}"))?;
    for document in yaml::documents(&text) {
        // Other objects of the file may be Secrets.
        let object = document
            .map_err(|error| anyhow::anyhow!("line {}: {}", error.line(), error.without_values()))
            .with_context(|| format!("failed to read {shown}"))?
            .value;
        let own = object.str_at(&["metadata", "namespace"]);
        let version = object.str_at(&["apiVersion"]).strip_prefix(GROUP);
        let is_release = version.is_some_and(|version| version.starts_with('/'))
            && object.str_at(&["kind"]) == "HelmRelease"
            && object.str_at(&["metadata", "name"]) == name;
        if is_release && (own == namespace || own.is_empty()) {
            // Values may be secrets: what does not fit is not told.
            let read = model::convert::to_serde(&object).map_err(|_| {
                anyhow::anyhow!(
                    "{shown}: the fields of HelmRelease {name} are not of their types: see `kubectl explain helmrelease.spec`"
                )
            });
            let mut release: HelmRelease = read?;
            if let Some(chart) = &mut release.spec.chart {
                // What a cluster says where nobody does.
                chart.spec.version.get_or_insert_with(|| "*".to_owned());
            }
            return Ok(release);
        }
    }
    bail!("{shown} has no HelmRelease with name '{name}' and namespace '{namespace}'")
}

/// Says what would be done, for people.
pub(crate) fn announce(preview: &Preview) {
    let Preview {
        action,
        reason,
        release,
        chart,
        ..
    } = preview;
    let why = match reason.as_str() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    match action {
        Some(action) => eprintln!("► {action} of release {release} with chart {chart}{why}"),
        None => eprintln!("✔ release {release} with chart {chart} is what is wanted"),
    }
}
