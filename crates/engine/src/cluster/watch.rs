//! Changes of the objects of a kind, as they happen.

use std::time::Duration;

use bytes::BytesMut;
use http_body_util::BodyExt;
use kube::client::Body;
use model::{Str, Value, json};

use super::Cluster;
use super::budget::{Charge, over_budget};
use super::counts::Verb;
use super::error::Error;
use super::limit::Outcome;
use super::list::{Detail, Selection};
use super::partial;
use super::refusal::Refusal;
use super::resource::Resource;
use super::send::{Ask, JSON, LARGEST_REFUSAL, METADATA, Subject, malformed, transport};

/// The server ends a watch after about so long, and it is begun again.
const LENGTH: Duration = Duration::from_secs(290);
/// A watch that is silent for so much longer than it may last is dead.
const GRACE: Duration = Duration::from_secs(30);
/// The head of the answer has to be there by then; a server that lists first takes its time.
const HEAD: Duration = Duration::from_secs(60);
/// An event has at most so many bytes; an object has at most three million.
const LONGEST: usize = 16 * 1024 * 1024;

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start<'a> {
    /// After this version.
    After(&'a str),
    /// With all objects there are, each as added, up to the bookmark that says that these were all.
    Everything,
}

/// What a watch tells. Of an object that is nested too deeply it has what can be read: the fields, and those of the metadata,
/// that are not.
#[derive(Debug)]
pub enum WatchEvent {
    /// An object was added, or comes to be selected.
    Added(Value),
    /// An object was changed.
    Modified(Value),
    /// An object was removed, or is no longer selected.
    Deleted(Value),
    /// Everything up to this version was told.
    Bookmark {
        /// The version.
        resource_version: Str,
        /// Whether these were all objects there are ([`Start::Everything`]).
        initial_end: bool,
    },
}

/// A stream of changes. It may be dropped at any time, also while [`Watch::next`] is waiting.
pub struct Watch {
    body: Body,
    buffer: BytesMut,
    /// So many bytes of the buffer are known to hold no end of a line.
    scanned: usize,
    what: String,
    /// The part of the cluster's budget that the buffer takes, and the event that was told last.
    charge: Charge,
}

impl Cluster {
    /// Watches the objects of a kind. Bookmarks are asked for. Watches do not count among the requests that are limited;
    /// only their beginning does.
    pub async fn watch(
        &self,
        resource: &Resource,
        selection: &Selection,
        start: Start<'_>,
    ) -> Result<Watch, Error> {
        let mut query = selection.query();
        query.add("watch", "true");
        query.add("allowWatchBookmarks", "true");
        query.add("timeoutSeconds", &LENGTH.as_secs().to_string());
        match start {
            Start::After(version) => query.add("resourceVersion", version),
            Start::Everything => query
                .add("sendInitialEvents", "true")
                .add("resourceVersionMatch", "NotOlderThan"),
        };
        let path = resource.collection(&selection.namespace);
        let mut ask = Ask::get(query.on(&path));
        ask.accept = match selection.detail {
            Detail::Metadata => METADATA,
            Detail::Full => JSON,
        };
        let subject = Subject::new(Verb::Watch, resource, &selection.namespace, "");
        self.may_ask(&subject)?;
        let slot = self.shared.limiter.slot(Verb::Watch).await;
        let opened = tokio::time::timeout(HEAD, self.open(&subject, &ask)).await;
        let opened = opened.unwrap_or_else(|_| {
            Err(Error::Timeout {
                what: subject.to_string(),
                after: HEAD,
            })
        });
        slot.done(match &opened {
            Err(error) if error.is_overload() => Outcome::Overload,
            _ => Outcome::Other,
        });
        if opened.is_ok() {
            self.shared.darkness.heard();
        }
        let response = opened.map_err(|error| self.tell_kind(resource, error))?;
        Ok(Watch {
            body: response.into_body(),
            buffer: BytesMut::new(),
            scanned: 0,
            what: subject.to_string(),
            charge: self.charge(),
        })
    }
}

