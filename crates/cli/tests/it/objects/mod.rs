//! `sluice get`, `export`, `suspend`, `resume`, `reconcile` and `delete`.

mod bed;
mod program;
mod verbs;
