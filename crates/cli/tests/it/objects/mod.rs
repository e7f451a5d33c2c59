//! `sluice get`, `export`, `suspend`, `resume`, `reconcile` and `delete`; `tree`, `trace`, `events`, `stats`, `logs`, `debug`,
//! `check` and `version`.

mod bed;
mod events;
mod installation;
mod logs;
mod pipeline;
mod program;
mod unread;
mod verbs;
