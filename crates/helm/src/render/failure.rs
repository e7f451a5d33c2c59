//! Why templates were not rendered, in the words of Helm.

use gotemplate::ErrorKind;

use super::functions::{BEGIN, END};
use crate::HelmVersion;

/// A text that is no template.
pub(super) fn of_parsing(path: &str, error: &gotemplate::Error) -> String {
    let text = error.to_string();
    let parts: Vec<&str> = text.split(": ").collect();
    match parts.as_slice() {
        [] | [_] => format!("parse error in ({path}): {text}"),
        [_, place, ..] => format!(
            "parse error at ({place}): {}",
            parts.last().copied().unwrap_or_default()
        ),
    }
}

/// A template that failed.
pub(super) fn of_execution(path: &str, error: &gotemplate::Error, version: HelmVersion) -> String {
    let text = error.to_string();
    if !matches!(error.kind(), ErrorKind::Execution | ErrorKind::Limit) {
        return text;
    }
    let mut parts = text.splitn(3, ": ");
    let (Some(_), Some(place), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return format!("execution error in ({path}): {text}");
    };
    if let Some(message) = message_between(rest) {
        return format!("execution error at ({place}): {message}");
    }
    match version {
        HelmVersion::V3 => text,
        HelmVersion::V4 => trace(&text).unwrap_or(text),
    }
}

/// What `required` and `fail` say.
fn message_between(text: &str) -> Option<&str> {
    let begin = text.find(BEGIN)? + BEGIN.len();
    let end = text.rfind(END)?;
    text.get(begin..end)
}

/// The way through the templates, one step on a line, if all of it is of templates.
fn trace(text: &str) -> Option<String> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut rest = text;
    loop {
        let step = Step::read(rest)?;
        if steps.last() != Some(&step) {
            steps.push(step);
        }
        match cause(rest) {
            Some(cause) => rest = cause,
            None => break,
        }
    }
    let whole: String = steps.iter().map(Step::to_string).collect();
    Some(whole.trim().to_owned())
}

/// The error of the function that a template called, which is all after `error calling NAME: `.
fn cause(text: &str) -> Option<&str> {
    let (_, after) = text.split_once(": executing ")?;
    let (_, message) = after.split_once(">: ")?;
    let called = message.strip_prefix("error calling ")?;
    called.split_once(": ").map(|(_, cause)| cause)
}

/// One step: where, in what, and what is said.
#[derive(PartialEq, Eq)]
struct Step<'t> {
    place: &'t str,
    doing: Option<(&'t str, &'t str)>,
    message: &'t str,
}

impl<'t> Step<'t> {
    fn read(text: &'t str) -> Option<Step<'t>> {
        let rest = text.strip_prefix("template: ")?;
        if rest.starts_with("no template ") {
            return Some(Step {
                place: "",
                doing: None,
                message: text,
            });
        }
        if let Some((place, after)) = rest.split_once(": executing ") {
            let after = after.strip_prefix('"')?;
            let (template, after) = after.split_once('"')?;
            let (expression, message) = after.strip_prefix(" at <")?.split_once(">: ")?;
            return Some(Step {
                place,
                doing: Some((template, expression)),
                message: without_chain(message),
            });
        }
        let (place, message) = rest.rsplit_once(": ")?;
        Some(Step {
            place,
            doing: None,
            message: without_chain(message),
        })
    }
}

/// What is said here, without what further templates say.
fn without_chain(message: &str) -> &str {
    message.split(" template:").next().unwrap_or(message)
}

impl std::fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}\n  ", self.place)?;
        }
        if let Some((template, expression)) = self.doing {
            write!(f, "executing \"{template}\" at <{expression}>:\n    ")?;
        }
        if !self.message.is_empty() {
            writeln!(f, "{}", self.message)?;
        }
        Ok(())
    }
}
/// A file that is not UTF-8, in the words of Go's YAML.
pub(super) fn of_bytes(path: &str, error: std::str::Utf8Error, bytes: &[u8]) -> String {
    let first = bytes.get(error.valid_up_to()).copied().unwrap_or_default();
    let may_lead = matches!(first, 0xc0..=0xf7);
    let what = match (may_lead, error.error_len()) {
        (false, _) => "invalid leading UTF-8 octet",
        (true, None) => "incomplete UTF-8 octet sequence",
        (true, Some(_)) => "invalid trailing UTF-8 octet",
    };
    format!("YAML parse error on {path}: error converting YAML to JSON: yaml: {what}")
}
