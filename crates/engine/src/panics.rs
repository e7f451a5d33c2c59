//! Panics of code that others bring along: they end what was asked for, and nothing else.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;

/// Calls code that may panic. The error is what it said.
///
/// Nothing of ours is left half done by it: what is called gets values and gives values back.
pub(crate) fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(words)
}

/// The same for a future, which may panic when it is made and each time it is polled.
pub(crate) async fn caught_in<F: Future>(make: impl FnOnce() -> F) -> Result<F::Output, String> {
    let future = caught(make)?;
    AssertUnwindSafe(future).catch_unwind().await.map_err(words)
}

/// What a panic said.
fn words(panic: Box<dyn Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a word").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_panic_said_is_the_error() {
        assert_eq!(caught(|| 1), Ok(1));
        assert_eq!(caught(|| panic!("no {}", 1)), Err::<(), _>("no 1".to_owned()));
        assert_eq!(
            caught_in(|| async { panic!("no") }).await,
            Err::<(), _>("no".to_owned())
        );
        let made = caught_in(|| -> std::future::Ready<()> { std::panic::panic_any(1) });
        assert_eq!(made.await, Err("without a word".to_owned()));
    }
}
