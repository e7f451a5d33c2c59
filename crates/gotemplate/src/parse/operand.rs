//! Commands and the words they are made of.

use arcstr::ArcStr;

use super::ast::{Arg, ArgKind, Command};
use super::{Number, Parser, unquote};
use crate::error::Error;
use crate::lex::{Kind, Token};
use crate::value::Value;

impl Arg {
    /// Whether it is neither a call nor something that could be one.
    pub(super) fn is_plain(&self) -> bool {
        matches!(
            self.kind,
            ArgKind::Bool(_) | ArgKind::Dot | ArgKind::Nil | ArgKind::Number(_) | ArgKind::String { .. }
        )
    }
}

impl<'t> Parser<'t> {
    pub(super) fn command(&mut self) -> Result<Command, Error> {
        let pos = self.peek_non_space().pos;
        let mark = self.args.len();
        loop {
            self.peek_non_space();
            if let Some(arg) = self.operand()? {
                self.args.push(arg);
            }
            let token = self.next();
            match token.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.backup(),
                Kind::Pipe => {}
                _ => return Err(self.unexpected(&token, "operand")),
            }
            break;
        }
        if self.args.len() == mark {
            return Err(self.error("empty command"));
        }
        Ok(Command {
            pos,
            args: self.args.drain(mark..).collect(),
        })
    }

    /// A word with the fields that follow it.
    fn operand(&mut self) -> Result<Option<Arg>, Error> {
        let Some(arg) = self.term()? else {
            return Ok(None);
        };
        let first = self.peek();
        if first.kind != Kind::Field {
            return Ok(Some(arg));
        }
        let mut added: Vec<ArcStr> = Vec::new();
        while self.peek().kind == Kind::Field {
            let field = self.next();
            added.push(self.field(&field));
        }
        let kind = match arg.kind {
            ArgKind::Field(fields) => ArgKind::Field(joined(fields, added)),
            ArgKind::Variable { id, name, fields } => ArgKind::Variable {
                id,
                name,
                fields: joined(fields, added),
            },
            _ if arg.is_plain() => {
                let shown = model::quote::quote(&arg.to_string());
                return Err(self.error(format_args!("unexpected . after term {shown}")));
            }
            _ => ArgKind::Chain {
                node: Box::new(arg),
                fields: added.into(),
            },
        };
        Ok(Some(Arg { pos: first.pos, kind }))
    }

    fn term(&mut self) -> Result<Option<Arg>, Error> {
        let token = self.next_non_space();
        let kind = match token.kind {
            Kind::Identifier => self.identifier(&token)?,
            Kind::Dot => ArgKind::Dot,
            Kind::Nil => ArgKind::Nil,
            Kind::Variable => self.variable(&token)?,
            Kind::Field => ArgKind::Field([self.field(&token)].into()),
            Kind::Bool => ArgKind::Bool(token.text == "true"),
            Kind::CharConstant | Kind::Complex | Kind::Number => {
                let number = Number::new(token.text, token.kind).map_err(|error| self.error(error))?;
                ArgKind::Number(Box::new(number))
            }
            Kind::LeftParen => {
                let pipe =
                    self.deeper(|parser| parser.pipeline("parenthesized pipeline", Kind::RightParen))?;
                let pos = pipe.pos;
                return Ok(Some(Arg {
                    pos,
                    kind: ArgKind::Pipe(Box::new(pipe)),
                }));
            }
            Kind::String | Kind::RawString => {
                let text = unquote(token.text).ok_or_else(|| self.error("invalid syntax"))?;
                ArgKind::String {
                    quoted: token.text.into(),
                    text: Value::string_of_vec(text),
                }
            }
            _ => {
                self.backup();
                return Ok(None);
            }
        };
        Ok(Some(Arg { pos: token.pos, kind }))
    }

    /// The name of a field, after its dot.
    fn field(&mut self, token: &Token<'t>) -> ArcStr {
        let name = &token.text[1..];
        self.fields.entry(name).or_insert_with(|| name.into()).clone()
    }

    fn identifier(&mut self, token: &Token<'t>) -> Result<ArgKind, Error> {
        let Some(function) = self.functions.get(token.text) else {
            let name = model::quote::quote(token.text);
            return Err(self.error(format_args!("function {name} not defined")));
        };
        Ok(ArgKind::Identifier {
            name: token.text.into(),
            function: function.clone(),
        })
    }

    fn variable(&mut self, token: &Token<'t>) -> Result<ArgKind, Error> {
        let id = self.names.id(token.text);
        if !self.scope.variables.contains(&id) {
            let name = model::quote::quote(token.text);
            return Err(self.error(format_args!("undefined variable {name}")));
        }
        Ok(ArgKind::Variable {
            id,
            name: token.text.into(),
            fields: Box::default(),
        })
    }
}

fn joined(fields: Box<[ArcStr]>, added: Vec<ArcStr>) -> Box<[ArcStr]> {
    let mut fields = fields.into_vec();
    fields.extend(added);
    fields.into()
}
