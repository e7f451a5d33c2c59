//! What a request adds to a kustomization.

use kustomize::remote::RepoSpec;
use model::{Map, Value};
use source::archive::Kind;
use source::archive::ignore::Rules;
use yaml::{Lines, Step};

use super::source::Changes;
use super::{Found, Origin, path};
use crate::error::Error;
use crate::files::Files;
use crate::request::{Image, Patch, Request, Selector};

const API_VERSION: &str = "kustomize.config.k8s.io/v1beta1";
const KIND: &str = "Kustomization";
/// The fields that are changed here; others keep the names they are written with.
const FIELDS: [&str; 11] = [
    "apiVersion",
    "kind",
    "resources",
    "components",
    "crds",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "patches",
    "images",
    "buildMetadata",
];

/// Adds what the request says.
pub(super) fn merge(
    found: &mut Found,
    files: &dyn Files,
    directory: &str,
    request: &Request,
    errors: &mut Vec<Error>,
) -> Changes {
    let mut changes = Changes::default();
    let map = found.content.make_object();
    rename(map);
    drop_empty(map);
    for (field, default) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        if !map.contains_key(field) {
            map.insert(field, default);
        }
    }
    if found.origin == Origin::File && !map.contains_key("resources") {
        // Something that makes no difference to no resources, so that kustomize does not call the file empty.
        map.insert("buildMetadata", texts(&["originAnnotations".to_owned()]));
    }
    if let Some(rules) = &request.ignore {
        for (field, number, name) in filter(map, rules, files, directory, &mut changes) {
            let lines = found.text.as_deref().and_then(Lines::read);
            let step = [Step::Key(field.to_owned()), Step::Item(number)];
            errors.push(Error::Kustomization {
                path: files.show(&found.file),
                line: lines.map_or(1, |lines| lines.line(&step)),
                message: format!(
                    "'{name}' is absolute, and so looked for below the directory that is built, as flux does: there is no '{}'",
                    files.show(&path::join(directory, &name))
                ),
            });
        }
    }
    if found.origin == Origin::Generated && map.get("resources").is_none_or(is_empty_list) {
        // As where there is nothing to begin with.
        map.insert("namespace", super::PLACEHOLDER);
    }
    for (field, called, wanted) in [
        ("namespace", "spec.targetNamespace", &request.target_namespace),
        ("namePrefix", "spec.namePrefix", &request.name_prefix),
        ("nameSuffix", "spec.nameSuffix", &request.name_suffix),
    ] {
        if let Some(wanted) = wanted {
            map.insert(field, wanted.as_str());
            changes.add(field, None, called.to_owned());
        }
    }
    let patches = request.patches.iter().map(patch).enumerate();
    append(map, "patches", patches, &mut changes);
    let components = components(files, directory, request, errors).into_iter();
    append(map, "components", components, &mut changes);
    for (number, image) in request.images.iter().enumerate() {
        set_image(map, number, image, &mut changes);
    }
    if !request.build_metadata.is_empty() {
        map.insert("buildMetadata", texts(&request.build_metadata));
        changes.add("buildMetadata", None, "spec.buildMetadata".to_owned());
    }
    drop_empty(map);
    changes
}

/// Go takes the names of fields in any case; here they get the one they are looked for with.
fn rename(map: &mut Map) {
    for field in FIELDS {
        if map.contains_key(field) {
            continue;
        }
        let other = map
            .keys()
            .find(|key| key.eq_ignore_ascii_case(field))
            .map(str::to_owned);
        if let Some(value) = other.and_then(|other| map.remove(&other)) {
            map.insert(field, value);
        }
    }
}

fn is_empty_list(value: &Value) -> bool {
    matches!(value, Value::Array(items) if items.is_empty())
}

