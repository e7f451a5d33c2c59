//! What is where in an archive so far.

use std::collections::HashMap;

use super::Error;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Node {
    Directory,
    File,
}

/// The names an archive has used, so that none is a file and a directory, and so that parents which are only named count.
pub(super) struct Layout {
    nodes: HashMap<String, Node>,
    most: u64,
}

impl Layout {
    pub(super) fn new(most: u64) -> Self {
        Layout {
            nodes: HashMap::new(),
            most,
        }
    }

    /// The directories above a name that are not there yet, outer ones first.
    pub(super) fn new_parents<'a>(&mut self, name: &'a str) -> Result<Vec<&'a str>, Error> {
        let mut missing = Vec::new();
        let mut rest = name;
        while let Some((parent, _)) = rest.rsplit_once('/') {
            match self.nodes.get(parent) {
                Some(Node::Directory) => break,
                Some(Node::File) => return Err(conflict(parent)),
                None => missing.push(parent),
            }
            rest = parent;
        }
        missing.reverse();
        for parent in &missing {
            self.insert(parent, Node::Directory)?;
        }
        Ok(missing)
    }

    /// Whether the directory is a new one.
    pub(super) fn add_directory(&mut self, name: &str) -> Result<bool, Error> {
        match self.nodes.get(name) {
            Some(Node::Directory) => Ok(false),
            Some(Node::File) => Err(conflict(name)),
            None => self.insert(name, Node::Directory).map(|()| true),
        }
    }

    pub(super) fn add_file(&mut self, name: &str) -> Result<(), Error> {
        match self.nodes.get(name) {
            Some(Node::File) => Ok(()),
            Some(Node::Directory) => Err(conflict(name)),
            None if name.is_empty() => Err(conflict(".")),
            None => self.insert(name, Node::File),
        }
    }

    fn insert(&mut self, name: &str, node: Node) -> Result<(), Error> {
        if self.nodes.len() as u64 >= self.most {
            return Err(Error::TooManyEntries(self.most));
        }
        self.nodes.insert(name.to_owned(), node);
        Ok(())
    }
}

fn conflict(name: &str) -> Error {
    Error::Conflict {
        name: name.to_owned(),
    }
}
