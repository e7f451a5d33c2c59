//! Go's times and durations.

mod duration;
mod format;
mod methods;
mod parse;

pub use duration::Duration;
pub use methods::Time;
