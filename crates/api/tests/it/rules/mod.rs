//! Each rule of the schemas accepts what is right and refuses what is not, with its message.

mod appliers;
mod extensions;
mod image;
mod notification;
mod source;

use serde_json::Value;

use crate::served::Served;

/// Checks that the server takes the one spec and refuses the other with that message.
async fn check(kind: &str, version: &str, good: Value, bad: Value, message: &str) {
    let served = Served::start(kind).await;
    served.create(version, "good", &good).await.unwrap();
    let refused = served.create(version, "bad", &bad).await.unwrap_err();
    assert!(refused.contains(message), "{refused}");
    served.finish().await;
}

/// `base` with the fields of `more`.
fn with(base: &Value, more: Value) -> Value {
    let mut value = base.clone();
    for (key, more) in more.as_object().unwrap() {
        value[key] = more.clone();
    }
    value
}
