//! Reading paths.

use model::Value;

use super::{Error, Filter, Slice, Step};

/// How deeply filters and unions may be nested.
const MAX_DEPTH: usize = 32;

/// Reads `{...}`.
pub(super) fn path(text: &str) -> Result<Vec<Step>, Error> {
    let inner = text
        .strip_prefix('{')
        .ok_or_else(|| error("a path stands in braces"))?;
    match path_up_to_brace(inner)? {
        (steps, "") => Ok(steps),
        _ => Err(error("text after a path is not supported")),
    }
}

/// Reads what follows an opening brace up to the closing one, and gives what comes after that.
pub(super) fn path_up_to_brace(text: &str) -> Result<(Vec<Step>, &str), Error> {
    let mut parser = Parser { rest: text, depth: 0 };
    let steps = parser.steps()?;
    let rest = parser.rest.strip_prefix('}');
    Ok((steps, rest.ok_or_else(|| error("unclosed action"))?))
}

pub(super) fn error(text: impl Into<String>) -> Error {
    Error(text.into())
}

struct Parser<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// Reads steps up to a closing brace or the end.
    fn steps(&mut self) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        loop {
            if self.rest.starts_with("[?(") {
                steps.push(self.filter()?);
                continue;
            }
            if let Some(rest) = self.rest.strip_prefix("..") {
                if steps.last() == Some(&Step::Recursive) {
                    return Err(error("invalid multiple recursive descent"));
                }
                self.rest = rest;
                steps.push(Step::Recursive);
                if self
                    .rest
                    .starts_with(|char: char| char == '_' || char.is_alphanumeric())
                {
                    steps.push(self.field());
                }
                continue;
            }
            match self.rest.chars().next() {
                None | Some('}') => return Ok(steps),
                Some('\n' | '\r') => return Err(error("unclosed action")),
                Some(' ' | '@' | '$') => self.rest = &self.rest[1..],
                Some('.') => {
                    self.rest = &self.rest[1..];
                    steps.push(self.field());
                }
                Some('[') => steps.extend(self.brackets()?),
                Some(quote @ ('"' | '\'')) => steps.push(Step::Literal(Value::from(self.quoted(quote)?))),
                Some(char) if char == '+' || char == '-' || char.is_ascii_digit() => {
                    steps.push(self.number()?)
                }
                Some(char) if char == '_' || char.is_alphanumeric() => match self.word() {
                    "true" => steps.push(Step::Literal(Value::Bool(true))),
                    "false" => steps.push(Step::Literal(Value::Bool(false))),
                    word => return Err(error(format!("unrecognized identifier {word}"))),
                },
                Some(char) => {
                    let code = u32::from(char);
                    return Err(error(format!(
                        "unrecognized character in action: U+{code:04X} '{char}'"
                    )));
                }
            }
        }
    }

    /// The name of a field, in which a backslash keeps the next character from ending it.
    fn field(&mut self) -> Step {
        let mut name = String::new();
        let mut chars = self.rest.char_indices();
        let mut end = self.rest.len();
        while let Some((at, char)) = chars.next() {
            match char {
                '\\' => name.extend(chars.next().map(|(_, char)| char)),
                ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}' => {
                    end = at;
                    break;
                }
                char => name.push(char),
            }
        }
        self.rest = &self.rest[end..];
        if name == "*" {
            Step::Wildcard
        } else {
            Step::Field(name)
        }
    }

    fn word(&mut self) -> &'t str {
        let end = self
            .rest
            .find([' ', '\t', '\r', '\n', '.', ',', '[', ']', '$', '@', '{', '}']);
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    fn number(&mut self) -> Result<Step, Error> {
        let digits = self.rest[1..].find(|char: char| !char.is_ascii_digit() && char != '.');
        let (text, rest) = self.rest.split_at(digits.map_or(self.rest.len(), |at| at + 1));
        self.rest = rest;
        let whole = text.parse().map(Value::Int).ok();
        let number = whole.or_else(|| text.parse().map(Value::Float).ok());
        number
            .map(Step::Literal)
            .ok_or_else(|| error(format!("cannot parse number {text}")))
    }

    fn quoted(&mut self, quote: char) -> Result<String, Error> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, char)) = chars.next() {
            match char {
                '\n' => break,
                '\\' => match chars.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, char)) => text.push(char),
                    None => break,
                },
                char if char == quote => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                char => text.push(char),
            }
        }
        Err(error("unterminated quoted string"))
    }

    /// `[...]`: a place, a slice, a key or several of them.
    fn brackets(&mut self) -> Result<Vec<Step>, Error> {
        let end = self
            .rest
            .find([']', '\n'])
            .filter(|at| self.rest[*at..].starts_with(']'));
        let end = end.ok_or_else(|| error("unterminated array"))?;
        let inner = &self.rest[1..end];
        self.rest = &self.rest[end + 1..];
        let parts: Vec<&str> = inner.split(',').collect();
        if let [one] = parts.as_slice() {
            return bracket(one);
        }
        let paths: Result<Vec<_>, _> = parts.into_iter().map(|part| bracket(part.trim())).collect();
        Ok(vec![Step::Union(paths?)])
    }

    /// `[?(left operator right)]`.
    fn filter(&mut self) -> Result<Step, Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(error("filters are nested too deeply"));
        }
        let body = &self.rest[3..];
        let end = filter_end(body).ok_or_else(|| error("unterminated filter"))?;
        let rest = &body[end + 1..];
        self.rest = rest
            .strip_prefix(']')
            .ok_or_else(|| error("unclosed array expect ]"))?;
        let inner = &body[..end];
        let is_operator = |char: char| matches!(char, '!' | '<' | '>' | '=');
        let comparison = inner.find(is_operator).filter(|at| *at > 0).and_then(|at| {
            let length = inner[at..].find(|char| !is_operator(char))?;
            Some((at, length))
        });
        let (left, comparison) = match comparison {
            Some((at, length)) => {
                let (operator, right) = (inner[at..at + length].to_owned(), &inner[at + length..]);
                (self.part(&inner[..at])?, Some((operator, self.part(right)?)))
            }
            None => (self.part(inner)?, None),
        };
        self.depth -= 1;
        Ok(Step::Filter(Box::new(Filter { left, comparison })))
    }

    /// One side of a filter.
    fn part(&self, text: &str) -> Result<Vec<Step>, Error> {
        let mut parser = Parser {
            rest: text,
            depth: self.depth,
        };
        let steps = parser.steps()?;
        match parser.rest.is_empty() {
            true => Ok(steps),
            false => Err(error(format!("unexpected {}", parser.rest))),
        }
    }
}

