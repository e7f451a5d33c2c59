//! Time and randomness for templates.

pub(in crate::commands) use controllers::helm_releases::Machine;
