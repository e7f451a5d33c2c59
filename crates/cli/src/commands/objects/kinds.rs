//! The kinds that commands are about, and what is shown of each.

use api::{Names, Object, Spec, extensions, helm, image, kustomize, notification, source};
use serde_json::Value;

use super::rows;

/// A kind of object, and the words of the command line for it.
pub(crate) struct Kind {
    /// The word that stands before, if any.
    pub(crate) group: Option<&'static Group>,
    /// `git`, `kustomization`
    pub(crate) word: &'static str,
    /// The word for several, where it is another.
    pub(crate) plural: &'static str,
    /// A shorter word.
    pub(crate) short: Option<&'static str>,
    /// What people call it.
    pub(crate) human: &'static str,
    /// What the cluster calls it.
    pub(crate) names: &'static Names,
    /// The columns between its name and its state.
    pub(crate) columns: &'static [rows::Column],
    /// Whether there is something to suspend.
    pub(crate) suspends: bool,
    /// Whether a controller works on it at all.
    pub(crate) is_worked_on: bool,
    /// An object as its kind writes it: with its own fields alone, each in its one form.
    pub(crate) tidied: fn(Value) -> serde_json::Result<Value>,
}

/// Kinds that have a word in common.
#[derive(PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) word: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) about: &'static str,
}

const SOURCE: Group = Group {
    word: "source",
    plural: "sources",
    about: "sources",
};
const IMAGE: Group = Group {
    word: "image",
    plural: "images",
    about: "image repositories, policies and updates",
};
const ARTIFACT: Group = Group {
    word: "artifact",
    plural: "artifacts",
    about: "what artifacts are made by",
};

const fn of<S: Spec>(human: &'static str, word: &'static str, columns: &'static [rows::Column]) -> Kind {
    Kind {
        group: None,
        word,
        plural: word,
        short: None,
        human,
        names: &S::NAMES,
        columns,
        suspends: true,
        is_worked_on: true,
        tidied: |object| serde_json::to_value(serde_json::from_value::<Object<S>>(object)?),
    }
}

impl Kind {
    const fn within(mut self, group: &'static Group) -> Kind {
        self.group = Some(group);
        self
    }

    const fn several(mut self, plural: &'static str) -> Kind {
        self.plural = plural;
        self
    }

    const fn short(mut self, short: &'static str) -> Kind {
        self.short = Some(short);
        self
    }

    const fn never_suspended(mut self) -> Kind {
        self.suspends = false;
        self
    }

    const fn never_worked_on(mut self) -> Kind {
        self.is_worked_on = false;
        self
    }
}

use rows::Column::{Generator, LastRun, LastScan, Reference, Release, Revision, Source, Suspended, Version};

/// All kinds, in the order in which they are listed.
pub(crate) static KINDS: [Kind; 15] = [
    of::<source::OciRepositorySpec>("source oci", "oci", &[Revision, Suspended]).within(&SOURCE),
    of::<source::BucketSpec>("source bucket", "bucket", &[Revision, Suspended]).within(&SOURCE),
    of::<source::GitRepositorySpec>("source git", "git", &[Revision, Suspended]).within(&SOURCE),
    of::<source::HelmRepositorySpec>("source helm", "helm", &[Revision, Suspended]).within(&SOURCE),
    of::<source::HelmChartSpec>("source chart", "chart", &[Version, Suspended]).within(&SOURCE),
    of::<source::ExternalArtifactSpec>("source external-artifact", "external", &[Revision, Source])
        .within(&SOURCE)
        .never_suspended()
        .never_worked_on(),
    of::<image::ImageRepositorySpec>("image repository", "repository", &[LastScan, Suspended]).within(&IMAGE),
    of::<image::ImagePolicySpec>("image policy", "policy", &[Reference("name"), Reference("tag")])
        .within(&IMAGE),
    of::<image::ImageUpdateAutomationSpec>("image update automation", "update", &[LastRun, Suspended])
        .within(&IMAGE),
    of::<extensions::ArtifactGeneratorSpec>("artifactgenerator", "generator", &[Generator])
        .within(&ARTIFACT)
        .several("generators")
        .never_suspended(),
    of::<helm::HelmReleaseSpec>("helmrelease", "helmrelease", &[Release, Suspended])
        .several("helmreleases")
        .short("hr"),
    of::<kustomize::KustomizationSpec>(
        "kustomization",
        "kustomization",
        &[rows::Column::Applied, Suspended],
    )
    .several("kustomizations")
    .short("ks"),
    of::<notification::ReceiverSpec>("receiver", "receiver", &[Suspended]).several("receivers"),
    of::<notification::ProviderSpec>("alert provider", "alert-provider", &[])
        .several("alert-providers")
        .never_worked_on(),
    of::<notification::AlertSpec>("alert", "alert", &[Suspended])
        .several("alerts")
        .never_worked_on(),
];

/// The kind of a name such as `GitRepository`, in upper or lower case.
pub(crate) fn named(name: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|kind| kind.names.kind.eq_ignore_ascii_case(name))
}