/// Where the bracket that ends a filter stands: outside of quotes.
fn filter_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match (char, quote) {
            ('\n', _) => return None,
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            ('"' | '\'', None) => quote = Some(char),
            (char, Some(open)) if char == open => quote = None,
            (')', None) => return Some(at),
            _ => {}
        }
    }
    None
}

/// What stands between brackets, without commas.
fn bracket(text: &str) -> Result<Vec<Step>, Error> {
    if text == "*" {
        let all = Slice {
            start: None,
            end: None,
            single: false,
            step: None,
        };
        return Ok(vec![Step::Slice(all)]);
    }
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    if let Some(key) = quoted.filter(|_| text.len() >= 2) {
        // What is quoted is read like a name after a dot, so that dots in it need a backslash.
        let mut parser = Parser { rest: key, depth: 0 };
        let mut steps = vec![parser.field()];
        steps.extend(parser.steps()?);
        return Ok(steps);
    }
    slice(text).map(|slice| vec![Step::Slice(slice)])
}

fn slice(text: &str) -> Result<Slice, Error> {
    let invalid = || error(format!("invalid array index {text}"));
    let parts: Vec<&str> = text.split(':').collect();
    let number = |text: &str| match text {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| invalid()),
    };
    match parts.as_slice() {
        [""] => Err(invalid()),
        [one] => {
            let start: Option<i64> = number(one)?;
            Ok(Slice {
                start,
                end: start.map(|start| start.saturating_add(1)),
                single: true,
                step: None,
            })
        }
        [start, end] => Ok(Slice {
            start: number(start)?,
            end: number(end)?,
            single: false,
            step: None,
        }),
        [start, end, step] => Ok(Slice {
            start: number(start)?,
            end: number(end)?,
            single: false,
            step: number(step)?,
        }),
        _ => Err(invalid()),
    }
}
