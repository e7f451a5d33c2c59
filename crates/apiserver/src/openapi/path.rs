//! The paths of a group's version and what can be done at each.

use model::{Map, Str, Value, value};

use super::component::gvk_value;
use super::parameter::{self, Action};
use crate::catalog::{Origin, Resource, Subresource, group_version_path};

/// References to the components that a resource's operations need.
pub(super) struct References {
    /// The object itself.
    pub(super) object: Value,
    /// Its list.
    pub(super) list: Value,
    /// What its subresources answer with, in their order.
    pub(super) subresources: Vec<Value>,
    /// `Status`, which a deletion answers with.
    pub(super) status: Value,
    /// `DeleteOptions`.
    pub(super) delete_options: Value,
    /// `Patch`.
    pub(super) patch: Value,
}

/// Subresources that open a connection to a container or node. There is none to connect to.
const CONNECTIONS: &[&str] = &["attach", "exec", "portforward", "proxy"];

/// An operation before it is written down.
struct Operation<'a> {
    method: &'static str,
    /// The verb of RBAC that allows it.
    verb: &'static str,
    /// What `x-kubernetes-action` says.
    action: &'static str,
    /// The first word of the operation's id.
    word: &'static str,
    parameters: Action,
    body: Option<&'a Value>,
    answer: &'a Value,
}

/// Adds the paths of `resource` to `paths`.
pub(super) fn add(resource: &Resource, references: &References, paths: &mut Map) {
    let root = group_version_path(&resource.group, &resource.version);
    let place = match resource.namespaced {
        true => format!("{root}/namespaces/{{namespace}}/{}", resource.plural),
        false => format!("{root}/{}", resource.plural),
    };
    if resource.namespaced && resource.allows("list") {
        let list = operation(
            "get",
            "list",
            "list",
            "list",
            Action::List,
            None,
            &references.list,
        );
        let subject = Subject {
            suffix: "ForAllNamespaces",
            namespaced: false,
            ..Subject::of(resource)
        };
        let item = subject.path_item(&[list], &resource.verbs, false);
        paths.insert(format!("{root}/{}", resource.plural), item);
    }
    let subject = Subject::of(resource);
    let collection = collection_operations(references);
    insert(
        paths,
        place.clone(),
        subject.path_item(&collection, &resource.verbs, false),
    );
    let single = single_operations(references, &references.object);
    insert(
        paths,
        format!("{place}/{{name}}"),
        subject.path_item(&single, &resource.verbs, true),
    );
    let subresources = resource.subresources.iter().zip(&references.subresources);
    for (sub, answer) in subresources.filter(|(sub, _)| !CONNECTIONS.contains(&sub.name.as_str())) {
        let operations = subresource_operations(references, answer);
        let item = Subject::of_subresource(resource, sub).path_item(&operations, &sub.verbs, true);
        insert(paths, format!("{place}/{{name}}/{}", sub.name), item);
    }
}

fn insert(paths: &mut Map, path: String, item: Value) {
    // Parameters alone make no path.
    if item.as_object().is_some_and(|item| item.len() > 1) {
        paths.insert(path, item);
    }
}

fn collection_operations(references: &References) -> [Operation<'_>; 3] {
    let object = &references.object;
    [
        operation(
            "get",
            "list",
            "list",
            "list",
            Action::List,
            None,
            &references.list,
        ),
        operation(
            "post",
            "create",
            "post",
            "create",
            Action::Create,
            Some(object),
            object,
        ),
        operation(
            "delete",
            "deletecollection",
            "deletecollection",
            "deleteCollection",
            Action::DeleteCollection,
            Some(&references.delete_options),
            &references.status,
        ),
    ]
}

fn single_operations<'a>(references: &'a References, object: &'a Value) -> [Operation<'a>; 4] {
    let options = Some(&references.delete_options);
    [
        operation("get", "get", "get", "read", Action::Get, None, object),
        operation(
            "put",
            "update",
            "put",
            "replace",
            Action::Replace,
            Some(object),
            object,
        ),
        operation(
            "delete",
            "delete",
            "delete",
            "delete",
            Action::Delete,
            options,
            &references.status,
        ),
        operation(
            "patch",
            "patch",
            "patch",
            "patch",
            Action::Patch,
            Some(&references.patch),
            object,
        ),
    ]
}

/// Subresources are made with `POST` instead of being deleted.
fn subresource_operations<'a>(references: &'a References, answer: &'a Value) -> [Operation<'a>; 4] {
    let [get, put, _, patch] = single_operations(references, answer);
    let post = operation(
        "post",
        "create",
        "post",
        "create",
        Action::Create,
        Some(answer),
        answer,
    );
    [get, put, post, patch]
}

