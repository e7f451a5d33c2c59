//! The objects that templates make.

use helm::capabilities::KubeVersion;
use model::Value;

use super::{Message, Severity, deprecated, names};

/// What an object says it is.
#[derive(Default)]
pub(super) struct Head {
    pub(super) api_version: String,
    pub(super) kind: String,
    name: String,
}

impl Head {
    /// The head of a document; `None` if there is nothing in it.
    pub(super) fn of(document: &Value) -> Result<Option<Head>, String> {
        let map = match document {
            Value::Null => return Ok(None),
            Value::Object(map) => map,
            _ => return Err("the document is no map".to_owned()),
        };
        let text = |value: Option<&Value>| match value {
            Some(Value::Str(text)) => text.to_string(),
            // Where a text is wanted, others are read as one.
            Some(Value::Bool(bool)) => bool.to_string(),
            Some(Value::Int(number)) => number.to_string(),
            Some(Value::Float(number)) => number.to_string(),
            _ => String::new(),
        };
        let metadata = map.get("metadata").and_then(Value::as_object);
        Ok(Some(Head {
            api_version: text(map.get("apiVersion")),
            kind: text(map.get("kind")),
            name: text(metadata.and_then(|metadata| metadata.get("name"))),
        }))
    }
}

/// Looks at what a template has rendered. Says whether it is YAML.
pub(super) fn check(path: &str, rendered: &str, kubernetes: &KubeVersion, found: &mut Vec<Message>) -> bool {
    if rendered.trim().is_empty() {
        return true;
    }
    let mut add = |severity, text: String| found.push(Message::new(severity, path.to_owned(), text));
    let first = rendered.lines().find(|line| !line.trim().is_empty());
    if let Some(line) = first.filter(|line| line.starts_with([' ', '\t'])) {
        let line = model::quote::quote(line);
        let text =
            format!("document starts with an illegal indent: {line}, which may cause parsing problems");
        add(Severity::Warning, text);
    }
    for document in yaml::documents(rendered) {
        let document = document.map_err(|error| format!("error converting YAML to JSON: {error}"));
        let head = document.and_then(|document| Ok((Head::of(&document.value)?, document.value)));
        let (head, document) = match head {
            Ok((Some(head), document)) => (head, document),
            Ok((None, _)) => continue,
            Err(problem) => {
                add(Severity::Error, format!("unable to parse YAML: {problem}"));
                return false;
            }
        };
        if let Some(problem) = names::problem(&head.kind, &head.name) {
            add(Severity::Warning, problem);
        }
        if let Some(remark) = deprecated::remark(&head.api_version, &head.kind, kubernetes) {
            add(Severity::Warning, remark);
        }
        let selects = ["matchLabels", "matchExpressions"]
            .iter()
            .any(|word| rendered.contains(word));
        let kind = head.kind.as_str();
        if matches!(kind, "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet") && !selects {
            let name = model::quote::quote(&head.name);
            let text = format!("a {kind} must contain matchLabels or matchExpressions, and {name} does not");
            add(Severity::Error, text);
        }
        if kind == "List" && has_policy(&document) {
            let text = "annotation 'helm.sh/resource-policy' within List objects are ignored";
            add(Severity::Error, text.to_owned());
        }
    }
    true
}

/// Whether an object of a list asks to be kept: nobody looks there.
fn has_policy(list: &Value) -> bool {
    let items = list.get("items").and_then(Value::as_array);
    items.into_iter().flatten().any(|item| {
        let metadata = item.get("metadata");
        let annotations = metadata.and_then(|metadata| metadata.get("annotations"));
        annotations.is_some_and(|annotations| annotations.get("helm.sh/resource-policy").is_some())
    })
}
