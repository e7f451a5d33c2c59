//! The operations. Their failures are worded as the API server's library words them: the server does not show them,
//! but kustomize, which uses the same library, does.

use model::Value;

use super::pointer::{existing, insertion, parent};
use super::{Limits, Member, Operation};

type Outcome = Result<(), String>;

const MISSING: &str = "missing value";

/// One application of a patch.
pub(super) struct Run {
    limits: Limits,
    copied: usize,
    shifted: usize,
}

impl Run {
    pub(super) fn new(limits: Limits) -> Self {
        Run {
            limits,
            copied: 0,
            shifted: 0,
        }
    }

    pub(super) fn step(&mut self, object: &mut Value, operation: &Operation) -> Outcome {
        match operation.op.as_str() {
            "add" => self.add(object, operation),
            "remove" => self.remove(object, operation),
            "replace" => self.replace(object, operation),
            "move" => self.move_value(object, operation),
            "copy" => self.copy(object, operation),
            "test" => test(object, operation),
            other => Err(format!("Unexpected kind: {other}")),
        }
    }

    fn add(&mut self, object: &mut Value, operation: &Operation) -> Outcome {
        let path = operation
            .path
            .text()
            .ok_or(format!("add operation failed to decode path: {MISSING}"))?;
        let (container, key) = parent(object, path).ok_or_else(|| {
            format!("add operation does not apply: doc is missing path: {path:?}: {MISSING}")
        })?;
        self.insert(container, &key, operation.value())
            .map_err(|why| format!("error in add for path: '{path}': {why}"))
    }

    fn remove(&mut self, object: &mut Value, operation: &Operation) -> Outcome {
        let path = operation
            .path
            .text()
            .ok_or(format!("remove operation failed to decode path: {MISSING}"))?;
        let (container, key) = parent(object, path).ok_or_else(|| {
            format!("remove operation does not apply: doc is missing path: {path:?}: {MISSING}")
        })?;
        self.take(container, &key)
            .map_err(|why| format!("error in remove for path: '{path}': {why}"))?;
        Ok(())
    }

    fn replace(&mut self, object: &mut Value, operation: &Operation) -> Outcome {
        let path = operation.path.or_say(
            "replace operation failed to decode path",
            "operation missing path field",
        )?;
        if path.is_empty() {
            let value = operation.value();
            if !matches!(value, Value::Object(_) | Value::Array(_)) {
                return Err("replace operation value must be object or array: %!w(<nil>)".into());
            }
            *object = value;
            return Ok(());
        }
        let (container, key) = parent(object, path).ok_or_else(|| {
            format!("replace operation does not apply: doc is missing path: {path}: {MISSING}")
        })?;
        match container {
            Value::Object(map) => {
                map.insert(&key, operation.value());
            }
            Value::Array(items) => {
                let at = existing(&key, items.len()).map_err(|_| {
                    format!("replace operation does not apply: doc is missing key: {path}: {MISSING}")
                })?;
                items[at] = operation.value();
            }
            _ => {
                return Err(format!(
                    "replace operation does not apply: doc is missing path: {path}: {MISSING}"
                ));
            }
        }
        Ok(())
    }

    fn move_value(&mut self, object: &mut Value, operation: &Operation) -> Outcome {
        let from = operation.from.or_say(
            "move operation failed to decode from",
            "operation, missing from field",
        )?;
        let (container, key) = parent(object, from).ok_or_else(|| {
            format!("move operation does not apply: doc is missing from path: {from}: {MISSING}")
        })?;
        let value = self
            .take(container, &key)
            .map_err(|why| format!("error in move for path: '{key}': {why}"))?;
        let path = operation.path.or_say(
            "move operation failed to decode path",
            "operation missing path field",
        )?;
        let (container, key) = parent(object, path).ok_or_else(|| {
            format!("move operation does not apply: doc is missing destination path: {path}: {MISSING}")
        })?;
        self.insert(container, &key, value)
            .map_err(|why| format!("error in move for path: '{path}': {why}"))
    }

