//! What is wrong with a CustomResourceDefinition, in the words of the real server.
//!
//! The real server checks its inner form of a definition, in which what is the same in all versions stands once for
//! all: `spec.validation`, `spec.subresources`, `spec.additionalPrinterColumns` and `spec.selectableFields`. Paths in
//! messages follow that form, so they do here.

mod conversion;
mod defaults;
mod lists;
mod names;
mod parts;
mod rules;
mod schema;
mod structural;

use model::{Map, Value};

use crate::builtin::validate::name;
use crate::field::Error;

/// All that is wrong with a new definition, which was defaulted.
pub fn create(crd: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    names::of_object(crd, &mut errors);
    spec(crd, &mut errors);
    names::accepted(crd, &mut errors);
    stored_versions(crd, &mut errors);
    approval(crd, None, &mut errors);
    preserve(crd, None, &mut errors);
    errors
}

/// All that is wrong with an update of a definition.
pub fn update(crd: &Value, old: &Value) -> Vec<Error> {
    let mut errors = Vec::new();
    spec(crd, &mut errors);
    let mut immutable = |path: &[&str]| {
        let (new, old) = (crd.at(path), old.at(path));
        if new != old {
            let value = new.cloned().unwrap_or_else(|| Value::str(""));
            errors.push(Error::invalid(path.join("."), &value, "field is immutable"));
        }
    };
    if super::status::is_true(old, "Established") {
        immutable(&["spec", "scope"]);
        immutable(&["spec", "names", "kind"]);
    }
    immutable(&["spec", "group"]);
    immutable(&["spec", "names", "plural"]);
    names::accepted(crd, &mut errors);
    stored_versions(crd, &mut errors);
    approval(crd, Some(old), &mut errors);
    preserve(crd, Some(old), &mut errors);
    errors
}

fn spec(crd: &Value, errors: &mut Vec<Error>) {
    group(crd.str_at(&["spec", "group"]), errors);
    one_of(
        "spec.scope",
        crd.str_at(&["spec", "scope"]),
        &["Cluster", "Namespaced"],
        errors,
    );
    let versions = crd.list_at(&["spec", "versions"]);
    for (at, version) in versions.iter().enumerate() {
        if version
            .at(&["schema", "openAPIV3Schema"])
            .is_none_or(Value::is_null)
        {
            errors.push(Error::required(
                format!("spec.versions[{at}].schema.openAPIV3Schema"),
                "",
            ));
        }
    }
    let shared = Shared::of(versions);
    for (at, version) in versions.iter().enumerate() {
        let path = format!("spec.versions[{at}]");
        label(&format!("{path}.name"), version.str_at(&["name"]), errors);
        parts::deprecation(version, &path, errors);
        if !shared.schema {
            schema::check(version, &format!("{path}.schema"), errors);
        }
        if !shared.subresources {
            parts::subresources(version, &format!("{path}.subresources"), errors);
        }
        if !shared.columns {
            parts::columns(version, &format!("{path}.additionalPrinterColumns"), errors);
        }
        if !shared.selectable {
            parts::selectable(version, &format!("{path}.selectableFields"), errors);
        }
    }
    version_list(versions, &shared, errors);
    names::of_spec(crd, errors);
    if let Some(first) = versions.first() {
        if shared.schema {
            schema::check(first, "spec.validation", errors);
        }
        if shared.subresources {
            parts::subresources(first, "spec.subresources", errors);
        }
        if shared.columns {
            parts::columns(first, "spec.additionalPrinterColumns", errors);
        }
        if shared.selectable {
            parts::selectable(first, "spec.selectableFields", errors);
        }
    }
    conversion::check(crd, errors);
}

fn group(group: &str, errors: &mut Vec<Error>) {
    let problems = name::subdomain(group);
    if group.is_empty() {
        errors.push(Error::required("spec.group", ""));
    } else if !problems.is_empty() {
        errors.push(Error::invalid(
            "spec.group",
            &Value::str(group),
            problems.join(","),
        ));
    } else if !group.contains('.') {
        errors.push(Error::invalid(
            "spec.group",
            &Value::str(group),
            "should be a domain with at least one dot",
        ));
    }
}

/// Which parts are the same in all versions.
struct Shared {
    schema: bool,
    subresources: bool,
    columns: bool,
    selectable: bool,
}

impl Shared {
    fn of(versions: &[Value]) -> Shared {
        let same = |name: &str| {
            let part = |version: &Value| version.get(name).filter(|part| !part.is_null()).cloned();
            versions.windows(2).all(|pair| part(&pair[0]) == part(&pair[1]))
        };
        Shared {
            schema: same("schema"),
            subresources: same("subresources"),
            columns: same("additionalPrinterColumns"),
            selectable: same("selectableFields"),
        }
    }
}

/// Names are there once, and exactly one version is stored.
fn version_list(versions: &[Value], shared: &Shared, errors: &mut Vec<Error>) {
    let names: Vec<&str> = versions.iter().map(|version| version.str_at(&["name"])).collect();
    let unique = names
        .iter()
        .enumerate()
        .all(|(at, name)| !names[..at].contains(name));
    let stored = versions.iter().filter(|version| is(version, "storage")).count();
    if !unique {
        errors.push(Error::invalid(
            "spec.versions",
            &shown(versions, shared),
            "must contain unique version names",
        ));
    }
    if stored != 1 {
        let detail = "must have exactly one version marked as storage version";
        errors.push(Error::invalid("spec.versions", &shown(versions, shared), detail));
    }
    if let Some(first) = names.first() {
        let problems = name::label_1035(first);
        if !problems.is_empty() {
            errors.push(Error::invalid(
                "spec.version",
                &Value::str(first),
                problems.join(","),
            ));
        }
    }
}

