//! `sluice get`, `export`, `suspend`, `resume`, `reconcile`, `delete`: commands about objects of all kinds, with the words and flags
//! of the flux client.
//!
//! `kinds` is the table of kinds; `choice` makes the words of the command line of it. Each verb is a file.

mod api;
mod change;
mod choice;
mod delete;
mod export;
mod get;
mod kinds;
mod reconcile;
mod resume;
mod rows;
mod selector;
mod suspend;
pub(crate) mod wait;
mod watch;

pub(crate) use api::{MANAGER, Objects, Place, told};
pub(crate) use choice::Choice;
pub(crate) use delete::is_agreed;
pub(crate) use get::yaml_of;
pub(crate) use kinds::{KINDS, Kind, named};
pub(crate) use rows::condition;

pub(crate) type Get = Choice<get::Args>;
pub(crate) type Export = Choice<export::Args>;
pub(crate) type Suspend = Choice<suspend::Args>;
pub(crate) type Resume = Choice<resume::Args>;
pub(crate) type Reconcile = Choice<reconcile::Args>;
pub(crate) type Delete = Choice<delete::Args>;

pub(crate) use delete::run as delete;
pub(crate) use export::run as export;
pub(crate) use get::run as get;
pub(crate) use reconcile::run as reconcile;
pub(crate) use resume::run as resume;
pub(crate) use suspend::run as suspend;
