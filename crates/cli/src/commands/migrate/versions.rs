//! The latest version of each kind, by minor version of Flux.

use anyhow::bail;

/// Group, kind and latest version.
pub(super) type Latest = (&'static str, &'static str, &'static str);

const SOURCE: &str = "source.toolkit.fluxcd.io";
const NOTIFICATION: &str = "notification.toolkit.fluxcd.io";
const IMAGE: &str = "image.toolkit.fluxcd.io";

/// Newest first.
const RELEASES: [(&str, &[Latest]); 4] = [
    ("2.9", FLUX_2_7),
    ("2.8", FLUX_2_7),
    ("2.7", FLUX_2_7),
    ("2.6", FLUX_2_6),
];

const FLUX_2_7: &[Latest] = &[
    (SOURCE, "Bucket", "v1"),
    (SOURCE, "GitRepository", "v1"),
    (SOURCE, "OCIRepository", "v1"),
    (SOURCE, "HelmRepository", "v1"),
    (SOURCE, "HelmChart", "v1"),
    (SOURCE, "ExternalArtifact", "v1"),
    ("kustomize.toolkit.fluxcd.io", "Kustomization", "v1"),
    ("helm.toolkit.fluxcd.io", "HelmRelease", "v2"),
    (NOTIFICATION, "Receiver", "v1"),
    (NOTIFICATION, "Alert", "v1beta3"),
    (NOTIFICATION, "Provider", "v1beta3"),
    (IMAGE, "ImageRepository", "v1"),
    (IMAGE, "ImagePolicy", "v1"),
    (IMAGE, "ImageUpdateAutomation", "v1"),
    ("source.extensions.fluxcd.io", "ArtifactGenerator", "v1beta1"),
];

const FLUX_2_6: &[Latest] = &[
    (SOURCE, "Bucket", "v1"),
    (SOURCE, "GitRepository", "v1"),
    (SOURCE, "OCIRepository", "v1"),
    (SOURCE, "HelmRepository", "v1"),
    (SOURCE, "HelmChart", "v1"),
    (SOURCE, "ExternalArtifact", "v1"),
    ("kustomize.toolkit.fluxcd.io", "Kustomization", "v1"),
    ("helm.toolkit.fluxcd.io", "HelmRelease", "v2"),
    (NOTIFICATION, "Receiver", "v1"),
    (NOTIFICATION, "Alert", "v1beta3"),
    (NOTIFICATION, "Provider", "v1beta3"),
    (IMAGE, "ImageRepository", "v1beta2"),
    (IMAGE, "ImagePolicy", "v1beta2"),
    (IMAGE, "ImageUpdateAutomation", "v1beta2"),
];

/// The versions of a release of Flux, such as `2.8`; those of the newest where it is empty.
pub(super) fn of(release: &str) -> anyhow::Result<&'static [Latest]> {
    if release.is_empty() {
        return Ok(RELEASES[0].1);
    }
    match RELEASES.iter().find(|(name, _)| *name == release) {
        Some((_, latest)) => Ok(latest),
        None => bail!(
            "version {release} is not supported, supported versions are: {}",
            RELEASES.map(|(name, _)| name).join(", ")
        ),
    }
}
