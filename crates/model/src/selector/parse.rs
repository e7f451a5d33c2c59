//! Label selectors as text.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::{Error, LabelSelector, Operator, Requirement};
use crate::label;
use crate::quote::quote;

impl FromStr for LabelSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parser = Parser {
            tokens: tokens(text),
            at: 0,
        };
        parser.selector().map(LabelSelector::new)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// A key, a value, or one of the words `in` and `notin`, which may be keys and values too.
    Word(&'a str),
    /// One of `= == != ! < > ( ) ,`.
    Symbol(&'static str),
    End,
}

impl<'a> Token<'a> {
    fn text(self) -> &'a str {
        match self {
            Token::Word(text) => text,
            Token::Symbol(text) => text,
            Token::End => "",
        }
    }
}

/// Longer symbols stand before those they begin with.
const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "<", ">", "(", ")", ","];

/// Splits a selector into words and symbols. As in Go, a NUL ends it where a token could begin, and ends a word.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let is_space = |character| matches!(character, ' ' | '\t' | '\r' | '\n');
    let ends_word = |character| is_space(character) || "=!<>(),\0".contains(character);
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_space);
        if rest.is_empty() || rest.starts_with('\0') {
            return tokens;
        }
        if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
            continue;
        }
        let (word, after) = rest.split_at(rest.find(ends_word).unwrap_or(rest.len()));
        tokens.push(Token::Word(word));
        rest = after.strip_prefix('\0').unwrap_or(after);
    }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.tokens.get(self.at).copied().unwrap_or(Token::End)
    }

    fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at += 1;
        token
    }

    fn selector(&mut self) -> Result<Vec<Requirement>, Error> {
        let mut requirements = Vec::new();
        match self.peek() {
            Token::End => return Ok(requirements),
            Token::Word(_) | Token::Symbol("!") => {}
            other => return Err(found(other, ", expected: !, identifier, or 'end of string'")),
        }
        loop {
            let requirement = self.requirement();
            requirements.push(
                requirement.map_err(|Error(why)| Error(format!("unable to parse requirement: {why}")))?,
            );
            match self.next() {
                Token::End => return Ok(requirements),
                Token::Symbol(",") => {}
                other => return Err(found(other, ", expected: ',' or 'end of string'")),
            }
            if !matches!(self.peek(), Token::Word(_) | Token::Symbol("!")) {
                return Err(found(self.peek(), ", expected: identifier after ','"));
            }
        }
    }

    fn requirement(&mut self) -> Result<Requirement, Error> {
        let negated = self.peek() == Token::Symbol("!");
        if negated {
            self.next();
        }
        let key = match self.next() {
            Token::Word(key) => key,
            other => return Err(found(other, ", expected: identifier")),
        };
        let problems = label::key_problems(key);
        if !problems.is_empty() {
            return Err(Error(format!(
                "<nil>: Invalid value: {}: {}",
                quote(key),
                problems.join("; ")
            )));
        }
        if negated {
            return Requirement::new(key, Operator::DoesNotExist, Vec::new());
        }
        if let Token::End | Token::Symbol(",") = self.peek() {
            return Requirement::new(key, Operator::Exists, Vec::new());
        }
        let operator = self.operator()?;
        let values = match operator {
            Operator::In | Operator::NotIn => self.value_set()?,
            _ => vec![self.value()?.to_owned()],
        };
        Requirement::new(key, operator, values)
    }

    fn operator(&mut self) -> Result<Operator, Error> {
        Ok(match self.next() {
            Token::Word("in") => Operator::In,
            Token::Word("notin") => Operator::NotIn,
            Token::Symbol("=") => Operator::Equals,
            Token::Symbol("==") => Operator::DoubleEquals,
            Token::Symbol("!=") => Operator::NotEquals,
            Token::Symbol(">") => Operator::Gt,
            Token::Symbol("<") => Operator::Lt,
            other => return Err(found(other, ", expected: in, notin, =, ==, !=, gt, lt")),
        })
    }

    fn value(&mut self) -> Result<&'a str, Error> {
        if let Token::End | Token::Symbol(",") = self.peek() {
            return Ok("");
        }
        match self.next() {
            Token::Word(value) => Ok(value),
            other => Err(found(other, ", expected: identifier")),
        }
    }

    /// Values in parentheses, each of which may be empty: `(a,,b)`. They come out sorted, each once.
    fn value_set(&mut self) -> Result<Vec<String>, Error> {
        match self.next() {
            Token::Symbol("(") => {}
            other => return Err(found(other, " expected: '('")),
        }
        match self.peek() {
            Token::Word(_) | Token::Symbol("," | ")") => {}
            other => return Err(found(other, ", expected: ',', ')' or identifier")),
        }
        let mut values = BTreeSet::new();
        loop {
            // Here a value may stand; where none does, it is the empty one.
            match self.peek() {
                Token::Word(value) => {
                    values.insert(value.to_owned());
                    self.next();
                    if !matches!(self.peek(), Token::Symbol("," | ")")) {
                        return Err(found(self.peek(), ", expected: ',' or ')'"));
                    }
                }
                Token::Symbol("," | ")") => {
                    values.insert(String::new());
                }
                other => return Err(found(other, ", expected: ',', or identifier")),
            }
            if self.next() == Token::Symbol(")") {
                return Ok(values.into_iter().collect());
            }
        }
    }
}

fn found(token: Token<'_>, expected: &str) -> Error {
    Error(format!("found '{}'{expected}", token.text()))
}
