//! Faults on demand, for tests: rules say which requests go wrong, how often, and how.
//!
//! ```
//! use apiserver::fault::{Fault, Faults, Rule};
//!
//! let faults = Faults::default();
//! faults.add(Rule::new(Fault::Conflict).verb("update").resource("apps", "deployments").once());
//! faults.add(Rule::new(Fault::Unavailable).client("kustomize-controller").with_probability(0.1));
//! ```
//!
//! The server asks [`Faults::check`] about every request. The first rule that matches and fires decides.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::auth::{Attributes, Target};
use crate::error::Error;

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The answer comes this much later.
    Delay(Duration),
    /// 429: come back in so many seconds.
    TooManyRequests(u32),
    /// 500.
    Internal,
    /// 503.
    Unavailable,
    /// 409, as if somebody else had written the object in between.
    Conflict,
    /// The connection ends without an answer.
    Disconnect,
    /// A watch ends early. Other requests are left alone.
    Watch(WatchFault),
}

/// How a watch ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchFault {
    /// Without a word.
    Drop {
        /// After so many events.
        after: usize,
    },
    /// With an error event that says 410 `Expired`.
    Expire {
        /// After so many events.
        after: usize,
    },
}

impl Fault {
    /// The failure that answers the request; `None` for faults that are no answer.
    pub fn error(&self, request: &Attributes<'_>) -> Option<Error> {
        match self {
            Fault::TooManyRequests(seconds) => {
                let message = "the server has received too many requests and has asked us to try again later";
                let mut error = Error::new(429, "TooManyRequests", message);
                error.details.retry_after = *seconds;
                Some(error)
            }
            Fault::Internal => Some(Error::internal("a fault that was asked for")),
            Fault::Unavailable => {
                let message = "the server is currently unable to handle the request";
                Some(Error::new(503, "ServiceUnavailable", message))
            }
            Fault::Conflict => Some(conflict(request)),
            Fault::Delay(_) | Fault::Disconnect | Fault::Watch(_) => None,
        }
    }

    /// How the watch is to end, if that is the fault.
    pub fn for_watch(self) -> Option<WatchFault> {
        match self {
            Fault::Watch(fault) => Some(fault),
            _ => None,
        }
    }
}

fn conflict(request: &Attributes<'_>) -> Error {
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    match request.target {
        Target::Resource(target) => Error::conflict(target.group, target.resource, target.name, why),
        Target::Path(path) => Error::conflict("", path, "", why),
    }
}

/// Which requests a fault is for, and how often it strikes. Without restrictions it strikes always.
#[derive(Clone, Debug)]
pub struct Rule {
    fault: Fault,
    verb: Option<String>,
    resource: Option<(String, String)>,
    subresource: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    client: Option<String>,
    often: Often,
}

/// How often a rule fires on the requests that it matches.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Often {
    Always,
    Between { first: u64, last: u64 },
    Probability(f64),
}

impl Rule {
    /// A rule for all requests.
    pub fn new(fault: Fault) -> Self {
        Rule {
            fault,
            verb: None,
            resource: None,
            subresource: None,
            namespace: None,
            name: None,
            client: None,
            often: Often::Always,
        }
    }

