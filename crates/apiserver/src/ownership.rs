//! Who owns which field: the server's side of managed fields.

use model::Value;

use crate::error::{Error, Result};
use crate::kinds::Served;
use crate::server::State;
use crate::verbs::options::WriteOptions;

impl State {
    /// Gives a created or updated object its managed fields.
    pub(crate) fn own(
        &self,
        _served: &Served,
        _old: Option<&Value>,
        object: Value,
        _options: &WriteOptions,
        _subresource: &str,
    ) -> Result<Value> {
        Ok(object)
    }

    /// Merges an applied object into what is there.
    pub(crate) fn apply(
        &self,
        _served: &Served,
        _old: Option<&Value>,
        _applied: &Value,
        _options: &WriteOptions,
        _subresource: &str,
    ) -> Result<Value> {
        Err(Error::internal("server-side apply is not done yet"))
    }
}
