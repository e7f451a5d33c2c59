//! The bucket, by its protocol and through a client that no one of us wrote.

mod client;
mod protocol;
