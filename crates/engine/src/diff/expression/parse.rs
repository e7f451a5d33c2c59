//! From words to an expression. Operators bind as in jq: `|`, `,`, `//`, `or`, `and`, comparisons, from loose to tight.

use model::Value;
use regex::RegexBuilder;

use super::token::{Token, tokens};
use super::{Check, Comparison, DEPTH_LIMIT, Error, Node};

pub(super) fn parse(text: &str) -> Result<Node, Error> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
    };
    let node = parser.pipe()?;
    match parser.tokens.get(parser.at) {
        None => Ok(node),
        Some(_) => Err(parser.fault("the end")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

/// Patterns larger than this when compiled are refused.
const REGEX_LIMIT: usize = 1 << 20;

impl Parser {
    fn pipe(&mut self) -> Result<Node, Error> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(Error::TooLarge);
        }
        let mut node = self.comma()?;
        while self.takes("|") {
            node = Node::Pipe(node.into(), self.comma()?.into());
        }
        self.depth -= 1;
        Ok(node)
    }

    fn comma(&mut self) -> Result<Node, Error> {
        let mut node = self.otherwise()?;
        while self.takes(",") {
            node = Node::Comma(node.into(), self.otherwise()?.into());
        }
        Ok(node)
    }

    fn otherwise(&mut self) -> Result<Node, Error> {
        let mut node = self.or()?;
        while self.takes("//") {
            node = Node::Otherwise(node.into(), self.or()?.into());
        }
        Ok(node)
    }

    fn or(&mut self) -> Result<Node, Error> {
        let mut node = self.and()?;
        while self.takes_name("or") {
            node = Node::Or(node.into(), self.and()?.into());
        }
        Ok(node)
    }

    fn and(&mut self) -> Result<Node, Error> {
        let mut node = self.comparison()?;
        while self.takes_name("and") {
            node = Node::And(node.into(), self.comparison()?.into());
        }
        Ok(node)
    }

    fn comparison(&mut self) -> Result<Node, Error> {
        let node = self.postfix()?;
        for (sign, comparison) in [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ] {
            if self.takes(sign) {
                return Ok(Node::Compare(node.into(), comparison, self.postfix()?.into()));
            }
        }
        Ok(node)
    }

    fn postfix(&mut self) -> Result<Node, Error> {
        let mut node = self.term()?;
        loop {
            if let Some(Token::Field(name)) = self.tokens.get(self.at) {
                let name = Node::Literal(Value::str(name));
                self.at += 1;
                node = Node::Child(node.into(), name.into());
            } else if self.takes("[") {
                node = self.bracket(node)?;
            } else if matches!(self.tokens.get(self.at), Some(Token::Sign(".")))
                && matches!(self.tokens.get(self.at + 1), Some(Token::Sign("[")))
            {
                // `.a.[0]` is `.a[0]`.
                self.at += 2;
                node = self.bracket(node)?;
            } else if !self.takes("?") {
                return Ok(node);
            }
        }
    }

    /// What stands in brackets after something, the first of which was taken.
    fn bracket(&mut self, of: Node) -> Result<Node, Error> {
        if self.takes("]") {
            return Ok(Node::Each(of.into()));
        }
        let place = self.pipe()?;
        self.expect("]", "a closing bracket")?;
        Ok(Node::Child(of.into(), place.into()))
    }

    fn term(&mut self) -> Result<Node, Error> {
        let Some(token) = self.tokens.get(self.at).cloned() else {
            return Err(self.fault("an expression"));
        };
        self.at += 1;
        match token {
            Token::Field(name) => Ok(Node::Child(
                Node::Identity.into(),
                Node::Literal(name.into()).into(),
            )),
            Token::Literal(value) => Ok(Node::Literal(value)),
            Token::Sign(".") => Ok(Node::Identity),
            Token::Sign("..") => Ok(Node::Everything),
            Token::Sign("-") => match self.tokens.get(self.at).cloned() {
                Some(Token::Literal(Value::Int(number))) => {
                    self.at += 1;
                    Ok(Node::Literal(Value::Int(-number)))
                }
                Some(Token::Literal(Value::Float(number))) => {
                    self.at += 1;
                    Ok(Node::Literal(Value::Float(-number)))
                }
                _ => Err(self.fault("a number")),
            },
            Token::Sign("(") => {
                let node = self.pipe()?;
                self.expect(")", "a closing parenthesis")?;
                Ok(node)
            }
            Token::Name(name) => self.call(&name),
            Token::Sign(_) => {
                self.at -= 1;
                Err(self.fault("an expression"))
            }
        }
    }

    fn call(&mut self, name: &str) -> Result<Node, Error> {
        let mut arguments = Vec::new();
        if self.takes("(") {
            arguments.push(self.pipe()?);
            while self.takes(";") {
                arguments.push(self.pipe()?);
            }
            self.expect(")", "a closing parenthesis")?;
        }
        function(name, arguments)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_there = matches!(self.tokens.get(self.at), Some(Token::Sign(found)) if *found == sign);
        self.at += usize::from(is_there);
        is_there
    }

    fn takes_name(&mut self, name: &str) -> bool {
        let is_there = matches!(self.tokens.get(self.at), Some(Token::Name(found)) if found == name);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, sign: &str, expected: &'static str) -> Result<(), Error> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(self.fault(expected))
    }

    fn fault(&self, expected: &'static str) -> Error {
        let found = match self.tokens.get(self.at) {
            None => "the end".to_owned(),
            Some(Token::Field(name)) => format!("\".{name}\""),
            Some(Token::Name(name)) => format!("{name:?}"),
            Some(Token::Literal(value)) => model::json::to_string(value),
            Some(Token::Sign(sign)) => format!("{sign:?}"),
        };
        Error::Syntax { expected, found }
    }
}

