//! What is wrong with something that a kustomization says or names. Where that stands in a file is looked up when it is
//! told, and not before: nearly all builds have no mistakes.

use thin_vec::ThinVec;
use yaml::Step;
use yaml::node::Text;

use crate::accumulate::Spot;
use crate::resmap::Wrong;
use crate::resource::Resource;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The number of the entry of a list; `None` for the one that is being looked at.
    pub(crate) entry: Option<usize>,
    pub(crate) at: At,
    pub(crate) message: String,
    /// Where the objects come from that it is about, if it is about several.
    pub(crate) objects: ThinVec<Spot>,
    pub(crate) needs: Needs,
}

/// What would have to be there for a problem not to be one. If that was lost through another mistake, the problem may only
/// follow from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Needs {
    #[default]
    Nothing,
    /// An object that was looked for.
    Object(Missing),
    /// The names that objects should have got: those of the objects it is about are not certain.
    Names,
}

/// An object that was looked for and is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// The kinds that it may have; any, if there are none.
    pub(crate) kinds: ThinVec<String>,
    /// What it is called; anything, if that is empty.
    pub(crate) name: String,
}

impl Missing {
    /// Whether it may have this kind.
    pub(crate) fn may_be(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|wanted| wanted == kind)
    }

    /// Whether it may be a resource that should perhaps be called otherwise.
    pub(crate) fn may_be_renamed(&self, resource: &Resource) -> bool {
        if !self.may_be(resource.kind()) {
            return false;
        }
        let mut names = resource
            .previous_names()
            .map(Text::as_str)
            .chain([resource.name()]);
        resource.may_have_other_name()
            || resource.may_have_other_namespace()
                && (self.name.is_empty() || names.any(|name| name == self.name))
    }
}

impl Needs {
    /// An object of a kind and a name; what is empty may be any.
    pub(crate) fn object(kind: &str, name: &str) -> Needs {
        let kinds = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
        Needs::Object(Missing {
            kinds: kinds.into_iter().collect(),
            name: name.to_owned(),
        })
    }

    /// What there being several of what may be there once needs: that is certain if at least two of them have their names
    /// for certain.
    pub(crate) fn of_several<'r>(found: impl IntoIterator<Item = &'r Resource>) -> Needs {
        let certain = found.into_iter().filter(|resource| !resource.may_be_another());
        match certain.take(2).count() {
            2 => Needs::Nothing,
            _ => Needs::Names,
        }
    }
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// A field of the entry, or the entry itself.
    Field(Vec<Step>),
    /// In the text of the entry, or that of the file which it names.
    Text(InText),
    /// In another file, whose path is relative to the kustomization; with the line, if it is known.
    File(String, Option<usize>),
}

/// Where in a text something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InText {
    /// A line, from 1.
    Line(usize),
    /// One of its objects, from 0.
    Object(usize),
    /// A field.
    Field(Vec<Step>),
}

impl At {
    /// An element of a list of the entry.
    pub(crate) fn item(field: &str, index: usize) -> At {
        At::Field(vec![key(field), Step::Item(index)])
    }
}

impl Problem {
    pub(crate) fn new(at: At, message: impl Into<String>) -> Problem {
        Problem {
            entry: None,
            at,
            message: message.into(),
            objects: ThinVec::new(),
            needs: Needs::Nothing,
        }
    }

    /// About a field of the entry.
    pub(crate) fn of(field: &str, message: impl Into<String>) -> Problem {
        Problem::new(At::Field(vec![key(field)]), message)
    }

    /// About a place in the text of the entry.
    pub(crate) fn in_text(at: InText, message: impl Into<String>) -> Problem {
        Problem::new(At::Text(at), message)
    }

    /// About the fields of the target of the entry.
    pub(crate) fn of_target(wrong: Vec<Wrong>) -> Vec<Problem> {
        let told = wrong.into_iter();
        told.map(|(field, problem)| Problem::new(At::Field(vec![key("target"), key(field)]), problem))
            .collect()
    }

    /// The same, where something else would have to be there.
    pub(crate) fn needing(mut self, needs: Needs) -> Problem {
        self.needs = needs;
        self
    }

    /// The same about an entry.
    pub(crate) fn of_entry(mut self, number: usize) -> Problem {
        self.entry = Some(number);
        self
    }

    /// The same with words before the message.
    pub(crate) fn after(mut self, words: &str) -> Problem {
        self.message.insert_str(0, words);
        self
    }
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Problem::new(At::Field(Vec::new()), message)
    }
}

pub(crate) fn key(name: &str) -> Step {
    Step::Key(name.to_owned())
}
