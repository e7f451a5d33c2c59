//! Files that lie over others: what is generated and decrypted, without writing into the tree.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kustomize::Tree;

use crate::files::Files;

pub(crate) struct Overlay<'f> {
    below: &'f dyn Files,
    /// By their paths with links followed.
    above: BTreeMap<String, Vec<u8>>,
    /// A file that nobody has written, and what it is called.
    generated: Option<(String, String)>,
}

impl<'f> Overlay<'f> {
    pub(crate) fn new(below: &'f dyn Files) -> Self {
        Overlay {
            below,
            above: BTreeMap::new(),
            generated: None,
        }
    }

    /// Says what a file is called that nobody has written.
    pub(crate) fn call(&mut self, path: &str, name: &str) {
        self.generated = Some((path.to_owned(), name.to_owned()));
    }

    /// Puts a file in the place of what is there.
    pub(crate) fn put(&mut self, path: &str, content: Vec<u8>) {
        let path = self.below.resolve(path).unwrap_or_else(|| path.to_owned());
        self.above.insert(path, content);
    }

    fn found(&self, path: &str) -> Option<&Vec<u8>> {
        if self.above.is_empty() {
            return None;
        }
        self.above.get(path).or_else(|| {
            let real = self.below.resolve(path)?;
            self.above.get(&real)
        })
    }
}

impl Tree for Overlay<'_> {
    fn read(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, String> {
        match self.found(path) {
            Some(content) => Ok(Some(Cow::Borrowed(content))),
            None => self.below.read(path),
        }
    }

    fn is_dir(&self, path: &str) -> bool {
        self.below.is_dir(path)
    }

    fn resolve(&self, path: &str) -> Option<String> {
        let real = self.below.resolve(path);
        real.or_else(|| self.above.contains_key(path).then(|| path.to_owned()))
    }

    fn why_missing(&self, path: &str) -> Option<String> {
        self.below.why_missing(path)
    }

    fn is_file_system(&self) -> bool {
        self.below.is_file_system()
    }

    fn show(&self, path: &str) -> String {
        match &self.generated {
            Some((generated, name)) if generated == path => name.clone(),
            _ => self.below.show(path),
        }
    }
}
