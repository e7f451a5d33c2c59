//! The spec of a Kustomization as the request of a build.

use api::kustomize::KustomizationSpec;
use api::patch;
use builder::{CommonMetadata, Image, Patch, Request, Selector};

/// What is to be built. Variables are not in it: some of them are in the cluster.
pub fn request(spec: &KustomizationSpec) -> Request {
    Request {
        path: spec.path.clone().unwrap_or_default(),
        target_namespace: spec.target_namespace.clone(),
        name_prefix: spec.name_prefix.clone(),
        name_suffix: spec.name_suffix.clone(),
        patches: spec.patches.iter().map(patch).collect(),
        images: spec.images.iter().map(image).collect(),
        components: spec.components.clone(),
        ignore_missing_components: spec.ignore_missing_components,
        build_metadata: spec.build_metadata.iter().map(ToString::to_string).collect(),
        substitution: None,
        ignore: None,
    }
}

/// The labels and annotations of everything that is applied.
pub fn common_metadata(spec: &KustomizationSpec) -> CommonMetadata {
    let common = spec.common_metadata.as_ref();
    common.map_or_else(CommonMetadata::default, |common| CommonMetadata {
        labels: common.labels.clone(),
        annotations: common.annotations.clone(),
    })
}

fn patch(patch: &patch::Patch) -> Patch {
    Patch {
        patch: patch.patch.clone(),
        target: patch.target.as_ref().map(selector),
    }
}

fn selector(selector: &patch::Selector) -> Selector {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    Selector {
        group: text(&selector.group),
        version: text(&selector.version),
        kind: text(&selector.kind),
        namespace: text(&selector.namespace),
        name: text(&selector.name),
        label_selector: text(&selector.label_selector),
        annotation_selector: text(&selector.annotation_selector),
    }
}

fn image(image: &patch::Image) -> Image {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    Image {
        name: image.name.clone(),
        new_name: text(&image.new_name),
        new_tag: text(&image.new_tag),
        digest: text(&image.digest),
    }
}
