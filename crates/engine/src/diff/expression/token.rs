//! The words of an expression.

use model::{Value, json};

use super::Error;

/// One word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `.name`, or `."name"`
    Field(String),
    /// A name without a dot: a function or a keyword.
    Name(String),
    /// A string or number.
    Literal(Value),
    /// Punctuation: `.`, `..`, `[`, `==` and so on.
    Sign(&'static str),
}

/// Longer ones first: `..` is not twice `.`.
const SIGNS: [&str; 20] = [
    "..", "//", "==", "!=", "<=", ">=", ".", "[", "]", "(", ")", "|", ",", ";", "?", "<", ">", "-", ":", "=",
];

pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let mut rest = text.trim_start();
    let mut tokens = Vec::new();
    while !rest.is_empty() {
        let (token, after) = token(rest)?;
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn token(text: &str) -> Result<(Token, &str), Error> {
    let fault = |expected| Error::Syntax {
        expected,
        found: format!("{text:?}"),
    };
    if let Some(after) = text.strip_prefix('.') {
        if after.starts_with(is_start) {
            let (name, after) = name(after);
            return Ok((Token::Field(name.to_owned()), after));
        }
        if after.starts_with('"') {
            let (string, after) = string(after).ok_or_else(|| fault("a string"))?;
            return Ok((Token::Field(string), after));
        }
    }
    if text.starts_with(is_start) {
        let (name, after) = name(text);
        return Ok((Token::Name(name.to_owned()), after));
    }
    if text.starts_with('"') {
        let (string, after) = string(text).ok_or_else(|| fault("a string"))?;
        return Ok((Token::Literal(string.into()), after));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let number = json::parse(&text.as_bytes()[..end]).map_err(|_| fault("a number"))?;
        return Ok((Token::Literal(number), &text[end..]));
    }
    let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign));
    let sign = sign.ok_or_else(|| fault("an expression"))?;
    Ok((Token::Sign(sign), &text[sign.len()..]))
}

fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn name(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    text.split_at(end)
}

/// A string in double quotes, with the escapes of JSON.
fn string(text: &str) -> Option<(String, &str)> {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    })?;
    let (string, after) = text.split_at(end.0 + 1);
    let string = json::parse(string.as_bytes()).ok()?;
    Some((string.as_str()?.to_owned(), after))
}
