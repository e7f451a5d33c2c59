//! Replacing objects.

use super::Call;
use super::create::read_object;
use super::options::WriteOptions;
use super::write::{Update, Writer};
use crate::answer::Answer;
use crate::builtin::traits;
use crate::error::{Error, Result};
use crate::http::{decode, negotiate};
use crate::strategy::Part;

/// Answers a `PUT` of an object or its status.
pub(crate) fn update(call: &Call<'_>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    let options = WriteOptions::read(call.request, "UpdateOptions")?;
    let resource = &call.served.resource;
    let decoded = decode(call.state, call.request, &resource.kind)?;
    let object = read_object(call, &options, decoded.value, &decoded.complaints)?;
    check_name(call, object.str_at(&["metadata", "name"]))?;
    let writer = Writer {
        state: call.state,
        served: &call.served,
        namespace: call.namespace(),
        options: &options,
    };
    let part = call.part();
    call.state.check_escalation(call, &object)?;
    for warning in call.served.strategy.warnings(&object) {
        call.warn(warning);
    }
    let missing = call.state.store.get(&resource.storage, &call.key()).is_none();
    if missing
        && part == Part::Main
        && traits::of(&resource.group, &resource.kind).creates_on_update
        && call.served.definition.is_none()
    {
        let object = writer.create(object, false)?;
        return Answer::of(call, representation, 201, &object);
    }
    let object = writer.update(&call.key(), part, |old| {
        writer.check_identity(&object, old)?;
        Ok(Update {
            object: object.clone(),
            owned: false,
        })
    })?;
    Answer::of(call, representation, 200, &object)
}

/// The name in the body must be the name in the path.
pub(crate) fn check_name(call: &Call<'_>, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::bad_request(format!(
            "the name of the object ({} based on URL) was undeterminable: name must be provided",
            call.target.name
        )));
    }
    if name != call.target.name {
        return Err(Error::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            call.target.name
        )));
    }
    Ok(())
}
