//! JSON pointers (RFC 6901): reading, looking up and removing.

use model::Value;

/// A JSON pointer, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    text: String,
    steps: Vec<String>,
}

/// The text is no JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no JSON pointer: it must be empty or begin with a slash")]
pub struct Error(String);

impl Pointer {
    /// Reads a pointer; the empty one is the whole object.
    ///
    /// # Errors
    /// It does not begin with a slash.
    pub fn read(text: &str) -> Result<Self, Error> {
        let steps = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(unescape).collect(),
            None if text.is_empty() => Vec::new(),
            None => return Err(Error(text.to_owned())),
        };
        Ok(Pointer {
            text: text.to_owned(),
            steps,
        })
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The steps, without their escapes.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(String::as_str)
    }

    /// What is there.
    pub fn get<'v>(&self, object: &'v Value) -> Option<&'v Value> {
        self.steps.iter().try_fold(object, |value, step| match value {
            Value::Object(map) => map.get(step),
            Value::Array(items) => items.get(index(step, items.len())?),
            _ => None,
        })
    }

    fn get_mut<'v>(steps: &[String], object: &'v mut Value) -> Option<&'v mut Value> {
        steps.iter().try_fold(object, |value, step| match value {
            Value::Object(map) => map.get_mut(step),
            Value::Array(items) => {
                let at = index(step, items.len())?;
                items.get_mut(at)
            }
            _ => None,
        })
    }

    /// Removes what is there, if anything is. Elements of lists after it move up. The whole object stays.
    pub fn remove(&self, object: &mut Value) -> Option<Value> {
        let (last, parents) = self.steps.split_last()?;
        match Self::get_mut(parents, object)? {
            Value::Object(map) => map.remove(last),
            Value::Array(items) => index(last, items.len()).map(|at| items.remove(at)),
            _ => None,
        }
    }

    /// Sets what is there to `value`, where something is. Says whether there was.
    pub fn replace(&self, object: &mut Value, value: Value) -> bool {
        let place = Self::get_mut(&self.steps, object);
        place.map(|place| *place = value).is_some()
    }
}

/// The place of a list that a step means; negative ones count from the end.
fn index(step: &str, length: usize) -> Option<usize> {
    let number: i64 = step.parse().ok()?;
    let at = if number < 0 {
        usize::try_from(length as i64 + number).ok()?
    } else {
        usize::try_from(number).ok()?
    };
    (at < length).then_some(at)
}

/// A name as it stands in a pointer.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::value;

    #[test]
    fn what_is_missing_is_removed_without_complaint() {
        let mut object = value!({ "a": [1, 2, 3], "b/c": { "~": 1 } });
        for text in ["/x/y", "/a/7", "/a/x", "/a/0/z", ""] {
            assert_eq!(Pointer::read(text).unwrap().remove(&mut object), None);
        }
        for text in ["/a/1", "/a/-1", "/b~1c/~0"] {
            assert!(Pointer::read(text).unwrap().remove(&mut object).is_some());
        }
        assert_eq!(object, value!({ "a": [1], "b/c": {} }));
    }

    #[test]
    fn a_pointer_begins_with_a_slash() {
        assert!(Pointer::read("spec/replicas").is_err());
    }
}
