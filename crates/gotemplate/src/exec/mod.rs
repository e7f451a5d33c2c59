//! Executing trees.

mod check;
mod eval;
mod field;
mod range;

pub(crate) use field::zero_element;

use std::fmt::Display;

use crate::error::{Error, ErrorKind};
use crate::parse::ast::{Action, Arg, Branch, Command, List, Node, Pipe, Template, Tree, VariableId};
use crate::print;
use crate::session::Session;
use crate::templates::{MissingKey, Templates};
use crate::value::Value;

/// Executes one template into `out`.
pub(crate) fn execute(
    templates: &Templates,
    tree: &Tree,
    data: &Value,
    session: &mut Session<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    session.enter()?;
    let dot = Slot::plain(match data {
        Value::Nil => Value::None,
        other => other.clone(),
    });
    let mut exec = Exec {
        templates,
        missing: templates.missing(),
        tree,
        variables: vec![(0, dot.clone())],
        base: 0,
        at: At::Nothing,
        session,
        out,
    };
    let result = grow(|| exec.walk_list(&dot, &tree.root));
    session.leave();
    result.map(drop)
}

/// Runs with enough stack for one more level, on whatever thread.
pub(crate) fn grow<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, run)
}

/// A value in a place. What a list or map of `interface {}` holds is an `interface {}` to Go until a pipeline has taken it out,
/// and messages say so.
#[derive(Clone)]
pub(crate) struct Slot {
    value: Value,
    boxed: bool,
}

impl Slot {
    fn plain(value: Value) -> Slot {
        Slot { value, boxed: false }
    }
}

