//! Watches: a stream of changes from a revision on.
//!
//! A watch keeps nothing but its place in the log, so thousands of them cost little and a slow reader holds nothing up:
//! one that falls behind the log is told `410 Gone` and starts anew, as with the real server.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use futures::Stream;
use futures::stream;
use model::{Value, json, value};
use tokio::time::Instant;

use super::Call;
use super::list::{check_reached, read_number, read_revision};
use super::selection::Selection;
use crate::answer::{self, Answer};
use crate::error::{Error, Result};
use crate::fault::WatchFault;
use crate::field;
use crate::http::{Query, Representation, negotiate};
use crate::kinds::Served;
use crate::server::State;
use crate::store::{Change, Object, Since, Window};

/// How long a watch lasts when the client does not say.
const DEFAULT_LIFE: Duration = Duration::from_secs(30 * 60);
/// How often a quiet watch is told the newest revision.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// Answers with a stream of changes.
pub(crate) fn watch(call: &Call<'_>, fault: Option<WatchFault>) -> Result<Answer> {
    let representation = negotiate(call.request)?;
    let query = &call.request.query;
    check_options(call)?;
    let mut selection = Selection::read(call)?;
    if !call.target.name.is_empty() {
        selection.only(&call.target.name);
    }
    let version = query.get("resourceVersion");
    let revision = read_revision(version).map_err(|mut error| {
        // The real server finds this out too late to call it the client's fault.
        let text = error
            .message
            .trim_start_matches("invalid resource version: ")
            .to_owned();
        error = Error::new(500, "", text);
        error
    })?;
    let streaming = query.flag("sendInitialEvents");
    let silent = query.has("sendInitialEvents") && !streaming;
    let mut watcher = Watcher {
        state: Arc::clone(call.state),
        served: Arc::clone(&call.served),
        selection,
        prefix: match call.namespace() {
            "" => String::new(),
            namespace => format!("{namespace}/"),
        },
        representation,
        include: answer::include_object(call.request)?,
        first_row: true,
        bookmarks: query.flag("allowWatchBookmarks"),
        place: revision.unwrap_or(0),
        deadline: Instant::now() + life(query)?,
        fault,
        sent: 0,
    };
    let first = match revision {
        Some(revision) if !streaming => {
            if revision > call.state.store.revision() {
                check_reached(call, revision)?;
            }
            Bytes::new()
        }
        _ if silent => {
            watcher.place = call.state.store.revision();
            Bytes::new()
        }
        _ => watcher.initial(streaming),
    };
    Ok(Answer::stream(watcher.run(first)))
}

fn life(query: &Query) -> Result<Duration> {
    match read_number(query, "timeoutSeconds")?.unwrap_or(0) {
        seconds if seconds > 0 => Ok(Duration::from_secs(seconds as u64)),
        _ => Ok(DEFAULT_LIFE),
    }
}