/// The versions as the real server shows them: with the names of its inner form. Parts that differ from version to
/// version are shown as they were written.
fn shown(versions: &[Value], shared: &Shared) -> Value {
    let show = |version: &Value| {
        let part = |name: &str, hidden: bool| match hidden {
            true => Value::Null,
            false => version.get(name).cloned().unwrap_or_default(),
        };
        let mut map = Map::new();
        for (name, value) in [
            ("Name", Value::str(version.str_at(&["name"]))),
            ("Served", Value::Bool(is(version, "served"))),
            ("Storage", Value::Bool(is(version, "storage"))),
            ("Deprecated", Value::Bool(is(version, "deprecated"))),
            ("DeprecationWarning", part("deprecationWarning", false)),
            ("Schema", part("schema", shared.schema)),
            ("Subresources", part("subresources", shared.subresources)),
            (
                "AdditionalPrinterColumns",
                part("additionalPrinterColumns", shared.columns),
            ),
            ("SelectableFields", part("selectableFields", shared.selectable)),
        ] {
            map.push(name.into(), value);
        }
        Value::Object(map)
    };
    versions.iter().map(show).collect()
}

fn stored_versions(crd: &Value, errors: &mut Vec<Error>) {
    let stored = crd.list_at(&["status", "storedVersions"]);
    let path = "status.storedVersions";
    if stored.is_empty() {
        errors.push(Error::invalid(
            path,
            &Value::Null,
            "must have at least one stored version",
        ));
        return;
    }
    let versions = crd.list_at(&["spec", "versions"]);
    let is_stored = |name: &str| stored.iter().any(|version| version.as_str() == Some(name));
    for version in versions.iter().filter(|version| is(version, "storage")) {
        let name = version.str_at(&["name"]);
        if !is_stored(name) {
            let detail = format!("must have the storage version {name}");
            errors.push(Error::invalid(path, &stored.to_vec().into(), detail));
        }
    }
    for (at, name) in stored.iter().enumerate() {
        let name = name.as_str().unwrap_or_default();
        if !versions.iter().any(|version| version.str_at(&["name"]) == name) {
            let detail = format!(
                "missing from spec.versions; {name} was previously a storage version, and must remain in \
                 spec.versions until a storage migration ensures no data remains persisted in {name} and removes \
                 {name} from status.storedVersions"
            );
            errors.push(Error::invalid(format!("{path}[{at}]"), &Value::str(name), detail));
        }
    }
}

/// Groups of the Kubernetes community need a note that somebody approved them.
fn approval(crd: &Value, old: Option<&Value>, errors: &mut Vec<Error>) {
    const ANNOTATION: &str = "api-approved.kubernetes.io";
    const SEE: &str = "see https://github.com/kubernetes/enhancements/pull/1111";
    let group = crd.str_at(&["spec", "group"]);
    let is_in =
        |domain: &str| group == domain || group.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    if !is_in("k8s.io") && !is_in("kubernetes.io") {
        return;
    }
    let state = |crd: &Value| match crd.str_at(&["metadata", "annotations", ANNOTATION]) {
        "" => 0,
        text if text.starts_with("unapproved") => 1,
        text if text
            .split_once("://")
            .is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty()) =>
        {
            2
        }
        _ => 3,
    };
    if old.is_some_and(|old| state(old) == state(crd)) {
        return;
    }
    let path = format!("metadata.annotations[{ANNOTATION}]");
    let rule = format!("protected groups must have approval annotation \"{ANNOTATION}\"");
    match state(crd) {
        0 => errors.push(Error::required(path, format!("{rule}, {SEE}"))),
        3 => {
            let value = Value::str(crd.str_at(&["metadata", "annotations", ANNOTATION]));
            let detail = format!("{rule} with either a URL or a reason starting with \"unapproved\", {SEE}");
            errors.push(Error::invalid(path, &value, detail));
        }
        _ => {}
    }
}

fn preserve(crd: &Value, old: Option<&Value>, errors: &mut Vec<Error>) {
    let preserves = |crd: &Value| {
        crd.at(&["spec", "preserveUnknownFields"])
            .and_then(Value::as_bool)
            == Some(true)
    };
    if preserves(crd) && !old.is_some_and(preserves) {
        let detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        errors.push(Error::invalid(
            "spec.preserveUnknownFields",
            &Value::Bool(true),
            detail,
        ));
    }
}

/// The problems of a DNS-1035 label.
fn label(path: &str, text: &str, errors: &mut Vec<Error>) {
    let problems = name::label_1035(text);
    if !problems.is_empty() {
        errors.push(Error::invalid(path, &Value::str(text), problems.join(",")));
    }
}

fn one_of(path: &str, text: &str, allowed: &[&str], errors: &mut Vec<Error>) {
    if text.is_empty() {
        errors.push(Error::required(path, ""));
    } else if !allowed.contains(&text) {
        errors.push(Error::not_supported(path, &Value::str(text), allowed));
    }
}

/// Whether a flag is set.
fn is(value: &Value, flag: &str) -> bool {
    value.get(flag).and_then(Value::as_bool).unwrap_or_default()
}
