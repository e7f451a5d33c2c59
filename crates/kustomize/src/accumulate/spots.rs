//! Where the resources of a build were read or generated. A resource holds two numbers; what they stand for is found out
//! when something is wrong with it.

use std::cell::RefCell;
use std::rc::Rc;

use yaml::{Lines, Step};

use super::here::{Here, Place};
use crate::error::Error;

/// Where a resource comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    entry: u32,
    /// The line of the text that the entry says or names; 0 for none.
    line: u32,
}

impl Default for Spot {
    /// Nowhere.
    fn default() -> Self {
        Spot {
            entry: u32::MAX,
            line: 0,
        }
    }
}

impl Spot {
    /// The same entry, at a line of its text.
    pub(crate) fn at_line(self, line: usize) -> Spot {
        Spot {
            line: u32::try_from(line).unwrap_or(0),
            ..self
        }
    }
}

/// All places that resources come from.
#[derive(Default)]
pub(crate) struct Spots<'t> {
    kustomizations: Vec<Rc<Here<'t>>>,
    entries: Vec<Entry>,
    /// The file that was looked at last: many mistakes in one are told one after the other.
    opened: RefCell<Option<Opened>>,
}

/// An entry of a field of a kustomization. There are as many as files, so that they are small.
struct Entry {
    /// The number of the entry; `u32::MAX` for the field as a whole.
    index: u32,
    kustomization: u16,
    /// The number of the field.
    field: u8,
}

/// The fields that resources come from.
const FIELDS: [&str; 7] = [
    "resources",
    "configMapGenerator",
    "secretGenerator",
    "helmCharts",
    "generators",
    "transformers",
    "validators",
];

impl<'t> Spots<'t> {
    /// Takes note of a kustomization.
    pub(super) fn enter(&mut self, here: Rc<Here<'t>>) {
        self.kustomizations.push(here);
    }

    /// The number of the kustomization that is entered next.
    pub(super) fn next(&self) -> usize {
        self.kustomizations.len()
    }

    /// The spot of an entry; nowhere, if there are more than anyone could look through.
    pub(super) fn add(&mut self, here: &Here<'t>, (field, index): Place<'_>) -> Spot {
        let entry = || {
            Some(Entry {
                index: index.map_or(Some(u32::MAX), |index| u32::try_from(index).ok())?,
                kustomization: u16::try_from(here.number).ok()?,
                field: u8::try_from(FIELDS.iter().position(|known| *known == field)?).ok()?,
            })
        };
        let (Some(entry), Ok(number)) = (entry(), u32::try_from(self.entries.len())) else {
            return Spot::default();
        };
        self.entries.push(entry);
        Spot {
            entry: number,
            line: 0,
        }
    }

    /// An error about the resource of a spot; `None` where that is nowhere.
    pub(crate) fn error(&self, spot: Spot, message: &str) -> Option<Error> {
        let (here, place) = self.place(spot)?;
        let line = usize::try_from(spot.line).ok().filter(|line| *line > 0);
        Some(here.resource(place, line, message.to_owned()))
    }

    /// The places of resources in a sentence. The kustomizations that led to them are told where they are not `chain`.
    pub(crate) fn shown(&self, spots: &[Spot], chain: &[String]) -> String {
        let mut places: Vec<String> = Vec::new();
        for spot in spots {
            let place = match self.error(*spot, "") {
                Some(found) => found.place(chain),
                None => "a place that is not known".to_owned(),
            };
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places.join(" and ")
    }

    /// The same about a field of the resource.
    pub(crate) fn field_error(&self, spot: Spot, path: &[Step], message: &str) -> Option<Error> {
        let mut error = self.error(spot, message)?;
        if !path.is_empty() {
            error.line = self.field(spot, path, "").or(error.line);
        }
        Some(error)
    }

    /// The line of a field in whose text `part` stands; `None` if the resource was generated, or its file has no such field.
    pub(crate) fn field(&self, spot: Spot, path: &[Step], part: &str) -> Option<usize> {
        let line = usize::try_from(spot.line).ok().filter(|line| *line > 0)?;
        let mut opened = self.opened.borrow_mut();
        if opened.as_ref().is_none_or(|opened| opened.entry != spot.entry) {
            let (here, place) = self.place(spot)?;
            *opened = Some(Opened::new(spot.entry, here.text(place)?));
        }
        opened.as_ref()?.field(line, path, part)
    }

    fn place(&self, spot: Spot) -> Option<(&Here<'t>, Place<'static>)> {
        let entry = self.entries.get(usize::try_from(spot.entry).ok()?)?;
        let here = self.kustomizations.get(usize::from(entry.kustomization))?;
        let index = Some(entry.index).filter(|index| *index != u32::MAX);
        let index = index.and_then(|index| usize::try_from(index).ok());
        Some((here, (*FIELDS.get(usize::from(entry.field))?, index)))
    }
}

/// A file that was read once more.
struct Opened {
    /// The entry that names it.
    entry: u32,
    text: String,
    /// Where its lines begin.
    starts: Vec<usize>,
}

impl Opened {
    fn new(entry: u32, text: String) -> Opened {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes());
        let starts = std::iter::once(0).chain(ends.map(|end| end + 1)).collect();
        Opened { entry, text, starts }
    }

    /// The line of a field of the object that begins at a line.
    fn field(&self, line: usize, path: &[Step], part: &str) -> Option<usize> {
        let lines = self.text[*self.starts.get(line - 1)?..].lines();
        let object: Vec<&str> = lines.take_while(|line| !line.starts_with("---")).collect();
        let places = Lines::read(&object.join("\n"))?;
        let first = places.contains(path).then(|| places.line(path))?;
        // A text may have many lines.
        let mut from_there = object.iter().enumerate().skip(first - 1);
        let (at, _) = from_there.find(|(_, text)| text.contains(part))?;
        Some(line + at)
    }
}
