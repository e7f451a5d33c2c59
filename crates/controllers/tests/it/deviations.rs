//! The comparison of what Flux's controllers and ours make of the same object, with the deviations that are on purpose.
//!
//! A deviation names its case and a part of the line that differs. A deviation that no line needs fails the comparison, so that the
//! list stays true.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A line that differs on purpose.
#[derive(Clone, Copy)]
pub(crate) struct Deviation {
    /// The case; `*` for all.
    case: &'static str,
    /// A part of the line.
    part: &'static str,
    /// A part of a line of the other side, where all of the case differs.
    other: Option<&'static str>,
    /// The reason, for readers.
    _reason: &'static str,
    /// Whether the line differs in every run. Where timing decides, it may not.
    is_certain: bool,
}

/// A deviation that every run shows.
pub(crate) const fn differs(case: &'static str, part: &'static str, reason: &'static str) -> Deviation {
    Deviation {
        case,
        part,
        other: None,
        _reason: reason,
        is_certain: true,
    }
}

/// A deviation that a run may not show, as it depends on timing.
pub(crate) const fn may_differ(case: &'static str, part: &'static str, reason: &'static str) -> Deviation {
    Deviation {
        is_certain: false,
        ..differs(case, part, reason)
    }
}

/// A case that succeeds on one side and fails on the other, so that all of it differs: a part of a line that only one side has, and one
/// that only the other has. The case is compared as any other unless both are there.
pub(crate) const fn outcome_differs(
    case: &'static str,
    parts: (&'static str, &'static str),
    reason: &'static str,
) -> Deviation {
    Deviation {
        other: Some(parts.1),
        ..differs(case, parts.0, reason)
    }
}

/// The deviations of one comparison, and which of them were needed.
pub(crate) struct Deviations {
    all: &'static [Deviation],
    /// Those that an accepted comparison needed.
    used: Mutex<BTreeSet<usize>>,
    /// Those that the current look needed. Looks before the last one see differences that pass by themselves.
    looked: Mutex<BTreeSet<usize>>,
}

impl Deviations {
    /// # Panics
    /// If a deviation would match every line.
    pub(crate) fn new(all: &'static [Deviation]) -> Self {
        for deviation in all {
            assert!(
                !deviation.part.is_empty(),
                "{}: name the line that differs",
                deviation.case
            );
        }
        Deviations {
            all,
            used: Mutex::default(),
            looked: Mutex::default(),
        }
    }

    /// Begins another look at all cases: the deviations that the look before needed do not count.
    pub(crate) fn look_again(&self) {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Counts the deviations that the last look needed.
    pub(crate) fn accept_look(&self) {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.append(&mut looked);
    }

    /// The lines that only one side has, without those that differ on purpose: `-` for Flux's, `+` for ours.
    pub(crate) fn difference(&self, case: &str, theirs: &[String], ours: &[String]) -> String {
        if self.is_other_outcome(case, theirs, ours) {
            return String::new();
        }
        let only = |sign: char, these: &[String], those: &[String]| {
            let lines = these.iter().filter(|line| !those.contains(line));
            let lines = lines.filter(|line| !self.is_known(case, line));
            lines.map(|line| format!("  {sign} {line}\n")).collect::<String>()
        };
        only('-', theirs, ours) + &only('+', ours, theirs)
    }

    /// Returns whether the case is known to end differently, and did.
    fn is_other_outcome(&self, case: &str, theirs: &[String], ours: &[String]) -> bool {
        let has = |lines: &[String], others: &[String], part: &str| {
            let mut only = lines.iter().filter(|line| !others.contains(line));
            only.any(|line| line.contains(part))
        };
        let fits = |deviation: &Deviation| {
            let Some(other) = deviation.other else {
                return false;
            };
            let (one, part) = (deviation.case == case, deviation.part);
            let ended = |these, those| has(these, those, part) && has(those, these, other);
            one && (ended(theirs, ours) || ended(ours, theirs))
        };
        let found = self.all.iter().position(fits);
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.extend(found);
        found.is_some()
    }

    fn is_known(&self, case: &str, line: &str) -> bool {
        let fits = |deviation: &Deviation| {
            let is_case = deviation.case == "*" || deviation.case == case;
            is_case && deviation.other.is_none() && line.contains(deviation.part)
        };
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let found: Vec<usize> = (0..self.all.len()).filter(|&at| fits(&self.all[at])).collect();
        let is_known = !found.is_empty();
        looked.extend(found);
        is_known
    }

    /// The deviations that no line needed, as lines.
    pub(crate) fn unused(&self) -> String {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let unused = (0..self.all.len()).filter(|at| self.all[*at].is_certain && !used.contains(at));
        unused
            .map(|at| {
                let Deviation { case, part, .. } = self.all[at];
                format!("{case}: no line with {part:?} differs: remove the deviation\n")
            })
            .collect()
    }
}

/// Reasons of events that are repeated while an object waits for another.
const WAITS: [&str; 3] = ["DependencyNotReady", "NoArtifact", "NotFound"];

/// How often an event happened, as the end of its line. Failures and waits are repeated for as long as their object is retried: their
/// number depends on when one looks, and is not compared.
pub(crate) fn times(kind: &str, reason: &str, count: Option<i64>) -> String {
    if kind == "Warning" || WAITS.contains(&reason) {
        return String::new();
    }
    format!(" ×{}", count.unwrap_or(1))
}

/// Sorts lines and drops those that are there twice. The counts of Events that say the same are added up.
pub(crate) fn merge(lines: &mut Vec<String>) {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    lines.retain(|line| {
        let counted = line
            .starts_with("event ")
            .then(|| line.rsplit_once(" ×"))
            .flatten();
        let Some((event, Ok(count))) = counted.map(|(event, count)| (event, count.parse::<i64>())) else {
            return true;
        };
        *counts.entry(event.to_owned()).or_default() += count;
        false
    });
    lines.extend(
        counts
            .into_iter()
            .map(|(event, count)| format!("{event} ×{count}")),
    );
    lines.sort();
    lines.dedup();
}

#[test]
fn counts_of_equal_events_are_added() {
    let mut lines: Vec<String> = [
        "status.x",
        "event a ×2",
        "event a ×1",
        "event b",
        "event b",
        "status.x",
    ]
    .map(str::to_owned)
    .into();
    merge(&mut lines);
    assert_eq!(lines, ["event a ×3", "event b", "status.x"]);
}

#[test]
fn a_deviation_that_no_line_needs_is_found() {
    const ALL: &[Deviation] = &[
        differs("one", "status.x", "it is needed"),
        differs("two", "status.x", "it is not"),
        may_differ("three", "status.x", "timing"),
        outcome_differs("four", ("failed", "made"), "it fails at Flux"),
    ];
    let deviations = Deviations::new(ALL);
    let lines = |text: &str| vec![text.to_owned()];
    assert_eq!(
        deviations.difference("one", &lines("status.x = 1"), &lines("status.x = 2")),
        ""
    );
    assert_eq!(
        deviations.difference("one", &lines("status.y = 1"), &[]),
        "  - status.y = 1\n"
    );
    assert_eq!(
        deviations.difference("four", &lines("failed for x"), &lines("made x")),
        ""
    );
    deviations.accept_look();
    assert_ne!(deviations.difference("four", &lines("failed for x"), &[]), "");
    deviations.difference("two", &lines("status.x = 1"), &lines("status.x = 2"));
    deviations.look_again();
    deviations.accept_look();
    assert_eq!(
        deviations.unused(),
        "two: no line with \"status.x\" differs: remove the deviation\n"
    );
}
