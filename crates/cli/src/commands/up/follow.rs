//! Follows files and cluster, and tells what becomes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use model::{ObjectKey, Value};
use tokio::sync::mpsc;

use super::board::{Board, Row, Verdict};
use super::directory::Change;
use super::end::is_of_flux;
use super::ground::Ground;
use super::index::Index;
use super::problem;
use super::root::Root;
use super::unit::State;
use super::view::{self, View};
use super::watches::{Seen, Told, Watches};
use crate::commands::controller::Working;

/// How long what controllers tell is waited for at the end.
const HEARD_OUT: Duration = Duration::from_secs(1);

/// After so long it is another second.
const NEXT_SECOND: Duration = Duration::from_millis(1100);

/// Where files come from.
pub(super) struct Files {
    /// What becomes of those of a directory.
    pub(super) changes: mpsc::Receiver<Change>,
    /// The directory, if it is one.
    pub(super) folder: Option<PathBuf>,
}

/// How it is followed.
pub(super) struct How {
    /// Until all is decided.
    pub(super) once: bool,
    /// Nothing but the root is worked on.
    pub(super) is_narrow: bool,
}

/// Follows files and cluster.
pub(super) struct Follower<'g> {
    ground: &'g Ground,
    root: Root,
    /// The objects that are applied once there is something to apply.
    objects: Vec<Value>,
    is_applied: bool,
    once: bool,
    /// Whether nothing but the root is worked on.
    is_narrow: bool,
    folder: Option<PathBuf>,
    index: Arc<Index>,
    board: Board,
    pub(super) view: View,
    watches: Watches,
    seen: mpsc::Receiver<Seen>,
    changes: mpsc::Receiver<Change>,
    /// What was told of units that have failed.
    told: BTreeMap<ObjectKey, String>,
    /// The revision of each unit that was applied as a whole, until another is begun.
    finished: BTreeMap<Name, String>,
    /// The releases that were told of to have come about.
    released: BTreeSet<Name>,
    /// Units and revisions by which something was changed.
    touched: BTreeSet<(Name, String)>,
    /// Whether the files could not be read when they were looked at last.
    is_unreadable: bool,
    /// Objects of which it was said that nobody works on them.
    unattended: BTreeSet<ObjectKey>,
}

/// Namespace and name of a unit.
type Name = (String, String);

impl<'g> Follower<'g> {
    pub(super) fn new(
        ground: &'g Ground,
        root: Root,
        objects: Vec<Value>,
        files: Files,
        how: &How,
        view: View,
    ) -> Self {
        let (sender, seen) = mpsc::channel(1024);
        let Files { changes, folder } = files;
        let mut board = Board::default();
        board.own_only = !ground.is_embedded();
        Follower {
            watches: Watches::new(ground.client.clone(), sender),
            ground,
            root,
            objects,
            is_applied: false,
            once: how.once,
            is_narrow: how.is_narrow,
            folder,
            index: Arc::default(),
            board,
            view,
            seen,
            changes,
            told: BTreeMap::new(),
            finished: BTreeMap::new(),
            released: BTreeSet::new(),
            touched: BTreeSet::new(),
            is_unreadable: false,
            unattended: BTreeSet::new(),
        }
    }

    /// Applies the objects once there is something to apply. With `--once`, that there is nothing decides it.
    pub(super) async fn begin(&mut self) -> anyhow::Result<Option<ExitCode>> {
        if self.folder.is_none() {
            self.apply().await?;
        }
        while !self.is_applied {
            let Some(change) = self.changes.recv().await else {
                anyhow::bail!("the directory is no longer followed");
            };
            if let Some(code) = self.files(change).await? {
                return Ok(Some(code));
            }
        }
        Ok(None)
    }

