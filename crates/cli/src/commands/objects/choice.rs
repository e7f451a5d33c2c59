//! The words after a verb: which kind it is about.

use std::marker::PhantomData;

use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

use super::kinds::{Group, KINDS, Kind};

/// The arguments of a verb, and what it can be said of.
pub(crate) trait Verb: clap::Args {
    /// What it does to objects, in the words of `--help`: `Show`.
    const DOES: &'static str;
    /// Whether the words for kinds are those for several.
    const SEVERAL: bool = false;
    /// Whether it can be said of all kinds at once.
    const ALL: bool = false;

    /// Whether it can be said of a kind.
    fn suits(_: &Kind) -> bool {
        true
    }
}

/// What a verb was said of.
pub(crate) struct Choice<V> {
    /// The kinds.
    pub(crate) kinds: Vec<&'static Kind>,
    /// Whether all were asked for, whichever there are.
    pub(crate) all: bool,
    /// How.
    pub(crate) args: V,
}

/// The word that means all.
const ALL: &str = "all";

fn kinds<V: Verb>() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(|kind| V::suits(kind))
}

fn of_group<V: Verb>(group: Option<&'static Group>) -> impl Iterator<Item = &'static Kind> {
    kinds::<V>().filter(move |kind| kind.group == group)
}

fn groups<V: Verb>() -> Vec<&'static Group> {
    let mut groups: Vec<&'static Group> = Vec::new();
    for group in kinds::<V>().filter_map(|kind| kind.group) {
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

fn worded<V: Verb>(command: Command, singular: &'static str, plural: &'static str) -> Command {
    let (word, other) = match V::SEVERAL {
        true => (plural, singular),
        false => (singular, plural),
    };
    match word == other {
        true => command.name(word),
        false => command.name(word).alias(other),
    }
}

fn command_of<V: Verb>(kind: &'static Kind) -> Command {
    let command = worded::<V>(Command::new(kind.word), kind.word, kind.plural);
    let command = match kind.short {
        Some(short) => command.visible_alias(short),
        None => command,
    };
    // Last, as flags that several commands have bring words of their own along.
    let objects = match V::SEVERAL {
        true => format!("{} objects", kind.names.kind),
        false => format!("{} {}", article(kind.names.kind), kind.names.kind),
    };
    V::augment_args(command).about(format!("{} {objects}", V::DOES))
}

fn article(noun: &str) -> &'static str {
    match noun.starts_with(['A', 'E', 'I', 'O']) {
        true => "an",
        false => "a",
    }
}

fn with_kinds<V: Verb>(mut command: Command, group: Option<&'static Group>) -> Command {
    command = command.subcommand_required(true).arg_required_else_help(true);
    if V::ALL {
        command = command.subcommand(
            V::augment_args(Command::new(ALL)).about(format!("{} objects of all these kinds", V::DOES)),
        );
    }
    command.subcommands(of_group::<V>(group).map(command_of::<V>))
}

impl<V: Verb> Subcommand for Choice<V> {
    fn augment_subcommands(command: Command) -> Command {
        let groups = groups::<V>().into_iter().map(|group| {
            let command = worded::<V>(
                Command::new(group.word).about(format!("{} {}", V::DOES, group.about)),
                group.word,
                group.plural,
            );
            with_kinds::<V>(command, Some(group))
        });
        with_kinds::<V>(command, None).subcommands(groups)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        let command = Self::augment_subcommands(Command::new(""));
        command.find_subcommand(name).is_some()
    }
}

impl<V: Verb> FromArgMatches for Choice<V> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Reader::<V>(PhantomData).read(matches, None)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

struct Reader<V>(PhantomData<V>);

impl<V: Verb> Reader<V> {
    fn read(&self, matches: &ArgMatches, group: Option<&'static Group>) -> Result<Choice<V>, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (word, matches) = matches.subcommand().ok_or_else(missing)?;
        let is_word = |singular: &str, plural: &str| word == singular || word == plural;
        if let Some(inner) = groups::<V>()
            .into_iter()
            .find(|inner| group.is_none() && is_word(inner.word, inner.plural))
        {
            return self.read(matches, Some(inner));
        }
        let kinds: Vec<_> = match (word, group) {
            (ALL, None) => kinds::<V>().collect(),
            (ALL, group) => of_group::<V>(group).collect(),
            _ => of_group::<V>(group)
                .filter(|kind| is_word(kind.word, kind.plural))
                .collect(),
        };
        Ok(Choice {
            kinds,
            all: word == ALL,
            args: V::from_arg_matches(matches)?,
        })
    }
}