/// Go does not write what is empty.
fn drop_empty(map: &mut Map) {
    map.retain(|_, value| match value {
        Value::Null => false,
        Value::Str(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
        _ => true,
    });
}

fn texts(all: &[String]) -> Value {
    Value::from(all.iter().map(Value::str).collect::<Vec<_>>())
}

/// Adds to a list what the request has, each with its number there. Where something else stands, it stays, and kustomize
/// complains of it.
fn append(map: &mut Map, field: &str, more: impl Iterator<Item = (usize, Value)>, changes: &mut Changes) {
    if !map.contains_key(field) {
        map.insert(field, Value::from(Vec::new()));
    }
    let Some(Value::Array(items)) = map.get_mut(field) else {
        return;
    };
    for (number, value) in more {
        changes.add(field, Some(items.len()), format!("spec.{field}[{number}]"));
        items.push(value);
    }
}

/// Leaves out what the rules say. What is not there stays, for the build to complain of. It would find absolute paths, which
/// flux looks for below the directory and refuses: these are left out, too, and given with the numbers they had.
fn filter(
    map: &mut Map,
    rules: &Rules,
    files: &dyn Files,
    directory: &str,
    changes: &mut Changes,
) -> Vec<(&'static str, usize, String)> {
    let mut refused = Vec::new();
    for field in ["resources", "components", "crds"] {
        let Some(Value::Array(items)) = map.get_mut(field) else {
            continue;
        };
        let is_refused = |item: &Value| {
            let absolute = item.as_str().filter(|name| name.starts_with('/'));
            absolute.is_some_and(|name| {
                let whole = path::join(directory, name);
                path::escapes(&whole) || files.resolve(&whole).is_none()
            })
        };
        let numbered = items.iter().enumerate().filter(|(_, item)| is_refused(item));
        refused.extend(numbered.map(|(number, item)| {
            let name = item.as_str().unwrap_or_default();
            (field, number, name.to_owned())
        }));
        let stays = |item: &Value| {
            if is_refused(item) {
                return false;
            }
            let Some(name) = item.as_str().filter(|name| !is_remote(name)) else {
                return true;
            };
            let whole = path::join(directory, name);
            if path::escapes(&whole) || files.resolve(&whole).is_none() {
                return true;
            }
            let inner = path::join("", name);
            let kind = if files.is_dir(&whole) {
                Kind::Directory
            } else {
                Kind::File { executable: false }
            };
            path::escapes(&inner) || !rules.ignores(&inner, kind)
        };
        let kept = items.iter().enumerate().filter(|(_, item)| stays(item));
        changes.keep(field, kept.map(|(number, _)| number).collect());
        items.retain(stays);
    }
    refused
}

fn is_remote(name: &str) -> bool {
    name.contains("://") || RepoSpec::parse(name).is_some()
}

fn components(
    files: &dyn Files,
    directory: &str,
    request: &Request,
    errors: &mut Vec<Error>,
) -> Vec<(usize, Value)> {
    let mut wanted = Vec::new();
    for (number, component) in request.components.iter().enumerate() {
        if !is_local(component) {
            errors.push(Error::Component(component.clone()));
            continue;
        }
        let whole = path::join(directory, component);
        let there = !path::escapes(&whole) && files.resolve(&whole).is_some();
        if there || !request.ignore_missing_components {
            wanted.push((number, Value::str(component)));
        }
    }
    wanted
}

/// Whether a path is a relative one of this tree.
fn is_local(component: &str) -> bool {
    const REMOTE: [&str; 8] = [
        "git::",
        "gh:",
        "ssh://",
        "https://",
        "http://",
        "git@",
        "github.com:",
        "github.com/",
    ];
    let lower = component.to_ascii_lowercase();
    let remote = REMOTE
        .iter()
        .any(|prefix| lower.len() > prefix.len() && lower.starts_with(prefix));
    let absolute = lower.strip_prefix("file://").unwrap_or(&lower).starts_with('/');
    !remote && !absolute
}

fn patch(patch: &Patch) -> Value {
    let mut value = Value::object();
    let map = value.make_object();
    map.insert("patch", patch.patch.as_str());
    if let Some(target) = &patch.target {
        map.insert("target", selector(target));
    }
    value
}

fn selector(selector: &Selector) -> Value {
    fields(&[
        ("group", &selector.group),
        ("version", &selector.version),
        ("kind", &selector.kind),
        ("namespace", &selector.namespace),
        ("name", &selector.name),
        ("labelSelector", &selector.label_selector),
        ("annotationSelector", &selector.annotation_selector),
    ])
}

/// An object of those that are not empty.
fn fields(all: &[(&str, &str)]) -> Value {
    let mut value = Value::object();
    let map = value.make_object();
    for (name, text) in all.iter().filter(|(_, text)| !text.is_empty()) {
        map.insert(name, *text);
    }
    value
}

/// Sets what the request says of an image. A tag and a digest are one: either of them replaces both.
fn set_image(map: &mut Map, number: usize, image: &Image, changes: &mut Changes) {
    let known = map.get_mut("images").and_then(Value::as_array_mut);
    let known = known.and_then(|images| {
        let mut images = images.iter_mut();
        images.find(|known| known.str_at(&["name"]) == image.name)
    });
    let Some(known) = known.map(Value::make_object) else {
        let entry = fields(&[
            ("name", &image.name),
            ("newName", &image.new_name),
            ("newTag", &image.new_tag),
            ("digest", &image.digest),
        ]);
        return append(map, "images", std::iter::once((number, entry)), changes);
    };
    if !image.new_name.is_empty() {
        known.insert("newName", image.new_name.as_str());
    }
    if !image.new_tag.is_empty() || !image.digest.is_empty() {
        known.insert("newTag", image.new_tag.as_str());
        known.insert("digest", image.digest.as_str());
    }
}
