//! Nodes as messages show them, which is how Go writes them back.

use std::fmt::{self, Display, Formatter};

use super::ast::{Action, Arg, ArgKind, Command, Pipe, Template};

impl Display for Pipe {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, variable) in self.variables.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            f.write_str(&variable.name)?;
        }
        if !self.variables.is_empty() {
            f.write_str(if self.assigns { " = " } else { " := " })?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            command.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Command {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, arg) in self.args.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            match &arg.kind {
                ArgKind::Pipe(pipe) => write!(f, "({pipe})")?,
                _ => arg.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let fields = match &self.kind {
            ArgKind::Bool(bool) => return bool.fmt(f),
            ArgKind::Dot => return f.write_str("."),
            ArgKind::Nil => return f.write_str("nil"),
            ArgKind::Number(number) => return f.write_str(&number.text),
            ArgKind::String { quoted, .. } => return f.write_str(quoted),
            ArgKind::Identifier { name, .. } => return f.write_str(name),
            ArgKind::Pipe(pipe) => return pipe.fmt(f),
            ArgKind::Field(fields) => fields,
            ArgKind::Variable { name, fields, .. } => {
                f.write_str(name)?;
                fields
            }
            ArgKind::Chain { node, fields } => {
                match &node.kind {
                    ArgKind::Pipe(pipe) => write!(f, "({pipe})")?,
                    _ => node.fmt(f)?,
                }
                fields
            }
        };
        fields.iter().try_for_each(|field| write!(f, ".{field}"))
    }
}

impl Display for Action {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{{}}}}}", self.pipe)
    }
}

impl Display for Template {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{template {}", model::quote::quote(&self.name))?;
        if let Some(pipe) = &self.pipe {
            write!(f, " {pipe}")?;
        }
        f.write_str("}}")
    }
}
