//! What a template is once it is read.

use std::sync::Arc;

use arcstr::ArcStr;

use super::number::Number;
use crate::function::Function;

/// One template: what was between `define` and `end`, or a whole text.
pub(crate) struct Tree {
    pub(crate) name: ArcStr,
    pub(crate) source: Arc<Source>,
    pub(crate) root: List,
}

/// The text that templates were read from, for positions in messages.
pub(crate) struct Source {
    /// What the text is called.
    pub(crate) name: ArcStr,
    pub(crate) text: Box<str>,
}

impl Source {
    /// A position as messages tell it: name, line and column, the column counted from 0 in bytes.
    pub(crate) fn location(&self, pos: usize) -> String {
        let before = &self.text.as_bytes()[..pos.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let start = before
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        format!("{}:{line}:{}", self.name, before.len() - start)
    }
}

/// Nodes one after the other.
#[derive(Default)]
pub(crate) struct List {
    pub(crate) nodes: Box<[Node]>,
}

/// A part of a template that does something.
pub(crate) enum Node {
    Text(Text),
    Action(Action),
    If(Branch),
    With(Branch),
    Range(Branch),
    Template(Template),
    Break,
    Continue,
}

/// A part of the source.
pub(crate) struct Text {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether there is nothing but space.
    pub(crate) is_blank: bool,
}

pub(crate) struct Action {
    pub(crate) pos: usize,
    pub(crate) pipe: Pipe,
}

/// `if`, `with` or `range`.
pub(crate) struct Branch {
    pub(crate) pos: usize,
    pub(crate) pipe: Pipe,
    pub(crate) list: List,
    pub(crate) otherwise: Option<List>,
}

pub(crate) struct Template {
    pub(crate) pos: usize,
    pub(crate) name: ArcStr,
    pub(crate) pipe: Option<Pipe>,
}

/// Commands, of which each gets the result of the one before, and the variables that keep the last.
pub(crate) struct Pipe {
    pub(crate) pos: usize,
    pub(crate) assigns: bool,
    pub(crate) variables: Box<[Declared]>,
    pub(crate) commands: Box<[Command]>,
}

/// A variable that is declared or assigned.
pub(crate) struct Declared {
    pub(crate) id: VariableId,
    pub(crate) name: Box<str>,
}

/// The number of a variable's name within its text. `$` is 0.
pub(crate) type VariableId = u32;

pub(crate) struct Command {
    pub(crate) pos: usize,
    /// At least one.
    pub(crate) args: Box<[Arg]>,
}

/// A word of a command.
pub(crate) struct Arg {
    pub(crate) pos: usize,
    pub(crate) kind: ArgKind,
}

pub(crate) enum ArgKind {
    Bool(bool),
    Dot,
    Nil,
    Number(Box<Number>),
    String {
        quoted: Box<str>,
        text: crate::value::Value,
    },
    Field(Box<[ArcStr]>),
    Variable {
        id: VariableId,
        name: Box<str>,
        fields: Box<[ArcStr]>,
    },
    Identifier {
        name: Box<str>,
        function: Arc<Function>,
    },
    Chain {
        node: Box<Arg>,
        fields: Box<[ArcStr]>,
    },
    Pipe(Box<Pipe>),
}

impl List {
    /// Whether there is nothing but space.
    pub(crate) fn is_blank(&self) -> bool {
        self.nodes
            .iter()
            .all(|node| matches!(node, Node::Text(text) if text.is_blank))
    }
}
