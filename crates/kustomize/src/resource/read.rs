//! Reading resources from text as kyaml does.

use std::collections::VecDeque;

use model::Str;
use thin_vec::ThinVec;
use yaml::node::{self, Kind, Map, Node, Scalar, Texts};
use yaml::{Lines, Step};

use super::{Resource, brackets};
use crate::hint;
use crate::problem::{InText, Problem, key};

/// A resource and where it stands.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) resource: Resource,
    pub(crate) place: InDocument,
}

/// Where a resource stands in a text.
#[derive(Clone, Debug)]
pub(crate) struct InDocument {
    /// The line that its document begins on.
    pub(crate) line: usize,
    /// The number of the item, if the document is a list; of the item of that, if this is a list again, and so on.
    pub(crate) items: ThinVec<usize>,
}

impl InDocument {
    /// An item of the list that stands here.
    fn item(&self, number: usize) -> InDocument {
        let mut item = self.clone();
        item.items.push(number);
        item
    }

    /// The way from the document to it.
    fn path(&self) -> Vec<Step> {
        let steps = self.items.iter();
        steps
            .flat_map(|number| [key("items"), Step::Item(*number)])
            .collect()
    }
}

/// The lines of the resources of a text, or of what is wrong with them. The reader of resources does not keep those of
/// items, which only matter where something is wrong.
struct ItemLines<'t> {
    texts: Vec<&'t str>,
    /// The document that was looked at last, by the line that it begins on.
    last: Option<(usize, Option<Lines>)>,
}

impl<'t> ItemLines<'t> {
    fn new(text: &'t str) -> ItemLines<'t> {
        ItemLines {
            texts: text.lines().collect(),
            last: None,
        }
    }

    fn line(&mut self, place: &InDocument) -> usize {
        if place.items.is_empty() {
            return place.line;
        }
        if self.last.as_ref().is_none_or(|(line, _)| *line != place.line) {
            let from_there = self.texts.iter().skip(place.line - 1);
            let document = from_there.take_while(|line| !line.starts_with("---"));
            let document: Vec<&str> = document.copied().collect();
            self.last = Some((place.line, Lines::read(&document.join("\n"))));
        }
        let lines = self.last.as_ref().and_then(|(_, lines)| lines.as_ref());
        lines.map_or(place.line, |lines| place.line + lines.line(&place.path()) - 1)
    }
}

/// The lines of the resources of a text, in their order.
pub(crate) fn lines(text: &str) -> Vec<usize> {
    let mut lines = ItemLines::new(text);
    let parsed = from_text(text, &mut Texts::default()).unwrap_or_else(|malformed| malformed.good);
    parsed.iter().map(|parsed| lines.line(&parsed.place)).collect()
}

/// Why a text holds no resources.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) message: String,
    pub(crate) line: usize,
    /// What is wrong with other documents of the text.
    pub(crate) more: Vec<Malformed>,
    /// The resources of the text that nothing is wrong with.
    pub(crate) good: Vec<Parsed>,
}

impl Malformed {
    pub(crate) fn new(line: usize, message: String) -> Malformed {
        Malformed {
            message,
            line,
            more: Vec::new(),
            good: Vec::new(),
        }
    }

    /// All that is wrong, for where the text cannot be looked at.
    pub(crate) fn into_message(self) -> String {
        let more = self.more.into_iter().map(Malformed::into_message);
        let all: Vec<String> = std::iter::once(self.message).chain(more).collect();
        all.join("; ")
    }

    /// The same about a text of which so many lines were left out at the start.
    pub(crate) fn into_problems(self, left_out: usize) -> Vec<Problem> {
        let Malformed {
            message, line, more, ..
        } = self;
        let first = Problem::in_text(InText::Line(line + left_out), message);
        let more = more
            .into_iter()
            .flat_map(|malformed| malformed.into_problems(left_out));
        std::iter::once(first).chain(more).collect()
    }
}

/// What is wrong with a resource of a text.
struct Wrong {
    place: InDocument,
    message: String,
}

