//! Actions that decide: `if`, `with`, `range`, `template`, `block`, `break`, `continue`.

use super::ast::{Action, Branch, List, Node, Template, Text};
use super::{Item, Parser, Scope, unquote};
use crate::error::Error;
use crate::lex::{Kind, Token};

impl<'t> Parser<'t> {
    pub(super) fn text_or_action(&mut self) -> Result<Item, Error> {
        let token = self.next_non_space();
        match token.kind {
            Kind::Text => Ok(Item::Node(Node::Text(Text {
                start: token.pos,
                end: token.pos + token.text.len(),
                is_blank: token.text.trim().is_empty(),
            }))),
            Kind::LeftDelim => {
                self.scope.action_line = token.line;
                let item = self.deeper(Self::action)?;
                self.scope.action_line = 0;
                Ok(item)
            }
            _ => Err(self.unexpected(&token, "input")),
        }
    }

    fn action(&mut self) -> Result<Item, Error> {
        let token = self.next_non_space();
        let node = match token.kind {
            Kind::Block => self.block()?,
            Kind::Break | Kind::Continue => self.jump(token.kind)?,
            Kind::Else => return self.otherwise(),
            Kind::End => {
                self.expect(Kind::RightDelim, "end")?;
                return Ok(Item::End);
            }
            Kind::If => Node::If(self.branch("if")?),
            Kind::Range => Node::Range(self.branch("range")?),
            Kind::With => Node::With(self.branch("with")?),
            Kind::Template => self.template()?,
            _ => {
                self.backup();
                let pos = self.peek().pos;
                let pipe = self.pipeline("command", Kind::RightDelim)?;
                Node::Action(Action { pos, pipe })
            }
        };
        Ok(Item::Node(node))
    }

    fn jump(&mut self, kind: Kind) -> Result<Node, Error> {
        let (shown, node) = match kind {
            Kind::Break => ("{{break}}", Node::Break),
            _ => ("{{continue}}", Node::Continue),
        };
        let token = self.next_non_space();
        if token.kind != Kind::RightDelim {
            return Err(self.unexpected(&token, shown));
        }
        if self.scope.ranges == 0 {
            return Err(self.error(format_args!("{shown} outside {{{{range}}}}")));
        }
        Ok(node)
    }

    fn otherwise(&mut self) -> Result<Item, Error> {
        // `else if` and `else with` leave their second word for the branch they belong to.
        if !matches!(self.peek_non_space().kind, Kind::If | Kind::With) {
            self.expect(Kind::RightDelim, "else")?;
        }
        Ok(Item::Else)
    }

    fn branch(&mut self, context: &str) -> Result<Branch, Error> {
        let known = self.scope.variables.len();
        let pipe = self.pipeline(context, Kind::RightDelim)?;
        let inside = usize::from(context == "range");
        self.scope.ranges += inside;
        let (list, end) = self.item_list()?;
        self.scope.ranges -= inside;
        let otherwise = match end {
            Item::Else => Some(self.else_list(context)?),
            _ => None,
        };
        self.scope.variables.truncate(known);
        Ok(Branch {
            pos: pipe.pos,
            pipe,
            list,
            otherwise,
        })
    }

    fn else_list(&mut self, context: &str) -> Result<List, Error> {
        let chained = match (context, self.peek().kind) {
            ("if", Kind::If) => Some("if"),
            ("with", Kind::With) => Some("with"),
            _ => None,
        };
        let Some(context) = chained else {
            let (list, end) = self.item_list()?;
            return match end {
                Item::End => Ok(list),
                other => Err(self.error(format_args!("expected end; found {}", other.shown()))),
            };
        };
        self.next();
        let branch = self.deeper(|parser| parser.branch(context))?;
        let node = match context {
            "if" => Node::If(branch),
            _ => Node::With(branch),
        };
        Ok(List {
            nodes: Box::new([node]),
        })
    }

    fn block(&mut self) -> Result<Node, Error> {
        const CONTEXT: &str = "block clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let pipe = self.pipeline(CONTEXT, Kind::RightDelim)?;
        let outer = std::mem::replace(&mut self.scope, Scope::new());
        let (list, end) = self.item_list()?;
        if !matches!(end, Item::End) {
            return Err(self.error(format_args!("unexpected {} in {CONTEXT}", end.shown())));
        }
        self.add(&name, list)?;
        self.scope = outer;
        Ok(Node::Template(Template {
            pos: token.pos,
            name: name.into(),
            pipe: Some(pipe),
        }))
    }

    fn template(&mut self) -> Result<Node, Error> {
        const CONTEXT: &str = "template clause";
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        let mut pipe = None;
        if self.next_non_space().kind != Kind::RightDelim {
            self.backup();
            pipe = Some(self.pipeline(CONTEXT, Kind::RightDelim)?);
        }
        Ok(Node::Template(Template {
            pos: token.pos,
            name: name.into(),
            pipe,
        }))
    }

    pub(super) fn template_name(&mut self, token: &Token<'t>, context: &str) -> Result<String, Error> {
        if !matches!(token.kind, Kind::String | Kind::RawString) {
            return Err(self.unexpected(token, context));
        }
        let name = unquote(token.text).ok_or_else(|| self.error("invalid syntax"))?;
        Ok(String::from_utf8_lossy(&name).into_owned())
    }
}
