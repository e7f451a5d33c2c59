//! Where two objects differ.

use std::collections::BTreeSet;

use model::Value;

/// Fields by which entries of lists are told apart, the best first.
const NAMES: [&str; 4] = ["name", "key", "id", "manager"];

/// How many entries a list must have more than, for another field of theirs to be taken for a name.
const GUESSED: usize = 3;

/// A field in which two objects differ.
pub(super) struct Difference<'v> {
    /// The way to it.
    pub(super) path: Vec<String>,
    /// In what.
    pub(super) details: Vec<Detail<'v>>,
}

/// How a field differs.
pub(super) enum Detail<'v> {
    Added(Part<'v>),
    Removed(Part<'v>),
    Changed(&'v Value, &'v Value),
    /// The entries of a list by their names, before and after.
    Reordered(Vec<String>, Vec<String>),
}

/// What was added to a map or a list, or taken away.
pub(super) enum Part<'v> {
    Entries(Vec<(&'v str, &'v Value)>),
    Items(Vec<&'v Value>),
}

impl Part<'_> {
    /// It as a map or a list of its own.
    pub(super) fn value(&self) -> Value {
        match self {
            Part::Entries(entries) => {
                let entries = entries
                    .iter()
                    .map(|(key, value)| ((*key).to_owned(), (*value).clone()));
                Value::Object(entries.collect())
            }
            Part::Items(items) => Value::from(items.iter().map(|item| (*item).clone()).collect::<Vec<_>>()),
        }
    }
}

/// All differences, what comes and goes in a map or a list before what changes in it.
pub(super) fn differences<'v>(live: &'v Value, merged: &'v Value) -> Vec<Difference<'v>> {
    values(&[], live, merged)
}

/// What people call the type of a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Str(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "map",
    }
}

fn values<'v>(path: &[String], live: &'v Value, merged: &'v Value) -> Vec<Difference<'v>> {
    match (live, merged) {
        (Value::Object(_), Value::Object(_)) => maps(path, live, merged),
        (Value::Array(live), Value::Array(merged)) => lists(path, live, merged),
        _ if live == merged => Vec::new(),
        _ => vec![Difference {
            path: path.to_vec(),
            details: vec![Detail::Changed(live, merged)],
        }],
    }
}

fn below(path: &[String], name: &str) -> Vec<String> {
    [path, &[name.to_owned()]].concat()
}

fn maps<'v>(path: &[String], live: &'v Value, merged: &'v Value) -> Vec<Difference<'v>> {
    let entries = |value: &'v Value| value.as_object().into_iter().flat_map(|map| map.iter());
    let (mut removed, mut inside) = (Vec::new(), Vec::new());
    for (key, value) in entries(live) {
        match merged.get(key) {
            Some(other) => inside.extend(values(&below(path, key), value, other)),
            None => removed.push((key, value)),
        }
    }
    let added = entries(merged).filter(|(key, _)| live.get(key).is_none());
    let added: Vec<(&str, &Value)> = added.collect();
    let mut details = Vec::new();
    if !removed.is_empty() {
        details.push(Detail::Removed(Part::Entries(removed)));
    }
    if !added.is_empty() {
        details.push(Detail::Added(Part::Entries(added)));
    }
    before(path, details, inside)
}

/// Puts what differs in a map or list itself before what differs in its entries.
fn before<'v>(
    path: &[String],
    details: Vec<Detail<'v>>,
    mut inside: Vec<Difference<'v>>,
) -> Vec<Difference<'v>> {
    if !details.is_empty() {
        let path = path.to_vec();
        inside.insert(0, Difference { path, details });
    }
    inside
}

fn lists<'v>(path: &[String], live: &'v [Value], merged: &'v [Value]) -> Vec<Difference<'v>> {
    if live.is_empty() && merged.is_empty() {
        return Vec::new();
    }
    if let Some(name) = field_of_names(live, merged) {
        return named(path, live, merged, &|item: &Value| text(item.get(&name)));
    }
    let are_objects = |list: &[Value]| list.iter().all(|item| object_name(item).is_some());
    if are_objects(live) && are_objects(merged) {
        return named(path, live, merged, &|item: &Value| {
            object_name(item).unwrap_or_default()
        });
    }
    unnamed(path, live, merged)
}

