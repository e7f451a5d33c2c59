//! The `scale` subresource: replicas of any workload in one common form.

use std::sync::Arc;

use model::{Value, json, value};

use super::Call;
use super::options::WriteOptions;
use super::write::{Update, Writer};
use crate::answer::{self, Answer};
use crate::error::{Error, Result};
use crate::field;
use crate::http::{Representation, decode};
use crate::store::Object;
use crate::strategy::Part;
use crate::table;

/// Answers with the scale of an object.
pub(crate) fn get(call: &Call<'_>, form: Representation, object: &Object) -> Result<Answer> {
    let mut scale = scale_of(call, &call.served.show(object))?;
    if form == Representation::Table {
        let meta = value!({"resourceVersion": (object.revision.to_string())});
        scale = table::render_scale(
            &scale,
            meta,
            answer::include_object(call.request)?,
            call.state.now(),
        );
    }
    Ok(Answer::json(200, json::to_vec(&scale)))
}

/// Answers a `PUT` of a scale.
pub(crate) fn update(call: &Call<'_>) -> Result<Answer> {
    let options = WriteOptions::read(call.request, "UpdateOptions")?;
    let scale = decode(call.state, call.request, "Scale")?.value;
    write(call, &options, |_| Ok(scale.clone()))
}

/// Answers a `PATCH` of a scale; `patch` makes the new one of the old one.
pub(crate) fn patch(
    call: &Call<'_>,
    options: &WriteOptions,
    patch: impl Fn(&Value) -> Result<Value>,
) -> Result<Answer> {
    write(call, options, patch)
}

fn write(call: &Call<'_>, options: &WriteOptions, scale: impl Fn(&Value) -> Result<Value>) -> Result<Answer> {
    let writer = Writer {
        state: call.state,
        served: &call.served,
        namespace: call.namespace(),
        options,
    };
    let object: Arc<Object> = writer.update(&call.key(), Part::Main, |old| {
        let before = scale_of(call, old)?;
        let scale = scale(&before)?;
        check(call, &scale)?;
        let mut object = old.clone();
        set_replicas(call, &mut object, &scale)?;
        // A scale without a version is of whatever version there is, whether its kind may be updated so or not.
        let version = scale.str_at(&["metadata", "resourceVersion"]);
        if !version.is_empty() {
            object.set_at(&["metadata", "resourceVersion"], version);
        }
        let managed = call
            .state
            .own_scale(&call.served, old, &before, &scale, options)?;
        match managed {
            Some(entries) => object.set_at(&["metadata", "managedFields"], entries),
            None => drop(object.remove_at(&["metadata", "managedFields"])),
        }
        Ok(Update { object, owned: true })
    })?;
    Ok(Answer::json(
        200,
        json::to_vec(&scale_of(call, &call.served.show(&object))?),
    ))
}

fn check(call: &Call<'_>, scale: &Value) -> Result<()> {
    let replicas = scale.at(&["spec", "replicas"]);
    let name = scale.str_at(&["metadata", "name"]);
    if !name.is_empty() && name != call.target.name {
        let why = format!(
            "the name of the object ({name}) does not match the name on the URL ({})",
            call.target.name
        );
        return Err(Error::bad_request(why));
    }
    match replicas {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Int(number)) if *number >= 0 || call.served.definition.is_some() => Ok(()),
        Some(Value::Int(number)) => {
            let error = field::Error::invalid(
                "spec.replicas",
                &Value::Int(*number),
                "must be greater than or equal to 0",
            );
            Err(Error::invalid(
                "autoscaling",
                "Scale",
                &call.target.name,
                &[error],
            ))
        }
        Some(other) => Err(Error::bad_request(format!(
            "Scale in version \"v1\" cannot be handled as a Scale: json: cannot unmarshal {} into Go struct field ScaleSpec.spec.replicas of type int32",
            other.type_name()
        ))),
    }
}

fn set_replicas(call: &Call<'_>, object: &mut Value, scale: &Value) -> Result<()> {
    match &call.served.definition {
        Some(custom) => custom.set_scale(&call.target.version, object, scale),
        None => {
            let replicas = scale
                .at(&["spec", "replicas"])
                .and_then(Value::as_i64)
                .unwrap_or(0);
            object.set_at(&["spec", "replicas"], replicas);
            Ok(())
        }
    }
}

fn scale_of(call: &Call<'_>, object: &Value) -> Result<Value> {
    if let Some(custom) = &call.served.definition {
        return custom.scale(&call.target.version, object);
    }
    let metadata = |field: &str| object.at(&["metadata", field]).cloned().unwrap_or_default();
    let number = |path: &[&str]| object.at(path).and_then(Value::as_i64).unwrap_or(0);
    let mut scale = value!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            "name": (metadata("name")),
            "namespace": (metadata("namespace")),
            "uid": (metadata("uid")),
            "resourceVersion": (metadata("resourceVersion")),
            "creationTimestamp": (metadata("creationTimestamp")),
        },
        "spec": {},
        "status": {"replicas": (number(&["status", "replicas"]))},
    });
    let replicas = number(&["spec", "replicas"]);
    if replicas > 0 {
        scale.set_at(&["spec", "replicas"], replicas);
    }
    let selector = selector_text(object);
    if !selector.is_empty() {
        scale.set_at(&["status", "selector"], selector);
    }
    Ok(scale)
}

/// The selector of a workload as text.
fn selector_text(object: &Value) -> String {
    let Some(selector) = object.at(&["spec", "selector"]) else {
        return String::new();
    };
    match model::selector::LabelSelector::from_value(selector) {
        Ok(selector) => selector.to_string(),
        Err(_) => String::new(),
    }
}
