//! Taking over from those who managed an object before, so that what they once set and nobody wants any more goes away.
//!
//! Server-side apply removes a field only when its owner leaves it out and nobody else owns it. An object that somebody
//! made with kubectl belongs to kubectl, and what is later removed from its source would stay forever. So before the
//! first apply the entries of such managers are merged into our own, as a JSON patch of the object's metadata.

use model::{Map, Value};
use serde::{Deserialize, Serialize};
use smd::FieldSet;
use smd::fieldset;

const MANAGED_FIELDS: &str = "/metadata/managedFields";

/// How a manager came to own fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// A manager, or several by what their names begin with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Manager {
    /// The name, or its beginning.
    pub name: String,
    /// The name must be this and not only begin with it.
    pub exact: bool,
    /// How it wrote.
    pub operation: Operation,
}

/// What is taken from an object before it is applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Takeover {
    /// Ours, which gets the fields.
    pub manager: String,
    /// Those whose fields are taken. Entries of subresources are left alone.
    pub from: Vec<Manager>,
    /// Annotations that are removed.
    pub annotations: Vec<String>,
    /// Labels that are removed.
    pub labels: Vec<String>,
    /// Labels or annotations, by name and value, that keep an object as it is. They count on the desired and on the live
    /// object; values are compared without regard to case.
    pub unless: Vec<(String, String)>,
}

/// The managed fields of the live object cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the fields that {manager:?} manages cannot be read")]
pub struct Error {
    manager: String,
    source: fieldset::Error,
}

impl Takeover {
    /// What Flux's kustomize-controller takes over: everything of managers whose name begins with `kubectl` or is one of
    /// `others`, what was there before the first apply, and what `controller` itself wrote without server-side apply; the
    /// annotation of `kubectl apply` and the marks of Flux v1.
    pub fn flux<'a>(controller: &str, group: &str, others: impl IntoIterator<Item = &'a str>) -> Self {
        let taken = Takeover::helm(controller, std::iter::once("kubectl").chain(others));
        let mut from = taken.from;
        from.push(Manager {
            name: "before-first-apply".to_owned(),
            exact: false,
            operation: Operation::Update,
        });
        Takeover {
            manager: taken.manager,
            from,
            annotations: vec![
                "kubectl.kubernetes.io/last-applied-configuration".to_owned(),
                format!("{group}/checksum"),
                "fluxcd.io/sync-checksum".to_owned(),
            ],
            labels: vec!["fluxcd.io/sync-gc-mark".to_owned()],
            unless: vec![(format!("{group}/ssa"), "Merge".to_owned())],
        }
    }

    /// What a release of Helm takes over: what `controller` itself wrote without server-side apply, and everything of these managers. What others have set, such as
    /// by kubectl, is theirs.
    pub fn helm<'a>(controller: &str, others: impl IntoIterator<Item = &'a str>) -> Self {
        let manager = |name: &str, operation| Manager {
            name: name.to_owned(),
            exact: false,
            operation,
        };
        let both = |name: &str| [manager(name, Operation::Apply), manager(name, Operation::Update)];
        let mut from = vec![manager(controller, Operation::Update)];
        from.extend(others.into_iter().flat_map(both));
        Takeover {
            manager: controller.to_owned(),
            from,
            ..Takeover::default()
        }
    }

    /// The JSON patch that takes over `live`; nothing where there is nothing to take.
    ///
    /// # Errors
    /// The managed fields of the live object cannot be read.
    pub fn patch(&self, live: &Value, desired: &Value) -> Result<Option<Value>, Error> {
        if [live, desired].iter().any(|object| self.is_kept(object)) {
            return Ok(None);
        }
        let mut operations = removals(live, "annotations", &self.annotations);
        operations.extend(removals(live, "labels", &self.labels));
        if let Some(entries) = self.merged(live)? {
            operations.push(replace(entries));
        }
        Ok((!operations.is_empty()).then(|| operations.into()))
    }

    fn is_kept(&self, object: &Value) -> bool {
        self.unless.iter().any(|(name, value)| {
            ["labels", "annotations"].iter().any(|map| {
                let found = object.str_at(&["metadata", map, name]);
                !found.is_empty() && found.to_lowercase() == value.to_lowercase()
            })
        })
    }

    /// The entries with those of the other managers merged into ours, which is then the last.
    fn merged(&self, live: &Value) -> Result<Option<Vec<Value>>, Error> {
        let entries = live.list_at(&["metadata", "managedFields"]);
        let is_ours = |entry: &Value| {
            entry.str_at(&["manager"]) == self.manager && operation(entry) == Some(Operation::Apply)
        };
        let ours = entries.iter().rposition(is_ours);
        let mut own = ours.map(|at| entries[at].clone());
        let mut others = Vec::with_capacity(entries.len());
        let mut taken = false;
        for (at, entry) in entries.iter().enumerate() {
            if ours == Some(at) {
                continue;
            }
            if !self.from.iter().any(|manager| manager.matches(entry)) {
                others.push(entry.clone());
                continue;
            }
            taken = true;
            match &mut own {
                None => own = Some(self.renamed(entry)),
                Some(own) => merge_fields(own, entry)?,
            }
        }
        others.extend(own);
        Ok(taken.then_some(others))
    }

    fn renamed(&self, entry: &Value) -> Value {
        let mut entry = entry.clone();
        entry.set_at(&["manager"], self.manager.as_str());
        entry.set_at(&["operation"], "Apply");
        entry
    }
}

