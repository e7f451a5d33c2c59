//! Where the resources of a build were read or generated. A resource holds two numbers; what they stand for is found out
//! when something is wrong with it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use yaml::{Lines, Step};

use super::here::{Here, Place};
use crate::error::Error;
use crate::resource::InDocument;

/// Where a resource comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    entry: u32,
    /// The line of the text that the entry says or names; 0 for none. For an item of a list, which of all resources of the
    /// text it is, after [`ITEM`]: its line is looked for when it is told.
    line: u32,
}

/// More than any text has lines.
const ITEM: u32 = 1 << 31;

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
    /// The same entry, at the place in its text of a resource that has this number there.
    pub(crate) fn at(self, place: &InDocument, number: usize) -> Spot {
        let line = match place.items.is_empty() {
            true => u32::try_from(place.line).ok().filter(|line| *line < ITEM),
            false => u32::try_from(number)
                .ok()
                .and_then(|number| ITEM.checked_add(number)),
        };
        Spot {
            line: line.unwrap_or(0),
            ..self
        }
    }

    /// The line, if it is known at once.
    fn line(self) -> Option<usize> {
        let line = Some(self.line).filter(|line| (1..ITEM).contains(line));
        line.and_then(|line| usize::try_from(line).ok())
    }

    /// Which of the resources of its text it is.
    fn item(self) -> Option<usize> {
        let number = self.line.checked_sub(ITEM);
        number.and_then(|number| usize::try_from(number).ok())
    }
}

/// All places that resources come from.
#[derive(Default)]
pub(crate) struct Spots<'t> {
    kustomizations: Vec<Rc<Here<'t>>>,
    entries: Vec<Entry>,
    /// The file that was looked at last: many mistakes in one are told one after the other.
    opened: RefCell<Option<Opened>>,
    /// The lines of the resources of texts with lists, by their entries.
    lines: RefCell<HashMap<u32, Vec<usize>>>,
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
        let line = spot.line().or_else(|| {
            let number = spot.item()?;
            let mut lines = self.lines.borrow_mut();
            let lines = lines.entry(spot.entry).or_insert_with(|| here.lines(place));
            lines.get(number).copied()
        });
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
        let line = spot.line()?;
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