/// The field that is another one in each entry of both lists, if there is such a field.
fn field_of_names(live: &[Value], merged: &[Value]) -> Option<String> {
    let tells_apart = |list: &[Value], field: &str| {
        let names = list.iter().filter_map(|item| item.get(field));
        let names: BTreeSet<String> = names.map(|name| text(Some(name))).collect();
        !list.is_empty() && names.len() == list.len()
    };
    let usual = NAMES.into_iter().find(|field| {
        let both = [live, merged].map(|list| tells_apart(list, field));
        both == [true, true]
    });
    if let Some(field) = usual {
        return Some(field.to_owned());
    }
    let fields = live
        .iter()
        .filter_map(Value::as_object)
        .flat_map(|map| map.keys());
    let fields: BTreeSet<&str> = fields.collect();
    let is_guessed = |field: &&str| {
        [live, merged].into_iter().all(|list| {
            let texts = list
                .iter()
                .filter_map(|item| item.get(field).and_then(Value::as_str));
            let texts: BTreeSet<&str> = texts.collect();
            texts.len() == list.len() && list.iter().all(|item| item.as_object().is_some())
        })
    };
    let guessed = fields
        .into_iter()
        .filter(|_| live.len() > GUESSED)
        .find(is_guessed);
    guessed.map(str::to_owned)
}

/// What an entry is called that is an object of a cluster itself.
fn object_name(item: &Value) -> Option<String> {
    let field = |path: &[&str]| item.at(path).and_then(Value::as_str);
    let namespace = field(&["metadata", "namespace"]);
    let parts = [
        Some(field(&["apiVersion"])?),
        Some(field(&["kind"])?),
        namespace,
        Some(field(&["metadata", "name"])?),
    ];
    Some(parts.into_iter().flatten().collect::<Vec<_>>().join("/"))
}

/// The text of a plain value; others have none.
fn text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Array(_) | Value::Object(_)) => String::new(),
        Some(Value::Str(text)) => text.to_string(),
        Some(other) => model::json::to_string(other),
    }
}

fn named<'v>(
    path: &[String],
    live: &'v [Value],
    merged: &'v [Value],
    name: &dyn Fn(&Value) -> String,
) -> Vec<Difference<'v>> {
    let find = |list: &'v [Value], wanted: &str| list.iter().find(|item| name(item) == wanted);
    let (mut removed, mut inside, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for item in live {
        let own = name(item);
        match find(merged, &own) {
            Some(other) => {
                inside.extend(values(&below(path, &own), item, other));
                names.push(own);
            }
            None => removed.push(item),
        }
    }
    let is_known = |item: &&Value| find(live, &name(item)).is_some();
    let kept = merged.iter().filter(is_known);
    let kept: Vec<String> = kept.map(name).collect();
    let added: Vec<&Value> = merged.iter().filter(|item| !is_known(item)).collect();
    let mut details = Vec::new();
    if names != kept {
        details.push(Detail::Reordered(names, kept));
    }
    details.extend(items(removed, added));
    before(path, details, inside)
}

fn items<'v>(removed: Vec<&'v Value>, added: Vec<&'v Value>) -> Vec<Detail<'v>> {
    let mut details = Vec::new();
    if !removed.is_empty() {
        details.push(Detail::Removed(Part::Items(removed)));
    }
    if !added.is_empty() {
        details.push(Detail::Added(Part::Items(added)));
    }
    details
}

/// Entries that nothing tells apart but themselves.
fn unnamed<'v>(path: &[String], live: &'v [Value], merged: &'v [Value]) -> Vec<Difference<'v>> {
    if let ([live], [merged]) = (live, merged) {
        return values(&below(path, "0"), live, merged);
    }
    let kept = |list: &'v [Value], other: &[Value]| -> Vec<&'v Value> {
        list.iter().filter(|item| other.contains(item)).collect()
    };
    let (common, also) = (kept(live, merged), kept(merged, live));
    let mut details = Vec::new();
    if common.len() == also.len() && common != also {
        let shown = |list: Vec<&Value>| list.into_iter().map(super::neat::name).collect();
        details.push(Detail::Reordered(shown(common), shown(also)));
    }
    details.extend(items(surplus(live, merged), surplus(merged, live)));
    before(path, details, Vec::new())
}

/// What a list has more of than another one.
fn surplus<'v>(list: &'v [Value], other: &[Value]) -> Vec<&'v Value> {
    let count = |list: &[Value], wanted: &Value| list.iter().filter(|item| *item == wanted).count();
    let mut surplus: Vec<&Value> = Vec::new();
    for item in list {
        let more = count(list, item).saturating_sub(count(other, item));
        let has = surplus.iter().filter(|known| **known == item).count();
        if has == 0 {
            surplus.extend(std::iter::repeat_n(item, more));
        }
    }
    surplus
}
