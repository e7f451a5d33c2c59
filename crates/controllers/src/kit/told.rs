//! What was told of a status that is yet to be written.
//!
//! A run tells what it has to tell before its status is written, as Flux does: whoever is killed in between tells it again, and
//! nothing is lost. A run whose status cannot be written is done again and comes to the same; it has nothing new to tell.

use std::collections::HashMap;

use api::{Object, Spec};
use parking_lot::Mutex;

use super::recorder::Notice;
use super::writer::{Key, key_of};

/// What was told of each object since its status was last written.
#[derive(Default)]
pub(super) struct Told(Mutex<HashMap<Key, Since>>);

struct Since {
    uid: Option<String>,
    notices: Vec<Notice>,
}

impl Told {
    /// What of this is yet to be told. From now on it counts as told.
    pub(super) fn news<S: Spec>(&self, object: &Object<S>, notices: Vec<Notice>) -> Vec<Notice> {
        let mut told = self.0.lock();
        let since = told.entry(key_of(object)).or_insert_with(|| Since {
            uid: None,
            notices: Vec::new(),
        });
        // An object that took the name of another is told of from the beginning.
        if since.uid != object.metadata.uid {
            since.uid = object.metadata.uid.clone();
            since.notices.clear();
        }
        let mut news = notices;
        news.retain(|notice| !since.notices.contains(notice));
        since.notices.extend(news.iter().cloned());
        news
    }

    /// The status was written, or the object is gone: what comes next is told again.
    pub(super) fn forget(&self, key: &Key) {
        self.0.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use api::Reason;
    use api::source::BucketSpec;
    use model::event::Severity;
    use serde_json::json;

    use super::*;

    fn object(uid: &str) -> Object<BucketSpec> {
        serde_json::from_value(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "Bucket",
            "metadata": {"namespace": "default", "name": "one", "uid": uid},
            "spec": {"bucketName": "b", "endpoint": "e", "interval": "1m"},
        }))
        .unwrap()
    }

    fn notice(message: &str) -> Notice {
        Notice {
            severity: Severity::Info,
            reason: Reason::NEW_ARTIFACT,
            message: message.into(),
            metadata: BTreeMap::new(),
        }
    }

    #[test]
    fn the_same_is_told_again_only_after_a_status_was_written() {
        let (told, object) = (Told::default(), object("a"));
        let both = || vec![notice("one"), notice("two")];
        assert_eq!(told.news(&object, vec![notice("one")]).len(), 1);
        assert_eq!(told.news(&object, both()), [notice("two")]);
        assert_eq!(told.news(&object, both()), []);
        told.forget(&key_of(&object));
        assert_eq!(told.news(&object, both()).len(), 2);
    }

    #[test]
    fn an_object_that_took_the_name_of_another_is_told_of() {
        let told = Told::default();
        assert_eq!(told.news(&object("a"), vec![notice("one")]).len(), 1);
        assert_eq!(told.news(&object("b"), vec![notice("one")]).len(), 1);
    }
}
