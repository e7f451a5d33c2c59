//! From text to trees.

pub(crate) mod ast;
mod control;
mod number;
mod operand;
mod show;
mod unquote;

use std::collections::HashMap;
use std::sync::Arc;

use arcstr::ArcStr;

use crate::error::{Error, ErrorKind};
use crate::function::Functions;
use crate::lex::{Delims, Kind, Lexer, Token};
use ast::{Arg, Command, Declared, List, Node, Pipe, Source, Tree, VariableId};

pub(crate) use number::Number;
pub(crate) use unquote::unquote;

/// How deep blocks and parentheses may be inside of one another.
const DEPTH: usize = 400;

/// Reads all templates of a text: those that it defines, and itself under the name `name`.
pub(crate) fn parse(
    name: &str,
    text: &str,
    delims: Delims<'_>,
    functions: &Functions,
) -> Result<HashMap<ArcStr, Arc<Tree>>, Error> {
    let source = Arc::new(Source {
        name: name.into(),
        text: text.into(),
    });
    let mut lexer = Lexer::new(text, delims);
    lexer.break_is_word = functions.get("break").is_none();
    lexer.continue_is_word = functions.get("continue").is_none();
    let mut parser = Parser {
        lexer,
        tokens: std::array::from_fn(|_| Token {
            kind: Kind::Eof,
            pos: 0,
            line: 0,
            text: "",
        }),
        peeked: 0,
        source,
        functions,
        names: Names::default(),
        fields: HashMap::new(),
        nodes: Vec::new(),
        commands: Vec::new(),
        args: Vec::new(),
        scope: Scope::new(),
        depth: 0,
        trees: HashMap::new(),
    };
    parser.parse_all(name)?;
    Ok(parser.trees)
}

/// The numbers of the variables of a text.
#[derive(Default)]
struct Names(HashMap<Box<str>, VariableId>);

impl Names {
    fn id(&mut self, name: &str) -> VariableId {
        if name == "$" {
            return 0;
        }
        let next = self.0.len() as VariableId + 1;
        *self.0.entry(name.into()).or_insert(next)
    }
}

/// What is known inside of one template and not in those defined inside of it.
struct Scope {
    /// The variables that can be used.
    variables: Vec<VariableId>,
    ranges: usize,
    /// The line where the action began that is being read, or 0.
    action_line: usize,
}

impl Scope {
    fn new() -> Scope {
        Scope {
            variables: vec![0],
            ranges: 0,
            action_line: 0,
        }
    }
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    /// Tokens that were read ahead; the last of them is to be used first.
    tokens: [Token<'t>; 3],
    peeked: usize,
    source: Arc<Source>,
    functions: &'t Functions,
    names: Names,
    /// The names of fields: a text has few of them, many times.
    fields: HashMap<&'t str, ArcStr>,
    /// What was read of the lists, pipelines and commands that are not yet at their ends, innermost last.
    nodes: Vec<Node>,
    commands: Vec<Command>,
    args: Vec<Arg>,
    scope: Scope,
    depth: usize,
    trees: HashMap<ArcStr, Arc<Tree>>,
}

impl<'t> Parser<'t> {
    fn next(&mut self) -> Token<'t> {
        if self.peeked > 0 {
            self.peeked -= 1;
        } else {
            self.tokens[0] = self.lexer.next();
        }
        self.tokens[self.peeked]
    }

    fn backup(&mut self) {
        self.peeked += 1;
    }

    /// Puts back the last token and the one before it.
    fn backup2(&mut self, before: Token<'t>) {
        self.tokens[1] = before;
        self.peeked = 2;
    }

    /// Puts back the last token and the two before it.
    fn backup3(&mut self, first: Token<'t>, second: Token<'t>) {
        self.tokens[1] = second;
        self.tokens[2] = first;
        self.peeked = 3;
    }

