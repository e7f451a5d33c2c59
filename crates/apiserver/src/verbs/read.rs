//! Reading one object.

use bytes::Bytes;

use super::Call;
use crate::answer::Answer;
use crate::error::{Error, Result};
use crate::http::negotiate;
use crate::store::Object;

/// Answers with one object.
pub(crate) fn get(call: &Call<'_>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    let object = find(call)?;
    match call.target.subresource.as_str() {
        "scale" => super::scale::get(call, representation, &object),
        _ => Answer::of(call, representation, 200, &object),
    }
}

/// The object the path names.
pub(crate) fn find(call: &Call<'_>) -> Result<std::sync::Arc<Object>> {
    let resource = &call.served.resource;
    let found = call.state.store.get(&resource.storage, &call.key());
    found.ok_or_else(|| Error::not_found(&resource.group, &resource.plural, &call.target.name))
}

/// The log of a pod: there is none, and this says why.
pub(crate) fn log(call: &Call<'_>) -> Result<Bytes> {
    find(call)?;
    Err(Error::bad_request(format!(
        "pod \"{}\" has no log: this is an embedded Kubernetes API for development, which runs no containers",
        call.target.name
    )))
}
