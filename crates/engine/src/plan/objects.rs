//! The objects of a plan, which are kept apart from it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use model::{Digest, Value};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The objects that the steps of a plan refer to.
///
/// They are not part of the plan: a plan is printed, stored and compared, and must not hold the values of Secrets. An
/// executor that has lost them, for it was killed, builds the same revision again, makes the list with [`Objects::push`] in any
/// order and finds each object by its digest.
#[derive(Clone, Default)]
pub struct Objects {
    list: Vec<(Digest, Arc<Value>)>,
    by_digest: HashMap<Digest, usize>,
}

/// Which of the [`Objects`] a step is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// Where it is in the list that was made with the plan.
    pub index: usize,
    /// What it is known by in any other list.
    pub digest: Digest,
}

impl Objects {
    /// Adds an object.
    pub fn push(&mut self, object: Arc<Value>) -> Reference {
        self.push_digested(digest(&object), object)
    }

    /// Adds an object whose digest is known.
    pub fn push_digested(&mut self, digest: Digest, object: Arc<Value>) -> Reference {
        let index = self.list.len();
        self.list.push((digest, object));
        self.by_digest.insert(digest, index);
        Reference { index, digest }
    }

    /// The object that was meant, if it is in the list.
    pub fn get(&self, reference: &Reference) -> Option<&Arc<Value>> {
        let there = self
            .list
            .get(reference.index)
            .filter(|(digest, _)| *digest == reference.digest);
        let elsewhere = || self.list.get(*self.by_digest.get(&reference.digest)?);
        there.or_else(elsewhere).map(|(_, object)| object)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Shows no object, for one may be a Secret.
impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.list.iter().map(|(digest, _)| digest))
            .finish()
    }
}

/// The digest that an object is known by: SHA-256 of what it holds, whatever the order of its keys.
pub fn digest(object: &Value) -> Digest {
    let mut hash = Sha256::new();
    write(object, &mut hash);
    Digest::sha256(hash.finalize().into())
}

/// Feeds a value to the hash with the keys of maps in order, so that equal objects have equal digests however they were
/// written. Each part is preceded by its type and length, which makes the text unambiguous without escapes.
fn write(value: &Value, hash: &mut Sha256) {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map.iter().collect();
            pairs.sort_unstable_by_key(|(key, _)| *key);
            hash.update(b"{");
            hash.update((pairs.len() as u64).to_be_bytes());
            for (key, value) in pairs {
                write_text(key, hash);
                write(value, hash);
            }
        }
        Value::Array(items) => {
            hash.update(b"[");
            hash.update((items.len() as u64).to_be_bytes());
            items.iter().for_each(|item| write(item, hash));
        }
        Value::Str(text) => write_text(text, hash),
        Value::Bool(bool) => hash.update([b'b', u8::from(*bool)]),
        Value::Null => hash.update(b"n"),
        Value::Int(number) => write_whole(*number, hash),
        // A number is the same number whether it was written 1 or 1.0.
        Value::Float(number) if number.fract() == 0.0 && number.abs() < EXACT => {
            write_whole(*number as i64, hash);
        }
        Value::Float(number) => {
            hash.update(b"f");
            hash.update(number.to_bits().to_be_bytes());
        }
    }
}

/// Whole numbers below 2⁵³ are the same as a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn write_whole(number: i64, hash: &mut Sha256) {
    hash.update(b"i");
    hash.update(number.to_be_bytes());
}

fn write_text(text: &str, hash: &mut Sha256) {
    hash.update(b"s");
    hash.update((text.len() as u64).to_be_bytes());
    hash.update(text.as_bytes());
}