    /// Only requests with this verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, ...
    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        self.verb = Some(verb.into());
        self
    }

    /// Only requests about this resource. The empty string is the core group.
    #[must_use]
    pub fn resource(mut self, group: &str, resource: &str) -> Self {
        self.resource = Some((group.into(), resource.into()));
        self
    }

    /// Only requests about this subresource; the empty string is the object itself.
    #[must_use]
    pub fn subresource(mut self, subresource: &str) -> Self {
        self.subresource = Some(subresource.into());
        self
    }

    /// Only requests about this namespace; the empty string is the cluster scope.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Only requests about the object of this name.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Only requests of clients whose user agent begins with this.
    #[must_use]
    pub fn client(mut self, user_agent: &str) -> Self {
        self.client = Some(user_agent.into());
        self
    }

    /// Only the first request that matches.
    #[must_use]
    pub fn once(self) -> Self {
        self.times(1)
    }

    /// Only the first so many requests that match.
    #[must_use]
    pub fn times(mut self, count: u64) -> Self {
        self.often = Often::Between {
            first: 1,
            last: count,
        };
        self
    }

    /// Only this one of the requests that match, counted from 1.
    #[must_use]
    pub fn nth(mut self, count: u64) -> Self {
        self.often = Often::Between {
            first: count,
            last: count,
        };
        self
    }

    /// Each request that matches with this probability.
    #[must_use]
    pub fn with_probability(mut self, probability: f64) -> Self {
        self.often = Often::Probability(probability);
        self
    }

    fn matches(&self, request: &Attributes<'_>, user_agent: &str) -> bool {
        let is = |wanted: &Option<String>, found: &str| wanted.as_ref().is_none_or(|wanted| wanted == found);
        let is_watch = request.verb == "watch";
        if (matches!(self.fault, Fault::Watch(_)) && !is_watch) || !is(&self.verb, request.verb) {
            return false;
        }
        if !user_agent.starts_with(self.client.as_deref().unwrap_or_default()) {
            return false;
        }
        match request.target {
            Target::Resource(target) => {
                let resource = self.resource.as_ref();
                resource.is_none_or(|(group, name)| group == target.group && name == target.resource)
                    && is(&self.subresource, target.subresource)
                    && is(&self.namespace, target.namespace)
                    && is(&self.name, target.name)
            }
            Target::Path(_) => {
                self.resource.is_none()
                    && self.subresource.is_none()
                    && self.namespace.is_none()
                    && self.name.is_none()
            }
        }
    }
}

/// Identifies a rule that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleId(u64);

/// The faults that a server has been told to show.
#[derive(Debug, Default)]
pub struct Faults {
    /// Whether there are rules at all: a server without them should not notice that there could be some.
    armed: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rules: Vec<Armed>,
    added: u64,
    random: u64,
}

#[derive(Debug)]
struct Armed {
    id: RuleId,
    rule: Rule,
    matched: u64,
    fired: u64,
}

impl Faults {
    /// Adds a rule. Rules are asked in the order in which they were added.
    pub fn add(&self, rule: Rule) -> RuleId {
        let mut state = self.state.lock();
        state.added += 1;
        let id = RuleId(state.added);
        state.rules.push(Armed {
            id,
            rule,
            matched: 0,
            fired: 0,
        });
        self.armed.store(true, Ordering::Release);
        id
    }

    /// Takes a rule away again.
    pub fn remove(&self, id: RuleId) {
        let mut state = self.state.lock();
        state.rules.retain(|armed| armed.id != id);
        self.armed.store(!state.rules.is_empty(), Ordering::Release);
    }

    /// Takes all rules away.
    pub fn clear(&self) {
        self.state.lock().rules.clear();
        self.armed.store(false, Ordering::Release);
    }

    /// Starts the sequence of random numbers that probabilities are drawn from; without it, it starts with 0.
    pub fn seed(&self, seed: u64) {
        self.state.lock().random = seed;
    }

    /// How many times a rule has fired; 0 for one that is gone.
    pub fn fired(&self, id: RuleId) -> u64 {
        let state = self.state.lock();
        state
            .rules
            .iter()
            .find(|armed| armed.id == id)
            .map_or(0, |armed| armed.fired)
    }

    /// The fault that this request has to show, if any.
    pub fn check(&self, request: &Attributes<'_>, user_agent: &str) -> Option<Fault> {
        if !self.armed.load(Ordering::Acquire) {
            return None;
        }
        let State { rules, random, .. } = &mut *self.state.lock();
        let mut matching = rules
            .iter_mut()
            .filter(|armed| armed.rule.matches(request, user_agent));
        matching.find_map(|armed| armed.fire(random))
    }
}

impl Armed {
    fn fire(&mut self, random: &mut u64) -> Option<Fault> {
        self.matched += 1;
        let fires = match self.rule.often {
            Often::Always => true,
            Often::Between { first, last } => (first..=last).contains(&self.matched),
            Often::Probability(probability) => draw(random) < probability,
        };
        fires.then(|| {
            self.fired += 1;
            self.rule.fault.clone()
        })
    }
}

/// The next number in `0.0..1.0`, by SplitMix64: the same seed gives the same faults on every machine.
fn draw(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}
