//! The program as people run it: started, fed with files, looked at from outside, stopped.
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]

mod artifact;
mod build;
mod controller;
mod create;
mod diff;
mod envsubst;
mod helm;
mod install;
mod kustomize;
mod manual;
mod migrate;
mod objects;
mod up;
