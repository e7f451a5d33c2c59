//! The integration tests: tables of what Go does, certificates, and what hostile templates come to.

mod certificates;
mod hostile;
mod recorded;
mod support;