fn check_options(call: &Call<'_>) -> Result<()> {
    let query = &call.request.query;
    let matching = query.get("resourceVersionMatch");
    let initial = query.has("sendInitialEvents");
    let forbidden = |detail: &str| field::Error::forbidden("resourceVersionMatch", detail);
    let mut errors = Vec::new();
    if initial && matching != "NotOlderThan" {
        errors.push(forbidden(
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ));
    }
    if !matching.is_empty() {
        if !initial {
            errors.push(forbidden(
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            ));
        }
        if matching != "NotOlderThan" {
            errors.push(field::Error::not_supported(
                "resourceVersionMatch",
                &matching.into(),
                &["NotOlderThan"],
            ));
        }
        if !query.get("continue").is_empty() {
            errors.push(forbidden(
                "resourceVersionMatch is forbidden when continue is provided",
            ));
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(Error::invalid("meta.k8s.io", "ListOptions", "", &errors)),
    }
}

struct Watcher {
    state: Arc<State>,
    served: Arc<Served>,
    selection: Selection,
    prefix: String,
    representation: Representation,
    include: answer::Include,
    /// The next table event is the first one and carries the columns.
    first_row: bool,
    bookmarks: bool,
    /// Everything up to this revision was sent.
    place: u64,
    deadline: Instant,
    fault: Option<WatchFault>,
    sent: usize,
}

impl Watcher {
    /// The objects of now as additions; with `streaming` followed by the bookmark that ends them.
    fn initial(&mut self, streaming: bool) -> Bytes {
        let window = Window {
            prefix: &self.prefix,
            start: None,
            limit: 0,
            at: None,
        };
        let keep = |object: &Object| self.selection.matches(object);
        let page = self
            .state
            .store
            .list(&self.served.resource.storage, &window, &keep);
        let mut out = BytesMut::new();
        let Ok(page) = page else { return out.freeze() };
        for object in &page.objects {
            self.event("ADDED", object, &mut out);
        }
        self.place = page.revision;
        if streaming {
            self.bookmark(true, &mut out);
        }
        out.freeze()
    }

    /// The stream: what is pending, then what comes, until the watch's time is over.
    fn run(self, first: Bytes) -> impl Stream<Item = Bytes> {
        let signal = self.state.store.signal(&self.served.resource.storage);
        let kinds = self.state.kinds_changed();
        let pending = if first.is_empty() { None } else { Some(first) };
        stream::unfold(
            (Some(self), (signal, kinds), pending),
            |(watcher, (mut signal, mut kinds), pending)| async move {
                let mut watcher = watcher?;
                if let Some(bytes) = pending {
                    return Some((bytes, (Some(watcher), (signal, kinds), None)));
                }
                loop {
                    signal.borrow_and_update();
                    let mut out = BytesMut::new();
                    let goes_on = watcher.advance(&mut out);
                    if !out.is_empty() {
                        let next = goes_on.then_some(watcher);
                        return Some((out.freeze(), (next, (signal, kinds), None)));
                    }
                    if !goes_on {
                        return None;
                    }
                    let quiet = Instant::now() + BOOKMARK_EVERY;
                    tokio::select! {
                        changed = signal.changed() => if changed.is_err() { return None },
                        _ = kinds.changed() => if !watcher.is_served() { return None },
                        () = tokio::time::sleep_until(watcher.deadline.min(quiet)) => {
                            let over = Instant::now() >= watcher.deadline;
                            if watcher.bookmarks {
                                watcher.bookmark(false, &mut out);
                                return Some((out.freeze(), ((!over).then_some(watcher), (signal, kinds), None)));
                            }
                            if over { return None }
                        }
                        () = watcher.state.stopped() => return None,
                    }
                }
            },
        )
    }

    /// Whether the kind is still there: the watches of a definition end with it, after the last of its objects.
    fn is_served(&self) -> bool {
        let resource = &self.served.resource;
        let kinds = self.state.kinds();
        kinds
            .get(&resource.group, &resource.version, &resource.plural)
            .is_some()
    }

    /// Writes what happened since the last time. Returns whether the watch goes on.
    fn advance(&mut self, out: &mut BytesMut) -> bool {
        match self.state.store.since(&self.served.resource.storage, self.place) {
            Since::Expired { oldest } => {
                let message = format!("too old resource version: {} ({oldest})", self.place);
                error_event(&Error::expired(message), out);
                false
            }
            Since::Changes { changes, revision } => {
                for change in &changes {
                    self.change(change, out);
                    if self.is_faulty(out) {
                        return false;
                    }
                }
                self.place = revision.max(self.place);
                !self.is_faulty(out)
            }
        }
    }

    fn is_faulty(&self, out: &mut BytesMut) -> bool {
        match &self.fault {
            Some(WatchFault::Drop { after }) => self.sent >= *after,
            Some(WatchFault::Expire { after }) if self.sent >= *after => {
                error_event(
                    &Error::expired(format!(
                        "too old resource version: {} ({})",
                        self.place,
                        self.place + 1
                    )),
                    out,
                );
                true
            }
            _ => false,
        }
    }

    /// Writes one change as this watch's selection sees it.
    fn change(&mut self, change: &Change, out: &mut BytesMut) {
        if !change.key().text().starts_with(&self.prefix) {
            return;
        }
        let had = change
            .old
            .as_ref()
            .is_some_and(|object| self.selection.matches(object));
        let has = change
            .new
            .as_ref()
            .filter(|object| self.selection.matches(object));
        match (had, has) {
            (false, Some(new)) => self.event("ADDED", new, out),
            (true, Some(new)) => self.event("MODIFIED", new, out),
            (true, None) => {
                // An object that no longer matches is gone for this client: its last matching state at the new revision.
                let last = change.last.clone().or_else(|| {
                    let old = change.old.as_ref()?;
                    Some(Arc::new(old.resealed(change.revision)))
                });
                if let Some(last) = last {
                    self.event("DELETED", &last, out);
                }
            }
            (false, None) => {}
        }
    }

    fn event(&mut self, kind: &str, object: &Object, out: &mut BytesMut) {
        self.sent += 1;
        out.put_slice(b"{\"type\":\"");
        out.put_slice(kind.as_bytes());
        out.put_slice(b"\",\"object\":");
        match self.representation {
            Representation::Object => self.served.append(object, out),
            other => {
                let value = answer::represent(
                    &self.served,
                    other,
                    self.include,
                    object,
                    self.first_row,
                    self.state.now(),
                );
                self.first_row = false;
                out.put_slice(&json::to_vec(&value));
            }
        }
        out.put_slice(b"}\n");
    }

    fn bookmark(&mut self, ends_initial: bool, out: &mut BytesMut) {
        let resource = &self.served.resource;
        let mut object = value!({
            "kind": (resource.kind.clone()),
            "apiVersion": (resource.api_version()),
            "metadata": {"resourceVersion": (self.place.to_string()), "creationTimestamp": null},
        });
        if ends_initial {
            object.set_at(&["metadata", "annotations", "k8s.io/initial-events-end"], "true");
        }
        let object = answer::represent_bookmark(
            &self.served,
            self.representation,
            self.include,
            object,
            self.state.now(),
        );
        let event = value!({"type": "BOOKMARK", "object": object});
        out.put_slice(&json::to_vec(&event));
        out.put_u8(b'\n');
    }
}

fn error_event(error: &Error, out: &mut BytesMut) {
    let event: Value = value!({"type": "ERROR", "object": (error.to_status())});
    out.put_slice(&json::to_vec(&event));
    out.put_u8(b'\n');
}
