//! Events have two forms that say the same in other words.

use model::{Map, Value};

/// Names in the core group, names in `events.k8s.io`, and whether both always write the field.
const NAMES: [(&str, &str); 8] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

pub(super) fn to_events(event: &mut Map) {
    for (core, events) in NAMES {
        rename(event, core, events);
    }
    // The newer form leaves these out when they are empty.
    drop_empty(event, &["reportingController", "reportingInstance"]);
}

pub(super) fn to_core(event: &mut Map) {
    for (core, events) in NAMES {
        rename(event, events, core);
    }
    for always in ["reportingComponent", "reportingInstance"] {
        if !event.contains_key(always) {
            event.insert(always, "");
        }
    }
}

fn rename(event: &mut Map, from: &str, to: &str) {
    if from != to
        && let Some(value) = event.remove(from)
    {
        event.insert(to, value);
    }
}

fn drop_empty(event: &mut Map, keys: &[&str]) {
    for key in keys {
        if event.get(key).and_then(Value::as_str) == Some("") {
            event.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    #[test]
    fn an_event_comes_back_as_it_was() {
        let core = value!({
            "apiVersion": "v1", "count": 2, "eventTime": null, "firstTimestamp": "2020-01-01T00:00:00Z",
            "involvedObject": { "kind": "Pod", "name": "a" }, "kind": "Event", "lastTimestamp": null,
            "message": "m", "metadata": { "name": "e" }, "reason": "R", "reportingComponent": "",
            "reportingInstance": "", "source": { "component": "c" }, "type": "Normal",
        });
        let mut event = core.clone();
        let map = event.make_object();
        to_events(map);
        assert_eq!(map.get("note").and_then(Value::as_str), Some("m"));
        assert_eq!(
            map.get("regarding").map(|object| object.str_at(&["name"])),
            Some("a")
        );
        assert!(!map.contains_key("reportingController") && !map.contains_key("message"));
        to_core(map);
        assert_eq!(event, core);
    }
}
