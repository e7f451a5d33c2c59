//! A difference as people read it.

use std::fmt;

use model::{ObjectKey, Value, json};
use similar::TextDiff;

use super::fields::Field;
use super::mask::mask;

/// What the API server adds to every object and nobody wants to read in a diff.
const NOISE: [&[&str]; 6] = [
    &["metadata", "managedFields"],
    &["metadata", "resourceVersion"],
    &["metadata", "uid"],
    &["metadata", "generation"],
    &["metadata", "creationTimestamp"],
    &["status"],
];

/// Beyond so many lines of both objects together that differ, lines are not matched with one another: that takes time that
/// grows with their square.
const LINES: usize = 10_000;

/// A unified diff of the YAML of two objects, with the values of Secrets masked; empty where they do not differ. An object that
/// is missing has no lines.
pub fn unified(live: Option<&Value>, desired: Option<&Value>) -> String {
    let (mut live, mut desired) = (live.cloned(), desired.cloned());
    mask(live.as_mut(), desired.as_mut());
    let key = desired.as_ref().or(live.as_ref()).map(ObjectKey::of);
    let Some(key) = key else {
        return String::new();
    };
    let (old, new) = (text(live), text(desired));
    if old == new {
        return String::new();
    }
    let header = (format!("live/{key}"), format!("desired/{key}"));
    if differing_lines(&old, &new) > LINES {
        return replaced(&old, &new, &header);
    }
    TextDiff::from_lines(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header(&header.0, &header.1)
        .to_string()
}

/// The YAML of an object without noise.
fn text(object: Option<Value>) -> String {
    let Some(mut object) = object else {
        return String::new();
    };
    for path in NOISE {
        object.remove_at(path);
    }
    sort(&mut object);
    yaml::write(&object)
}

fn sort(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(sort),
        Value::Object(map) => {
            map.sort();
            map.iter_mut().for_each(|(_, value)| sort(value));
        }
        _ => {}
    }
}

/// How many lines stand between what both have at the beginning and at the end.
fn differing_lines(old: &str, new: &str) -> usize {
    let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
    let rest = |text: &str| text.lines().count() - same;
    let (old_rest, new_rest) = (rest(old), rest(new));
    let same_end = old
        .lines()
        .rev()
        .zip(new.lines().rev())
        .take_while(|(a, b)| a == b)
        .count();
    old_rest + new_rest - 2 * same_end.min(old_rest).min(new_rest)
}

fn replaced(old: &str, new: &str, header: &(String, String)) -> String {
    let lines = |mark: char, text: &str| {
        text.lines()
            .map(|line| format!("{mark}{line}\n"))
            .collect::<String>()
    };
    let range = |text: &str| match text.lines().count() {
        0 => "0,0".to_owned(),
        count => format!("1,{count}"),
    };
    format!(
        "--- {}\n+++ {}\n@@ -{} +{} @@\n{}{}",
        header.0,
        header.1,
        range(old),
        range(new),
        lines('-', old),
        lines('+', new)
    )
}

/// One line: `.spec.replicas: 5 → 3 (scaler)`.
impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), json::to_string);
        write!(
            out,
            "{}: {} → {}",
            self.name,
            text(&self.live),
            text(&self.desired)
        )?;
        match &self.owner {
            Some(owner) => write!(out, " ({owner})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    fn map(data: Value) -> Value {
        value!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "a", "namespace": "b", "uid": "x" }, "data": data })
    }

    #[test]
    fn lines_that_differ_are_shown_with_what_stands_around_them() {
        let (live, desired) = (
            map(value!({ "k": "1", "l": "x" })),
            map(value!({ "k": "2", "l": "x" })),
        );
        let wanted = "--- live/ConfigMap/b/a\n+++ desired/ConfigMap/b/a\n@@ -1,6 +1,6 @@\n apiVersion: v1\n data:\n-  k: \"1\"\n+  k: \"2\"\n   l: x\n kind: ConfigMap\n metadata:\n";
        assert_eq!(unified(Some(&live), Some(&desired)), wanted);
    }

    #[test]
    fn what_is_new_or_gone_is_shown_whole() {
        let object = map(value!({}));
        assert!(unified(None, Some(&object)).contains("\n+kind: ConfigMap\n"));
        assert!(unified(Some(&object), None).contains("\n-kind: ConfigMap\n"));
        assert_eq!(unified(Some(&object), Some(&object)), "");
        assert_eq!(unified(None, None), "");
    }

    #[test]
    fn objects_of_many_lines_are_shown_in_short_time() {
        let many = |start: i64| {
            let data: model::Map = (0..20_000i64)
                .map(|at| (format!("k{at}"), Value::Int(at * start)))
                .collect();
            map(data.into())
        };
        let shown = unified(Some(&many(1)), Some(&many(2)));
        assert!(shown.lines().count() > 39_000);
    }
}
