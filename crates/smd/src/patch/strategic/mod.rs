//! Strategic merge patch: a merge patch in which the schema says how lists are merged, with directives in the patch.
//!
//! - Maps are merged field by field; `null` removes a field.
//! - Lists marked `merge` are merged by their key, or as sets where their elements are single values. The result keeps
//!   the order of the patch among the patch's elements and the order of the object among the others. All other lists
//!   are replaced.
//! - `$patch: replace` and `$patch: delete` in a map or in an element of a list, `$deleteFromPrimitiveList/<list>`,
//!   `$setElementOrder/<list>` and `$retainKeys` do what their names say.
//!
//! [`apply`] is the API server's reading of such patches. Kustomize has its own: [`kustomize`]. [`three_way`] makes one.

mod difference;
pub mod kustomize;
mod list;
mod lookup;
mod map;
mod order;

use model::Value;

use super::Error;
use super::go_text::json_kind;
use crate::{Schema, TypeId};

pub use difference::three_way;

const PATCH: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
const SET_ORDER: &str = "$setElementOrder";

/// Applies `patch` to `object`, which is of the type `ty`, as the API server does.
///
/// The result may have fields that the type does not have: reading it is the next step, and finds them.
///
/// # Errors
/// [`Error::BadRequest`] for a patch that is no map or has a malformed directive, [`Error::Failed`] for one that the
/// lists or the schema cannot follow (a missing merge key, an unknown directive, elements of different types).
pub fn apply(object: &mut Value, patch: &Value, schema: &Schema, ty: TypeId) -> Result<(), Error> {
    let fields = match patch {
        Value::Object(fields) => fields,
        Value::Null => return Ok(()),
        other => {
            return Err(Error::BadRequest(format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                json_kind(other)
            )));
        }
    };
    map::Merge { schema }.merge(object.make_object(), fields, ty)
}

/// A failure that the server reports as an error of its own.
fn failed(text: impl Into<String>) -> Error {
    Error::Failed(text.into())
}

/// The name of the list that a directive such as `$setElementOrder/ports` is about.
fn list_name<'k>(key: &'k str, directive: &str) -> Result<&'k str, Error> {
    match key.split_once('/') {
        Some((prefix, name)) if prefix == directive => Ok(name),
        _ if directive == DELETE_FROM_LIST => {
            Err(Error::BadRequest("invalid patch format of primitive list".into()))
        }
        _ => Err(Error::BadRequest(
            "invalid patch format of setElementOrder list".into(),
        )),
    }
}

/// A value of another type than the directive needs.
fn wrong_type(wanted: &str, found: &Value) -> Error {
    failed(format!(
        "expected a {wanted}, but received a {}",
        super::go_text::type_name(found)
    ))
}
