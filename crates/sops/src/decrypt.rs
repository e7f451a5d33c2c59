//! From an encrypted file to what it says.

use std::fmt;

use secrecy::SecretSlice;
use sha2::{Digest, Sha512};

use crate::cipher;
use crate::error::Error;
use crate::format::Format;
use crate::keys::Keys;
use crate::limits::MAX_SIZE;
use crate::metadata::{self, Metadata, Recipient};
use crate::number;
use crate::rules::Comments;
use crate::store;
use crate::tree::{Comment, Item, Tree, Value};
use crate::unlock::{DataKey, RemoteKey, Unlock};

/// Whether a file must be as it was when it was encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mac {
    /// It may have changed. Flux does it so: kustomize adds labels and more to what is encrypted.
    #[default]
    Ignored,
    /// A file that was changed is refused, as the `sops` program does.
    Verified,
}

/// A file that SOPS has encrypted.
pub struct Encrypted {
    format: Format,
    tree: Tree,
    metadata: Metadata,
}

/// What a file says, decrypted.
pub struct Decrypted {
    format: Format,
    tree: Tree,
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Decrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decrypted")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

/// Decrypts a file and writes it in another format, or the same. `ask` asks a service for a key; it is called only for
/// recipients that neither age nor PGP has helped with.
pub async fn decrypt(
    data: &[u8],
    input: Format,
    output: Format,
    keys: &Keys,
    mut ask: impl AsyncFnMut(&RemoteKey) -> Result<SecretSlice<u8>, String>,
) -> Result<Vec<u8>, Error> {
    let file = Encrypted::read(data, input)?;
    let mut unlock = file.unlock(keys);
    while let Some(wanted) = unlock.wanted() {
        let answer = ask(wanted).await;
        unlock.answer(answer);
    }
    let key = unlock.finish()?;
    file.decrypt(&key, Mac::Ignored)?.write(output)
}

impl Encrypted {
    /// Reads an encrypted file.
    pub fn read(data: &[u8], format: Format) -> Result<Encrypted, Error> {
        if data.len() > MAX_SIZE {
            return Err(Error::TooLarge {
                size: data.len(),
                limit: MAX_SIZE,
            });
        }
        let mut tree = store::read(data, format).map_err(|reason| Error::Read { format, reason })?;
        let metadata = metadata::extract(&mut tree, store::layout(format), format)?;
        Ok(Encrypted {
            format,
            tree,
            metadata,
        })
    }

    /// Whom the file is encrypted for.
    pub fn recipients(&self) -> impl Iterator<Item = &Recipient> {
        self.metadata
            .groups
            .iter()
            .flatten()
            .map(|sealed| &sealed.recipient)
    }

    /// Begins the search for the data key: age and PGP keys are tried at once.
    pub fn unlock(&self, keys: &Keys) -> Unlock<'_> {
        Unlock::new(&self.metadata, keys)
    }

    /// Decrypts all values.
    pub fn decrypt(self, key: &DataKey, mac: Mac) -> Result<Decrypted, Error> {
        let mut tree = self.tree;
        let mut walk = Walk {
            metadata: &self.metadata,
            key,
            path: Vec::new(),
            comments: Vec::new(),
            hash: Sha512::new(),
        };
        if self.metadata.mac_only_encrypted {
            // A MAC over less must never be equal to one over everything: SOPS begins it with the digest of its name.
            walk.hash.update(sha2::Sha256::digest(b"sops"));
        }
        for branch in &mut tree.branches {
            walk.branch(branch)?;
        }
        if mac == Mac::Verified {
            let computed = walk
                .hash
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02X}"))
                .collect::<String>();
            let metadata = &self.metadata;
            match cipher::decrypt(&metadata.mac, key, &metadata.last_modified) {
                Ok(Value::Text(stored)) if stored == computed.as_bytes() => {}
                _ => return Err(Error::Mac),
            }
        }
        Ok(Decrypted {
            format: self.format,
            tree,
        })
    }
}

