/// Why a text is no YAML, or none that can be a Kubernetes object. It prints as Go says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    text: String,
    line: usize,
}

impl Error {
    /// Something that has no line in Go's words; ours is `line`.
    pub(crate) fn new(line: usize, problem: impl std::fmt::Display) -> Self {
        Error {
            text: format!("yaml: {problem}"),
            line,
        }
    }

    /// Something that Go finds when it turns the result into JSON.
    pub(crate) fn unwritable(line: usize, text: String) -> Self {
        Error { text, line }
    }

    /// What is wrong, without a line: for messages that name it themselves.
    pub fn without_line(&self) -> String {
        let rest = self.text.strip_prefix("yaml: line ");
        match rest.and_then(|rest| rest.split_once(": ")) {
            Some((line, rest)) if line.bytes().all(|byte| byte.is_ascii_digit()) => format!("yaml: {rest}"),
            _ => self.text.clone(),
        }
    }

    /// The line it is about, as near as it is known; the first line is 1. The line that the text names may be another
    /// one: where the grammar is broken, Go counts from 0.
    pub fn line(&self) -> usize {
        self.line
    }
}
