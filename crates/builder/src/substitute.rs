//! Variables in objects: each is written, substituted as a text and read again.

use std::collections::BTreeMap;

use kustomize::substitute::{Problem, Variables};
use model::Value;
use yaml::Step;
use yaml::edit::Edit;
use yaml::node::Node;

use crate::error::{Error, Origin};
use crate::manifests::{Origins, name};
use crate::request::Substitution;

const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";
const DISABLED: &str = "disabled";

/// Substitutes variables in all objects but those that do not want it. Gives all that is wrong.
pub(crate) fn run(objects: &mut [Node], substitution: &Substitution, origins: &Origins<'_>) -> Vec<Error> {
    let variables = &substitution.variables;
    if variables.is_empty() && !substitution.always {
        return Vec::new();
    }
    let wanted = objects.iter_mut().enumerate();
    let mut wanted = wanted.filter(|(_, object)| !is_disabled(object)).peekable();
    if wanted.peek().is_none() {
        return Vec::new();
    }
    let mut errors: Vec<Error> = variables
        .invalid_names()
        .map(|name| Error::VariableName(name.to_owned()))
        .collect();
    for (number, object) in wanted {
        match substituted(number, object, variables, origins) {
            Ok(node) => *object = node,
            Err(more) => errors.extend(more),
        }
    }
    if errors.is_empty() {
        return same_names(objects);
    }
    errors
}

fn is_disabled(object: &Node) -> bool {
    let metadata = object.get("metadata");
    ["labels", "annotations"].into_iter().any(|field| {
        let value = metadata.and_then(|metadata| metadata.get(field)?.get(SWITCH));
        value.is_some_and(|value| value.text() == DISABLED)
    })
}

fn substituted(
    number: usize,
    object: &Node,
    variables: &Variables,
    origins: &Origins<'_>,
) -> Result<Node, Vec<Error>> {
    let mut written = String::new();
    yaml::go::write(object, &mut written).map_err(|message| {
        vec![Error::Write {
            object: name(object),
            origin: origins.of(number),
            message,
        }]
    })?;
    let told = Told {
        number,
        object,
        written: &written,
        origins,
    };
    let text = variables
        .substitute(&written)
        .map_err(|_| told.problems(variables))?;
    let mut value = yaml::parse(text.as_bytes()).map_err(|error| vec![told.garbled(error.line())])?;
    if value.as_object().is_none() {
        return Err(vec![told.garbled(1)]);
    }
    round(&mut value);
    Ok(kustomize::from_value(&value))
}

/// Tells what is wrong with an object. Nobody sees the text that is substituted: what is in it is found in the object and in
/// the file that it comes from.
struct Told<'t> {
    number: usize,
    object: &'t Node,
    written: &'t str,
    origins: &'t Origins<'t>,
}

impl Told<'_> {
    fn problems(&self, variables: &Variables) -> Vec<Error> {
        let edit = Edit::read(self.written).ok();
        let scalars = edit.as_ref().map_or(&[][..], Edit::scalars);
        let found = variables.problems(self.written).into_iter().map(|error| {
            let holder = scalars.iter().find(|scalar| scalar.range.contains(&error.start));
            let path = holder.map_or(&[][..], |scalar| scalar.path.as_slice());
            let part = begins(&self.written[error.start..]);
            Error::Substitute {
                object: name(self.object),
                field: self.field(path),
                origin: self.origin(path, part),
                problem: self.without_secrets(error.problem),
            }
        });
        found.collect()
    }

    /// Values have no ends of lines, so that what they break is where they stand.
    fn garbled(&self, line: usize) -> Error {
        let edit = Edit::read(self.written).ok();
        let scalars = edit.as_ref().map_or(&[][..], Edit::scalars);
        let with_variables = || scalars.iter().filter(|scalar| scalar.value.contains("${"));
        // Go may notice only where the next thing begins.
        let before = with_variables().rfind(|scalar| scalar.line <= line);
        let path = before
            .or_else(|| with_variables().next())
            .map_or(&[][..], |scalar| scalar.path.as_slice());
        Error::Garbled {
            object: name(self.object),
            field: self.field(path),
            origin: self.origin(path, "${"),
        }
    }

    fn field(&self, path: &[Step]) -> String {
        match path {
            [] => "a key".to_owned(),
            path => yaml::shown(path),
        }
    }

    fn origin(&self, path: &[Step], part: &str) -> Origin {
        self.origins.of_field(self.number, path, part)
    }

    /// What follows `${` in a Secret may be a part of it, unless it is well formed.
    fn without_secrets(&self, problem: Problem) -> Problem {
        let is_secret = self
            .object
            .get("kind")
            .is_some_and(|kind| kind.text() == "Secret");
        match problem {
            Problem::NotClosed(_) if is_secret => Problem::Bad,
            problem => problem,
        }
    }
}

/// `${` and the name after it.
fn begins(text: &str) -> &str {
    let is_end = |letter: char| !(letter.is_alphanumeric() || letter == '_');
    let end = text.get(2..).and_then(|rest| rest.find(is_end));
    &text[..end.map_or(text.len(), |end| end + 2)]
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
fn same_names(objects: &[Node]) -> Vec<Error> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for object in objects {
        *names.entry(name(object)).or_default() += 1;
    }
    let several = names.into_iter().filter(|(_, count)| *count > 1);
    several.map(|(name, _)| Error::Duplicate(name)).collect()
}