/// All that is wrong with a text, in the order of its lines.
fn all_wrong(text: &str, mut wrong: Vec<Wrong>) -> Option<Malformed> {
    if wrong.is_empty() {
        return None;
    }
    // Those of one document stand together then, and it is read once.
    wrong.sort_by_key(|wrong| wrong.place.line);
    let mut lines = ItemLines::new(text);
    let told = wrong.into_iter().map(|Wrong { place, message }| {
        let which = place.items.iter().map(|number| format!("items[{number}]"));
        let which: Vec<String> = which.collect();
        let message = match which.is_empty() {
            true => message,
            false => format!("{}: {message}", which.join(".")),
        };
        Malformed::new(lines.line(&place), message)
    });
    let mut told: Vec<Malformed> = told.collect();
    told.sort_by_key(|malformed| malformed.line);
    let mut told = told.into_iter();
    let first = told.next()?;
    Some(Malformed {
        more: told.collect(),
        ..first
    })
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
    let mut wrong = Vec::new();
    for document in documents {
        let read = match node::read_with(document.text, texts) {
            Ok(Some(read)) if !read.node.is_null() => read,
            Ok(_) => continue,
            Err(error) => {
                let message = error.without_values();
                let hint = match hint::about_message(&message) {
                    "" => hint::about_line(document.text, error.line()),
                    hint => hint,
                };
                wrong.push(Wrong {
                    place: InDocument {
                        line: document.line + error.line() - 1,
                        items: ThinVec::new(),
                    },
                    message: format!("MalformedYAMLError: {message}{hint}"),
                });
                continue;
            }
        };
        let first = result.len();
        let place = InDocument {
            line: document.line + read.line - 1,
            items: ThinVec::new(),
        };
        take_apart(read.node, place, single, &mut result, &mut wrong);
        for parsed in &mut result[first..] {
            parsed.resource.in_brackets = read.flow;
        }
    }
    let result = expand_lists(result, &mut wrong);
    match all_wrong(text, wrong) {
        Some(malformed) => Err(Malformed {
            good: result,
            ..malformed
        }),
        None => Ok(result),
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
                "invalid document separator: nothing but a comment may follow '---'".to_owned(),
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
fn take_apart(node: Node, place: InDocument, single: bool, result: &mut Vec<Parsed>, wrong: &mut Vec<Wrong>) {
    let kind = node.get("kind").map_or("", Node::text);
    if !single
        || !matches!(kind, "List" | "ResourceList")
        || (node.get("items").is_none() && node.get("functionConfig").is_none())
    {
        return checked(node, place, result, wrong);
    }
    if let Node::Map(mut map) = node
        && let Some(Node::List(items)) = map.remove("items")
    {
        for (number, item) in items.into_iter().enumerate() {
            checked(item, place.item(number), result, wrong);
        }
    }
}

/// Replaces lists by their elements; the elements go to the end.
fn expand_lists(parsed: Vec<Parsed>, wrong: &mut Vec<Wrong>) -> Vec<Parsed> {
    let is_list = |parsed: &Parsed| {
        parsed.resource.kind().ends_with("List") && parsed.resource.node.get("items").is_some()
    };
    if !parsed.iter().any(is_list) {
        return parsed;
    }
    let mut result = Vec::with_capacity(parsed.len());
    let mut queue = VecDeque::from(parsed);
    while let Some(next) = queue.pop_front() {
        if !is_list(&next) {
            result.push(next);
            continue;
        }
        let place = next.place;
        let kind = Str::new(next.resource.kind());
        let items = next.resource.into_map().and_then(|mut map| map.remove("items"));
        let mut elements = Vec::new();
        match items {
            Some(Node::List(items)) => {
                for (number, item) in items.into_iter().enumerate() {
                    let place = place.item(number);
                    match brackets::as_json(item) {
                        Ok(item) => checked(item, place, &mut elements, wrong),
                        Err(problem) => wrong.push(Wrong {
                            place,
                            message: format!("trouble expanding list of {kind}; {problem}"),
                        }),
                    }
                }
                elements
                    .iter_mut()
                    .for_each(|parsed| parsed.resource.in_brackets = true);
            }
            Some(items) if items.is_null() => {}
            other => {
                let found = go_type(other.as_ref());
                wrong.push(Wrong {
                    place,
                    message: format!("expected array in {kind}/items, but found {found}"),
                });
            }
        }
        queue.extend(elements);
    }
    result
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
fn checked(node: Node, place: InDocument, result: &mut Vec<Parsed>, wrong: &mut Vec<Wrong>) {
    if node.is_empty() {
        return;
    }
    let mut resource = Resource::new(node);
    let checked = match resource.lacks() {
        Some(message) => Err(message),
        None => resource.remember_annotations(),
    };
    match checked {
        Ok(()) => result.push(Parsed { resource, place }),
        Err(message) => wrong.push(Wrong { place, message }),
    }
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
        // Annotations and labels are not told: kubectl keeps all of the object in one, and it may be a Secret whose kind is missing.
        let hint = match self
            .node
            .get("metadata")
            .and_then(|metadata| metadata.get("generateName"))
        {
            Some(_) if missing == "metadata.name" => ": give it a name instead of generateName",
            _ => "",
        };
        Some(format!(
            "missing {missing} in object {{{{{} {kind}}} {{{{{} {}}} map[] map[]}}}}{hint}",
            self.api_version(),
            self.name(),
            self.namespace(),
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
