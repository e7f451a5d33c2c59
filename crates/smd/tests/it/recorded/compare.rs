//! What of our result must be in the real server's answer, and the other way round.

use model::{Value, json};
use smd::FieldSet;
use smd::managed::{self, ApplyError, Typing};

use super::Exchange;

/// Managed fields must be equal, after the step that drops changes of times alone.
pub(super) fn managed_fields(exchange: &Exchange, ours: &Value) -> Result<(), String> {
    const PATH: &[&str] = &["metadata", "managedFields"];
    let mut candidate = exchange.response().clone();
    candidate.remove_at(PATH);
    if let Some(managed) = ours.at(PATH) {
        candidate.set_at(PATH, managed.clone());
    }
    if let Some(live) = exchange.live() {
        managed::keep_times(live, &mut candidate);
    }
    let (ours, theirs) = (candidate.at(PATH), exchange.response().at(PATH));
    if ours == theirs {
        return Ok(());
    }
    Err(format!("managed fields{}", entries_difference(ours, theirs)))
}

fn entries_difference(ours: Option<&Value>, theirs: Option<&Value>) -> String {
    let list = |list: Option<&Value>| list.map(|list| list.list_at(&[]).to_vec()).unwrap_or_default();
    let (ours, theirs) = (list(ours), list(theirs));
    let same = |a: &Value, b: &Value| {
        ["manager", "operation", "apiVersion", "subresource"]
            .iter()
            .all(|name| a.get(name) == b.get(name))
    };
    let mut text = String::new();
    for (mine, others, sign) in [(&ours, &theirs, "ours"), (&theirs, &ours, "theirs")] {
        for entry in mine.iter().filter(|entry| !others.contains(entry)) {
            let fields = |entry: &Value| FieldSet::from_value(entry.get("fieldsV1").unwrap()).unwrap();
            let twin = others.iter().find(|other| same(other, entry));
            let only = twin.map_or(fields(entry), |twin| fields(entry).difference(&fields(twin)));
            let mut head = entry.clone();
            head.remove_at(&["fieldsV1"]);
            text.push_str(&format!(
                "\n  only {sign}: {} {}",
                json::to_string(&head),
                only.to_json()
            ));
        }
    }
    text
}

/// All that we merged must be in the answer, and all that somebody owns in the answer must be in what we merged. The
/// answer has defaults besides.
pub(super) fn merged_object(typing: &Typing<'_>, exchange: &Exchange, ours: &Value) -> Result<(), String> {
    let response = exchange.response();
    let written = match exchange.text("subresource") {
        "status" => &["status"][..],
        _ => &["data", "binaryData", "spec"],
    };
    // A service drops this by itself when it no longer reaches out.
    let mut ours = ours.clone();
    ours.remove_at(&["spec", "externalTrafficPolicy"]);
    let ours = &ours;
    for part in written {
        if let (Some(ours), theirs) = (ours.get(part), response.get(part).unwrap_or(&Value::Null)) {
            is_part(ours, theirs).map_err(|place| format!("{part}{place} is not in the answer"))?;
        }
    }
    if written == ["status"] {
        return Ok(());
    }
    let metadata = ["labels", "annotations", "finalizers"];
    for part in metadata {
        let (ours, theirs) = (ours.at(&["metadata", part]), response.at(&["metadata", part]));
        let ours = ours.unwrap_or(&Value::Null);
        let theirs = theirs.unwrap_or(&Value::Null);
        if !is_empty(ours) || !is_empty(theirs) {
            is_part(ours, theirs).map_err(|place| format!("metadata.{part}{place} is not in the answer"))?;
            is_part(theirs, ours).map_err(|place| format!("metadata.{part}{place} is lost"))?;
        }
    }
    let mut response_without_empty = response.clone();
    drop_empty(&mut response_without_empty);
    response_without_empty.remove_at(&["spec", "externalTrafficPolicy"]);
    let mut lost = typing.ty.field_set(&response_without_empty);
    lost.subtract(&typing.ty.field_set(ours));
    for entry in response.list_at(&["metadata", "managedFields"]) {
        let owned = FieldSet::from_value(entry.get("fieldsV1").unwrap()).unwrap();
        let mut lost = lost.intersection(&owned);
        lost.subtract_recursively(&FieldSet::from_paths([smd::Path::fields(&["status"])]));
        if entry.str_at(&["apiVersion"]) == typing.api_version && !lost.is_empty() {
            return Err(format!("lost {}", lost.to_json()));
        }
    }
    Ok(())
}

