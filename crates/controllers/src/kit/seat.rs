//! How many objects are worked on at once. One that waits gives its seat to another, and is given one again before it goes on.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The seat of an object that is worked on.
pub struct Seat {
    seats: Mutex<Arc<Semaphore>>,
    taken: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Seat {
    /// One of these seats, as soon as one is free. Nothing where nobody is to work any more.
    pub(crate) async fn take(seats: &Arc<Semaphore>) -> Option<Self> {
        let permit = Arc::clone(seats).acquire_owned().await.ok()?;
        Some(Seat {
            seats: Mutex::new(Arc::clone(seats)),
            taken: Mutex::new(Some(permit)),
        })
    }

    /// Waits for something without a seat.
    pub async fn aside<T>(&self, wait: impl Future<Output = T>) -> T {
        drop(self.taken.lock().take());
        let value = wait.await;
        let seats = Arc::clone(&self.seats.lock());
        let permit = seats.acquire_owned().await;
        *self.taken.lock() = permit.ok();
        value
    }

    /// Gives up the seat, and goes on with one of others.
    pub(crate) async fn transfer(&self, to: Arc<Semaphore>) {
        *self.seats.lock() = to;
        self.aside(std::future::ready(())).await;
    }
}

/// Seats of which each namespace has its own.
pub(crate) struct NamespaceSeats {
    each: usize,
    namespaces: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl NamespaceSeats {
    /// Gives each namespace so many seats.
    pub(crate) fn new(each: usize) -> Self {
        NamespaceSeats {
            each,
            namespaces: Mutex::default(),
        }
    }

    /// Returns the seats of a namespace.
    pub(crate) fn of(&self, namespace: &str) -> Arc<Semaphore> {
        let mut namespaces = self.namespaces.lock();
        // Seats that nothing holds or waits for are made anew when they are needed.
        namespaces.retain(|_, seats| Arc::strong_count(seats) > 1);
        let seats = || Arc::new(Semaphore::new(self.each));
        Arc::clone(namespaces.entry(namespace.to_owned()).or_insert_with(seats))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn who_waits_leaves_the_seat_to_another() {
        let seats = Arc::new(Semaphore::new(1));
        let seat = Seat::take(&seats).await.unwrap();
        assert_eq!(seats.available_permits(), 0);
        let (tell, told) = oneshot::channel::<()>();
        let waiting = seat.aside(told);
        let other = async {
            let _seat = Seat::take(&seats).await.unwrap();
            assert_eq!(seats.available_permits(), 0);
            tell.send(()).unwrap();
        };
        let (told, ()) = tokio::join!(waiting, other);
        told.unwrap();
        assert_eq!(seats.available_permits(), 0, "it has one again");
        drop(seat);
        assert_eq!(seats.available_permits(), 1);
    }

    #[tokio::test]
    async fn a_transferred_seat_is_free_for_others_and_stays_with_the_namespace() {
        let (seats, of_namespaces) = (Arc::new(Semaphore::new(1)), NamespaceSeats::new(1));
        let seat = Seat::take(&seats).await.unwrap();
        seat.transfer(of_namespaces.of("mallory")).await;
        assert_eq!(seats.available_permits(), 1);
        seat.aside(std::future::ready(())).await;
        assert_eq!(seats.available_permits(), 1);
        let next = Seat::take(&seats).await.unwrap();
        let mut waits = std::pin::pin!(next.transfer(of_namespaces.of("mallory")));
        assert!(futures::poll!(&mut waits).is_pending());
        assert_eq!(seats.available_permits(), 1, "it waits without a seat");
        drop(seat);
        waits.await;
        drop(of_namespaces.of("ada"));
        drop(of_namespaces.of("eve"));
        let known: Vec<String> = of_namespaces.namespaces.lock().keys().cloned().collect();
        assert!(!known.contains(&"ada".to_owned()), "{known:?}");
    }
}
