//! What Sluice relies on in a Kubernetes API, stated as checks that run on the embedded server and on a real one.
//!
//! The checks are in `tests/it/`, one file per area; this library is what they are written in: [`check!`] names one,
//! [`Test`] is the cluster it sees, [`Reply`] what the server said, [`Watch`] a stream of events. Requests are made by
//! hand, because a typed client hides what is asserted here: codes, reasons, messages, headers.
//!
//! A check states what the real server does. Where the embedded server knowingly does otherwise, the check is named in
//! [`deviations`], with the reason, and asserts on the embedded server that it still fails: the list stays true.

mod caller;
mod check;
mod deviation;
pub mod objects;
mod reply;
mod watch;

pub use caller::{Caller, Patch};
pub use check::{Test, run};
pub use deviation::{Deviation, deviations};
pub use reply::Reply;
pub use watch::Watch;

/// Makes a test of a check: `check!(a_sentence_that_says_what_holds, async |t| { ... });`
#[macro_export]
macro_rules! check {
    ($name:ident, $body:expr) => {
        #[tokio::test]
        async fn $name() {
            $crate::run(concat!(module_path!(), "::", stringify!($name)), $body).await;
        }
    };
}