    /// Works until, with `--once`, all is decided; without it, for ever.
    pub(super) async fn follow(&mut self, working: &mut Working) -> anyhow::Result<ExitCode> {
        loop {
            tokio::select! {
                error = working.ended() => return Err(error),
                Some(change) = self.changes.recv() => {
                    if let Some(code) = self.files(change).await? {
                        return Ok(code);
                    }
                }
                Some(seen) = self.seen.recv() => {
                    self.note(seen);
                    while let Ok(seen) = self.seen.try_recv() {
                        self.note(seen);
                    }
                }
            }
            self.show();
            if self.once
                && let Some(code) = self.decide().await?
            {
                return Ok(code);
            }
        }
    }

    async fn apply(&mut self) -> anyhow::Result<()> {
        for object in &self.objects {
            let applied = self.ground.apply(object).await?;
            self.board.note_applied(&applied);
            // What is made after this is younger than the first of these, also by clocks that count seconds: so it is told at the
            // end from what was there before.
            if !self.ground.is_embedded() && is_new_source(&applied) {
                tokio::time::sleep(NEXT_SECOND).await;
            }
        }
        self.is_applied = true;
        Ok(())
    }

    /// The files have changed.
    async fn files(&mut self, change: Change) -> anyhow::Result<Option<ExitCode>> {
        let is_over = match change {
            Change::LeftOut(paths) => {
                for path in paths {
                    self.view.say(&format!("left out  {path}"));
                }
                false
            }
            Change::Unreadable(problem) => {
                self.is_unreadable = true;
                let head = "nothing is changed until this is mended:";
                self.view.say(&view::listed(head, &[problem]));
                true
            }
            Change::Empty(text) => {
                self.view.say(&text);
                true
            }
            Change::Committed(revision, index) => {
                if std::mem::take(&mut self.is_unreadable) {
                    self.view.say("mended    the files can be read again");
                }
                self.index = index;
                self.board.wanted = Some((self.root.source_key(), revision));
                match self.is_applied {
                    false => self.apply().await?,
                    true => self.ask(&[self.root.source_key()]).await,
                }
                false
            }
        };
        Ok((is_over && self.once).then_some(ExitCode::FAILURE))
    }

    /// Has controllers look at units now. What cannot be asked is looked at when its interval is over.
    async fn ask(&mut self, units: &[ObjectKey]) {
        for key in units {
            let token = Timestamp::now().to_string();
            match self.ground.ask(key, &token).await {
                Ok(()) => self.board.note_asked(key, &token),
                Err(error) => self.view.say(&format!(
                    "failed    {key}: it cannot be asked to look now: {error}"
                )),
            }
        }
    }

    fn note(&mut self, seen: Seen) {
        match seen {
            Seen::Unit(key, live) => self.board.note_unit(&key, live.as_ref()),
            Seen::Object(key, live) => self.board.note_object(&key, live),
            Seen::Pod(key, live) => self.board.note_pod(&key, live.as_ref()),
            Seen::Listed(kind) => self.board.note_listed(kind),
            Seen::Blind(kind, why) => self.board.note_blind(kind, why),
            Seen::Told(told) => self.tell_changes(told),
        }
    }

    /// Tells what a controller has done to a release.
    fn tell_release(&mut self, told: &Told) {
        let word = match told.reason.as_str() {
            "InstallSucceeded" => "installed",
            "UpgradeSucceeded" => "upgraded ",
            "TestSucceeded" => "tested   ",
            "RollbackSucceeded" => "rolled back",
            "UninstallSucceeded" => "uninstalled",
            "DriftDetected" => "drifted  ",
            // What has failed at last is told by its status; what is put right after that would not be told at all.
            "InstallFailed" | "UpgradeFailed" | "TestFailed" => "failed   ",
            _ => return,
        };
        let ((namespace, name), kind) = (&told.unit, told.kind);
        if matches!(told.reason.as_str(), "InstallSucceeded" | "UpgradeSucceeded") {
            self.released.insert(told.unit.clone());
        }
        let message = self.problems(&told.message);
        self.view.say(&view::listed(
            &format!("{word} {kind}/{namespace}/{name}:"),
            &message,
        ));
    }

