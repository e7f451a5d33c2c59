//! Buckets.

mod azure;
mod gcs;
mod s3;

use std::error::Error;

/// The error with all its causes, as a status would show it.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += ": ";
        text += &error.to_string();
        cause = error.source();
    }
    text
}