impl Manager {
    fn matches(&self, entry: &Value) -> bool {
        let name = entry.str_at(&["manager"]);
        operation(entry) == Some(self.operation)
            && entry.str_at(&["subresource"]).is_empty()
            && if self.exact {
                name == self.name
            } else {
                name.starts_with(&self.name)
            }
    }
}

/// The JSON patch that brings all managed fields of `live` to `api_version`; nothing where they are there already.
///
/// An apply in a version whose definition has new fields with defaults is refused as long as any manager's entry is of an
/// older version.
pub fn migrate(live: &Value, api_version: &str) -> Option<Value> {
    let entries = live.list_at(&["metadata", "managedFields"]);
    let is_old = |entry: &Value| entry.str_at(&["apiVersion"]) != api_version;
    if !entries.iter().any(is_old) {
        return None;
    }
    let mut entries = entries.to_vec();
    for entry in &mut entries {
        entry.set_at(&["apiVersion"], api_version);
    }
    Some(vec![replace(entries)].into())
}

fn operation(entry: &Value) -> Option<Operation> {
    match entry.str_at(&["operation"]) {
        "Apply" => Some(Operation::Apply),
        "Update" => Some(Operation::Update),
        _ => None,
    }
}

fn merge_fields(own: &mut Value, entry: &Value) -> Result<(), Error> {
    let read = |entry: &Value, fields: &Value| {
        FieldSet::from_value(fields).map_err(|source| Error {
            manager: entry.str_at(&["manager"]).to_owned(),
            source,
        })
    };
    let merged = match (own.get("fieldsV1"), entry.get("fieldsV1")) {
        (_, None) => return Ok(()),
        (None, Some(fields)) => fields.clone(),
        (Some(ours), Some(theirs)) => read(own, ours)?.union(&read(entry, theirs)?).to_value(),
    };
    own.set_at(&["fieldsV1"], merged);
    Ok(())
}

fn removals(live: &Value, map: &str, names: &[String]) -> Vec<Value> {
    names
        .iter()
        .filter(|name| live.at(&["metadata", map, name]).is_some())
        .map(|name| {
            let path = format!("/metadata/{map}/{}", super::pointer::escape(name));
            Map::from_iter([("op", "remove"), ("path", path.as_str())]).into()
        })
        .collect()
}

fn replace(entries: Vec<Value>) -> Value {
    model::value!({ "op": "replace", "path": MANAGED_FIELDS, "value": (Value::from(entries)) })
}
