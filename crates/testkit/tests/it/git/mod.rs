//! The Git server, seen through the real `git` program.

mod access;
mod fetch;
mod history;
mod program;
mod protocol;
mod push;
mod ssh;
