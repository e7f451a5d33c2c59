//! Tests of the `kustomize` crate from outside.

mod corpus;
mod substitute;
