//! Where a kustomization is, and how mistakes in it are told: with the file, the line and the kustomizations that led there.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use model::Value;
use yaml::node::Texts;
use yaml::{Lines, Step};

use super::Loader;
use super::lost::Lost;
use crate::config::{Kustomization, Mistake};
use crate::error::{Error, Errors, Within};
use crate::problem::{At, InText, Problem, key};
use crate::resource::{self, from_text};

/// The place of a kustomization file.
pub(crate) struct Here<'t> {
    pub(crate) loader: Rc<Loader<'t>>,
    /// The name of the file.
    pub(crate) file: &'static str,
    /// The kustomization that led here.
    pub(crate) parent: Option<Rc<Here<'t>>>,
    /// The number of the kustomization in its build.
    pub(super) number: usize,
    /// Fields that could not be read; what follows from them is not told.
    mistakes: Vec<Mistake>,
    /// The file, read once more to tell of mistakes.
    written: OnceCell<Written>,
}

/// A field of a kustomization file, and the number of an entry.
pub(crate) type Place<'p> = (&'p str, Option<usize>);

/// What a kustomization file says, and where.
struct Written {
    value: Value,
    lines: Option<Lines>,
}

/// Fields of old whose entries come after those of the fields of today.
const MOVED: [(&str, &str); 3] = [
    ("resources", "bases"),
    ("images", "imageTags"),
    ("helmCharts", "helmChartInflationGenerator"),
];

impl<'t> Here<'t> {
    pub(super) fn new(
        loader: Rc<Loader<'t>>,
        file: &'static str,
        parent: Option<Rc<Here<'t>>>,
        number: usize,
        mistakes: Vec<Mistake>,
    ) -> Here<'t> {
        Here {
            loader,
            file,
            parent,
            number,
            mistakes,
            written: OnceCell::new(),
        }
    }

    /// The files of the kustomizations that led here, and its own.
    pub(crate) fn chain(&self) -> Vec<String> {
        let mut chain = vec![self.loader.show(self.file)];
        let mut above = self.parent.as_ref();
        while let Some(here) = above {
            chain.push(here.loader.show(here.file));
            above = here.parent.as_ref();
        }
        chain.reverse();
        chain
    }

    /// An error about a place in the kustomization file.
    pub(super) fn error(&self, place: Place<'_>, message: String) -> Errors {
        self.tell(place, vec![message.into()])
    }

    /// The fields that could not be read.
    pub(super) fn mistakes(&self) -> Errors {
        let told = self.mistakes.iter().map(|mistake| {
            let message = format!("invalid Kustomization: {}", mistake.message);
            self.own(mistake.steps.clone(), None, message)
        });
        let mut told: Vec<Error> = told.collect();
        told.sort_by_key(|error| error.line);
        Errors(told)
    }

    /// What is missing since fields could not be read.
    pub(super) fn lost(&self) -> Lost {
        let mut lost = Lost::default();
        for mistake in &self.mistakes {
            if let Some(Step::Key(field)) = mistake.steps.first() {
                lost.add(Lost::through(meant(field)));
            }
        }
        lost
    }

    /// Whether a field could not be read, or something in it; or something in one of its entries.
    pub(super) fn is_unread(&self, (field, entry): Place<'_>) -> bool {
        if self.mistakes.is_empty() {
            return false;
        }
        let path = self.path(field, entry);
        self.mistakes
            .iter()
            .any(|mistake| match mistake.steps.split_first() {
                Some((Step::Key(first), more)) => {
                    let mistake = [&[key(meant(first))], more].concat();
                    overlap(&mistake, &path)
                }
                _ => true,
            })
    }

    /// Tells what is wrong with an entry, or with what it names.
    pub(super) fn tell(&self, (field, entry): Place<'_>, problems: Vec<Problem>) -> Errors {
        let mut open = BTreeMap::new();
        let told = problems.into_iter().filter_map(|problem| {
            let path = self.path(field, entry.or(problem.entry));
            if self.mistakes.iter().any(|mistake| overlap(&mistake.steps, &path)) {
                return None;
            }
            Some(match problem.at {
                At::Field(more) => self.own([path, more].concat(), None, problem.message),
                At::File(name, line) => self.other(&name, line, problem.message),
                At::Text(at) => self.in_text(path, &at, problem.message, &mut open),
            })
        });
        Errors(told.collect())
    }

    /// The file and the line of the resource that begins at a line of what an entry says or names.
    pub(super) fn resource(&self, (field, entry): Place<'_>, line: Option<usize>, message: String) -> Error {
        let path = self.path(field, entry);
        match line {
            Some(line) => self.in_text(path, &InText::Line(line), message, &mut BTreeMap::new()),
            None => self.own(path, None, message),
        }
    }

    /// The text of the file that an entry names.
    pub(super) fn text(&self, (field, entry): Place<'_>) -> Option<String> {
        let name = find(&self.written().value, &self.path(field, entry))?.as_str()?;
        self.loader.load_text(name).ok()
    }

    /// The lines of all resources of what an entry says or names.
    pub(super) fn lines(&self, place @ (field, entry): Place<'_>) -> Vec<usize> {
        let path = self.path(field, entry);
        match find(&self.written().value, &path) {
            Some(Value::Str(text)) if is_inline(&path, text) => resource::lines(text),
            _ => self
                .text(place)
                .map_or_else(Vec::new, |text| resource::lines(&text)),
        }
    }

    /// The way to an entry in the file as it is written.
    fn path(&self, field: &str, entry: Option<usize>) -> Vec<Step> {
        if field.is_empty() {
            return Vec::new();
        }
        let Some(entry) = entry else {
            return vec![key(field)];
        };
        let moved = MOVED.iter().find(|(today, _)| *today == field);
        if let Some((_, old)) = moved {
            let count = match find(&self.written().value, &[key(field)]) {
                Some(Value::Array(items)) => items.len(),
                _ => 0,
            };
            if entry >= count {
                return vec![key(old), Step::Item(entry - count)];
            }
        }
        vec![key(field), Step::Item(entry)]
    }

    fn written(&self) -> &Written {
        self.written.get_or_init(|| {
            let text = self.loader.load_text(self.file).unwrap_or_default();
            Written {
                value: yaml::parse(text.as_bytes()).unwrap_or_default(),
                lines: Lines::read(&text),
            }
        })
    }

    /// Something in the kustomization file itself; `line` is that of the text which stands there.
    fn own(&self, path: Vec<Step>, line: Option<usize>, message: String) -> Error {
        let lines = self.written().lines.as_ref().filter(|_| !path.is_empty());
        let at = lines.map(|lines| match line {
            Some(line) => lines.line_in_text(&path, line),
            None => lines.line(&path),
        });
        Error {
            line: at,
            within: Some(Within { path, line }),
            ..self.other(self.file, None, message)
        }
    }

    /// Something in another file.
    fn other(&self, name: &str, line: Option<usize>, message: String) -> Error {
        Error {
            line,
            ..Error::of_file(self.loader.show(name), self.chain(), message)
        }
    }

    /// Something in the text of an entry, or in that of the file which it names.
    fn in_text(
        &self,
        mut path: Vec<Step>,
        at: &InText,
        message: String,
        open: &mut BTreeMap<String, Opened>,
    ) -> Error {
        let entry = find(&self.written().value, &path);
        let file = match entry {
            Some(Value::Str(text)) if is_inline(&path, text) => None,
            Some(Value::Str(name)) => Some(name.as_str()),
            Some(entry) => Some(entry.str_at(&["path"])).filter(|name| !name.is_empty()),
            None => None,
        };
        let Some(name) = file else {
            let text = match entry {
                Some(Value::Str(text)) => text.as_str(),
                Some(entry) => {
                    let names = ["patch", "jsonOp"].into_iter();
                    path.extend(names.filter(|name| entry.get(name).is_some()).take(1).map(key));
                    entry.str_at(&["patch"])
                }
                None => "",
            };
            let opened = open.entry(format!("{path:?}")).or_default();
            let line = opened.line(at, || text.to_owned());
            return self.own(path, line, message);
        };
        let opened = open.entry(name.to_owned()).or_default();
        let line = opened.line(at, || self.loader.load_text(name).unwrap_or_default());
        self.other(name, line, message)
    }
}