    fn copy(&mut self, object: &mut Value, operation: &Operation) -> Outcome {
        let from = operation.from.or_say(
            "copy operation failed to decode from",
            "operation, missing from field",
        )?;
        let (container, key) = parent(object, from).ok_or_else(|| {
            format!("copy operation does not apply: doc is missing from path: {from}: {MISSING}")
        })?;
        let source =
            look(container, &key).map_err(|why| format!("error in copy for from: '{from}': {why}"))?;
        self.copied = self.copied.saturating_add(source.map_or(0, written_len));
        if self.copied > self.limits.copied_bytes {
            return Err(format!(
                "Unable to complete the copy, the accumulated size increase of copy is {}, exceeding the limit {}",
                self.copied, self.limits.copied_bytes
            ));
        }
        let value = source.cloned().unwrap_or_default();
        let path = operation
            .path
            .text()
            .ok_or(format!("copy operation failed to decode path: {MISSING}"))?;
        let (container, key) = parent(object, path).ok_or_else(|| {
            format!("copy operation does not apply: doc is missing destination path: {path}: {MISSING}")
        })?;
        self.insert(container, &key, value)
            .map_err(|why| format!("error while adding value during copy: {why}"))
    }

    fn insert(&mut self, container: &mut Value, key: &str, value: Value) -> Outcome {
        match container {
            Value::Object(map) => {
                map.insert(key, value);
            }
            Value::Array(items) => {
                let at = insertion(key, items.len())?;
                self.shift(items.len() - at)?;
                items.insert(at, value);
            }
            _ => return Err(MISSING.into()),
        }
        Ok(())
    }

    fn take(&mut self, container: &mut Value, key: &str) -> Result<Value, String> {
        match container {
            Value::Object(map) => map
                .remove(key)
                .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}")),
            Value::Array(items) => {
                let at = existing(key, items.len())?;
                self.shift(items.len() - at)?;
                Ok(items.remove(at))
            }
            _ => Err(MISSING.into()),
        }
    }

    fn shift(&mut self, elements: usize) -> Outcome {
        self.shifted = self.shifted.saturating_add(elements);
        match self.shifted > self.limits.shifted_elements {
            true => Err(format!(
                "the patch shifts more than {} list elements",
                self.limits.shifted_elements
            )),
            false => Ok(()),
        }
    }
}

/// Why an operation fails whatever it is applied to, in the words it fails with.
pub(super) fn flaw(operation: &Operation) -> Option<String> {
    let op = operation.op.as_str();
    let points = |member: &Member| member.text().is_some_and(|text| text.contains('/'));
    let is_whole = matches!(op, "replace" | "test") && operation.path.text() == Some("");
    let has_from = !matches!(op, "move" | "copy") || points(&operation.from);
    let is_known = matches!(op, "add" | "remove" | "replace" | "move" | "copy" | "test");
    if is_known && has_from && (is_whole || points(&operation.path)) {
        return None;
    }
    // An object in which nothing else stands in its way: what it comes from, if that is well, is there.
    let from = match has_from {
        true => Member::Text("/".into()),
        false => operation.from.clone(),
    };
    let mut object = Value::Object([("", Value::Null)].into_iter().collect());
    let operation = Operation {
        from,
        ..operation.clone()
    };
    Run::new(Limits::NONE).step(&mut object, &operation).err()
}

fn test(object: &mut Value, operation: &Operation) -> Outcome {
    let path = operation.path.or_say(
        "test operation failed to decode path",
        "operation missing path field",
    )?;
    let failed = || format!("testing value {path} failed: test failed");
    let wanted = operation.value.as_ref();
    if path.is_empty() {
        return if wanted.is_some_and(|wanted| same(object, wanted)) {
            Ok(())
        } else {
            Err(failed())
        };
    }
    let (container, key) = parent(object, path)
        .ok_or_else(|| format!("test operation does not apply: is missing path: {path}: {MISSING}"))?;
    let found = look(container, &key).map_err(|why| format!("error in test for path: '{path}': {why}"))?;
    // A missing value and null are the same thing to the library, on both sides.
    if same(found.unwrap_or(&Value::Null), wanted.unwrap_or(&Value::Null)) {
        Ok(())
    } else {
        Err(failed())
    }
}

