//! The engine from outside.

mod health;