    /// Tells what a controller has done to objects.
    fn tell_changes(&mut self, told: Told) {
        if told.kind == "HelmRelease" {
            return self.tell_release(&told);
        }
        let Told { unit, revision, .. } = told;
        if told.reason == "ReconciliationSucceeded" {
            self.finished.insert(unit, revision);
            return;
        }
        // What is applied again though nothing new came was changed by somebody else. What was there once, and comes back after
        // something else, is new.
        let again = self.finished.get(&unit) == Some(&revision);
        if !again {
            self.finished.remove(&unit);
        }
        let mut is_touched = false;
        for line in told.message.lines() {
            let Some((key, word)) = line.rsplit_once(' ') else {
                continue;
            };
            let text = match (word, again) {
                ("created", false) => format!("created   {key}"),
                ("configured", false) => format!("changed   {key}"),
                ("created", true) => format!("restored  {key}: somebody else had deleted it"),
                ("configured", true) => format!("restored  {key}: somebody else had changed it"),
                ("deleted", _) => format!("pruned    {key}: it is in no file any more"),
                _ => continue,
            };
            is_touched = true;
            self.view.say(&text);
        }
        if is_touched && !again {
            self.touched.insert((unit, revision));
        }
    }

    /// Shows how everything is, and tells what has failed anew.
    fn show(&mut self) {
        self.watches.cover(self.board.objects());
        let now = Timestamp::now();
        let mut rows = self.board.rows(now);
        for row in &rows {
            let key = &row.unit.key;
            if row.unit.state != State::Failed {
                self.told.remove(key);
            } else if self.told.get(key) != Some(&row.unit.detail) {
                self.told.insert(key.clone(), row.unit.detail.clone());
                let run = (name_of(key), row.unit.attempted.clone());
                let head = match (row.unit.reason.as_str(), self.touched.contains(&run)) {
                    ("BuildFailed", _) | ("ReconciliationFailed", false) => {
                        format!("failed    {key}: nothing is changed until this is mended:")
                    }
                    ("ReconciliationFailed", true) => {
                        format!("failed    {key}: nothing else is changed until this is mended:")
                    }
                    _ => format!("failed    {key}:"),
                };
                self.view
                    .say(&view::listed(&head, &self.problems(&row.unit.detail)));
            }
        }
        if self.is_narrow {
            self.tell_unattended();
        }
        let objects = self.board.objects().map(|(_, (key, _))| key);
        let objects = objects.filter(|key| !self.board.has_unit(key) && self.board.is_seen(key));
        let objects = objects.map(|key| self.board.shown(key, now)).collect();
        // What is waited for can be that something is tried again which has failed.
        for row in rows.iter_mut().filter(|row| row.state == State::Waiting) {
            row.detail = self.problems(&row.detail).join("; ");
        }
        self.view.show(rows, objects);
    }

    /// Tells of objects of Flux in the files that nobody works on.
    fn tell_unattended(&mut self) {
        let objects = self.board.objects().map(|(_, (key, _))| key);
        let objects = objects.filter(|key| is_of_flux(&key.group) && !self.unattended.contains(*key));
        let objects: Vec<ObjectKey> = objects.cloned().collect();
        for key in objects {
            self.view.say(&format!(
                "left out  {key}: it is an object of Flux, and there are others in the cluster that would be worked on as well; \
                 --with-others has all of them worked on"
            ));
            self.unattended.insert(key);
        }
    }

    fn problems(&self, message: &str) -> Vec<String> {
        problem::problems(message, self.folder.as_deref(), &self.index)
    }

