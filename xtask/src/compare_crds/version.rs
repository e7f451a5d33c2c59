//! One version of a definition beside ours.

use model::Value;

use super::schema::{self, Place};
use super::{Difference, difference, same};

/// Compares a version of upstream's with ours of the same name.
pub(super) fn compare(into: &mut Vec<Difference>, name: &str, theirs: &Value, ours: &Value) {
    let version = theirs.str_at(&["name"]);
    let versions = ours.list_at(&["spec", "versions"]);
    let Some(ours) = versions.iter().find(|ours| ours.str_at(&["name"]) == version) else {
        into.push(difference(
            name,
            version,
            "",
            "there is no such version".to_owned(),
        ));
        return;
    };
    let (their_places, our_places) = (places(theirs), places(ours));
    if ours.at(&["storage"]).and_then(Value::as_bool) == Some(true) {
        for part in [
            "served",
            "storage",
            "deprecated",
            "subresources",
            "additionalPrinterColumns",
        ] {
            same(into, name, version, part, theirs.get(part), ours.get(part));
        }
        exact(into, name, version, &their_places, &our_places);
    } else {
        tolerant(into, name, version, &their_places, &our_places);
    }
}

fn places(version: &Value) -> Vec<Place> {
    version
        .at(&["schema", "openAPIV3Schema"])
        .map(schema::places)
        .unwrap_or_default()
}

fn at<'a>(places: &'a [Place], path: &str) -> Option<&'a Place> {
    places.iter().find(|place| place.path == path)
}

/// Everything must be the same, in both directions.
fn exact(into: &mut Vec<Difference>, name: &str, version: &str, theirs: &[Place], ours: &[Place]) {
    for place in theirs {
        let Some(our) = at(ours, &place.path) else {
            into.push(difference(
                name,
                version,
                &place.path,
                "ours has no such field".to_owned(),
            ));
            continue;
        };
        let keys = place
            .facts
            .keys()
            .chain(our.facts.keys().filter(|key| !place.facts.contains_key(*key)));
        for key in keys {
            let (their, our) = (place.facts.get(key), our.facts.get(key));
            if their != our {
                let what = format!(
                    "{key}: upstream {}, ours {}",
                    their.map_or("nothing", String::as_str),
                    our.map_or("nothing", String::as_str)
                );
                into.push(difference(name, version, &place.path, what));
            }
        }
    }
    for place in ours.iter().filter(|place| at(theirs, &place.path).is_none()) {
        into.push(difference(
            name,
            version,
            &place.path,
            "upstream has no such field".to_owned(),
        ));
    }
}

/// Ours must take what theirs takes, and read it as they do.
fn tolerant(into: &mut Vec<Difference>, name: &str, version: &str, theirs: &[Place], ours: &[Place]) {
    for place in theirs {
        let Some(our) = at(ours, &place.path) else {
            into.push(difference(
                name,
                version,
                &place.path,
                "ours has no such field".to_owned(),
            ));
            continue;
        };
        for what in refusals(place, our) {
            into.push(difference(name, version, &place.path, what));
        }
    }
    for place in ours.iter().filter(|place| at(theirs, &place.path).is_none()) {
        let parent = place.path.rsplit_once('.').map_or("", |(parent, _)| parent);
        if place.is_required() && at(theirs, parent).is_some() {
            into.push(difference(
                name,
                version,
                &place.path,
                "required, and unknown to upstream".to_owned(),
            ));
        }
    }
}

/// Why ours would refuse what theirs takes, or read it differently.
fn refusals(their: &Place, our: &Place) -> Vec<String> {
    let mut refusals = Vec::new();
    for key in ["type", "format", "default"] {
        let (their, our) = (their.facts.get(key), our.facts.get(key));
        if their != our {
            let (their, our) = (
                their.map_or("nothing", String::as_str),
                our.map_or("nothing", String::as_str),
            );
            refusals.push(format!("{key}: upstream {their}, ours {our}"));
        }
    }
    for key in [
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "rules",
    ] {
        if let Some(our) = our.facts.get(key).filter(|our| their.facts.get(key) != Some(our)) {
            refusals.push(format!("{key}: ours checks {our}"));
        }
    }
    if our.is_required() && !their.is_required() {
        refusals.push("required: only ours".to_owned());
    }
    let missing: Vec<&str> = match our.words.is_empty() {
        true => Vec::new(),
        false => their
            .words
            .iter()
            .filter(|word| !our.words.contains(*word))
            .map(String::as_str)
            .collect(),
    };
    if !missing.is_empty() {
        refusals.push(format!("enum: ours lacks {}", missing.join(", ")));
    }
    if their.words.is_empty() && !our.words.is_empty() {
        refusals.push("enum: only ours".to_owned());
    }
    refusals
}