fn function(name: &str, mut arguments: Vec<Node>) -> Result<Node, Error> {
    let count = arguments.len();
    let mut argument = || Box::new(arguments.remove(0));
    Ok(match (name, count) {
        ("null", 0) => Node::Literal(Value::Null),
        ("true", 0) => Node::Literal(true.into()),
        ("false", 0) => Node::Literal(false.into()),
        ("empty", 0) => Node::Empty,
        ("recurse", 0) => Node::Everything,
        ("not", 0) => Node::Not,
        ("length", 0) => Node::Length,
        ("type", 0) => Node::Type,
        ("tostring", 0) => Node::Text,
        ("ascii_downcase", 0) => Node::Lower,
        ("ascii_upcase", 0) => Node::Upper,
        ("any", 0) => Node::Any(Node::Identity.into()),
        ("all", 0) => Node::All(Node::Identity.into()),
        ("select", 1) => Node::Select(argument()),
        ("first", 1) => Node::First(argument()),
        ("last", 1) => Node::Last(argument()),
        ("any", 1) => Node::Any(argument()),
        ("all", 1) => Node::All(argument()),
        ("IN", 1) => Node::In(argument()),
        ("startswith", 1) => Node::Check(Check::StartsWith, argument()),
        ("endswith", 1) => Node::Check(Check::EndsWith, argument()),
        ("contains", 1) => Node::Check(Check::Contains, argument()),
        ("has", 1) => Node::Check(Check::Has, argument()),
        ("test", 1) => {
            let Node::Literal(Value::Str(pattern)) = *argument() else {
                return Err(Error::Syntax {
                    expected: "a string",
                    found: "the argument of test".to_owned(),
                });
            };
            let regex = RegexBuilder::new(&pattern).size_limit(REGEX_LIMIT).build();
            Node::Test(regex.map_err(|_| Error::Regex(pattern.to_string()))?)
        }
        (name, arguments) => {
            return Err(Error::Function {
                name: name.to_owned(),
                arguments,
            });
        }
    })
}
