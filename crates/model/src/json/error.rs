use crate::quote::push_escaped;

/// Why a text is no JSON. It prints as Go's `encoding/json` says it; the place is beside it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What is wrong, in Go's words.
    pub message: String,
    /// The number of bytes before the one that is wrong.
    pub offset: usize,
    /// The line of that byte; the first line is 1.
    pub line: usize,
}

/// Errors are boxed as long as they are handed up, so that results stay small.
impl Error {
    pub(super) fn new(input: &[u8], offset: usize, message: String) -> Box<Self> {
        let line = 1 + input[..offset.min(input.len())]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count();
        Box::new(Error {
            message,
            offset,
            line,
        })
    }

    /// The byte at `offset` does not belong there, or the input ends there.
    pub(super) fn unexpected(input: &[u8], offset: usize, context: &str) -> Box<Self> {
        if offset < input.len() {
            return Error::unexpected_within(input, offset, context);
        }
        Error::new(input, offset, "unexpected end of JSON input".to_owned())
    }

    /// The same inside of a number, a name or an escape. Go, which looks there for the end of the input by reading one
    /// more space, complains about that space.
    pub(super) fn unexpected_within(input: &[u8], offset: usize, context: &str) -> Box<Self> {
        let byte = input.get(offset).copied().unwrap_or(b' ');
        Error::new(
            input,
            offset,
            format!("invalid character {} {context}", quoted(byte)),
        )
    }
}

/// A byte as Go quotes one, which takes it for a character of its own.
fn quoted(byte: u8) -> String {
    let mut out = String::from("'");
    match byte {
        b'\'' => out.push_str("\\'"),
        _ => push_escaped(&mut out, char::from(byte)),
    }
    out.push('\'');
    out
}