fn operation<'a>(
    method: &'static str,
    verb: &'static str,
    action: &'static str,
    word: &'static str,
    parameters: Action,
    body: Option<&'a Value>,
    answer: &'a Value,
) -> Operation<'a> {
    Operation {
        method,
        verb,
        action,
        word,
        parameters,
        body,
        answer,
    }
}

/// What the operations of a path are about.
struct Subject<'a> {
    resource: &'a Resource,
    subresource: &'a str,
    gvk: Value,
    namespaced: bool,
    suffix: &'static str,
}

impl<'a> Subject<'a> {
    fn of(resource: &'a Resource) -> Self {
        Subject {
            resource,
            subresource: "",
            gvk: gvk_value(&resource.group, &resource.version, &resource.kind),
            namespaced: resource.namespaced,
            suffix: "",
        }
    }

    fn of_subresource(resource: &'a Resource, sub: &'a Subresource) -> Self {
        // The operations of custom resources name the object's kind everywhere, also for `scale`.
        let gvk = match resource.origin {
            Origin::Builtin => gvk_value(&sub.group, &sub.version, &sub.kind),
            Origin::Custom => gvk_value(&resource.group, &resource.version, &resource.kind),
        };
        Subject {
            subresource: &sub.name,
            gvk,
            ..Subject::of(resource)
        }
    }

    fn path_item(&self, operations: &[Operation<'_>], verbs: &[Str], named: bool) -> Value {
        let mut item = Map::new();
        for operation in operations
            .iter()
            .filter(|operation| verbs.iter().any(|verb| verb == operation.verb))
        {
            item.insert(operation.method, self.describe(operation));
        }
        item.insert(
            "parameters",
            parameter::of_path(&self.resource.kind, named, self.namespaced),
        );
        Value::Object(item)
    }

    fn describe(&self, operation: &Operation<'_>) -> Value {
        let mut map = Map::new();
        map.insert("tags", value!([(self.tag())]));
        map.insert("operationId", self.operation_id(operation.word));
        let parameters = operation.parameters.parameters();
        if parameters.as_array().is_some_and(|list| !list.is_empty()) {
            map.insert("parameters", parameters);
        }
        if let Some(body) = operation.body {
            map.insert("requestBody", self.request_body(operation, body));
        }
        map.insert("responses", value!({
            "200": { "description": "OK", "content": { "application/json": { "schema": (operation.answer.clone()) } } },
            "401": { "description": "Unauthorized" },
        }));
        map.insert("x-kubernetes-action", operation.action);
        map.insert("x-kubernetes-group-version-kind", self.gvk.clone());
        Value::Object(map)
    }

    fn request_body(&self, operation: &Operation<'_>, body: &Value) -> Value {
        let types: &[&str] = match (operation.parameters, self.resource.origin) {
            (Action::Patch, Origin::Custom) => &[
                "application/apply-patch+yaml",
                "application/json-patch+json",
                "application/merge-patch+json",
            ],
            (Action::Patch, Origin::Builtin) => &[
                "application/apply-patch+yaml",
                "application/json-patch+json",
                "application/merge-patch+json",
                "application/strategic-merge-patch+json",
            ],
            _ => &["*/*"],
        };
        let content: Map = types
            .iter()
            .map(|name| (*name, value!({ "schema": (body.clone()) })))
            .collect();
        let required = !matches!(operation.parameters, Action::Delete | Action::DeleteCollection);
        match required {
            true => value!({ "content": content, "required": true }),
            false => value!({ "content": content }),
        }
    }

    /// `apps_v1`, `rbacAuthorization_v1`, `core_v1`.
    fn tag(&self) -> String {
        let words = group_words(&self.resource.group);
        let mut tag = words[0].to_owned();
        words[1..].iter().for_each(|word| tag.push_str(&capital(word)));
        format!("{tag}_{}", self.resource.version)
    }

    /// `patchAppsV1NamespacedDeploymentStatus`.
    fn operation_id(&self, word: &str) -> String {
        let (word, collection) = match word {
            "deleteCollection" => ("delete", "Collection"),
            word => (word, ""),
        };
        let group: String = group_words(&self.resource.group)
            .iter()
            .map(|word| capital(word))
            .collect();
        let version = capital(&self.resource.version);
        let scope = if self.namespaced { "Namespaced" } else { "" };
        let (kind, sub) = (&self.resource.kind, capital(self.subresource));
        format!(
            "{word}{group}{version}{collection}{scope}{kind}{sub}{}",
            self.suffix
        )
    }
}

fn group_words(group: &str) -> Vec<&str> {
    match group {
        "" => vec!["core"],
        group => group
            .strip_suffix(".k8s.io")
            .unwrap_or(group)
            .split('.')
            .collect(),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}
