//! Which kinds the server serves.
//!
//! What was found is kept. It is asked for anew when a kind is not found, though not more often than every [`PAUSE`], and
//! when somebody says that it changed ([`Cluster::discovery_changed`]). One request is under way at a time; whoever needs
//! its answer, or why there was none, shares it. Old servers without aggregated discovery are asked group by group.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::StreamExt;
use futures::stream;
use model::{Str, Value, json};
use parking_lot::RwLock;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use super::Cluster;
use super::budget::{Charge, over_budget};
use super::counts::Verb;
use super::error::Error;
use super::resource::Resource;
use super::send::{Ask, JSON, Subject, malformed};
use super::served::{Kinds, Table, core_versions, group_versions};

/// A missing kind makes the server be asked again, but not more often than this.
const PAUSE: Duration = Duration::from_secs(3);

/// A server that did not answer is not asked again before this.
const DOWN: Duration = Duration::from_secs(1);

/// How long a server may take to serve a kind whose definition is there.
const SERVING: Duration = Duration::from_secs(15);

/// It is asked for such a kind after this time at first, then after longer and longer ones up to the other.
const ASK_AGAIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The answer to this has all groups in it. Old servers do not know it and answer with the groups alone.
const AGGREGATED: &str =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

/// So many group-versions are asked about at a time.
const AT_A_TIME: usize = 8;

/// And so many in all. Large clusters have some hundred.
const MOST: usize = 2_000;

pub(super) struct Discovery {
    table: RwLock<Option<Arc<Table>>>,
    /// How often somebody said that it changed.
    changes: AtomicU64,
    /// Kinds that were defined just now, by the name of their definition.
    expected: RwLock<HashMap<Str, Expected>>,
    /// Held while the server is asked, with why it did not answer the last time.
    asking: Mutex<Option<Failed>>,
    /// Counts the answers, for those who wait for a kind to appear.
    answers: watch::Sender<u64>,
}

/// Why the server did not answer, and when that was known.
struct Failed {
    error: Error,
    at: Instant,
}

/// A kind that was defined just now; without a name it is all of a group.
struct Expected {
    group: Str,
    kind: Option<Str>,
    /// Until when it may be missing all the same.
    until: Instant,
}

impl Discovery {
    pub(super) fn new() -> Discovery {
        Discovery {
            table: RwLock::new(None),
            changes: AtomicU64::new(0),
            expected: RwLock::default(),
            asking: Mutex::new(None),
            answers: watch::Sender::new(0),
        }
    }

    fn table(&self) -> Option<Arc<Table>> {
        self.table.read().clone()
    }

    fn expects(&self, group: &str, kind: &str) -> bool {
        let expected = self.expected.read();
        let now = Instant::now();
        expected.values().any(|expected| {
            let is_it = expected.kind.as_ref().is_none_or(|expected| *expected == kind);
            is_it && expected.group == group && expected.until > now
        })
    }

    fn is_current(&self, table: &Table) -> bool {
        table.changes == self.changes.load(Ordering::Acquire)
    }
}

impl Cluster {
    /// What objects of this group, version and kind are served as.
    pub async fn resource(&self, group: &str, version: &str, kind: &str) -> Result<Resource, Error> {
        self.find(group, Some(version), kind).await
    }

    /// The same in the version that the server prefers.
    pub async fn preferred(&self, group: &str, kind: &str) -> Result<Resource, Error> {
        self.find(group, None, kind).await
    }

    /// All that the server serves: groups with versions (`apps/v1`), and the kinds in them (`apps/v1/Deployment`).
    pub async fn served(&self) -> Result<Vec<String>, Error> {
        // Each server has namespaces: this asks for what is served, if nobody has.
        self.resource("", "v1", "Namespace").await?;
        let table = self.shared.discovery.table();
        Ok(table.map(|table| table.kinds.names()).unwrap_or_default())
    }

    /// What is known to be served, without asking: nothing also where nobody has asked yet.
    pub fn known(&self, group: &str, kind: &str) -> Option<Resource> {
        let table = self.shared.discovery.table()?;
        table.kinds.find(group, None, kind).cloned()
    }

    /// Has the server asked anew before the next answer: a definition was added, changed or removed.
    pub fn discovery_changed(&self) {
        self.shared.discovery.changes.fetch_add(1, Ordering::AcqRel);
        self.shared.discovery.answers.send_modify(|answers| *answers += 1);
    }

    /// A kind was defined just now by the definition of this name, or all those of a group were. A server, or one of several, may take
    /// a moment to serve what it has accepted: whoever asks for the kind meanwhile waits for it.
    pub fn expect(&self, definition: &str, group: &str, kind: Option<&str>) {
        let now = Instant::now();
        let mut expected = self.shared.discovery.expected.write();
        expected.retain(|_, expected| expected.until > now);
        let kind = Expected {
            group: group.into(),
            kind: kind.map(Into::into),
            until: now + SERVING,
        };
        expected.insert(definition.into(), kind);
        drop(expected);
        self.discovery_changed();
    }

    /// The definition of this name is being deleted: nobody waits for what it has defined any more.
    pub fn expect_no_more(&self, definition: &str) {
        let expected = self.shared.discovery.expected.write().remove(definition);
        if expected.is_some() {
            self.discovery_changed();
        }
    }