    fn peek(&mut self) -> Token<'t> {
        let token = self.next();
        self.backup();
        token
    }

    fn next_non_space(&mut self) -> Token<'t> {
        loop {
            let token = self.next();
            if token.kind != Kind::Space {
                return token;
            }
        }
    }

    fn peek_non_space(&mut self) -> Token<'t> {
        let token = self.next_non_space();
        self.backup();
        token
    }

    fn error(&self, text: impl std::fmt::Display) -> Error {
        let line = self.tokens[0].line;
        let text = format!("template: {}:{line}: {text}", self.source.name);
        Error::of(ErrorKind::Parse, text)
    }

    fn unexpected(&self, token: &Token<'t>, context: &str) -> Error {
        let Some(problem) = self.lexer.problem().filter(|_| token.kind == Kind::Error) else {
            return self.error(format_args!("unexpected {} in {context}", shown(token)));
        };
        let line = self.scope.action_line;
        if line == 0 || line == token.line {
            return self.error(problem);
        }
        let action = if problem.ends_with(" action") {
            ""
        } else {
            " in action"
        };
        self.error(format_args!(
            "{problem}{action} started at {}:{line}",
            self.source.name
        ))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Token<'t>, Error> {
        let token = self.next_non_space();
        if token.kind != kind {
            return Err(self.unexpected(&token, context));
        }
        Ok(token)
    }

    /// Counts what is inside of what: reading goes as deep as the text does.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH {
            return Err(self.error("max expression depth exceeded"));
        }
        self.depth += 1;
        let result = crate::exec::grow(|| read(self));
        self.depth -= 1;
        result
    }

    fn parse_all(&mut self, name: &str) -> Result<(), Error> {
        let mark = self.nodes.len();
        loop {
            let token = self.peek();
            if token.kind == Kind::Eof {
                break;
            }
            if token.kind == Kind::LeftDelim {
                let delim = self.next();
                if self.next_non_space().kind == Kind::Define {
                    self.definition()?;
                    continue;
                }
                self.backup2(delim);
            }
            match self.text_or_action()? {
                Item::Node(node) => self.nodes.push(node),
                end => return Err(self.error(format_args!("unexpected {}", end.shown()))),
            }
        }
        let root = self.list(mark);
        self.add(name, root)
    }

    /// `define`, whose word was read already.
    fn definition(&mut self) -> Result<(), Error> {
        const CONTEXT: &str = "define clause";
        let outer = std::mem::replace(&mut self.scope, Scope::new());
        let token = self.next_non_space();
        let name = self.template_name(&token, CONTEXT)?;
        self.expect(Kind::RightDelim, CONTEXT)?;
        let (list, end) = self.item_list()?;
        if !matches!(end, Item::End) {
            return Err(self.error(format_args!("unexpected {} in {CONTEXT}", end.shown())));
        }
        self.add(&name, list)?;
        self.scope = outer;
        Ok(())
    }

    fn add(&mut self, name: &str, root: List) -> Result<(), Error> {
        match self.trees.get(name) {
            Some(known) if !known.root.is_blank() => {
                if !root.is_blank() {
                    let name = model::quote::quote(name);
                    return Err(self.error(format_args!("template: multiple definition of template {name}")));
                }
            }
            _ => {
                let tree = Tree {
                    name: name.into(),
                    source: self.source.clone(),
                    root,
                };
                self.trees.insert(name.into(), Arc::new(tree));
            }
        }
        Ok(())
    }

    /// Nodes up to `end` or `else`, and which of them it was.
    fn item_list(&mut self) -> Result<(List, Item), Error> {
        let mark = self.nodes.len();
        while self.peek_non_space().kind != Kind::Eof {
            match self.text_or_action()? {
                Item::Node(node) => self.nodes.push(node),
                end => return Ok((self.list(mark), end)),
            }
        }
        Err(self.error("unexpected EOF"))
    }

    /// The nodes since a mark, in no more room than they need: trees are kept, and most lists are short.
    fn list(&mut self, mark: usize) -> List {
        List {
            nodes: self.nodes.drain(mark..).collect(),
        }
    }

    fn pipeline(&mut self, context: &str, end: Kind) -> Result<Pipe, Error> {
        let mut pipe = Pipe {
            pos: self.peek_non_space().pos,
            assigns: false,
            variables: Box::default(),
            commands: Box::default(),
        };
        let mut declared = Vec::new();
        self.declarations(&mut declared, &mut pipe.assigns, context)?;
        pipe.variables = declared.into();
        let mark = self.commands.len();
        loop {
            let token = self.next_non_space();
            match token.kind {
                kind if kind == end => {
                    pipe.commands = self.commands.drain(mark..).collect();
                    self.check_pipeline(&pipe, context)?;
                    return Ok(pipe);
                }
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Dot
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::Nil
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen => {
                    self.backup();
                    let command = self.command()?;
                    self.commands.push(command);
                }
                _ => return Err(self.unexpected(&token, context)),
            }
        }
    }

    /// `$x :=`, `$x =`, and in `range` also `$x, $y :=`.
    fn declarations(
        &mut self,
        declared: &mut Vec<Declared>,
        assigns: &mut bool,
        context: &str,
    ) -> Result<(), Error> {
        loop {
            let variable = self.peek_non_space();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            // A variable may be an argument: what was read to learn that goes back, the space too.
            let after = self.peek();
            let next = self.peek_non_space();
            match next.kind {
                Kind::Assign | Kind::Declare => {
                    *assigns = next.kind == Kind::Assign;
                    self.next_non_space();
                    declared.push(self.declare(variable.text));
                    return Ok(());
                }
                Kind::Char if next.text == "," => {
                    self.next_non_space();
                    declared.push(self.declare(variable.text));
                    if context != "range" || declared.len() >= 2 {
                        return Err(self.error(format_args!("too many declarations in {context}")));
                    }
                    if !matches!(
                        self.peek_non_space().kind,
                        Kind::Variable | Kind::RightDelim | Kind::RightParen
                    ) {
                        return Err(self.error("range can only initialize variables"));
                    }
                }
                _ => {
                    if after.kind == Kind::Space {
                        self.backup3(variable, after);
                    } else {
                        self.backup2(variable);
                    }
                    return Ok(());
                }
            }
        }
    }

    fn declare(&mut self, name: &str) -> Declared {
        let id = self.names.id(name);
        self.scope.variables.push(id);
        Declared {
            id,
            name: name.into(),
        }
    }

    fn check_pipeline(&self, pipe: &Pipe, context: &str) -> Result<(), Error> {
        if pipe.commands.is_empty() {
            return Err(self.error(format_args!("missing value for {context}")));
        }
        let stuck = |command: &Command| command.args[0].is_plain();
        match pipe.commands.iter().skip(1).position(stuck) {
            Some(index) => Err(self.error(format_args!(
                "non executable command in pipeline stage {}",
                index + 2
            ))),
            None => Ok(()),
        }
    }
}

/// What an action is: a node, or the end of a list of them.
enum Item {
    Node(Node),
    End,
    Else,
}

impl Item {
    fn shown(&self) -> &'static str {
        match self {
            Item::End => "{{end}}",
            _ => "{{else}}",
        }
    }
}

/// A token as messages show it.
fn shown(token: &Token<'_>) -> String {
    match token.kind {
        Kind::Eof => "EOF".to_owned(),
        kind if kind.is_keyword() => format!("<{}>", token.text),
        _ if token.text.len() > 10 => {
            let start: String = token.text.chars().take(10).collect();
            format!("{}...", model::quote::quote(&start))
        }
        _ => model::quote::quote(token.text),
    }
}