/// A text that mistakes are told of: there may be very many, and it is read once.
#[derive(Default)]
struct Opened {
    text: OnceCell<String>,
    /// The lines of its objects.
    objects: OnceCell<Vec<usize>>,
    lines: OnceCell<Option<Lines>>,
}

impl Opened {
    fn line(&self, at: &InText, text: impl FnOnce() -> String) -> Option<usize> {
        match at {
            InText::Line(line) => Some(*line),
            InText::Object(number) => {
                let objects = self
                    .objects
                    .get_or_init(|| resource::lines(self.text.get_or_init(text)));
                objects.get(*number).copied()
            }
            InText::Field(path) => {
                let lines = self
                    .lines
                    .get_or_init(|| Lines::read(self.text.get_or_init(text)));
                Some(lines.as_ref()?.line(path))
            }
        }
    }
}

/// Whether an entry that is a text says something itself, and does not name a file.
fn is_inline(path: &[Step], text: &str) -> bool {
    const EITHER: [&str; 4] = [
        "patchesStrategicMerge",
        "generators",
        "transformers",
        "validators",
    ];
    let is_either = matches!(path.first(), Some(Step::Key(field)) if EITHER.contains(&field.as_str()));
    is_either && (text.contains('\n') || from_text(text, &mut Texts::default()).is_ok())
}

/// What a path leads to; keys may be written in any case, as Go reads them.
fn find<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match (step, value) {
        (Step::Key(wanted), Value::Object(map)) => map.get(wanted).or_else(|| {
            let mut alike = map.iter().filter(|(key, _)| key.eq_ignore_ascii_case(wanted));
            alike.next().map(|(_, value)| value)
        }),
        (Step::Item(index), Value::Array(items)) => items.get(*index),
        _ => None,
    })
}

/// The field that is meant by what may be misspelt.
fn meant(field: &str) -> &str {
    Kustomization::meant(field).unwrap_or(field)
}

/// Whether one path leads through the end of the other.
fn overlap(mistake: &[Step], path: &[Step]) -> bool {
    let same = |(a, b): (&Step, &Step)| match (a, b) {
        (Step::Key(a), Step::Key(b)) => a.eq_ignore_ascii_case(b),
        (a, b) => a == b,
    };
    !path.is_empty() && !mistake.is_empty() && mistake.iter().zip(path).all(same)
}
