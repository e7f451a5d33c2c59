//! How many objects are worked on at once. One that waits gives its seat to another, and is given one again before it goes on.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The seat of an object that is worked on.
pub struct Seat {
    seats: Arc<Semaphore>,
    taken: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Seat {
    /// One of these seats, as soon as one is free. Nothing where nobody is to work any more.
    pub(crate) async fn take(seats: &Arc<Semaphore>) -> Option<Self> {
        let permit = Arc::clone(seats).acquire_owned().await.ok()?;
        Some(Seat {
            seats: Arc::clone(seats),
            taken: Mutex::new(Some(permit)),
        })
    }

    /// Waits for something without a seat.
    pub async fn aside<T>(&self, wait: impl Future<Output = T>) -> T {
        drop(self.taken.lock().take());
        let value = wait.await;
        let permit = Arc::clone(&self.seats).acquire_owned().await;
        *self.taken.lock() = permit.ok();
        value
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
}
