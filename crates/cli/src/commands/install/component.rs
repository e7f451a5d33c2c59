//! What can be installed: processes with the manifests in `deploy` that belong to them.

use anyhow::{bail, ensure};

/// A process that can be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Component {
    /// Its name, and that of its Deployment and its image.
    pub(super) name: &'static str,
    /// The controllers of Flux that it stands for.
    pub(super) stands_for: &'static [&'static str],
    /// The groups of the kinds that it works on.
    pub(super) groups: &'static [&'static str],
    /// Its manifests.
    pub(super) files: &'static [&'static str],
}

/// What all of them share.
pub(super) const BASE: &[&str] = &[
    include_str!("../../../../../deploy/base/namespace.yaml"),
    include_str!("../../../../../deploy/base/rbac.yaml"),
    include_str!("../../../../../deploy/base/network-policies.yaml"),
];

/// What those share that bring objects of any kind to a cluster.
const RECONCILER: &str = include_str!("../../../../../deploy/reconciler/rbac.yaml");

const ALL: [Component; 4] = [
    Component {
        name: "sluice",
        stands_for: &["source-controller", "kustomize-controller", "helm-controller"],
        groups: &[api::source::GROUP, api::kustomize::GROUP, api::helm::GROUP],
        files: &[
            RECONCILER,
            include_str!("../../../../../deploy/sluice/rbac.yaml"),
            include_str!("../../../../../deploy/sluice/deployment.yaml"),
            include_str!("../../../../../deploy/sluice/service.yaml"),
        ],
    },
    Component {
        name: "source-controller",
        stands_for: &["source-controller"],
        groups: &[api::source::GROUP],
        files: &[
            include_str!("../../../../../deploy/source-controller/rbac.yaml"),
            include_str!("../../../../../deploy/source-controller/deployment.yaml"),
            include_str!("../../../../../deploy/source-controller/service.yaml"),
        ],
    },
    Component {
        name: "kustomize-controller",
        stands_for: &["kustomize-controller"],
        groups: &[api::kustomize::GROUP],
        files: &[
            RECONCILER,
            include_str!("../../../../../deploy/kustomize-controller/rbac.yaml"),
            include_str!("../../../../../deploy/kustomize-controller/deployment.yaml"),
        ],
    },
    Component {
        name: "helm-controller",
        stands_for: &["helm-controller"],
        groups: &[api::helm::GROUP],
        files: &[
            RECONCILER,
            include_str!("../../../../../deploy/helm-controller/rbac.yaml"),
            include_str!("../../../../../deploy/helm-controller/deployment.yaml"),
        ],
    },
];

/// The components of these names, each once and always in the same order.
pub(super) fn chosen(names: &[String]) -> anyhow::Result<Vec<Component>> {
    for name in names {
        ensure!(
            ALL.iter().any(|component| component.name == name),
            "there is no component {name:?}: choose from {}",
            ALL.map(|component| component.name).join(", ")
        );
    }
    let chosen: Vec<Component> = ALL
        .into_iter()
        .filter(|component| names.iter().any(|name| name == component.name))
        .collect();
    match chosen[..] {
        [] => bail!("name at least one component"),
        [first, second, ..] if first.name == "sluice" => {
            bail!("sluice is {} too: install one of the two", second.name)
        }
        _ => Ok(chosen),
    }
}
