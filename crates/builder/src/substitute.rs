//! Variables in objects: each is written, substituted as a text and read again.

use std::collections::BTreeMap;

use kustomize::substitute::Variables;
use model::Value;
use yaml::node::Node;

use crate::error::{Error, Errors};
use crate::manifests::name;
use crate::request::Substitution;

const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";
const DISABLED: &str = "disabled";

/// Substitutes variables in all objects but those that do not want it.
pub(crate) fn run(objects: &mut [Node], substitution: &Substitution) -> Result<(), Errors> {
    let variables = &substitution.variables;
    if variables.is_empty() && !substitution.always {
        return Ok(());
    }
    let wanted: Vec<&mut Node> = objects.iter_mut().filter(|object| !is_disabled(object)).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let invalid = variables
        .invalid_names()
        .map(|name| Error::VariableName(name.to_owned()));
    Errors::check(invalid.collect())?;
    let mut errors = Vec::new();
    for object in wanted {
        match substituted(object, variables) {
            Ok(node) => *object = node,
            Err(error) => errors.push(error),
        }
    }
    Errors::check(errors)?;
    check_names(objects)
}

fn is_disabled(object: &Node) -> bool {
    let metadata = object.get("metadata");
    ["labels", "annotations"].into_iter().any(|field| {
        let value = metadata.and_then(|metadata| metadata.get(field)?.get(SWITCH));
        value.is_some_and(|value| value.text() == DISABLED)
    })
}

fn substituted(object: &Node, variables: &Variables) -> Result<Node, Error> {
    let mut text = String::new();
    yaml::go::write(object, &mut text).map_err(|message| Error::Write {
        object: name(object),
        message,
    })?;
    let text = variables.substitute(&text).map_err(|problem| Error::Substitute {
        object: name(object),
        problem,
    })?;
    let garbled = |line| Error::Garbled {
        object: name(object),
        line,
    };
    let mut value = yaml::parse(text.as_bytes()).map_err(|error| garbled(error.line()))?;
    if value.as_object().is_none() {
        return Err(garbled(1));
    }
    round(&mut value);
    Ok(kustomize::from_value(&value))
}

/// Go reads the result into floats, which cannot tell whole numbers beyond 2⁵³ from their neighbours.
pub(crate) fn round(value: &mut Value) {
    match value {
        Value::Int(number) if number.unsigned_abs() > 1 << 53 => {
            let shortest = (*number as f64).to_string();
            // What does not fit stays a float, as it would in Go.
            *value = shortest.parse().map_or(Value::Float(*number as f64), Value::Int);
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(map) => map.iter_mut().for_each(|(_, value)| round(value)),
        _ => {}
    }
}

/// Objects that got the same name would be applied over each other.
fn check_names(objects: &[Node]) -> Result<(), Errors> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for object in objects {
        *names.entry(name(object)).or_default() += 1;
    }
    let several = names.into_iter().filter(|(_, count)| *count > 1);
    Errors::check(several.map(|(name, _)| Error::Duplicate(name)).collect())
}
