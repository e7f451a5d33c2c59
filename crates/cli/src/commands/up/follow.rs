//! Follows files and cluster, and does what each change asks for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use kube::Client;
use model::{ObjectKey, Value};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, sleep_until};

use super::files::{self, Listing, Wanted};
use super::pods::Pods;
use super::status::{self, State};
use super::sync::{Outcome, Sync};
use super::view::{Row, View};
use super::watches::{Seen, Watches};

/// How often the files are looked at. The cluster is watched, not asked.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How long to wait before what failed is tried again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Keeps a cluster in sync with a directory.
pub(super) struct Follower {
    folder: PathBuf,
    once: bool,
    sync: Sync,
    view: View,
    watches: Watches,
    seen: mpsc::Receiver<Seen>,
    look: Interval,
    /// What the directory held when it was last looked at.
    last: Option<Result<Listing, String>>,
    /// What the files say, as far as they can be read.
    wanted: Vec<Wanted>,
    /// Some files cannot be read, so that nothing may be applied.
    unreadable: bool,
    /// When to try again what failed, and the wait before it.
    retry: Option<(Instant, Duration)>,
    /// The objects that were applied, as they are in the cluster.
    live: BTreeMap<ObjectKey, Value>,
    pods: Pods,
}

impl Follower {
    pub(super) fn new(folder: PathBuf, once: bool, client: Client, view: View) -> Self {
        let (sender, seen) = mpsc::channel(1024);
        Follower {
            folder,
            once,
            sync: Sync::new(client.clone()),
            view,
            watches: Watches::new(client, sender),
            seen,
            look: tokio::time::interval(LOOK_EVERY),
            last: None,
            wanted: Vec::new(),
            unreadable: false,
            retry: None,
            live: BTreeMap::new(),
            pods: Pods::default(),
        }
    }

    /// Works until, with `--once`, all is decided; without it, for ever.
    pub(super) async fn follow(&mut self) -> ExitCode {
        loop {
            let retry_at = self.retry.map(|(at, _)| at);
            let failed = tokio::select! {
                _ = self.look.tick() => self.look_at_files().await,
                Some(seen) = self.seen.recv() => {
                    self.saw(seen).await;
                    false
                }
                () = sleep_until(retry_at.unwrap_or_else(Instant::now)), if retry_at.is_some() => self.run().await,
            };
            if self.once && failed {
                return ExitCode::FAILURE;
            }
            if self.once && self.all_ready() {
                let count = self.view.len();
                self.view.say(&format!("all {count} objects are ready"));
                return ExitCode::SUCCESS;
            }
        }
    }

    fn all_ready(&self) -> bool {
        !self.wanted.is_empty()
            && self.view.len() >= self.sync.applied.len()
            && self.view.unready().next().is_none()
    }

    /// Says what was not ready in time.
    pub(super) fn report_late(&mut self, seconds: u64) {
        let mut text = format!("not ready after {seconds} s:");
        for (key, row) in self.view.unready() {
            let applied = self.sync.applied.get(key);
            let place = applied
                .map(|applied| format!(" ({})", applied.place))
                .unwrap_or_default();
            text.push_str(&format!("\n  {key}{place}: {} {}", row.state.word(), row.detail));
        }
        if self.view.unready().next().is_none() {
            text.push_str(" the objects were still being applied; give it more time with --timeout");
        }
        self.view.say(&text);
    }

