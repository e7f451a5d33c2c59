//! Times as Kubernetes objects hold them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time as Kubernetes objects hold one: UTC, whole seconds, printed `2026-01-02T03:04:05Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(jiff::Timestamp);

/// Why a text is no time.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text:?} is no RFC 3339 time")]
pub struct Error {
    text: String,
    source: jiff::Error,
}

impl Time {
    /// The second that `timestamp` is in.
    pub fn new(timestamp: jiff::Timestamp) -> Self {
        // Before 1970 the fraction is negative, and the second begins one further back.
        let second = timestamp.as_second() - i64::from(timestamp.subsec_nanosecond() < 0);
        Time(jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::MIN))
    }

    /// The time as the `jiff` crate has it.
    pub fn timestamp(self) -> jiff::Timestamp {
        self.0
    }
}

impl From<jiff::Timestamp> for Time {
    fn from(timestamp: jiff::Timestamp) -> Self {
        Time::new(timestamp)
    }
}

/// Takes any offset and any fraction; what is kept is UTC and whole seconds.
impl FromStr for Time {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse().map(Time::new).map_err(|source| Error {
            text: text.to_owned(),
            source,
        })
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0}", self.0)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
