//! Templates of pods.

use super::super::at::At;
use super::super::errors::Errors;
use super::super::selector::{annotations, labels, selects};
use super::{annotation, spec};

/// A template at `at`, and what it holds.
pub(in super::super) fn template(at: &At, errors: &mut Errors) {
    let metadata = at.get("metadata");
    // The real server leaves `metadata` out of the way.
    let (label_map, notes) = (metadata.get("labels"), metadata.get("annotations"));
    let here = at.get("labels");
    labels(&here.with(label_map.value()), errors);
    let here = at.get("annotations");
    let here = here.with(notes.value());
    annotations(&here, errors);
    let pod = at.get("spec");
    annotation::annotations(&here, &pod, errors);
    spec(&pod, None, errors);
    annotation::match_fields(&here, &pod, errors);
    let extra = pod.get("ephemeralContainers");
    if !extra.is_empty() {
        errors.forbidden(&extra, "ephemeral containers not allowed in pod template");
    }
}

/// The template of pods that run for good; `selector` is how they are found again, unless it selects everything.
pub(in super::super) fn template_of_replicas(
    at: &At,
    selector: Option<&At>,
    kind: &str,
    errors: &mut Errors,
) {
    if let Some(selector) = selector {
        selected(at, selector, errors);
    }
    template(at, errors);
    runs_for_good(at, kind, errors);
}

/// The pods of a template are found again by `selector`.
pub(in super::super) fn selected(at: &At, selector: &At, errors: &mut Errors) {
    let found = at.deep("metadata.labels");
    if !selects(selector, found.value()) {
        errors.invalid(&found, "`selector` does not match template `labels`");
    }
}

/// Pods that are replaced when they end.
pub(in super::super) fn runs_for_good(at: &At, kind: &str, errors: &mut Errors) {
    let pod = at.get("spec");
    let restart = pod.txt("restartPolicy");
    if restart.text() != "Always" {
        errors.not_supported(&restart, &["Always"]);
    }
    let deadline = pod.get("activeDeadlineSeconds");
    if deadline.is_set() {
        errors.forbidden(
            &deadline,
            format!("activeDeadlineSeconds in {kind} is not Supported"),
        );
    }
}

/// A `PodTemplate`.
pub(in super::super) fn holder(object: &At, errors: &mut Errors) {
    template(&object.get("template"), errors);
}

/// The pods of a template have the labels of `selector`.
pub(in super::super) fn selected_by_labels(at: &At, selector: &At, errors: &mut Errors) {
    let found = at.deep("metadata.labels");
    let selected = |(key, value): (&str, At)| found.key(key).value() == value.value();
    if !selector.entries().all(selected) {
        errors.invalid(&found, "`selector` does not match template `labels`");
    }
}
