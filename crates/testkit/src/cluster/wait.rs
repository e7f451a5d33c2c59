//! Waiting for the state of one object, by a watch.

use std::fmt::Debug;
use std::pin::pin;
use std::time::Duration;

use futures::TryStreamExt;
use kube::runtime::watcher::watch_object;
use kube::{Api, Resource};
use serde::de::DeserializeOwned;

use super::Error;

/// Watches an object until the condition holds for it; `None` stands for an object that does not exist. The condition
/// says in words why it does not hold, and the last such reason is the error.
///
/// # Errors
/// When the condition does not hold by the deadline, or the watch ends.
pub async fn object_settled<K, T>(
    api: Api<K>,
    name: &str,
    deadline: Duration,
    mut condition: impl FnMut(Option<&K>) -> Result<T, String>,
) -> Result<T, Error>
where
    K: Resource + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let what = format!("{}/{name}", api.resource_url());
    let mut reason = "the server did not tell of it".to_owned();
    let mut states = pin!(watch_object(api, name));
    let watched = tokio::time::timeout(deadline, async {
        loop {
            match states.try_next().await {
                Ok(Some(state)) => match condition(state.as_ref()) {
                    Ok(found) => return Some(found),
                    Err(why) => reason = why,
                },
                Ok(None) => return None,
                // The watch starts anew by itself.
                Err(error) => reason = error.to_string(),
            }
        }
    });
    match watched.await {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(Error::NotSettled {
            what,
            reason: format!("the watch ended while {reason}"),
        }),
        Err(_) => Err(Error::NotSettled {
            what,
            reason: format!("after {deadline:?}, {reason}"),
        }),
    }
}
