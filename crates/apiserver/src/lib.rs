//! A Kubernetes API in memory, for `sluice up` and for tests. It is for development: it runs no containers and keeps
//! nothing on disk.

pub mod auth;
pub mod builtin;
pub mod catalog;
pub mod crd;
pub mod discovery;
pub mod error;
pub mod fault;
pub mod field;
pub mod jsonpath;
pub mod openapi;
pub mod requests;
pub mod simulator;
pub mod strategy;
pub mod table;

mod admission;
mod answer;
mod bootstrap;
mod collect;
mod custom;
mod http;
mod kinds;
mod listen;
mod metadata;
mod ownership;
mod protobuf;
mod route;
mod server;
mod special;
mod store;
mod verbs;

pub use crate::http::Body;
pub use listen::{Disconnected, ListenError, Listening, Service};
pub use server::{Builder, Clock, Server};
