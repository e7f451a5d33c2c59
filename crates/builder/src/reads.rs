//! What a build reads of its files: where that is the same in other files, so is what is built of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use kustomize::Tree;
use kustomize::remote::{Fetcher, RepoSpec};
use sha2::{Digest as _, Sha256};

use crate::files::{Entry, EntryKind, Files};

/// A question that a build asks of its files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    /// What is in this file?
    Read(String),
    /// Is this a directory?
    IsDir(String),
    /// Where does this path lead to?
    Resolve(String),
    /// What is in this directory?
    List(String),
}

impl Question {
    /// The answer, as far as it can be told apart from others: its digest.
    fn answer(&self, files: &dyn Files) -> Answer {
        match self {
            Question::Read(path) => of_content(&files.read(path)),
            Question::IsDir(path) => of_bytes(&[u8::from(files.is_dir(path))]),
            Question::Resolve(path) => of_path(files.resolve(path).as_deref()),
            Question::List(path) => of_list(&files.list(path)),
        }
    }
}

type Answer = [u8; 32];

/// What a build has asked of its files, and what it was answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads(BTreeMap<Question, Answer>);

impl Reads {
    /// Whether a build would be answered the same by these files. They are read only up to the first difference.
    pub fn are_same_in(&self, files: &dyn Files) -> bool {
        let mut asked = self.0.iter();
        asked.all(|(question, answer)| question.answer(files) == *answer)
    }
}

/// Files that note what is asked of them.
pub struct Noting<'f> {
    below: &'f dyn Files,
    asked: Mutex<BTreeMap<Question, Answer>>,
}

impl<'f> Noting<'f> {
    /// Notes what is asked of these files from now on.
    pub fn new(below: &'f dyn Files) -> Self {
        Noting {
            below,
            asked: Mutex::default(),
        }
    }

    /// What was asked so far.
    pub fn reads(self) -> Reads {
        Reads(self.asked.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, question: Question, answer: Answer) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.insert(question, answer);
    }
}

impl Tree for Noting<'_> {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        let content = self.below.read(path);
        self.note(Question::Read(path.to_owned()), of_content(&content));
        content
    }

    fn is_dir(&self, path: &str) -> bool {
        let is_dir = self.below.is_dir(path);
        self.note(Question::IsDir(path.to_owned()), of_bytes(&[u8::from(is_dir)]));
        is_dir
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let real = self.below.resolve(path);
        self.note(Question::Resolve(path.to_owned()), of_path(real.as_deref()));
        real
    }

    // It explains failures, and what has failed is built again.
    fn why_missing(&self, path: &str) -> Option<String> {
        self.below.why_missing(path)
    }

    fn is_file_system(&self) -> bool {
        self.below.is_file_system()
    }

    fn show(&self, path: &str) -> String {
        self.below.show(path)
    }
}

impl Files for Noting<'_> {
    fn list(&self, directory: &str) -> Result<Vec<Entry>, String> {
        let list = self.below.list(directory);
        self.note(Question::List(directory.to_owned()), of_list(&list));
        list
    }
}

/// Gets what is elsewhere, and notes that something was: that may change without a word.
pub struct NotingFetcher<'f> {
    below: &'f dyn Fetcher,
    is_used: AtomicBool,
}

impl<'f> NotingFetcher<'f> {
    /// Notes from now on whether something is got.
    pub fn new(below: &'f dyn Fetcher) -> Self {
        NotingFetcher {
            below,
            is_used: AtomicBool::new(false),
        }
    }

    /// Whether something was got.
    pub fn is_used(&self) -> bool {
        self.is_used.load(Ordering::Relaxed)
    }
}

impl Fetcher for NotingFetcher<'_> {
    fn file(&self, url: &str) -> Result<Vec<u8>, String> {
        self.is_used.store(true, Ordering::Relaxed);
        self.below.file(url)
    }

    fn repository(&self, spec: &RepoSpec) -> Result<Box<dyn Tree>, String> {
        self.is_used.store(true, Ordering::Relaxed);
        self.below.repository(spec)
    }
}

fn of_content(content: &Result<Option<Cow<'_, [u8]>>, String>) -> Answer {
    match content {
        Ok(Some(content)) => of(b'f', content),
        Ok(None) => of(b'n', &[]),
        Err(_) => of(b'e', &[]),
    }
}

fn of_path(path: Option<&str>) -> Answer {
    match path {
        Some(path) => of(b'p', path.as_bytes()),
        None => of(b'n', &[]),
    }
}

fn of_list(list: &Result<Vec<Entry>, String>) -> Answer {
    let Ok(list) = list else {
        return of(b'e', &[]);
    };
    let mut text = Vec::new();
    for entry in list {
        text.extend_from_slice(entry.name.as_bytes());
        text.push(match entry.kind {
            EntryKind::Directory => b'/',
            EntryKind::File => 0,
        });
    }
    of(b'l', &text)
}

fn of_bytes(bytes: &[u8]) -> Answer {
    of(b'b', bytes)
}

fn of(kind: u8, bytes: &[u8]) -> Answer {
    Sha256::new()
        .chain_update([kind])
        .chain_update(bytes)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use kustomize::Memory;

    use super::*;
    use crate::{Request, Tools, build};

    const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n";

    fn files(all: &[(&str, &str)]) -> Memory {
        all.iter().map(|(path, text)| (*path, *text)).collect()
    }

    /// What a build of the folder `app` reads of these files.
    fn reads(all: &[(&str, &str)]) -> Reads {
        let files = files(all);
        let noting = Noting::new(&files);
        let request = Request {
            path: "app".to_owned(),
            ..Request::default()
        };
        build(&noting, &request, &Tools::default()).unwrap();
        noting.reads()
    }

    #[test]
    fn a_build_reads_its_folder_and_its_bases_and_nothing_else() {
        let before = [
            ("app/kustomization.yaml", "resources: [../base]\n"),
            ("base/kustomization.yaml", "resources: [one.yaml]\n"),
            ("base/one.yaml", MAP),
            ("base/two.yaml", MAP),
            ("other/one.yaml", MAP),
        ];
        let reads = reads(&before);
        assert!(reads.are_same_in(&files(&before)));
        let with = |path: &str, text: &str| {
            let mut all: Vec<(&str, &str)> = before
                .iter()
                .filter(|(other, _)| *other != path)
                .copied()
                .collect();
            all.push((path, text));
            reads.are_same_in(&files(&all))
        };
        for unread in ["other/one.yaml", "base/two.yaml", "README.md", "app/notes.yaml"] {
            assert!(with(unread, "a: b\n"), "{unread}");
        }
        for read in [
            "app/kustomization.yaml",
            "base/kustomization.yaml",
            "base/one.yaml",
        ] {
            assert!(!with(read, "a: b\n"), "{read}");
        }
        assert!(
            !reads.are_same_in(&files(&before[..2])),
            "what is gone is no more the same"
        );
    }

    #[test]
    fn a_new_file_counts_where_all_files_of_a_folder_are_built() {
        let before = [("app/one.yaml", MAP), ("other/one.yaml", MAP)];
        let reads = reads(&before);
        let two = MAP.replace("one", "two");
        let in_it = [before[0], before[1], ("app/two.yaml", &two)];
        let beside = [before[0], before[1], ("other/two.yaml", &two)];
        assert!(!reads.are_same_in(&files(&in_it)));
        assert!(reads.are_same_in(&files(&beside)));
    }
}