/// The refusal must have the same message and the same causes. The real server lists managers in any order.
pub(super) fn refusal(status: &Value, ours: &ApplyError) -> Result<(), String> {
    let wanted = status.str_at(&["message"]);
    let lines = |text: &str| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    if lines(wanted) != lines(&ours.to_string()) {
        return Err(format!("message\n  ours: {ours}\n  theirs: {wanted}"));
    }
    let ApplyError::Conflicts(conflicts) = ours else {
        return Ok(());
    };
    let mut causes: Vec<_> = conflicts
        .iter()
        .map(|conflict| (conflict.message(), conflict.path.to_string()))
        .collect();
    let theirs = status.list_at(&["details", "causes"]).iter();
    let mut theirs: Vec<_> = theirs
        .map(|cause| {
            (
                cause.str_at(&["message"]).to_owned(),
                cause.str_at(&["field"]).to_owned(),
            )
        })
        .collect();
    causes.sort();
    theirs.sort();
    if causes == theirs {
        Ok(())
    } else {
        Err(format!("causes\n  ours: {causes:?}\n  theirs: {theirs:?}"))
    }
}

/// The new object as it was when the real server looked at managed fields: with defaults, but before fields were put
/// back to what they were.
pub(super) fn before_preparation(exchange: &Exchange) -> Value {
    let (request, mut new) = (exchange.request(), exchange.response().clone());
    let is_struct = |path: &[&str]| path[0] == "metadata" || request.str_at(&["kind"]) != "Gear";
    let mut overlay = |path: &[&str]| match request.at(path) {
        // Empty lists and maps do not outlive the decoding into a struct.
        Some(value) if is_struct(path) && is_empty(value) => drop(new.remove_at(path)),
        Some(value) => new.set_at(path, value.clone()),
        None => drop(new.remove_at(path)),
    };
    if exchange.text("subresource") == "status" {
        ["labels", "annotations", "finalizers"]
            .iter()
            .for_each(|name| overlay(&["metadata", name]));
        overlay(&["spec"]);
    } else if request.str_at(&["kind"]) != "ConfigMap" {
        overlay(&["status"]);
    }
    if request.str_at(&["kind"]) == "Service" {
        // These are allotted when the object is stored.
        ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]
            .iter()
            .for_each(|name| overlay(&["spec", name]));
    }
    new.remove_at(&["metadata", "managedFields"]);
    if let Some(managed) = request.at(&["metadata", "managedFields"]) {
        new.set_at(&["metadata", "managedFields"], managed.clone());
    }
    new
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        // A struct does not tell these from nothing.
        Value::Bool(flag) => !flag,
        Value::Int(number) => *number == 0,
        Value::Str(text) => text.is_empty(),
        Value::Float(_) => false,
    }
}

/// Structs that hold nothing come back by themselves.
fn drop_empty(value: &mut Value) {
    if let Value::Object(map) = value {
        map.iter_mut().for_each(|(_, value)| drop_empty(value));
        map.retain(|_, value| !matches!(value, Value::Object(map) if map.is_empty()));
    }
    if let Value::Array(items) = value {
        items.iter_mut().for_each(drop_empty);
    }
}

/// Whether `a` is `b` or `b` without some fields; the error is where it is not.
fn is_part(a: &Value, b: &Value) -> Result<(), String> {
    match (a, b) {
        (a, b) if is_empty(a) && is_empty(b) => Ok(()),
        (Value::Object(a), b) => {
            a.iter()
                .filter(|(_, value)| !is_empty(value))
                .try_for_each(|(name, value)| {
                    is_part(value, b.get(name).unwrap_or(&Value::Null))
                        .map_err(|place| format!(".{name}{place}"))
                })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .try_for_each(|(at, (a, b))| is_part(a, b).map_err(|place| format!("[{at}]{place}"))),
        (a, b) if a == b => Ok(()),
        (a, b) => Err(format!(": {} / {}", json::to_string(a), json::to_string(b))),
    }
}
