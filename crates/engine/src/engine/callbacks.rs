//! Who wants to be told of something: callbacks that live as long as their [`Subscription`].

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::panics::caught;

/// Ends a subscription when it is dropped: from then on the callback is not called any more, though a call that has begun ends.
#[must_use = "the callback is taken away when its subscription is dropped"]
pub struct Subscription {
    end: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Subscription {
    /// Keeps the callback for as long as its engine lives.
    pub fn forever(mut self) {
        self.end = None;
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end();
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

/// The callbacks of one kind, in the order they were added. They are called on a copy of the list, outside of its lock, so that
/// a callback may subscribe, unsubscribe and take as long as it likes.
pub(crate) struct Callbacks<F: ?Sized> {
    list: Arc<Mutex<List<F>>>,
}

struct List<F: ?Sized> {
    next: u64,
    callbacks: Vec<(u64, Arc<F>)>,
}

impl<F: ?Sized> Default for Callbacks<F> {
    fn default() -> Self {
        let list = List {
            next: 0,
            callbacks: Vec::new(),
        };
        Callbacks {
            list: Arc::new(Mutex::new(list)),
        }
    }
}

impl<F: ?Sized + Send + Sync + 'static> Callbacks<F> {
    pub(crate) fn add(&self, callback: Arc<F>) -> Subscription {
        let mut list = self.list.lock();
        let number = list.next;
        list.next += 1;
        list.callbacks.push((number, callback));
        // Whoever subscribes may outlive the engine; the list does not live on for it.
        let list = Arc::downgrade(&self.list);
        let end = move || {
            if let Some(list) = list.upgrade() {
                list.lock().callbacks.retain(|(other, _)| *other != number);
            }
        };
        Subscription {
            end: Some(Box::new(end)),
        }
    }

    /// Calls each of them. One that panics keeps no other from being called; what such have said is returned.
    pub(crate) fn each(&self, call: impl Fn(&F)) -> Vec<String> {
        let called = self.all().into_iter().map(|callback| caught(|| call(&callback)));
        called.filter_map(Result::err).collect()
    }

    /// The callbacks of this moment.
    pub(crate) fn all(&self) -> Vec<Arc<F>> {
        let list = self.list.lock();
        list.callbacks
            .iter()
            .map(|(_, callback)| Arc::clone(callback))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    type Told = dyn Fn(&str) + Send + Sync;

    fn tell(callbacks: &Callbacks<Told>) {
        callbacks.each(|callback| callback("x"));
    }

    fn counting(callbacks: &Callbacks<Told>) -> (Arc<AtomicUsize>, Subscription) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let add = move |_: &str| {
            counted.fetch_add(1, Ordering::SeqCst);
        };
        (count, callbacks.add(Arc::new(add)))
    }

    #[test]
    fn a_callback_is_called_until_its_subscription_is_dropped() {
        let callbacks = Callbacks::default();
        let (first, kept) = counting(&callbacks);
        let (second, dropped) = counting(&callbacks);
        tell(&callbacks);
        drop(dropped);
        tell(&callbacks);
        kept.forever();
        tell(&callbacks);
        let counts = (first.load(Ordering::SeqCst), second.load(Ordering::SeqCst));
        assert_eq!(counts, (3, 1));
    }

    #[test]
    fn a_callback_may_subscribe_another_and_end_itself() {
        let callbacks: Arc<Callbacks<Told>> = Arc::new(Callbacks::default());
        let own: Arc<Mutex<Option<Subscription>>> = Arc::default();
        let (inner, slot) = (Arc::clone(&callbacks), Arc::clone(&own));
        let (count, _kept) = counting(&callbacks);
        let subscription = callbacks.add(Arc::new(move |_: &str| {
            drop(slot.lock().take());
            inner.add(Arc::new(|_: &str| {})).forever();
        }));
        *own.lock() = Some(subscription);
        tell(&callbacks);
        tell(&callbacks);
        assert_eq!((callbacks.all().len(), count.load(Ordering::SeqCst)), (2, 2));
    }

    #[test]
    fn a_callback_that_panics_keeps_no_other_from_being_called() {
        let callbacks: Callbacks<Told> = Callbacks::default();
        callbacks.add(Arc::new(|_: &str| panic!("too much"))).forever();
        let (count, _kept) = counting(&callbacks);
        assert_eq!(callbacks.each(|callback| callback("x")), ["too much"]);
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn a_subscription_may_outlive_its_engine() {
        let callbacks: Callbacks<Told> = Callbacks::default();
        let (_, subscription) = counting(&callbacks);
        drop(callbacks);
        drop(subscription);
    }
}
