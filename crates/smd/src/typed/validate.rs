//! Checking a value against its type, with the messages of the API server.

use std::collections::BTreeSet;
use std::fmt;

use model::{Map, Value};

use super::{Atom, ListAtom, MapAtom, ScalarKind, TypeRef};
use crate::fieldset::PathElement;
use crate::go_text::{Plain, Syntax, type_name};

/// Whether elements of sets and of lists with keys may be there twice. Live objects may have such elements: they
/// were valid before a key was added to the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    /// They may.
    Allowed,
    /// They are a problem.
    Forbidden,
}

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where; empty for the whole value.
    pub path: String,
    /// What.
    pub message: String,
}

/// All that is wrong with a value, printed as the API server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl TypeRef<'_> {
    /// Checks that `value` is of this type.
    pub fn validate(self, value: &Value, duplicates: Duplicates) -> Result<(), Problems> {
        let mut problems = Vec::new();
        Validation {
            duplicates,
            problems: &mut problems,
        }
        .value(self, value);
        if problems.is_empty() {
            Ok(())
        } else {
            Err(Problems(problems))
        }
    }
}

struct Validation<'p> {
    duplicates: Duplicates,
    problems: &'p mut Vec<Problem>,
}

impl Validation<'_> {
    fn value(&mut self, ty: TypeRef<'_>, value: &Value) {
        match (ty.atom(Some(value)), value) {
            (_, Value::Null) => {}
            (Atom::Scalar(kind), value) => self.scalar(kind, value),
            (Atom::List(list), Value::Array(items)) => self.list(list, items),
            (Atom::List(_), other) => self.report(format!("expected list, got {}", Plain(other))),
            (Atom::Map(map), Value::Object(fields)) => self.map(map, fields),
            (Atom::Map(_), other) => self.report(format!("expected map, got {}", Plain(other))),
        }
    }

    fn scalar(&mut self, kind: ScalarKind, value: &Value) {
        let message = match (kind, value) {
            (ScalarKind::Numeric, Value::Int(_) | Value::Float(_)) => return,
            (ScalarKind::String, Value::Str(_)) | (ScalarKind::Boolean, Value::Bool(_)) => return,
            (ScalarKind::Untyped, Value::Int(_) | Value::Float(_) | Value::Str(_) | Value::Bool(_)) => return,
            (ScalarKind::Numeric, other) => {
                format!("expected numeric (int or float), got {}", type_name(other))
            }
            (ScalarKind::String, other) => format!("expected string, got {}", Syntax(other)),
            (ScalarKind::Boolean, other) => format!("expected boolean, got {}", Plain(other)),
            (ScalarKind::Untyped, other) => format!("expected any scalar, got {}", Plain(other)),
        };
        self.report(message);
    }

    fn list(&mut self, list: ListAtom<'_>, items: &[Value]) {
        if list.is_atomic() {
            for (at, item) in items.iter().enumerate() {
                self.below(
                    || PathElement::Index(at as i64),
                    |check| check.value(list.item, item),
                );
            }
            return;
        }
        if !self.unique(list, items) {
            return;
        }
        for item in items {
            let element = || list.known_element(item);
            self.below(element, |check| check.value(list.item, item));
        }
    }

    /// Reports elements that cannot be told apart. Returns whether all elements have a key or value at all.
    fn unique(&mut self, list: ListAtom<'_>, items: &[Value]) -> bool {
        if items.iter().all(|item| list.has_element(item)) && list.is_aligned(items, items) {
            return true;
        }
        let mut seen = BTreeSet::new();
        for (at, item) in items.iter().enumerate() {
            match list.element(item) {
                Err(problem) => {
                    self.report(format!("element {at}: {problem}"));
                    return false;
                }
                Ok(element) => {
                    if self.duplicates == Duplicates::Forbidden && seen.contains(&element) {
                        self.report(format!("duplicate entries for key {element}"));
                    }
                    seen.insert(element);
                }
            }
        }
        true
    }

    fn map(&mut self, map: MapAtom<'_>, fields: &Map) {
        for (name, value) in fields.iter() {
            match map.type_of(name) {
                Some(ty) => self.below(|| PathElement::field(name), |check| check.value(ty, value)),
                None => {
                    let message = "field not declared in schema".to_owned();
                    self.problems.push(Problem {
                        path: format!(".{name}"),
                        message,
                    });
                    return;
                }
            }
        }
    }

    /// Runs `check` and puts the element before the paths of what it reports.
    fn below(&mut self, element: impl FnOnce() -> PathElement, check: impl FnOnce(&mut Self)) {
        let before = self.problems.len();
        check(self);
        if self.problems.len() > before {
            let prefix = element().to_string();
            self.problems[before..]
                .iter_mut()
                .for_each(|problem| problem.path.insert_str(0, &prefix));
        }
    }

    fn report(&mut self, message: String) {
        self.problems.push(Problem {
            path: String::new(),
            message,
        });
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(out, "{}: ", self.path)?;
        }
        out.write_str(&self.message)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [one] => write!(out, "{one}"),
            many => {
                out.write_str("errors:")?;
                many.iter().try_for_each(|problem| write!(out, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for Problems {}
