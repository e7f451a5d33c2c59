//! Selecting resources by expressions for their identity and by labels and annotations.

use model::regexp::Regexp;
use model::selector::LabelSelector;

use super::{AnyId, ResMap};
use crate::id::{Gvk, ResId};
use crate::resource::Resource;
use crate::schema::Schema;

/// As it is written in a kustomization.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Selector {
    /// Expressions that must fit as a whole; empty ones fit all.
    pub(crate) id: ResId,
    pub(crate) annotation_selector: String,
    pub(crate) label_selector: String,
}

/// A field of a selector, and what is wrong with it.
pub(crate) type Wrong = (&'static str, String);

/// All that is wrong with a selector, where it is told in one line.
pub(crate) fn joined(wrong: &[Wrong]) -> String {
    let told: Vec<String> = wrong
        .iter()
        .map(|(field, problem)| format!("{field}: {problem}"))
        .collect();
    told.join("; ")
}

/// As it is meant.
pub(crate) struct Matcher {
    group: Part,
    version: Part,
    kind: Part,
    name: Part,
    namespace: Part,
    labels: LabelSelector,
    annotations: LabelSelector,
}

/// What a part of an identity has to be.
enum Part {
    Any,
    /// Just this. Most expressions are nothing else, and so need not be compiled.
    Text(String),
    Expression(Regexp),
}

impl Part {
    fn new(pattern: &str, names: Names) -> Result<Part, String> {
        if pattern.is_empty() {
            return Ok(Part::Any);
        }
        if names == Names::Literal || is_literal(pattern) {
            return Ok(Part::Text(pattern.to_owned()));
        }
        let regexp = Regexp::new(&format!("^(?:{pattern})$"));
        regexp.map(Part::Expression).map_err(|error| error.to_string())
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            Part::Any => true,
            Part::Text(wanted) => wanted == text,
            Part::Expression(regexp) => regexp.is_match(text),
        }
    }
}

/// Reads a selector of labels; an empty one selects everything.
fn text_selector(text: &str) -> Result<LabelSelector, String> {
    text.parse::<LabelSelector>().map_err(|error| error.to_string())
}

/// What the parts of an identity are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Literal,
    Expressions,
}

impl Matcher {
    /// Reads a selector, or tells all of its fields that are wrong.
    pub(crate) fn new(selector: &Selector) -> Result<Matcher, Vec<Wrong>> {
        Matcher::with_names(selector, Names::Expressions)
    }

    pub(crate) fn with_names(selector: &Selector, names: Names) -> Result<Matcher, Vec<Wrong>> {
        let id = &selector.id;
        let mut wrong = Vec::new();
        let mut expression = |field: &'static str, pattern: &str| {
            Part::new(pattern, names).unwrap_or_else(|problem| {
                wrong.push((field, problem));
                Part::Any
            })
        };
        let [group, version, kind, name, namespace] = [
            expression("group", &id.gvk.group),
            expression("version", &id.gvk.version),
            expression("kind", &id.gvk.kind),
            expression("name", &id.name),
            expression("namespace", &id.namespace),
        ];
        let mut selected = |field: &'static str, text: &str| {
            let read = text_selector(text);
            read.map_err(|problem| wrong.push((field, problem))).ok()
        };
        let (Some(labels), Some(annotations), true) = (
            selected("labelSelector", &selector.label_selector),
            selected("annotationSelector", &selector.annotation_selector),
            wrong.is_empty(),
        ) else {
            return Err(wrong);
        };
        Ok(Matcher {
            group,
            version,
            kind,
            name,
            namespace,
            labels,
            annotations,
        })
    }

    pub(crate) fn fits_gvk(&self, gvk: &Gvk) -> bool {
        self.group.fits(&gvk.group) && self.version.fits(&gvk.version) && self.kind.fits(&gvk.kind)
    }

    pub(crate) fn fits_name(&self, name: &str) -> bool {
        self.name.fits(name)
    }

    pub(crate) fn fits_namespace(&self, namespace: &str) -> bool {
        self.namespace.fits(namespace)
    }

    /// Whether labels and annotations are as wanted.
    pub(crate) fn fits_metadata(&self, resource: &Resource) -> bool {
        self.labels.matches(|key| resource.label(key))
            && self.annotations.matches(|key| resource.annotation(key))
    }

    /// The name, where nothing else fits.
    pub(crate) fn only_name(&self) -> Option<&str> {
        match &self.name {
            Part::Text(name) => Some(name),
            Part::Any | Part::Expression(_) => None,
        }
    }

    fn fits(&self, resource: &Resource, schema: &Schema) -> bool {
        if resource.is_empty() || !self.kind.fits(resource.kind()) {
            return false;
        }
        let current = resource.id(schema);
        let original = resource.original_id(schema);
        (self.fits_namespace(original.effective_namespace())
            || self.fits_namespace(current.effective_namespace()))
            && (self.fits_name(&original.name) || self.fits_name(&current.name))
            && self.fits_gvk(&current.gvk)
            && self.fits_metadata(resource)
    }
}

impl ResMap {
    /// The positions of the resources that the selector means.
    pub(crate) fn select(&self, matcher: &Matcher, index: Option<&mut AnyId>, schema: &Schema) -> Vec<usize> {
        let resources = self.as_slice();
        let fits = |at: &usize| matcher.fits(&resources[*at], schema);
        match (matcher.only_name(), index) {
            (Some(name), Some(index)) => index.named(name, resources).into_iter().filter(fits).collect(),
            _ => (0..resources.len()).filter(fits).collect(),
        }
    }
}

fn is_literal(pattern: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !pattern.is_empty() && pattern.bytes().all(plain)
}
