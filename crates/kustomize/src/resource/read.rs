//! Reading resources from text as kyaml does.

use std::collections::VecDeque;

use model::Str;
use yaml::node::{self, Kind, Map, Node, Scalar, Texts};

use super::{Resource, brackets};
use crate::hint;
use crate::problem::{InText, Problem};

/// A resource and the line it begins on.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) resource: Resource,
    pub(crate) line: usize,
}

/// Why a text holds no resources.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) message: String,
    pub(crate) line: usize,
    /// What is wrong with other documents of the text.
    pub(crate) more: Vec<Malformed>,
}

impl Malformed {
    pub(crate) fn new(line: usize, message: String) -> Malformed {
        Malformed {
            message,
            line,
            more: Vec::new(),
        }
    }

    /// The same about a text of which so many lines were left out at the start.
    pub(crate) fn into_problems(self, left_out: usize) -> Vec<Problem> {
        let Malformed { message, line, more } = self;
        let first = Problem::in_text(InText::Line(line + left_out), message);
        let more = more
            .into_iter()
            .flat_map(|malformed| malformed.into_problems(left_out));
        std::iter::once(first).chain(more).collect()
    }
}

/// The resources of a text: its documents, with lists taken apart. They share their texts with others.
pub(crate) fn from_text(text: &str, texts: &mut Texts) -> Result<Vec<Parsed>, Malformed> {
    let unix;
    let text = if text.contains("\r\n") {
        unix = text.replace("\r\n", "\n");
        &unix
    } else {
        text
    };
    let documents = split(text)?;
    let single = documents.len() == 1;
    let mut result = Vec::with_capacity(documents.len());
    let mut first: Option<Malformed> = None;
    for document in documents {
        let read = node::read_with(document.text, texts).map_err(|error| {
            let line = document.line + error.line() - 1;
            let hint = hint::about_line(document.text, error.line());
            Malformed::new(
                line,
                format!("MalformedYAMLError: {}{hint}", error.without_line()),
            )
        });
        let taken = read.and_then(|read| match read.filter(|read| !read.node.is_null()) {
            Some(read) => {
                let first = result.len();
                take_apart(read.node, document.line + read.line - 1, single, &mut result)?;
                for parsed in &mut result[first..] {
                    parsed.resource.in_brackets = read.flow;
                }
                Ok(())
            }
            None => Ok(()),
        });
        if let Err(malformed) = taken {
            match &mut first {
                Some(first) => first.more.push(malformed),
                None => first = Some(malformed),
            }
        }
    }
    match first {
        Some(first) => Err(first),
        None => expand_lists(result),
    }
}

struct Document<'t> {
    text: &'t str,
    line: usize,
}

/// Splits at lines that begin with `---`. What stands before the first line break is never a separator.
fn split(text: &str) -> Result<Vec<Document<'_>>, Malformed> {
    let mut documents = Vec::new();
    if text.is_empty() {
        return Ok(documents);
    }
    let (mut start, mut line, mut searched) = (0, 1, 0);
    while let Some(found) = text[searched..].find("\n---") {
        let at = searched + found;
        let Some(end) = text[at + 4..].find('\n').map(|end| at + 4 + end) else {
            break;
        };
        let after = text[at + 4..end].trim();
        let lines = text[start..at].matches('\n').count() + 1;
        if !after.is_empty() && !after.starts_with('#') {
            return Err(Malformed::new(
                line + lines,
                format!("invalid document separator: {}", text[at..end].trim()),
            ));
        }
        // The line break before the separator belongs to the document: it may be part of a block of text.
        documents.push(Document {
            text: &text[start..=at],
            line,
        });
        line += lines + 1;
        start = end + 1;
        searched = start;
        if searched > text.len() {
            break;
        }
    }
    documents.push(Document {
        text: &text[start..],
        line,
    });
    Ok(documents)
}

