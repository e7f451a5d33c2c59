//! Objects that no watch tells of: their kind may be read by name, but not listed. The server is asked about them now and then.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use model::ObjectKey;
use tokio::time::Instant;

use crate::cache::{Entry, Lookup, State};
use crate::cluster::Error;

use super::World;

/// How often the server is asked about each.
pub(super) const PACE: Duration = Duration::from_secs(5);

/// How long an answer is waited for, unless there is less time left: meanwhile nobody sees that the run is to stop.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long at least: without any answer it cannot be told how a wait has ended.
const LEAST: Duration = Duration::from_secs(1);

/// What the server has said of objects that the cache knows nothing of.
#[derive(Debug, Default)]
pub(super) struct Asked {
    answers: HashMap<ObjectKey, (Instant, Answer)>,
}

/// What the server has said of an object.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    /// It is there.
    There(Arc<Entry>),
    /// It is not there.
    Gone,
    /// It may not be read at all.
    Unreadable(String),
    /// It could not be told.
    Failed(String),
}

impl Asked {
    /// Asks about those of the objects that only the server knows of, unless it was asked a moment ago, for as long as is left. Whether
    /// there are any.
    pub(super) async fn renew(
        &mut self,
        keys: impl Iterator<Item = &ObjectKey>,
        left: Duration,
        world: &World<'_>,
    ) -> bool {
        let within = left.clamp(LEAST, PATIENCE);
        let unknown: HashSet<&ObjectKey> = keys.filter(|key| is_unknown(key, world)).collect();
        self.answers.retain(|key, _| unknown.contains(key));
        let is_due = |key: &&&ObjectKey| {
            let asked = self.answers.get(**key);
            asked.is_none_or(|(at, _)| at.elapsed() >= PACE)
        };
        let due: Vec<&ObjectKey> = unknown.iter().filter(is_due).copied().collect();
        let answers = join_all(due.into_iter().map(|key| ask(key, within, world))).await;
        self.answers.extend(answers);
        !unknown.is_empty()
    }

    /// What was said of an object, if it was asked about.
    pub(super) fn of(&self, key: &ObjectKey) -> Option<&Answer> {
        self.answers.get(key).map(|(_, answer)| answer)
    }
}

/// Whether the cache cannot tell anything of an object, and will not when it comes. A kind that is not served is told of when it is; one that
/// cannot be watched never is.
pub(super) fn is_unknown(key: &ObjectKey, world: &World<'_>) -> bool {
    let cache = world.cache;
    let is_unwatchable = || {
        let served = world.cluster.known(&key.group, &key.kind);
        served.is_some_and(|served| !served.watchable)
    };
    matches!(cache.find(key), Lookup::Unknown)
        && cache.get(key).is_none()
        && (!matches!(cache.state(&key.group, &key.kind), State::NoSuchKind) || is_unwatchable())
}

async fn ask(key: &ObjectKey, within: Duration, world: &World<'_>) -> (ObjectKey, (Instant, Answer)) {
    let read = async {
        let resource = world.cluster.preferred(&key.group, &key.kind).await?;
        let live = world.cluster.get(&resource, &key.namespace, &key.name).await?;
        Ok(match live {
            Some(live) => Some(world.cache.entry_of(&resource, live, world.standard).await),
            None => None,
        })
    };
    let answer = match tokio::time::timeout(within, read).await {
        Ok(Ok(Some(entry))) => Answer::There(Arc::new(entry)),
        Ok(Ok(None)) => Answer::Gone,
        Ok(Err(error)) => Answer::of(&error),
        Err(_) => Answer::Failed(format!("no answer within {within:?}")),
    };
    (key.clone(), (Instant::now(), answer))
}

impl Answer {
    /// What a refusal says of an object. Whoever is not known any more may be a moment later, with other credentials; what somebody may
    /// not do stays so.
    fn of(error: &Error) -> Answer {
        match error {
            Error::NoSuchKind { .. } => Answer::Gone,
            Error::Forbidden(_) => Answer::Unreadable(error.to_string()),
            _ => Answer::Failed(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_not_be_read_is_unreadable() {
        let of = |code: u16| Answer::of(&Error::with_code(code));
        assert!(matches!(of(403), Answer::Unreadable(_)));
        assert!(matches!(of(401), Answer::Failed(_)));
        assert!(matches!(of(500), Answer::Failed(_)));
    }
}
