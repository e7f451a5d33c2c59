//! How objects get from one version to another.

use model::Value;

use super::{label, one_of};
use crate::field::Error;

pub(super) fn check(crd: &Value, errors: &mut Vec<Error>) {
    let Some(conversion) = crd
        .at(&["spec", "conversion"])
        .filter(|conversion| !conversion.is_null())
    else {
        return;
    };
    let path = "spec.conversion";
    let strategy = conversion.str_at(&["strategy"]);
    one_of(
        &format!("{path}.strategy"),
        strategy,
        &["None", "Webhook"],
        errors,
    );
    let present = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    let client = conversion.at(&["webhook", "clientConfig"]);
    let versions = conversion.list_at(&["webhook", "conversionReviewVersions"]);
    if strategy != "Webhook" {
        let detail = "should not be set when strategy is not set to Webhook";
        if present(client) {
            errors.push(Error::forbidden(format!("{path}.webhookClientConfig"), detail));
        }
        if !versions.is_empty() {
            errors.push(Error::forbidden(
                format!("{path}.conversionReviewVersions"),
                detail,
            ));
        }
        return;
    }
    let client_path = format!("{path}.webhookClientConfig");
    match client.filter(|client| !client.is_null()) {
        None => errors.push(Error::required(
            client_path,
            "required when strategy is set to Webhook",
        )),
        Some(client) if present(client.get("url")) == present(client.get("service")) => {
            errors.push(Error::required(
                client_path,
                "exactly one of url or service is required",
            ));
        }
        Some(_) => {}
    }
    review_versions(versions, &format!("{path}.conversionReviewVersions"), errors);
}

fn review_versions(versions: &[Value], path: &str, errors: &mut Vec<Error>) {
    if versions.is_empty() {
        errors.push(Error::required(path, ""));
        return;
    }
    for (at, version) in versions.iter().enumerate() {
        if versions[..at].contains(version) {
            errors.push(Error::invalid(
                format!("{path}[{at}]"),
                version,
                "duplicate version",
            ));
        } else {
            label(
                &format!("{path}[{at}]"),
                version.as_str().unwrap_or_default(),
                errors,
            );
        }
    }
    if !versions
        .iter()
        .any(|version| matches!(version.as_str(), Some("v1" | "v1beta1")))
    {
        errors.push(Error::invalid(
            path,
            &versions.to_vec().into(),
            "must include at least one of v1, v1beta1",
        ));
    }
}
