//! Texts with paths in them, as `kubectl get -o jsonpath` and `helm show values --jsonpath` take them.

use model::Value;

use super::find::{Missing, walk};
use super::parse::{error, path_up_to_brace};
use super::{Error, Step, print};

/// How deeply ranges may be nested.
const MAX_DEPTH: usize = 32;

/// A text with paths in it: `{.name}: {range .ports[*]}{.port}{"\n"}{end}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Path(Vec<Step>),
    /// What is printed once for each value that the path leads to.
    Range(Vec<Step>, Vec<Node>),
    /// What is told only when it is printed.
    Failure(Error),
}

impl Template {
    /// Reads a text with paths.
    ///
    /// # Errors
    /// Why it is none.
    pub fn parse(text: &str) -> Result<Template, Error> {
        let mut rest = text;
        let nodes = nodes(&mut rest, 0)?;
        Ok(Template { nodes })
    }

    /// The text with what the paths lead to in their places. Several values have spaces between them.
    ///
    /// # Errors
    /// Where a path leads nowhere.
    pub fn print(&self, object: &Value) -> Result<String, Error> {
        let mut out = String::new();
        execute(&self.nodes, object, &mut out)?;
        Ok(out)
    }
}

/// Reads up to the end, or inside of a range up to the end of that.
fn nodes(rest: &mut &str, depth: usize) -> Result<Vec<Node>, Error> {
    if depth > MAX_DEPTH {
        return Err(error("ranges are nested too deeply"));
    }
    let mut nodes = Vec::new();
    while !rest.is_empty() {
        let (text, action) = rest.split_once('{').unwrap_or((*rest, ""));
        if !text.is_empty() {
            nodes.push(Node::Text(text.to_owned()));
        }
        let has_action = text.len() < rest.len();
        *rest = action;
        if !has_action {
            break;
        }
        let (word, after) = first_word(action);
        let path = match word {
            "" | "true" | "false" => action,
            _ => after,
        };
        let (steps, after) = path_up_to_brace(path)?;
        *rest = after;
        nodes.push(match (word, steps.as_slice()) {
            ("range", _) => Node::Range(steps, self::nodes(rest, depth + 1)?),
            ("end", []) if depth > 0 => return Ok(nodes),
            ("end", _) => Node::Failure(error("not in range, nothing to end")),
            (_, [Step::Literal(value)]) => Node::Text(print(value)),
            ("" | "true" | "false", _) => Node::Path(steps),
            (word, _) => Node::Failure(error(format!("unrecognized identifier {word}"))),
        });
    }
    match depth {
        0 => Ok(nodes),
        _ => Err(error("a range has no end")),
    }
}

/// The letters that an action begins with, and the rest of it.
fn first_word(action: &str) -> (&str, &str) {
    let action = action.trim_start_matches(' ');
    let end = action.find(|letter: char| !letter.is_ascii_alphabetic());
    action.split_at(end.unwrap_or(action.len()))
}

fn execute(nodes: &[Node], object: &Value, out: &mut String) -> Result<(), Error> {
    for node in nodes {
        match node {
            Node::Failure(failure) => return Err(failure.clone()),
            Node::Text(text) => out.push_str(text),
            Node::Path(steps) => {
                let found = walk(steps, vec![object], Missing::Failure)?;
                let found = found.into_iter().map(|value| match value {
                    Value::Null => "null".to_owned(),
                    value => print(value),
                });
                out.push_str(&found.collect::<Vec<_>>().join(" "));
            }
            Node::Range(steps, inner) => {
                for value in walk(steps, vec![object], Missing::Failure)? {
                    execute(inner, value, out)?;
                }
            }
        }
    }
    Ok(())
}