    /// Reads the files if they changed; whether something failed.
    async fn look_at_files(&mut self) -> bool {
        let folder = self.folder.clone();
        let task = tokio::task::spawn_blocking(move || files::list(&folder));
        let listing = task.await.unwrap_or_else(|error| Err(error.to_string()));
        if self.last.as_ref() == Some(&listing) {
            return false;
        }
        let before = self.last.replace(listing.clone());
        let (wanted, problems) = match listing {
            Err(problem) => (Vec::new(), vec![problem]),
            Ok(listing) => {
                self.tell_left_out(before, &listing);
                let task = tokio::task::spawn_blocking(move || files::read(&listing));
                task.await
                    .unwrap_or_else(|error| (Vec::new(), vec![error.to_string()]))
            }
        };
        self.wanted = wanted;
        self.unreadable = !problems.is_empty();
        self.retry = None;
        if !problems.is_empty() {
            let mut problems = problems;
            let others = self.sync.problems(&self.wanted).await;
            problems.extend(others.iter().map(Outcome::to_string));
            let list = problems.join("\n  ");
            self.view
                .say(&format!("nothing is changed until this is mended:\n  {list}"));
            return true;
        }
        if self.wanted.is_empty() {
            self.tell_empty();
            return true;
        }
        self.run().await
    }

    fn tell_left_out(&mut self, before: Option<Result<Listing, String>>, now: &Listing) {
        let before = before.and_then(Result::ok).unwrap_or_default();
        for path in now.left_out.iter().filter(|path| !before.left_out.contains(path)) {
            let path = path.display();
            self.view
                .say(&format!("left out  {path}: it is a link or no regular file"));
        }
    }

    fn tell_empty(&mut self) {
        let folder = self.folder.display();
        let text = match self.sync.applied.len() {
            0 => format!("{folder} holds no objects: there is no file *.yaml, *.yml or *.json with one"),
            count => format!(
                "{folder} holds no objects any more. This is more often a mistake than a wish: the {count} in the cluster \
                 are kept. Leave one file to have the others pruned"
            ),
        };
        self.view.say(&text);
    }

    /// Applies what is wanted; whether something failed.
    async fn run(&mut self) -> bool {
        let wait = self.retry.take().map(|(_, wait)| wait);
        if self.unreadable || self.wanted.is_empty() {
            return false;
        }
        let outcomes = self.sync.run(&self.wanted).await;
        self.watches.cover(&self.sync);
        let failed = outcomes.iter().any(Outcome::is_failure);
        let failing = |key: &ObjectKey| {
            let mut failures = outcomes.iter().filter(|outcome| outcome.is_failure());
            failures.any(|outcome| outcome.key == *key)
        };
        let applied = &self.sync.applied;
        self.view.keep(|key| applied.contains_key(key) || failing(key));
        self.live.retain(|key, _| applied.contains_key(key));
        self.view.outcomes(&outcomes);
        if failed {
            let wait = wait.map_or(RETRY.0, |wait| (wait * 2).min(RETRY.1));
            self.retry = Some((Instant::now() + wait, wait));
        }
        failed
    }

    async fn saw(&mut self, seen: Seen) {
        let Seen { key, live, version } = seen;
        if key.group.is_empty() && key.kind == "Pod" {
            self.pods.saw(&key, live.as_ref());
            self.show_workloads(&key.namespace);
        }
        if !self.sync.applied.contains_key(&key) {
            return;
        }
        match &live {
            Some(live) => {
                self.live.insert(key.clone(), live.clone());
                self.show(&key);
            }
            None => drop(self.live.remove(&key)),
        }
        if let Some(outcome) = self.sync.restore(&key, live.as_ref(), version).await {
            if outcome.is_failure() && self.retry.is_none() {
                self.retry = Some((Instant::now() + RETRY.0, RETRY.0));
            }
            self.view.outcomes(&[outcome]);
        }
    }

    /// Shows how an object is doing.
    fn show(&mut self, key: &ObjectKey) {
        let Some(live) = self.live.get(key) else { return };
        let (state, mut detail) = status::of(live);
        if state == State::Progressing
            && let Some(trouble) = self.pods.trouble_of(live)
        {
            detail = format!("{detail}; {trouble}");
        }
        self.view.status(key, Row { state, detail });
    }

    fn show_workloads(&mut self, namespace: &str) {
        let keys = self.live.keys().filter(|key| key.namespace == namespace);
        let workloads: Vec<ObjectKey> = keys
            .filter(|key| matches!(key.group.as_str(), "apps" | "batch"))
            .cloned()
            .collect();
        for key in workloads {
            self.show(&key);
        }
    }
}
