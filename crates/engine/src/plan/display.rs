//! Plans for people.

use std::fmt;

use super::steps::{Action, Plan, Stage, Step, Wait, When};

/// How many objects are treated in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To be created, without hooks.
    pub create: usize,
    /// To be changed, replaced or recreated.
    pub change: usize,
    /// To be deleted because they are no longer desired.
    pub prune: usize,
    /// Hooks to be run.
    pub hooks: usize,
    /// As they should be.
    pub unchanged: usize,
    /// Left alone.
    pub skip: usize,
    /// Of which nothing can be done.
    pub fail: usize,
}

impl Plan {
    /// How many objects are treated in which way.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for step in self.steps() {
            let count = match &step.action {
                action if step.hook.is_some() && action.applies() => &mut counts.hooks,
                Action::Create => &mut counts.create,
                Action::Patch | Action::Recreate(_) | Action::Replace(_) => &mut counts.change,
                Action::Prune { .. } => &mut counts.prune,
                Action::Unchanged => &mut counts.unchanged,
                Action::Skip | Action::Yield { .. } => &mut counts.skip,
                Action::Fail { .. } => &mut counts.fail,
                Action::Gone | Action::DeleteHook { .. } => continue,
            };
            *count += 1;
        }
        counts
    }
}

impl Action {
    /// The sign a plan is printed with.
    pub fn sign(&self) -> &'static str {
        match self {
            Action::Create => "+",
            Action::Patch => "~",
            Action::Recreate(_) => "±",
            Action::Replace(_) => "≈",
            Action::Prune { .. } | Action::DeleteHook { .. } => "-",
            Action::Fail { .. } => "!",
            Action::Gone | Action::Unchanged => "=",
            Action::Skip | Action::Yield { .. } => "·",
        }
    }
}

/// One line for each step under its stage, what is waited for, what a person should know, and the counts. There are no
/// values of objects in it.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} at {}", self.unit, self.revision)?;
        for stage in &self.stages {
            write!(f, "{stage}")?;
        }
        for note in &self.notes {
            match &note.key {
                Some(key) => writeln!(f, "note: {key} {}", note.text)?,
                None => writeln!(f, "note: {}", note.text)?,
            }
        }
        for key in &self.left_out {
            writeln!(f, "note: {key} was taken out of the plan")?;
        }
        write!(f, "{}", self.counts())
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = match self.when {
            When::Success => "",
            When::Failure => " (if something has failed)",
            When::Always => " (in any case)",
        };
        writeln!(f, "  {}{when}", self.name)?;
        if let Some(gate) = &self.gate {
            let names: Vec<String> = gate.objects.iter().map(ToString::to_string).collect();
            writeln!(f, "    held: {}: {}", gate.why, names.join(", "))?;
        }
        let width = self.steps.iter().map(|step| step.key.to_string().chars().count());
        let width = width.max().unwrap_or_default().min(WIDEST);
        for step in &self.steps {
            writeln!(f, "    {}", Line(step, width))?;
        }
        match &self.wait {
            Some(wait) => writeln!(f, "    {wait}"),
            None => Ok(()),
        }
    }
}

/// Reasons of objects with longer names than this are not aligned with the others.
const WIDEST: usize = 60;

/// How many differing fields are named.
const FIELDS: usize = 5;

struct Line<'a>(&'a Step, usize);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line(step, width) = self;
        let name = step.key.to_string();
        write!(f, "{} {name:width$}  {}", step.action.sign(), step.reason)?;
        if let Action::Fail { error } = &step.action {
            write!(f, ": {error}")?;
        }
        let shown = &step.fields[..step.fields.len().min(FIELDS)];
        if !shown.is_empty() {
            write!(f, ": {}", shown.join(", "))?;
        }
        match step.fields.len() - shown.len() {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.objects.len();
        let plural = if objects == 1 { "" } else { "s" };
        write!(
            f,
            "wait for {} ({objects} object{plural}, at most {}s)",
            self.why, self.seconds
        )
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.create, "to create"),
            (self.change, "to change"),
            (self.prune, "to prune"),
            (self.hooks, "hooks to run"),
            (self.unchanged, "unchanged"),
            (self.skip, "skipped"),
            (self.fail, "failed"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        match parts.is_empty() {
            true => f.write_str("nothing to do"),
            false => f.write_str(&parts.join(", ")),
        }
    }
}
