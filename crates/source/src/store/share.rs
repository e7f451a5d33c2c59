//! One fetch per remote revision, however many objects ask.
//!
//! Objects that want the same content at the same time wait for the one that began to fetch it, and get a link to its file.
//! Those that come later get a link as long as the content is in the store. A failure is that of the object which fetched: another
//! one may have a longer timeout, so those that waited each fetch for themselves.
//!
//! Only readers of one [`TrustScope`] share. Another reader may be anybody: it has chosen the server that let it in.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use model::Digest;
use parking_lot::Mutex;

use super::{Place, Store, Stored};
use crate::trust::{Fingerprint, TrustScope};

/// How many revisions are remembered.
const MOST_LANDED: usize = 10_000;

/// What objects share: files of the store, and what else is to be said of each.
pub struct Sharing<T, E> {
    store: Arc<Store>,
    flights: Mutex<HashMap<Fingerprint, Arc<Flight>>>,
    landed: Mutex<HashMap<Fingerprint, (Digest, T)>>,
    error: PhantomData<fn() -> E>,
}

/// Whoever has the lock and finds nothing in it fetches. Where that one gives up, the next in line has the lock.
type Flight = tokio::sync::Mutex<Option<Outcome>>;

/// The outcome of a fetch.
#[derive(Clone, Copy)]
enum Outcome {
    Landed,
    Failed,
}

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum Error<E: std::error::Error + 'static> {
    /// It could not be fetched.
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
            error: PhantomData,
        }
    }

    /// The file of an object with the content of a key: linked where another object of the same scope has it, and fetched
    /// otherwise.
    ///
    /// The key says everything that the content depends on: the place, the revision, and how it is packed. Whoever asks must have
    /// shown the remote side that it may still read the content, as by resolving the revision with its own credentials.
    ///
    /// `fetch` puts the file into the store under the object's own place, and gives back what was stored. A fetch that is
    /// dropped halfway is taken over by another one that waits. Where a fetch fails, those that waited for it fetch each for
    /// itself and at the same time, so that nobody waits for more than one other.
    ///
    /// # Errors
    /// Where the content cannot be fetched or linked.
    pub async fn get<F>(
        &self,
        scope: &TrustScope,
        key: &str,
        place: &Place,
        file: &str,
        fetch: impl FnOnce() -> F,
    ) -> Result<(Stored, T), Error<E>>
    where
        F: Future<Output = Result<(Stored, T), E>>,
    {
        let key = &Fingerprint::builder("shared file")
            .fingerprint(scope.fingerprint())
            .text(key)
            .build();
        loop {
            let landed = self.landed.lock().get(key).cloned();
            if let Some((digest, said)) = landed {
                if let Some(stored) = self.link(place, file, digest).await? {
                    return Ok((stored, said));
                }
                self.landed.lock().remove(key);
            }
            let waiting = self.wait(*key);
            let mut seat = waiting.flight.lock().await;
            match *seat {
                // It is remembered as landed, so the next round links it.
                Some(Outcome::Landed) => {}
                Some(Outcome::Failed) => {
                    drop(seat);
                    return self.fetch(*key, fetch()).await;
                }
                None => {
                    let fetched = self.fetch(*key, fetch()).await;
                    *seat = Some(match &fetched {
                        Ok(_) => Outcome::Landed,
                        Err(_) => Outcome::Failed,
                    });
                    // Those who come from now on begin anew, or find what has landed.
                    self.flights.lock().remove(key);
                    return fetched;
                }
            }
        }
    }

    /// Fetches, and remembers what has landed.
    async fn fetch(
        &self,
        key: Fingerprint,
        fetch: impl Future<Output = Result<(Stored, T), E>>,
    ) -> Result<(Stored, T), Error<E>> {
        let fetched = fetch.await.map_err(|error| Error::Fetch(Arc::new(error)))?;
        self.remember(key, fetched.0.digest, fetched.1.clone());
        Ok(fetched)
    }

    /// The flight of a key, a new one where there is none.
    fn wait(&self, key: Fingerprint) -> Waiting<'_, T, E> {
        let mut flights = self.flights.lock();
        let flight = Arc::clone(flights.entry(key).or_default());
        Waiting {
            sharing: self,
            key,
            flight,
        }
    }

    fn remember(&self, key: Fingerprint, digest: Digest, said: T) {
        let mut landed = self.landed.lock();
        if landed.len() >= MOST_LANDED {
            landed.retain(|_, (digest, _)| self.store.has(digest));
        }
        if landed.len() >= MOST_LANDED {
            landed.clear();
        }
        landed.insert(key, (digest, said));
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
    key: Fingerprint,
    flight: Arc<Flight>,
}

impl<T, E> Drop for Waiting<'_, T, E> {
    /// A flight that everyone has left must not stay.
    fn drop(&mut self) {
        let mut flights = self.sharing.flights.lock();
        let ours = flights
            .get(&self.key)
            .is_some_and(|flight| Arc::ptr_eq(flight, &self.flight));
        if ours && Arc::strong_count(&self.flight) == 2 {
            flights.remove(&self.key);
        }
    }
}
