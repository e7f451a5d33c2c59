//! Volumes whose files come from elsewhere: secrets, settings, the pod's own fields, tokens.

use std::collections::HashSet;

use super::super::at::At;
use super::super::certificates::{bundle_name_problems, signer_name};
use super::super::errors::Errors;
use super::super::selector;
use super::env::{FieldsOf, field_ref, resource_ref};
use super::path;

/// The permissions of files.
pub(super) fn mode(at: &At, errors: &mut Errors) {
    if at.is_set() && !(0..=0o777).contains(&at.int()) {
        errors.invalid(at, "must be a number between 0 and 0777 (octal), both inclusive");
    }
}

/// A key and the file it becomes.
pub(super) fn key_to_path(at: &At, errors: &mut Errors) {
    errors.require_text(&at.txt("key"));
    let path_at = at.txt("path");
    errors.require_text(&path_at);
    path::local_not_reserved(&path_at, errors);
    mode(&at.get("mode"), errors);
}

/// Files with fields of the pod. Their messages do not tell which file they are about.
pub(super) fn downward_api(at: &At, errors: &mut Errors) {
    mode(&at.get("defaultMode"), errors);
    for file in at.get("items").items() {
        downward_file(&at.with(file.value()), errors);
    }
}

fn downward_file(at: &At, errors: &mut Errors) {
    let path_at = at.txt("path");
    errors.require_text(&path_at);
    path::local_not_reserved(&path_at, errors);
    let (field, resource) = (at.get("fieldRef"), at.get("resourceFieldRef"));
    if field.is_set() {
        field_ref(&field, FieldsOf::Volume, errors);
        if resource.is_set() {
            let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
            errors.invalid_value(at, "resource", detail);
        }
    } else if resource.is_set() {
        resource_ref(&resource, FieldsOf::Volume, errors);
    } else {
        errors.required(at, "one of fieldRef and resourceFieldRef is required");
    }
    mode(&at.get("mode"), errors);
}

/// Files from several sources.
pub(super) fn projected(at: &At, errors: &mut Errors) {
    mode(&at.get("defaultMode"), errors);
    let mut taken = Taken {
        volume: at,
        paths: HashSet::new(),
    };
    for source in at.get("sources").items() {
        let mut count = 0;
        for kind in [
            "secret",
            "configMap",
            "downwardAPI",
            "serviceAccountToken",
            "clusterTrustBundle",
            "podCertificate",
        ] {
            let part = source.get(kind);
            if !part.is_set() {
                continue;
            }
            count += 1;
            match kind {
                "secret" | "configMap" => keys(&part, &mut taken, errors),
                "downwardAPI" => {
                    for file in part.get("items").items() {
                        downward_file(&part.with(file.value()), errors);
                        taken.add(file.text_of("path"), file.text_of("path"), errors);
                    }
                }
                "serviceAccountToken" => token(at, &part, errors),
                "clusterTrustBundle" => trust_bundle(&part, &mut taken, errors),
                _ => certificate(&part, &mut taken, errors),
            }
        }
        if count > 1 {
            errors.forbidden(&source, "may not specify more than 1 volume type per source");
        }
    }
}

/// The paths that sources fill.
struct Taken<'p, 'v> {
    volume: &'p At<'p, 'v>,
    paths: HashSet<&'v str>,
}

impl<'v> Taken<'_, 'v> {
    fn add(&mut self, path: &'v str, shown: &str, errors: &mut Errors) {
        if !path.is_empty() && !self.paths.insert(path) {
            errors.invalid_value(self.volume, shown, "conflicting duplicate paths");
        }
    }
}

fn keys<'v>(part: &At<'_, 'v>, taken: &mut Taken<'_, 'v>, errors: &mut Errors) {
    errors.require_text(&part.txt("name"));
    for item in part.get("items").items() {
        key_to_path(&item, errors);
        taken.add(item.text_of("path"), part.text_of("name"), errors);
    }
}

fn token(volume: &At, part: &At, errors: &mut Errors) {
    let seconds = part.num("expirationSeconds");
    if seconds.int() < 600 {
        errors.invalid(&seconds, "may not specify a duration less than 10 minutes");
    }
    if seconds.int() > 1 << 32 {
        errors.invalid(&seconds, "may not specify a duration larger than 2^32 seconds");
    }
    // The real server leaves the source out of the way to the path.
    let here = volume.with(part.value());
    let path_at = here.txt("path");
    if errors.require_text(&path_at) {
        path::local_not_reserved(&path_at, errors);
    }
}

fn trust_bundle<'v>(part: &At<'_, 'v>, taken: &mut Taken<'_, 'v>, errors: &mut Errors) {
    let (name_at, signer, labels) = (
        part.get("name"),
        part.get("signerName"),
        part.get("labelSelector"),
    );
    match (name_at.is_set(), signer.is_set()) {
        (true, true) => errors.invalid_as(
            part,
            "core.ClusterTrustBundleProjection",
            "only one of name and signerName may be used",
        ),
        (true, false) => {
            if name_at.text().is_empty() {
                errors.required(&name_at, "must be a valid object name");
            }
            for problem in bundle_name_problems(name_at.text()) {
                errors.invalid(&name_at, format!("not a valid clustertrustbundlename: {problem}"));
            }
            if labels.is_set() {
                let detail = "labelSelector must be unset if name is specified";
                errors.invalid_as(&labels, "meta.LabelSelector", detail);
            }
        }
        (false, true) => {
            if signer.text().is_empty() {
                errors.required(&signer, "must be a valid signer name");
            }
            signer_name(&signer, errors);
            selector::selector(&labels, errors);
        }
        (false, false) => errors.required(part, "either name or signerName must be specified"),
    }
    let path_at = part.txt("path");
    errors.require_text(&path_at);
    path::local_not_reserved(&path_at, errors);
    taken.add(path_at.text(), path_at.text(), errors);
}

fn certificate<'v>(part: &At<'_, 'v>, taken: &mut Taken<'_, 'v>, errors: &mut Errors) {
    const KEY_TYPES: [&str; 6] = [
        "RSA3072",
        "RSA4096",
        "ECDSAP256",
        "ECDSAP384",
        "ECDSAP521",
        "ED25519",
    ];
    let signer = part.txt("signerName");
    signer_name(&signer, errors);
    let key_type = part.txt("keyType");
    if !KEY_TYPES.contains(&key_type.text()) {
        errors.not_supported(&key_type, &KEY_TYPES);
    }
    let seconds = part.get("maxExpirationSeconds");
    if seconds.is_set() {
        if seconds.int() < 3600 {
            errors.invalid(&seconds, "if provided, maxExpirationSeconds must be >= 3600");
        }
        let host = signer.text().split('/').next().unwrap_or_default();
        let own = host == "kubernetes.io" || host.ends_with(".kubernetes.io");
        let most = if own { 86_400 } else { 7_862_400 };
        if seconds.int() > most {
            errors.invalid(
                &seconds,
                format!("if provided, maxExpirationSeconds must be <= {most}"),
            );
        }
    }
    let mut count = 0;
    for field in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let path_at = part.txt(field);
        if !path_at.text().is_empty() {
            count += 1;
            path::local_not_reserved(&path_at, errors);
            taken.add(path_at.text(), path_at.text(), errors);
        }
    }
    if count == 0 {
        errors.required(
            part,
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath",
        );
    }
}