/// What is being looked at, for messages.
#[derive(Clone, Copy)]
enum At<'t> {
    Nothing,
    Action(&'t Action),
    Template(&'t Template),
    Pipe(&'t Pipe),
    Command(&'t Command),
    Arg(&'t Arg),
    /// Something of which only the place is known.
    Branch(&'t Branch),
}

/// How a list of nodes was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// The state of one execution.
struct Exec<'t, 's, 'a> {
    templates: &'t Templates,
    missing: MissingKey,
    /// The template that runs.
    tree: &'t Tree,
    /// All variables of all templates that run, innermost last.
    variables: Vec<(VariableId, Slot)>,
    /// Where those of the running template begin: it sees no others.
    base: usize,
    at: At<'t>,
    session: &'s mut Session<'a>,
    out: &'s mut Vec<u8>,
}

impl<'t> Exec<'t, '_, '_> {
    /// An error at the place that is being looked at.
    fn error(&self, text: impl Display) -> Error {
        self.locate(ErrorKind::Execution, text)
    }

    /// An error that keeps being one of limits if it was that.
    fn wrap(&self, error: &Error, text: impl Display) -> Error {
        let kind = match error.kind() {
            ErrorKind::Limit => ErrorKind::Limit,
            _ => ErrorKind::Execution,
        };
        self.locate(kind, text)
    }

    fn locate(&self, kind: ErrorKind, text: impl Display) -> Error {
        let name = &self.tree.name;
        let (pos, context) = match self.at {
            At::Nothing => {
                return Error::of(kind, format!("template: {name}: {text}")).in_template(name);
            }
            At::Action(action) => (action.pos, action.to_string()),
            At::Template(template) => (template.pos, template.to_string()),
            At::Pipe(pipe) => (pipe.pos, pipe.to_string()),
            At::Command(command) => (command.pos, command.to_string()),
            At::Arg(arg) => (arg.pos, arg.to_string()),
            At::Branch(branch) => (branch.pos, branch.pipe.to_string()),
        };
        let location = self.tree.source.location(pos);
        let quoted = model::quote::quote(name);
        Error::of(
            kind,
            format!("template: {location}: executing {quoted} at <{context}>: {text}"),
        )
        .in_template(name)
    }

    /// Runs one level deeper, with enough stack for it.
    fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = self.session.descend() {
            return Err(self.wrap(&error, &error));
        }
        let done = grow(|| run(self));
        self.session.ascend();
        done
    }

    fn step(&mut self) -> Result<(), Error> {
        match self.session.step() {
            Ok(()) => Ok(()),
            Err(error) => Err(self.wrap(&error, &error)),
        }
    }

    /// The variable of that name that was declared last.
    fn variable(&self, id: VariableId, name: &str) -> Result<&Slot, Error> {
        let known = self.variables[self.base..]
            .iter()
            .rev()
            .find(|(known, _)| *known == id);
        match known {
            Some((_, slot)) => Ok(slot),
            // The parser lets through what uses a variable while it is declared.
            None => Err(self.error(format_args!("undefined variable: {name}"))),
        }
    }

    fn set_variable(&mut self, id: VariableId, name: &str, slot: Slot) -> Result<(), Error> {
        let known = self.variables[self.base..]
            .iter_mut()
            .rev()
            .find(|(known, _)| *known == id);
        match known {
            Some((_, old)) => *old = slot,
            None => return Err(self.error(format_args!("undefined variable: {name}"))),
        }
        Ok(())
    }

    fn walk_list(&mut self, dot: &Slot, list: &'t List) -> Result<Flow, Error> {
        for node in &list.nodes {
            let flow = self.walk(dot, node)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn walk(&mut self, dot: &Slot, node: &'t Node) -> Result<Flow, Error> {
        match node {
            Node::Text(text) => {
                let written = &self.tree.source.text.as_bytes()[text.start..text.end];
                self.out.extend_from_slice(written);
                self.wrote(written.len())?;
            }
            Node::Action(action) => {
                self.at = At::Action(action);
                self.step()?;
                let value = self.pipeline(dot, &action.pipe)?;
                if action.pipe.variables.is_empty() {
                    self.at = At::Action(action);
                    self.print(&value)?;
                }
            }
            Node::If(branch) => return self.branch(dot, branch, false),
            Node::With(branch) => return self.branch(dot, branch, true),
            Node::Range(branch) => return self.range(dot, branch),
            Node::Template(template) => self.template(dot, template)?,
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn wrote(&mut self, bytes: usize) -> Result<(), Error> {
        match self.session.wrote(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.wrap(&error, &error)),
        }
    }

    /// Writes what an action gives.
    fn print(&mut self, value: &Value) -> Result<(), Error> {
        let before = self.out.len();
        match value {
            Value::Str(text) => self.out.extend_from_slice(text.as_bytes()),
            Value::None => self.out.extend_from_slice(b"<no value>"),
            other => {
                let room = self
                    .session
                    .limits()
                    .output
                    .saturating_sub(self.session.written());
                let room = usize::try_from(room).unwrap_or(usize::MAX).saturating_add(1);
                if let Err(error) = print::print_value(self.out, other, room) {
                    return Err(self.wrap(&error, &error));
                }
            }
        }
        let written = self.out.len() - before;
        self.wrote(written)
    }

    fn branch(&mut self, dot: &Slot, branch: &'t Branch, is_with: bool) -> Result<Flow, Error> {
        self.at = At::Branch(branch);
        self.step()?;
        let mark = self.variables.len();
        let value = self.pipeline(dot, &branch.pipe)?;
        let flow = match (value.truth(), &branch.otherwise) {
            (true, _) if is_with => {
                let dot = Slot::plain(value);
                self.nested(|exec| exec.walk_list(&dot, &branch.list))
            }
            (true, _) => self.nested(|exec| exec.walk_list(dot, &branch.list)),
            (false, Some(list)) => self.nested(|exec| exec.walk_list(dot, list)),
            (false, None) => Ok(Flow::Next),
        };
        self.variables.truncate(mark);
        flow
    }

    fn template(&mut self, dot: &Slot, template: &'t Template) -> Result<(), Error> {
        self.at = At::Template(template);
        self.step()?;
        let Some(tree) = self.templates.tree(&template.name) else {
            let name = model::quote::quote(&template.name);
            return Err(self.error(format_args!("template {name} not defined")));
        };
        if let Err(error) = self.session.enter() {
            return Err(self.wrap(&error, &error));
        }
        let value = match &template.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Value::None,
        };
        let dot = Slot::plain(value);
        let mark = self.variables.len();
        let outer = (self.tree, self.base);
        self.variables.push((0, dot.clone()));
        (self.tree, self.base) = (tree, mark);
        let result = self.nested(|exec| exec.walk_list(&dot, &tree.root));
        // After an error nothing is executed any more: what it found stays as it is.
        result?;
        self.variables.truncate(mark);
        (self.tree, self.base) = outer;
        self.session.leave();
        Ok(())
    }
}