impl Decrypted {
    /// Writes everything in a format, with the bytes that SOPS writes.
    pub fn write(&self, format: Format) -> Result<Vec<u8>, Error> {
        store::write(&self.tree, format).map_err(|reason| Error::Write {
            from: self.format,
            to: format,
            reason,
        })
    }
}

/// One walk over a tree, in the order that the MAC is made in.
struct Walk<'a> {
    metadata: &'a Metadata,
    key: &'a DataKey,
    /// The keys that lead to the current place. Lists add nothing.
    path: Vec<String>,
    comments: Comments,
    hash: Sha512,
}

impl Walk<'_> {
    fn branch(&mut self, branch: &mut [Item]) -> Result<(), Error> {
        self.comments.push(Vec::new());
        for item in branch {
            match item {
                Item::Comment(comment) => {
                    self.note(comment);
                    self.comment(comment);
                }
                Item::Entry(key, value) => {
                    self.path.push(key.clone());
                    self.value(value)?;
                    self.path.pop();
                    self.forget();
                }
            }
        }
        self.comments.pop();
        Ok(())
    }

    fn list(&mut self, items: &mut [Value]) -> Result<(), Error> {
        self.comments.push(Vec::new());
        for item in items {
            if let Value::Comment(comment) = item {
                self.note(comment);
                self.comment(comment);
            } else {
                self.value(item)?;
                self.forget();
            }
        }
        self.comments.pop();
        Ok(())
    }

    /// A comment counts for what follows it.
    fn note(&mut self, comment: &Comment) {
        if let Some(last) = self.comments.last_mut() {
            last.push(comment.text.clone());
        }
    }

    fn forget(&mut self) {
        if let Some(last) = self.comments.last_mut() {
            last.clear();
        }
    }

    /// A comment that cannot be decrypted was not encrypted: old versions have left comments alone.
    fn comment(&mut self, comment: &mut Comment) {
        if !self.metadata.rule.applies(&self.path, &self.comments, true) {
            return;
        }
        let Ok(text) = std::str::from_utf8(&comment.text) else {
            return;
        };
        match cipher::decrypt(text, self.key, &self.place()) {
            Ok(Value::Comment(decrypted)) => *comment = decrypted,
            Ok(Value::Text(text)) => comment.text = text,
            _ => {}
        }
    }

    fn value(&mut self, value: &mut Value) -> Result<(), Error> {
        match value {
            Value::Map(branch) => return self.branch(branch),
            Value::List(items) => return self.list(items),
            Value::Null | Value::Comment(_) => return Ok(()),
            _ => {}
        }
        let encrypted = self.metadata.rule.applies(&self.path, &self.comments, false);
        if encrypted {
            let complain = |reason| Error::Value {
                path: self.path.join("."),
                reason,
            };
            let (Value::Text(bytes) | Value::Bytes(bytes)) = &*value else {
                return Err(complain("should be encrypted and is no string"));
            };
            let text = std::str::from_utf8(bytes).map_err(|_| complain("is no text"))?;
            let decrypted = cipher::decrypt(text, self.key, &self.place()).map_err(complain)?;
            *value = decrypted;
        }
        if encrypted || !self.metadata.mac_only_encrypted {
            self.add(value);
        }
        Ok(())
    }

    /// What the values here are bound to.
    fn place(&self) -> String {
        let mut place = self.path.join(":");
        place.push(':');
        place
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Text(bytes) | Value::Bytes(bytes) => self.hash.update(bytes),
            Value::Int(number) => self.hash.update(number.to_string()),
            Value::Float(number) => self.hash.update(number::plain(*number)),
            Value::Bool(flag) => self.hash.update(if *flag { "True" } else { "False" }),
            Value::Time(text) => self.hash.update(text),
            Value::Null | Value::Comment(_) | Value::List(_) | Value::Map(_) => {}
        }
    }
}
