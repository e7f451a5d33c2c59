//! JSON patch (RFC 6902) as the API server's library reads and applies it, with its liberties: negative indices count
//! from the end, `replace` of a missing field adds it, text before the first `/` of a path is ignored, and `test` for
//! null passes where nothing is.

mod apply;
mod pointer;

use model::{Str, Value};

use super::go_text::json_kind;
use super::{Checking, Error};

/// A patch that was read and can be applied to any number of objects.
#[derive(Clone, Debug)]
pub struct Patch {
    operations: Vec<Operation>,
    limits: Limits,
}

/// How much work a patch may make.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most operations.
    pub operations: usize,
    /// The most bytes of JSON that `copy` may add.
    pub copied_bytes: usize,
    /// The most list elements that insertions and removals may shift. The real server has no such limit; it keeps
    /// a small patch of a long list from taking minutes.
    pub shifted_elements: usize,
}

impl Limits {
    /// Those of the API server.
    pub const SERVER: Limits = Limits {
        operations: 10_000,
        copied_bytes: 3 * 1024 * 1024,
        shifted_elements: 100_000_000,
    };
    /// None, for patches whose author is trusted.
    pub const NONE: Limits = Limits {
        operations: usize::MAX,
        copied_bytes: usize::MAX,
        shifted_elements: usize::MAX,
    };
}

/// One step. Wrong and missing members are found out when it runs, as the steps before it may fail first.
#[derive(Clone, Debug)]
struct Operation {
    op: Str,
    path: Member,
    from: Member,
    value: Option<Value>,
}

/// A member of an operation that should be a string.
#[derive(Clone, Debug)]
enum Member {
    Missing,
    Text(Str),
    /// Something else; the JSON kind of it.
    Wrong(&'static str),
}

/// The members an operation may have.
const MEMBERS: [&str; 4] = ["op", "path", "from", "value"];

impl Patch {
    /// Reads a patch. Returns it with the complaints that strict checking has about it, such as unknown members.
    ///
    /// # Errors
    /// [`Error::BadRequest`] where it is no list of maps, [`Error::TooLarge`] where it has too many operations.
    pub fn read(patch: &Value, checking: Checking, limits: Limits) -> Result<(Patch, Vec<String>), Error> {
        let items = match patch {
            Value::Null => &[][..],
            Value::Array(items) => items.as_slice(),
            other => {
                return Err(wrong_type(
                    other,
                    checking,
                    "[]handlers.jsonPatchOp",
                    "jsonpatch.Patch",
                ));
            }
        };
        let mut complaints = Vec::new();
        let mut operations = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            if !matches!(item, Value::Object(_) | Value::Null) {
                return Err(wrong_type(
                    item,
                    checking,
                    "handlers.jsonPatchOp",
                    "jsonpatch.Operation",
                ));
            }
            if checking == Checking::Strict {
                check_members(at, item, &mut complaints)?;
            }
            operations.push(Operation::read(item));
        }
        if operations.len() > limits.operations {
            return Err(Error::TooLarge(format!(
                "The allowed maximum operations in a JSON patch is {}, got {}",
                limits.operations,
                operations.len()
            )));
        }
        Ok((Patch { operations, limits }, complaints))
    }

    /// Applies all operations in order; stops at the first that fails.
    ///
    /// # Errors
    /// [`Error::Unprocessable`] with the reason.
    pub fn apply(&self, object: &mut Value) -> Result<(), Error> {
        self.apply_numbered(object).map_err(|(_, error)| error)
    }

    /// The same; says which operation failed, counted from 0.
    ///
    /// # Errors
    /// [`Error::Unprocessable`] with the reason.
    pub fn apply_numbered(&self, object: &mut Value) -> Result<(), (usize, Error)> {
        let mut run = apply::Run::new(self.limits);
        for (number, operation) in self.operations.iter().enumerate() {
            let done = run.step(object, operation);
            done.map_err(|why| (number, Error::Unprocessable(why)))?;
        }
        Ok(())
    }

    /// The operations that fail whatever they are applied to, with the reasons; the first is number 0.
    pub fn flaws(&self) -> Vec<(usize, Error)> {
        let numbered = self.operations.iter().enumerate();
        let flaws = numbered.filter_map(|(number, operation)| Some((number, apply::flaw(operation)?)));
        flaws
            .map(|(number, why)| (number, Error::Unprocessable(why)))
            .collect()
    }
}

impl Operation {
    fn read(item: &Value) -> Operation {
        let member = |name| match item.get(name) {
            None | Some(Value::Null) => Member::Missing,
            Some(Value::Str(text)) => Member::Text(text.clone()),
            Some(other) => Member::Wrong(json_kind(other)),
        };
        let op = item.get("op").and_then(Value::as_str).unwrap_or("unknown").into();
        Operation {
            op,
            path: member("path"),
            from: member("from"),
            value: item.get("value").cloned(),
        }
    }
}

fn wrong_type(value: &Value, checking: Checking, strict: &str, lax: &str) -> Error {
    let (prefix, wanted) = match checking {
        Checking::Strict => ("error decoding patch: ", strict),
        Checking::Lax => ("", lax),
    };
    Error::BadRequest(format!(
        "{prefix}json: cannot unmarshal {} into Go value of type {wanted}",
        json_kind(value)
    ))
}

fn check_members(at: usize, item: &Value, complaints: &mut Vec<String>) -> Result<(), Error> {
    let Some(map) = item.as_object() else {
        return Ok(());
    };
    for (name, value) in map.iter() {
        if !MEMBERS.contains(&name) {
            complaints.push(format!("json patch unknown field \"[{at}].{name}\""));
        } else if name != "value" && !matches!(value, Value::Str(_) | Value::Null) {
            return Err(Error::BadRequest(format!(
                "error decoding patch: json: cannot unmarshal {} into Go struct field jsonPatchOp.{name} of type string",
                json_kind(value)
            )));
        }
    }
    Ok(())
}
