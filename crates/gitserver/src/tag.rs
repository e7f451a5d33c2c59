//! An annotated tag in the making.

use super::change::{Signer, with_line_end};
use super::object::{Id, Kind, Object};
use super::person::Person;
use super::repository::Repository;

/// An annotated tag in the making: [`Repository::annotated_tag`] begins it, [`Tag::create`] ends it.
#[must_use = "a tag does nothing until it is created"]
pub struct Tag {
    repository: Repository,
    name: String,
    target: Id,
    message: String,
    tagger: Person,
    time: Option<i64>,
    signer: Option<Signer>,
}

impl Tag {
    pub(super) fn new(repository: Repository, name: &str, target: Id) -> Self {
        Self {
            repository,
            name: name.to_string(),
            target,
            message: name.to_string(),
            tagger: Person::default(),
            time: None,
            signer: None,
        }
    }

    /// The message; without this, the name.
    pub fn message(mut self, message: &str) -> Self {
        self.message = message.to_string();
        self
    }

    /// Who sets it.
    pub fn tagger(mut self, name: &str, email: &str) -> Self {
        self.tagger = Person::new(name, email);
        self
    }

    /// When, in seconds since 1970; without this, a minute after the last commit.
    pub fn time(mut self, seconds: i64) -> Self {
        self.time = Some(seconds);
        self
    }

    /// Signs the tag: the callback is given the tag without signature and returns the armored signature.
    pub fn signed(mut self, signer: impl FnOnce(&[u8]) -> String + 'static) -> Self {
        self.signer = Some(Box::new(signer));
        self
    }

    /// Stores the tag and returns the id of the tag object.
    ///
    /// # Panics
    /// When the repository lacks the target.
    pub fn create(self) -> Id {
        let mut store = self.repository.store();
        let kind = store.get(self.target).map(|object| object.kind.name());
        let kind = kind.unwrap_or_else(|| panic!("the repository has no object {}", self.target));
        let time = self.time.unwrap_or_else(|| store.next_time());
        let mut text = format!(
            "object {}\ntype {kind}\ntag {}\ntagger {}\n\n{}",
            self.target,
            self.name,
            self.tagger.at(time),
            with_line_end(self.message)
        );
        if let Some(sign) = self.signer {
            let signature = sign(text.as_bytes());
            text.push_str(&with_line_end(signature));
        }
        let id = store.put(Object::new(Kind::Tag, text));
        store.refs.insert(format!("refs/tags/{}", self.name), id);
        id
    }
}