impl Watch {
    /// The next change; nothing when the server has ended the watch, which it does now and then.
    ///
    /// # Errors
    /// When the server says so ([`Error::Expired`] if it no longer knows the version), when the connection broke, when
    /// nothing came for longer than a watch may last, or when the cluster has used up its budget.
    pub async fn next(&mut self) -> Result<Option<WatchEvent>, Error> {
        loop {
            if let Some(line) = self.line() {
                if self.charge.is_metered() {
                    self.holds(self.buffer.len() + json::memory(&line))?;
                }
                return self.event(&line).map(Some);
            }
            self.holds(self.buffer.len())?;
            if self.buffer.len() > LONGEST {
                return Err(malformed(&self.what, "an event is too long"));
            }
            let frame = tokio::time::timeout(LENGTH + GRACE, self.body.frame()).await;
            let frame = frame.map_err(|_| Error::Timeout {
                what: self.what.clone(),
                after: LENGTH + GRACE,
            })?;
            match frame {
                // What is left in the buffer is half an event, which will be told again.
                None => return Ok(None),
                Some(Err(source)) => return Err(transport(&self.what, source)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
            }
        }
    }

    fn holds(&mut self, bytes: usize) -> Result<(), Error> {
        let held = self.charge.resize(bytes);
        held.map_err(|over| over_budget(&self.what, over))
    }

    /// The next whole line, if it is there.
    fn line(&mut self) -> Option<BytesMut> {
        loop {
            match memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
                Some(at) => {
                    let line = self.buffer.split_to(self.scanned + at + 1);
                    self.scanned = 0;
                    if !line.trim_ascii().is_empty() {
                        return Some(line);
                    }
                }
                None => {
                    self.scanned = self.buffer.len();
                    return None;
                }
            }
        }
    }

    fn event(&self, line: &[u8]) -> Result<WatchEvent, Error> {
        let mut event = match json::parse(line) {
            Ok(event) => event,
            Err(source) => partial::event(line).ok_or_else(|| malformed(&self.what, source))?,
        };
        let object = event.get_mut("object").map(Value::take).unwrap_or_default();
        match event.str_at(&["type"]) {
            "ADDED" => Ok(WatchEvent::Added(object)),
            "MODIFIED" => Ok(WatchEvent::Modified(object)),
            "DELETED" => Ok(WatchEvent::Deleted(object)),
            "BOOKMARK" => Ok(WatchEvent::Bookmark {
                resource_version: object.str_at(&["metadata", "resourceVersion"]).into(),
                initial_end: object.str_at(&["metadata", "annotations", "k8s.io/initial-events-end"])
                    == "true",
            }),
            "ERROR" if line.len() > LARGEST_REFUSAL => Err(malformed(&self.what, "an error is too long")),
            "ERROR" => Err(Error::refused(Refusal::of(self.what.clone(), 500, &object))),
            other => Err(malformed(
                &self.what,
                format!("an event of the unknown type {other:?}"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(text: &'static [u8]) -> Watch {
        Watch {
            body: Body::from(text.to_vec()),
            buffer: BytesMut::new(),
            scanned: 0,
            what: "watch ConfigMap".into(),
            charge: Charge::default(),
        }
    }

    #[tokio::test]
    async fn events_are_read_line_by_line_and_half_a_line_is_left() {
        let mut watch = watch(
            b"{\"type\":\"ADDED\",\"object\":{\"a\":1}}\n\n{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n{\"type\":\"ADD",
        );
        assert!(
            matches!(watch.next().await, Ok(Some(WatchEvent::Added(object))) if object.get("a").is_some())
        );
        let bookmark = watch.next().await.unwrap();
        assert!(
            matches!(&bookmark, Some(WatchEvent::Bookmark { resource_version, initial_end: false }) if resource_version == "7"),
            "{bookmark:?}"
        );
        assert!(watch.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn an_error_event_is_an_error_by_its_own_code() {
        let mut watch = watch(b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too old\"}}\n");
        let error = watch.next().await.unwrap_err();
        assert!(matches!(error, Error::Expired(_)), "{error:?}");
        assert_eq!(error.to_string(), "failed to watch ConfigMap: too old");
    }
}
