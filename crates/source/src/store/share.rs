//! One fetch per remote revision, however many objects ask.
//!
//! Objects that want the same content at the same time wait for the one that began to fetch it, and get a link to its file.
//! Those that come later get a link as long as the content is in the store. A failure is told to all who waited, and the next
//! one to ask begins anew.

use std::collections::HashMap;
use std::sync::Arc;

use model::Digest;
use parking_lot::Mutex;

use super::{Place, Store, Stored};

/// How many revisions are remembered.
const MOST_LANDED: usize = 10_000;

/// What objects share: files of the store, and what else is to be said of each.
pub struct Sharing<T, E> {
    store: Arc<Store>,
    flights: Mutex<HashMap<String, Arc<Flight<E>>>>,
    landed: Mutex<HashMap<String, (Digest, T)>>,
}

/// Whoever has the lock and finds nothing in it fetches. Where that one gives up, the next in line has the lock.
type Flight<E> = tokio::sync::Mutex<Option<Result<(), Arc<E>>>>;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: std::error::Error + 'static> {
    /// It could not be fetched, by this object or by the one it waited for.
    #[error(transparent)]
    Fetch(Arc<E>),
    /// It could not be linked.
    #[error(transparent)]
    Store(#[from] super::Error),
}

impl<T, E> Sharing<T, E>
where
    T: Clone + Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
{
    /// Nothing shared yet.
    pub fn new(store: Arc<Store>) -> Self {
        Sharing {
            store,
            flights: Mutex::default(),
            landed: Mutex::default(),
        }
    }

    /// The file of an object with the content of a key: linked where another object has it, and fetched otherwise.
    ///
    /// The key says everything that the content depends on: the revision, and how it is packed. Whoever asks must have shown
    /// the remote side that it may read the content, as by resolving the revision with its own credentials.
    ///
    /// `fetch` puts the file into the store under the object's own place, and gives back what was stored. A fetch that is
    /// dropped halfway is taken over by another one that waits.
    ///
    /// # Errors
    /// Where the content cannot be fetched or linked.
    pub async fn get<F>(
        &self,
        key: &str,
        place: &Place,
        file: &str,
        fetch: impl FnOnce() -> F,
    ) -> Result<(Stored, T), Error<E>>
    where
        F: Future<Output = Result<(Stored, T), E>>,
    {
        loop {
            let landed = self.landed.lock().get(key).cloned();
            if let Some((digest, said)) = landed {
                if let Some(stored) = self.link(place, file, digest).await? {
                    return Ok((stored, said));
                }
                self.landed.lock().remove(key);
            }
            let waiting = self.wait(key);
            let mut seat = waiting.flight.lock().await;
            match &*seat {
                // It is remembered as landed, so the next round links it.
                Some(Ok(())) => {}
                Some(Err(error)) => return Err(Error::Fetch(Arc::clone(error))),
                None => {
                    let fetched = fetch().await.map_err(Arc::new);
                    if let Ok((stored, said)) = &fetched {
                        self.remember(key, stored.digest, said.clone());
                    }
                    *seat = Some(fetched.as_ref().map(drop).map_err(Arc::clone));
                    // Those who come from now on begin anew, or find what has landed.
                    self.flights.lock().remove(key);
                    return fetched.map_err(Error::Fetch);
                }
            }
        }
    }

    /// The flight of a key, a new one where there is none.
    fn wait<'a>(&'a self, key: &'a str) -> Waiting<'a, T, E> {
        let mut flights = self.flights.lock();
        let flight = Arc::clone(flights.entry(key.to_owned()).or_default());
        Waiting {
            sharing: self,
            key,
            flight,
        }
    }

    fn remember(&self, key: &str, digest: Digest, said: T) {
        let mut landed = self.landed.lock();
        if landed.len() >= MOST_LANDED {
            landed.retain(|_, (digest, _)| self.store.has(digest));
        }
        if landed.len() >= MOST_LANDED {
            landed.clear();
        }
        landed.insert(key.to_owned(), (digest, said));
    }

    async fn link(&self, place: &Place, file: &str, digest: Digest) -> Result<Option<Stored>, super::Error> {
        let (place, file) = (place.clone(), file.to_owned());
        self.store
            .aside(move |store| store.link(&place, &file, &digest))
            .await
    }
}

/// One that waits for a flight, or makes it.
struct Waiting<'a, T, E> {
    sharing: &'a Sharing<T, E>,
    key: &'a str,
    flight: Arc<Flight<E>>,
}

impl<T, E> Drop for Waiting<'_, T, E> {
    /// A flight that everyone has left must not stay.
    fn drop(&mut self) {
        let mut flights = self.sharing.flights.lock();
        let ours = flights
            .get(self.key)
            .is_some_and(|flight| Arc::ptr_eq(flight, &self.flight));
        if ours && Arc::strong_count(&self.flight) == 2 {
            flights.remove(self.key);
        }
    }
}
