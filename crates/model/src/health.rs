//! How objects are doing.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How an object is doing, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// How it is doing.
    pub state: State,
    /// Why, for people. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// How an object is doing, from best to worst.
///
/// The states are those of Argo CD and of kstatus together. Each has a name in both, and both names are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum State {
    /// It is as it should be.
    #[serde(alias = "Current")]
    Healthy,
    /// It is held on purpose: a paused rollout, a suspended job.
    Suspended,
    /// It is on its way.
    #[serde(alias = "InProgress")]
    Progressing,
    /// It is being deleted.
    Terminating,
    /// It is not there.
    #[serde(alias = "NotFound")]
    Missing,
    /// It has failed, and will not recover by waiting.
    #[serde(alias = "Failed")]
    Degraded,
    /// It cannot be told.
    Unknown,
}

impl State {
    /// All of them, from best to worst.
    pub const ALL: [State; 7] = [
        State::Healthy,
        State::Suspended,
        State::Progressing,
        State::Terminating,
        State::Missing,
        State::Degraded,
        State::Unknown,
    ];

    /// The name that kstatus has for it, which Flux prints. To kstatus, what is suspended is done.
    pub fn kstatus(self) -> &'static str {
        match self {
            State::Healthy | State::Suspended => "Current",
            State::Progressing => "InProgress",
            State::Terminating => "Terminating",
            State::Missing => "NotFound",
            State::Degraded => "Failed",
            State::Unknown => "Unknown",
        }
    }

    /// The name that Argo CD has for it. To Argo CD, what is being deleted is progressing.
    pub fn argo(self) -> &'static str {
        match self {
            State::Healthy => "Healthy",
            State::Suspended => "Suspended",
            State::Progressing | State::Terminating => "Progressing",
            State::Missing => "Missing",
            State::Degraded => "Degraded",
            State::Unknown => "Unknown",
        }
    }

    /// The worst of several; healthy if there are none.
    pub fn worst(states: impl IntoIterator<Item = State>) -> State {
        states.into_iter().max().unwrap_or(State::Healthy)
    }
}

impl Health {
    /// A state without a message.
    pub fn new(state: State) -> Self {
        Health {
            state,
            message: String::new(),
        }
    }

    /// A state and why.
    pub fn because(state: State, message: impl Into<String>) -> Self {
        Health {
            state,
            message: message.into(),
        }
    }
}

/// Our own name: Argo CD's, or `Terminating`.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == State::Terminating {
            "Terminating"
        } else {
            self.argo()
        })
    }
}

/// The text is the name of no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no health state")]
pub struct Error(String);

impl FromStr for State {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let named = |state: &State| state.to_string() == name || state.kstatus() == name;
        State::ALL
            .into_iter()
            .find(named)
            .ok_or_else(|| Error(name.to_owned()))
    }
}