/// The value at `key`. A missing field of a map is `None`, a missing element of a list a failure.
fn look<'v>(container: &'v Value, key: &str) -> Result<Option<&'v Value>, String> {
    match container {
        Value::Object(map) => Ok(map.get(key)),
        Value::Array(items) => Ok(Some(&items[existing(key, items.len())?])),
        _ => Ok(None),
    }
}

/// Equality of what is written: `1` and `1.0` differ.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(_), Value::Float(_)) | (Value::Float(_), Value::Int(_)) => false,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        (a, b) => a == b,
    }
}

/// About how many bytes the value takes as JSON: escapes are not counted.
fn written_len(value: &Value) -> usize {
    match value {
        Value::Null => 4,
        Value::Bool(flag) => 5 - usize::from(*flag),
        Value::Int(number) => number.checked_abs().map_or(20, |n| {
            n.checked_ilog10().map_or(1, |log| log as usize + 1) + usize::from(*number < 0)
        }),
        Value::Float(number) => super::super::go_text::float(*number).len(),
        Value::Str(text) => text.len() + 2,
        Value::Array(items) => {
            2 + items.len().saturating_sub(1) + items.iter().map(written_len).sum::<usize>()
        }
        Value::Object(map) => {
            let fields: usize = map
                .iter()
                .map(|(key, value)| key.len() + 3 + written_len(value))
                .sum();
            2 + map.len().saturating_sub(1) + fields
        }
    }
}

impl Operation {
    /// The value to put in; a missing one is null.
    fn value(&self) -> Value {
        self.value.clone().unwrap_or_default()
    }
}

impl Member {
    fn text(&self) -> Option<&str> {
        match self {
            Member::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text, or a failure that says whether it is missing or of the wrong type.
    fn or_say(&self, what: &str, missing: &str) -> Result<&str, String> {
        match self {
            Member::Text(text) => Ok(text),
            Member::Missing => Err(format!("{what}: {missing}: {MISSING}")),
            Member::Wrong(kind) => Err(format!(
                "{what}: json: cannot unmarshal {kind} into Go value of type string"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_that_fail_on_any_object_are_known_without_one() {
        let flaw = |text: &str| {
            let item = model::json::parse(text.as_bytes()).unwrap();
            flaw(&Operation::read(&item))
        };
        for (text, why) in [
            (r#"{"op":"ad","path":"/a"}"#, "Unexpected kind: ad"),
            (r#"{"path":"/a"}"#, "Unexpected kind: unknown"),
            (
                r#"{"op":"add"}"#,
                "add operation failed to decode path: missing value",
            ),
            (
                r#"{"op":"remove","path":"a"}"#,
                "remove operation does not apply: doc is missing path: \"a\": missing value",
            ),
            (
                r#"{"op":"replace","path":7}"#,
                "replace operation failed to decode path: json: cannot unmarshal number into Go value of type string",
            ),
            (
                r#"{"op":"move","path":"/a"}"#,
                "move operation failed to decode from: operation, missing from field: missing value",
            ),
            (
                r#"{"op":"move","from":"/b/c"}"#,
                "move operation failed to decode path: operation missing path field: missing value",
            ),
            (
                r#"{"op":"copy","from":"/b","path":"a"}"#,
                "copy operation does not apply: doc is missing destination path: a: missing value",
            ),
        ] {
            assert_eq!(flaw(text).as_deref(), Some(why), "{text}");
        }
        for text in [
            r#"{"op":"add","path":"/a/b"}"#,
            r#"{"op":"remove","path":"a/b"}"#,
            r#"{"op":"replace","path":""}"#,
            r#"{"op":"test","path":""}"#,
            r#"{"op":"move","from":"/a","path":"/b/c"}"#,
            r#"{"op":"copy","from":"/a","path":"/b/c"}"#,
        ] {
            assert_eq!(flaw(text), None, "{text}");
        }
    }

    #[test]
    fn the_written_length_is_that_of_compact_json() {
        let text = r#"{"a":[1,-20,true,false,null,0.5],"bc":{"d":"text"}}"#;
        assert_eq!(
            written_len(&model::json::parse(text.as_bytes()).unwrap()),
            text.len()
        );
        assert_eq!(written_len(&Value::Int(i64::MIN)), i64::MIN.to_string().len());
    }
}
