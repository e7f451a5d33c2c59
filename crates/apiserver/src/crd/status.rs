//! The status of a definition: which names it got, and whether it is served.

use model::{Map, Value};

/// Decides which of the names a definition asks for it gets, and writes that into its status, with the conditions
/// `NamesAccepted` and `Established`. `others` are all other definitions; `now` is the time, for conditions that change.
///
/// The real server does this in two steps, a moment apart; here a definition is established at once.
pub fn conditions<'v>(crd: &mut Value, others: impl IntoIterator<Item = &'v Value>, now: &str) {
    let used = Used::by(others, crd.str_at(&["spec", "group"]));
    let asked = crd.at(&["spec", "names"]).cloned().unwrap_or_default();
    let mut accepted = crd
        .at(&["status", "acceptedNames"])
        .cloned()
        .unwrap_or_else(Value::object);
    let mut conflict: Option<(&str, String)> = None;
    for (field, reason, taken) in [
        ("plural", "PluralConflict", &used.resources),
        ("singular", "SingularConflict", &used.resources),
        ("shortNames", "ShortNamesConflict", &used.resources),
        ("kind", "KindConflict", &used.kinds),
        ("listKind", "ListKindConflict", &used.kinds),
    ] {
        match in_use(&asked, &accepted, field, taken) {
            Some(message) => conflict = Some((reason, message)),
            None => copy(&asked, &mut accepted, field),
        }
    }
    copy(&asked, &mut accepted, "categories");
    crd.set_at(&["status", "acceptedNames"], accepted);
    let names = match &conflict {
        Some((reason, message)) => ("False", *reason, message.as_str()),
        None => ("True", "NoConflicts", "no conflicts found"),
    };
    set_condition(crd, "NamesAccepted", names, now);
    if is_true(crd, "Established") {
        return;
    }
    let established = match conflict {
        Some(_) => ("False", "NotAccepted", "not all names are accepted"),
        None => (
            "True",
            "InitialNamesAccepted",
            "the initial names have been accepted",
        ),
    };
    set_condition(crd, "Established", established, now);
}

/// Whether a condition of an object is true.
pub fn is_true(object: &Value, condition: &str) -> bool {
    let conditions = object.list_at(&["status", "conditions"]);
    conditions
        .iter()
        .any(|found| found.str_at(&["type"]) == condition && found.str_at(&["status"]) == "True")
}

/// Names that other definitions of the group have.
struct Used<'v> {
    resources: Vec<&'v str>,
    kinds: Vec<&'v str>,
}

impl<'v> Used<'v> {
    fn by(others: impl IntoIterator<Item = &'v Value>, group: &str) -> Used<'v> {
        let mut used = Used {
            resources: Vec::new(),
            kinds: Vec::new(),
        };
        for other in others
            .into_iter()
            .filter(|other| other.str_at(&["spec", "group"]) == group)
        {
            let Some(names) = other.at(&["status", "acceptedNames"]) else {
                continue;
            };
            used.resources
                .extend([names.str_at(&["plural"]), names.str_at(&["singular"])]);
            used.resources
                .extend(names.list_at(&["shortNames"]).iter().filter_map(Value::as_str));
            used.kinds
                .extend([names.str_at(&["kind"]), names.str_at(&["listKind"])]);
        }
        used
    }
}

/// Why a name cannot be had; `None` where it can.
fn in_use(asked: &Value, accepted: &Value, field: &str, taken: &[&str]) -> Option<String> {
    let had: Vec<&str> = match accepted.get(field) {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        other => other.and_then(Value::as_str).into_iter().collect(),
    };
    let wanted: Vec<&str> = match asked.get(field) {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        other => other.and_then(Value::as_str).into_iter().collect(),
    };
    let refused: Vec<String> = wanted
        .into_iter()
        .filter(|name| !had.contains(name) && taken.contains(name))
        .map(|name| format!("{name:?} is already in use"))
        .collect();
    match refused.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn copy(from: &Value, to: &mut Value, field: &str) {
    match from.get(field) {
        Some(value) => to.make_object().insert(field, value.clone()),
        None => to.make_object().remove(field),
    };
}

/// Sets a condition; its time changes only with its status.
fn set_condition(crd: &mut Value, name: &str, (status, reason, message): (&str, &str, &str), now: &str) {
    let mut conditions = crd.list_at(&["status", "conditions"]).to_vec();
    let old = conditions
        .iter_mut()
        .find(|condition| condition.str_at(&["type"]) == name);
    let since = match &old {
        Some(old) if old.str_at(&["status"]) == status => old.str_at(&["lastTransitionTime"]).to_owned(),
        _ => now.to_owned(),
    };
    let condition = [
        ("lastTransitionTime", since.as_str()),
        ("message", message),
        ("reason", reason),
        ("status", status),
        ("type", name),
    ];
    let condition = Value::Object(condition.into_iter().collect::<Map>());
    match old {
        Some(old) => *old = condition,
        None => conditions.push(condition),
    }
    crd.set_at(&["status", "conditions"], Value::from(conditions));
}