/// Checks a document; of a list that is all there is in a text, its elements.
fn take_apart(node: Node, line: usize, single: bool, result: &mut Vec<Parsed>) -> Result<(), Malformed> {
    let kind = node.get("kind").map_or("", Node::text);
    if !single
        || !matches!(kind, "List" | "ResourceList")
        || (node.get("items").is_none() && node.get("functionConfig").is_none())
    {
        return checked(node, line, result);
    }
    if let Node::Map(mut map) = node
        && let Some(Node::List(items)) = map.remove("items")
    {
        for item in items {
            checked(item, line, result)?;
        }
    }
    Ok(())
}

/// Replaces lists by their elements; the elements go to the end.
fn expand_lists(parsed: Vec<Parsed>) -> Result<Vec<Parsed>, Malformed> {
    let is_list = |parsed: &Parsed| {
        parsed.resource.kind().ends_with("List") && parsed.resource.node.get("items").is_some()
    };
    if !parsed.iter().any(is_list) {
        return Ok(parsed);
    }
    let mut result = Vec::with_capacity(parsed.len());
    let mut queue = VecDeque::from(parsed);
    while let Some(next) = queue.pop_front() {
        if !is_list(&next) {
            result.push(next);
            continue;
        }
        let line = next.line;
        let kind = Str::new(next.resource.kind());
        let items = next.resource.into_map().and_then(|mut map| map.remove("items"));
        let mut elements = Vec::new();
        match items {
            Some(Node::List(items)) => {
                for item in items {
                    let item = brackets::as_json(item).map_err(|problem| {
                        Malformed::new(line, format!("trouble expanding list of {kind}; {problem}"))
                    })?;
                    checked(item, line, &mut elements)?;
                }
                elements
                    .iter_mut()
                    .for_each(|parsed| parsed.resource.in_brackets = true);
            }
            Some(items) if items.is_null() => {}
            other => {
                let found = go_type(other.as_ref());
                return Err(Malformed::new(
                    line,
                    format!("expected array in {kind}/items, but found {found}"),
                ));
            }
        }
        queue.extend(elements);
    }
    Ok(result)
}

fn go_type(node: Option<&Node>) -> &'static str {
    match node {
        Some(Node::Map(_)) => "map[string]interface {}",
        Some(Node::Scalar(Scalar { kind, .. })) => match kind {
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Float => "float64",
            _ => "string",
        },
        _ => "<nil>",
    }
}

/// A resource needs a kind and a name; what is empty is dropped.
fn checked(node: Node, line: usize, result: &mut Vec<Parsed>) -> Result<(), Malformed> {
    if node.is_empty() {
        return Ok(());
    }
    let refuse = |message: String| Err(Malformed::new(line, message));
    let mut resource = Resource::new(node);
    if let Some(message) = resource.lacks() {
        return refuse(message);
    }
    if let Err(message) = resource.remember_annotations() {
        return refuse(message);
    }
    result.push(Parsed { resource, line });
    Ok(())
}

/// A map of strings as Go prints it.
fn shown(resource: &Resource, field: &str) -> String {
    let pairs: Vec<String> = resource
        .texts(field)
        .iter()
        .map(|(key, value)| format!("{key}:{value}"))
        .collect();
    format!("map[{}]", pairs.join(" "))
}

impl Resource {
    /// What it needs and does not have: a kind or a name.
    pub(crate) fn lacks(&self) -> Option<String> {
        let present = |field: &str| self.node.get(field).is_some_and(|node| !node.is_empty());
        if !present("kind") && !present("apiVersion") && !present("metadata") {
            return Some("missing Resource metadata".to_owned());
        }
        let kind = self.node.get("kind").map_or("", Node::text);
        let missing = match kind {
            "" => "kind",
            kind if !kind.ends_with("List") && self.name().is_empty() => "metadata.name",
            _ => return None,
        };
        Some(format!(
            "missing {missing} in object {{{{{} {kind}}} {{{{{} {}}} {} {}}}}}",
            self.api_version(),
            self.name(),
            self.namespace(),
            shown(self, "labels"),
            shown(self, "annotations")
        ))
    }

    /// The object as a map of which the caller may take parts.
    pub(crate) fn into_map(self) -> Option<Map> {
        match self.node {
            Node::Map(map) => Some(map),
            _ => None,
        }
    }
}
