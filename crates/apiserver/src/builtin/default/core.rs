//! Kinds of the core group, and of small groups, that have little to fill in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Map, Value};

use super::{Fields, round_amounts};

/// `stringData` is only for writing: it goes into `data`.
pub(super) fn secret(object: &mut Map) {
    if let Some(Value::Object(plain)) = object.remove("stringData") {
        let data = object.make("data");
        for (key, text) in plain {
            data.insert(key, STANDARD.encode(text.as_str().unwrap_or_default()));
        }
    }
    object.default("type", "Opaque");
}

pub(super) fn namespace(object: &mut Map) {
    let metadata = object.make("metadata");
    let name = metadata.text("name").to_owned();
    if !name.is_empty() {
        metadata
            .make("labels")
            .insert("kubernetes.io/metadata.name", name);
    }
    object.make("status").default("phase", "Active");
}

pub(super) fn node(object: &mut Map) {
    object.within("spec", |spec| {
        let single = spec.text("podCIDR").to_owned();
        let first = spec
            .items("podCIDRs")
            .first()
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        if single.is_empty() && !first.is_empty() {
            spec.insert("podCIDR", first);
        } else if first != single {
            spec.insert("podCIDRs", vec![Value::from(single)]);
        }
    });
    object.within("status", |status| {
        if let Some(capacity) = status.get("capacity").cloned() {
            status.default("allocatable", capacity);
        }
        round_amounts(status, &["capacity", "allocatable"]);
    });
}

/// What containers may use at most is also what they get, and what they get they ask for.
pub(super) fn limit_range(object: &mut Map) {
    object.within("spec", |spec| {
        spec.each("limits", |item| {
            if item.text("type") == "Container" {
                copy_missing(item, "max", "default");
                copy_missing(item, "default", "defaultRequest");
                copy_missing(item, "min", "defaultRequest");
            }
            round_amounts(
                item,
                &["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"],
            );
        });
    });
}

fn copy_missing(item: &mut Map, from: &str, to: &str) {
    let Some(amounts) = item.child(from).cloned() else {
        return;
    };
    let target = item.make(to);
    for (name, amount) in amounts {
        target.default(&name, amount);
    }
}

pub(super) fn resource_quota(object: &mut Map) {
    object.within("spec", |spec| round_amounts(spec, &["hard"]));
    object.within("status", |status| round_amounts(status, &["hard", "used"]));
}

pub(super) fn priority_class(object: &mut Map) {
    object.default("preemptionPolicy", "PreemptLowerPriority");
}

pub(super) fn token_request(object: &mut Map) {
    object.make("spec").default("expirationSeconds", 3600);
}

pub(super) fn custom_resource_definition(object: &mut Map) {
    object.within("spec", |spec| {
        spec.within("names", |names| {
            let kind = names.text("kind").to_owned();
            if !kind.is_empty() {
                names.default("singular", kind.to_lowercase());
                names.default("listKind", format!("{kind}List"));
            }
        });
        let conversion = spec.make("conversion");
        conversion.fill("strategy", "None");
        conversion.within("webhook", |webhook| {
            webhook.within("clientConfig", |client| {
                client.within("service", |service| service.default("port", 443))
            });
        });
    });
}
