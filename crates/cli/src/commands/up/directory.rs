//! A directory whose working tree is followed: each state of it is a commit of a repository that is served.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use gitserver::{Access, Person, Repositories, Repository, Snapshot};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::index::Index;
use super::tree::{Files, Listing, WorkingTree};

/// The branch that the working tree is served as. It is no branch of the user's: what is not committed is part of it.
pub(super) const BRANCH: &str = "working-tree";

const REPOSITORY: &str = "files";

/// How often files are looked at, at most. Files are looked at rather than watched: that works the same on all systems, in
/// containers and on network drives, and costs little.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// The share of the time that looking may take: a twentieth.
const SHARE: u32 = 20;
/// Files that change are looked at again after so long, until they are still: an editor may be half done.
const STILL: Duration = Duration::from_millis(40);
const MOST_LOOKS: u32 = 50;

/// A directory that is followed.
pub(super) struct Directory {
    folder: PathBuf,
    tree: Arc<WorkingTree>,
    /// What of the directory is applied.
    path: String,
    repository: Repository,
    serving: JoinHandle<()>,
    url: String,
    last: Option<Result<Listing, String>>,
    files: Arc<Files>,
    index: Arc<Index>,
    /// Whether something was ever served.
    has_served: bool,
}

/// What has become of the files.
pub(super) enum Change {
    /// They are a commit now, and this is its revision.
    Committed(String, Arc<Index>),
    /// They cannot be read.
    Unreadable(String),
    /// There is nothing left in them, which is rather a mistake: what is to be said of that.
    Empty(String),
    /// These are not taken, with the reason.
    LeftOut(Vec<String>),
}

impl Directory {
    /// Serves a directory on the loopback interface.
    pub(super) async fn serve(folder: &Path) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.context("failed to listen on 127.0.0.1")?;
        let port = listener.local_addr()?.port();
        let repositories = Repositories::new();
        let repository = repositories.repository(REPOSITORY);
        repository.set_head(BRANCH);
        Ok(Directory {
            folder: folder.to_owned(),
            tree: Arc::new(WorkingTree::new(folder)),
            path: String::new(),
            repository,
            serving: tokio::spawn(repositories.serve(Access::Read, listener)),
            url: format!("http://127.0.0.1:{port}/{REPOSITORY}.git"),
            last: None,
            files: Arc::default(),
            index: Arc::default(),
            has_served: false,
        })
    }

    /// Where it is cloned from.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Reads the files for the first time, so that it can be decided what of them is applied.
    pub(super) async fn read(&mut self) -> Result<(), String> {
        let listing = self.listed().await?;
        self.take(&listing).await
    }

    /// What stands in the files.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

    /// Only what is below this path is applied.
    pub(super) fn apply_below(&mut self, path: &str) {
        self.path = path.to_owned();
    }

    /// Looks at the files for as long as somebody wants to know what becomes of them.
    pub(super) async fn follow(mut self, sender: mpsc::Sender<Change>) {
        while !sender.is_closed() {
            let begun = Instant::now();
            for change in self.look().await {
                if sender.send(change).await.is_err() {
                    return;
                }
            }
            tokio::time::sleep(LOOK_EVERY.max(begun.elapsed() * SHARE)).await;
        }
    }

    async fn look(&mut self) -> Vec<Change> {
        let mut listing = self.listed().await;
        if self.last.as_ref() == Some(&listing) {
            return Vec::new();
        }
        for _ in 0..MOST_LOOKS {
            tokio::time::sleep(STILL).await;
            let again = self.listed().await;
            if again == listing {
                break;
            }
            listing = again;
        }
        let before = self.last.replace(listing.clone());
        let listing = match listing {
            Ok(listing) => listing,
            Err(problem) => return vec![Change::Unreadable(problem)],
        };
        let before = before.and_then(Result::ok).unwrap_or_default();
        let mut changes = Vec::new();
        let left_out = listing.left_out.iter();
        let left_out = left_out.filter(|(path, _)| !before.left_out.contains_key(*path));
        let left_out: Vec<String> = left_out
            .map(|(path, why)| format!("{}: {why}", self.folder.join(path).display()))
            .collect();
        if !left_out.is_empty() {
            changes.push(Change::LeftOut(left_out));
        }
        changes.push(match self.take(&listing).await {
            Err(problem) => {
                // It is looked at again, though nothing else may change.
                self.last = None;
                Change::Unreadable(problem)
            }
            Ok(()) if self.index.is_empty(&self.path) => Change::Empty(self.emptiness()),
            Ok(()) => self.commit(),
        });
        changes
    }

    async fn listed(&self) -> Result<Listing, String> {
        let tree = Arc::clone(&self.tree);
        let task = tokio::task::spawn_blocking(move || tree.list());
        task.await.unwrap_or_else(|error| Err(error.to_string()))
    }

    /// Reads what has changed.
    async fn take(&mut self, listing: &Listing) -> Result<(), String> {
        let (tree, listing) = (Arc::clone(&self.tree), listing.clone());
        let (files, index) = (Arc::clone(&self.files), Arc::clone(&self.index));
        let task = tokio::task::spawn_blocking(move || {
            let files = tree.read(&listing, &files)?;
            let index = Index::of(&files, &index);
            Ok::<_, String>((files, index))
        });
        let (files, index) = task.await.unwrap_or_else(|error| Err(error.to_string()))?;
        self.files = Arc::new(files);
        self.index = Arc::new(index);
        Ok(())
    }

    fn commit(&mut self) -> Change {
        let said = Snapshot {
            message: format!("The working tree of {}", self.folder.display()),
            author: Person::new("sluice up", "sluice@localhost"),
            time: self.files.newest(),
        };
        match self.repository.snapshot(BRANCH, self.files.to_commit(), &said) {
            Ok(commit) => {
                self.has_served = true;
                Change::Committed(format!("{BRANCH}@sha1:{commit}"), Arc::clone(&self.index))
            }
            Err(error) => Change::Unreadable(error.to_string()),
        }
    }

    /// What is said where there is nothing to apply.
    fn emptiness(&self) -> String {
        let folder = match self.path.trim_start_matches("./") {
            "" => self.folder.clone(),
            path => self.folder.join(path),
        };
        let folder = folder.display();
        match self.has_served {
            false => format!("{folder} holds no objects: there is no file *.yaml or *.yml with one"),
            true => format!(
                "{folder} holds no objects any more. This is more often a mistake than a wish: what is in the cluster is kept. \
                 Leave one file to have the others pruned"
            ),
        }
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