    /// Whether a kind was defined just now. If so, this waits for a moment, so that the server can be asked again.
    pub(super) async fn serves_soon(&self, group: &str, kind: &str, pause: &mut Option<Duration>) -> bool {
        if !self.shared.discovery.expects(group, kind) {
            return false;
        }
        let (least, most) = ASK_AGAIN;
        let wait = pause.map_or(least, |pause| (pause * 2).min(most));
        tokio::time::sleep(wait).await;
        *pause = Some(wait);
        true
    }

    /// Changes each time that what is served was asked for anew, or should be.
    pub fn discoveries(&self) -> watch::Receiver<u64> {
        self.shared.discovery.answers.subscribe()
    }

    async fn find(&self, group: &str, version: Option<&str>, kind: &str) -> Result<Resource, Error> {
        let discovery = &self.shared.discovery;
        let mut seen = discovery.table();
        let mut pause = None;
        loop {
            if let Some(table) = &seen {
                let (current, fresh) = (discovery.is_current(table), table.at.elapsed() < PAUSE);
                match table.kinds.find(group, version, kind) {
                    Some(found) if current => return Ok(found.clone()),
                    None if current && fresh && !self.serves_soon(group, kind, &mut pause).await => {
                        return Err(table.kinds.missing(group, version, kind));
                    }
                    _ => {}
                }
            }
            match self.discover(seen.as_ref()).await {
                Ok(table) => seen = Some(table),
                // What was true a moment ago is better than nothing.
                Err(error) => {
                    let known = seen
                        .as_ref()
                        .and_then(|table| table.kinds.find(group, version, kind));
                    return known.cloned().ok_or(error);
                }
            }
        }
    }

    /// Asks the server, unless somebody did since `seen`. Those who have waited meanwhile share the answer, and the failure too: of
    /// all that need it, each would wait in vain once more.
    async fn discover(&self, seen: Option<&Arc<Table>>) -> Result<Arc<Table>, Error> {
        let discovery = &self.shared.discovery;
        let since = Instant::now();
        let mut asking = discovery.asking.lock().await;
        if let Some(table) = discovery.table()
            && seen.is_none_or(|seen| !Arc::ptr_eq(seen, &table))
        {
            return Ok(table);
        }
        let is_recent = |failed: &&Failed| failed.at >= since || failed.at.elapsed() < DOWN;
        if let Some(failed) = asking.as_ref().filter(is_recent) {
            return Err(failed.error.clone());
        }
        let changes = discovery.changes.load(Ordering::Acquire);
        let (kinds, charge) = match self.ask_kinds().await {
            Ok(asked) => asked,
            Err(error) => {
                let at = Instant::now();
                *asking = Some(Failed {
                    error: error.clone(),
                    at,
                });
                return Err(error);
            }
        };
        *asking = None;
        let table = Arc::new(Table {
            kinds,
            at: Instant::now(),
            changes,
            _charge: charge,
        });
        *discovery.table.write() = Some(Arc::clone(&table));
        discovery.answers.send_modify(|answers| *answers += 1);
        Ok(table)
    }

    async fn ask_kinds(&self) -> Result<(Kinds, Charge), Error> {
        let (mut kinds, mut charge) = (Kinds::default(), self.charge());
        for root in ["/api", "/apis"] {
            self.discover_root(root, &mut kinds, &mut charge).await?;
        }
        Ok((kinds, charge))
    }

    /// Checks what was found so far against the budget of the cluster.
    fn count_kinds(&self, path: &str, kinds: &Kinds, charge: &mut Charge) -> Result<(), Error> {
        if !charge.is_metered() {
            return Ok(());
        }
        let held = self
            .may_serve(kinds.count())
            .and_then(|()| charge.resize(kinds.size()));
        held.map_err(|over| over_budget(format_args!("{} {path}", Verb::Discover), over))
    }

    async fn discover_root(
        &self,
        root: &'static str,
        kinds: &mut Kinds,
        charge: &mut Charge,
    ) -> Result<(), Error> {
        let mut ask = Ask::get(root.to_owned());
        ask.accept = AGGREGATED;
        let answer = self.ask_path(&ask).await?;
        if answer.str_at(&["kind"]) == "APIGroupDiscoveryList" {
            kinds.aggregated(&answer);
            return self.count_kinds(root, kinds, charge);
        }
        let versions = match root {
            "/api" => core_versions(&answer),
            _ => group_versions(&answer),
        };
        let asked = stream::iter(versions.into_iter().take(MOST)).map(async |(group, version)| {
            let path = match group.as_str() {
                "" => format!("/api/{version}"),
                group => format!("/apis/{group}/{version}"),
            };
            (group, version, self.ask_path(&Ask::get(path)).await)
        });
        let mut asked = asked.buffered(AT_A_TIME);
        while let Some((group, version, answer)) = asked.next().await {
            match answer {
                Ok(list) => {
                    kinds.listed(&group, &version, &list);
                    self.count_kinds(root, kinds, charge)?;
                }
                Err(error @ Error::OverBudget { .. }) => return Err(error),
                // A group whose own server is down must not hide the others.
                Err(error) => {
                    tracing::warn!(%group, %version, %error, "no discovery of a group");
                    kinds.is_silent(group, version);
                }
            }
        }
        Ok(())
    }

    async fn ask_path(&self, ask: &Ask) -> Result<Value, Error> {
        let subject = Subject {
            verb: Verb::Discover,
            kind: &ask.path,
            namespace: "",
            name: "",
        };
        debug_assert!(ask.accept.contains(JSON));
        let answer = self.ask(&subject, ask).await?;
        json::parse(&answer.body).map_err(|source| malformed(subject, source))
    }
}