    /// Whether it is over, with `--once`.
    async fn decide(&mut self) -> anyhow::Result<Option<ExitCode>> {
        let now = Timestamp::now();
        Ok(match self.board.verdict(&self.root.key_of_kustomization(), now) {
            Verdict::Open => None,
            Verdict::TryAgain(units) => {
                self.ask(&units).await;
                None
            }
            Verdict::Ready => {
                self.hear_out().await;
                let rows = self.board.rows(now);
                let count: usize = rows.iter().map(|row| row.count).sum();
                self.view.say(&match count {
                    1 => "the one object is ready".to_owned(),
                    count => format!("all {count} objects are ready"),
                });
                Some(ExitCode::SUCCESS)
            }
            Verdict::Failed => {
                let reasons = self.reasons(&self.board.rows(now), State::Failed);
                self.view.say(&view::listed("not ready:", &reasons));
                Some(ExitCode::FAILURE)
            }
        })
    }

    /// Waits until the controllers have told how they got there, which they do a moment later. What did not change is not told.
    async fn hear_out(&mut self) {
        let until = tokio::time::Instant::now() + HEARD_OUT;
        let rows = self.board.rows(Timestamp::now());
        let units = rows
            .iter()
            .map(|row| &row.unit)
            .filter(|unit| unit.key.group == api::kustomize::GROUP);
        let mut runs: Vec<_> = units
            .map(|unit| (name_of(&unit.key), unit.revision.clone()))
            .collect();
        let releases = rows.iter().map(|row| &row.unit.key);
        let releases = releases.filter(|key| key.group == api::helm::GROUP && key.kind == "HelmRelease");
        let mut releases: Vec<_> = releases.map(name_of).collect();
        loop {
            runs.retain(|(unit, revision)| self.finished.get(unit) != Some(revision));
            releases.retain(|release| !self.released.contains(release));
            if runs.is_empty() && releases.is_empty() {
                return;
            }
            match tokio::time::timeout_at(until, self.seen.recv()).await {
                Ok(Some(seen)) => self.note(seen),
                _ => return,
            }
        }
    }

    /// Says what was not ready in time.
    pub(super) fn report_late(&mut self, seconds: u64) {
        let rows = self.board.rows(Timestamp::now());
        let mut reasons = self.reasons(&rows, State::Waiting);
        if reasons.is_empty() {
            reasons.push("nothing was applied yet; give it more time with --timeout".to_owned());
        }
        let head = format!("not ready after {seconds} s:");
        self.view.say(&view::listed(&head, &reasons));
    }

    /// Why units are not ready. What only waits is left out where something has failed.
    fn reasons(&self, rows: &[Row], least: State) -> Vec<String> {
        let is_told =
            |state: State| state == State::Failed || (state == State::Waiting && least == State::Waiting);
        let mut reasons = Vec::new();
        for row in rows {
            let unit = &row.unit;
            if unit.state == State::Failed {
                let problems = self.problems(&unit.detail);
                reasons.extend(problems.iter().map(|problem| format!("{}: {problem}", unit.key)));
            } else if is_told(row.state) && (row.unready.is_empty() || unit.state != State::Ready) {
                reasons.push(format!("{}: {} {}", unit.key, row.state.word(), row.detail));
            }
            for shown in row.unready.iter().filter(|shown| is_told(shown.state)) {
                let place = self.index.place(&shown.key, |_| Vec::new());
                let place =
                    place.map(|place| format!(" ({})", problem::in_folder(&place, self.folder.as_deref())));
                let place = place.unwrap_or_default();
                reasons.push(format!(
                    "{}{place}: {} {}",
                    shown.key,
                    shown.state.word(),
                    shown.detail
                ));
            }
        }
        reasons
    }
}

fn name_of(key: &ObjectKey) -> Name {
    (key.namespace.to_string(), key.name.to_string())
}

/// Whether it is a source that nobody has looked at yet.
fn is_new_source(object: &Value) -> bool {
    object.str_at(&["kind"]) == "GitRepository" && object.at(&["status", "conditions"]).is_none()
}
