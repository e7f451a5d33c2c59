//! Files that kustomize reads and that may be encrypted: what secrets are generated from, and patches.

use std::collections::BTreeSet;

use kustomize::remote::RepoSpec;
use kustomize::{FILE_NAMES, Tree};
use model::Value;
use sops::Format;

use super::Decrypter;
use crate::error::Error;
use crate::generate::path;
use crate::overlay::Overlay;

/// What is larger is no secret.
const LARGEST_FILE: usize = 5 << 20;

/// Decrypts the files that the kustomization in a directory, and all local ones that it refers to, read. Gives all that
/// cannot be decrypted.
pub(crate) fn files(overlay: &mut Overlay<'_>, directory: &str, decrypter: &dyn Decrypter) -> Vec<Error> {
    let mut walk = Walk {
        overlay,
        decrypter,
        visited: BTreeSet::new(),
        decrypted: BTreeSet::new(),
        errors: Vec::new(),
    };
    // A list instead of recursion: the depth is that of hostile trees.
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        open.extend(walk.visit(&next));
    }
    walk.errors
}

struct Walk<'w, 'f> {
    overlay: &'w mut Overlay<'f>,
    decrypter: &'w dyn Decrypter,
    visited: BTreeSet<String>,
    decrypted: BTreeSet<String>,
    errors: Vec<Error>,
}

impl Walk<'_, '_> {
    /// Decrypts what the kustomization of a directory reads, and gives the directories that it refers to. What is no
    /// kustomization is the build's to complain of.
    fn visit(&mut self, directory: &str) -> Vec<String> {
        let Some(real) = self.overlay.resolve(directory) else {
            return Vec::new();
        };
        if !self.overlay.is_dir(&real) || !self.visited.insert(real.clone()) {
            return Vec::new();
        }
        let texts = FILE_NAMES.map(|name| self.overlay.read(&path::join(&real, name)));
        let text = texts.into_iter().find_map(|text| text.ok().flatten());
        let Some(kustomization) = text.and_then(|text| yaml::parse(&text).ok()) else {
            return Vec::new();
        };
        for (file, format) in encrypted_files(&kustomization) {
            self.decrypt(&real, &file, format);
        }
        let referred = ["resources", "components"].into_iter();
        let referred = referred.flat_map(|field| texts_of(&kustomization, &[field]));
        let local = referred.filter(|name| !name.starts_with('/') && RepoSpec::parse(name).is_none());
        local.map(|name| path::join(&real, &name)).collect()
    }

    fn decrypt(&mut self, directory: &str, file: &str, format: Format) {
        let wanted = path::join(directory, file);
        // A file that is not there is the build's to complain of.
        let Some(real) = self.overlay.resolve(&wanted).filter(|_| !path::escapes(&wanted)) else {
            return;
        };
        if self.decrypted.contains(&real) || self.overlay.is_dir(&real) {
            return;
        }
        match self.plain(&real, format) {
            Ok(None) => {}
            Ok(Some(plain)) => {
                self.overlay.put(&real, plain);
                self.decrypted.insert(real);
            }
            Err(message) => self.errors.push(Error::Decrypt {
                of: self.overlay.show(&real),
                message,
            }),
        }
    }

    fn plain(&self, file: &str, format: Format) -> Result<Option<Vec<u8>>, String> {
        let Some(content) = self.overlay.read(file)? else {
            return Ok(None);
        };
        if !format.is_encrypted(&content) {
            return Ok(None);
        }
        if content.len() > LARGEST_FILE {
            return Err(format!(
                "cannot decrypt file with size ({} bytes) exceeding limit ({LARGEST_FILE})",
                content.len()
            ));
        }
        self.decrypter.decrypt(&content, format, format).map(Some)
    }
}

/// The files that secrets are generated from and those of patches, each with the form it has.
fn encrypted_files(kustomization: &Value) -> Vec<(String, Format)> {
    let mut found = Vec::new();
    for generator in kustomization.list_at(&["secretGenerator"]) {
        for source in texts_of(generator, &["files"]) {
            let (key, file) = source.split_once('=').unwrap_or((&source, &source));
            found.push((file.to_owned(), Format::for_path(key)));
        }
        for file in texts_of(generator, &["envs"]) {
            let format = Format::for_env_path(&file);
            found.push((file, format));
        }
    }
    for patch in kustomization.list_at(&["patches"]) {
        let file = patch.str_at(&["path"]);
        if !file.is_empty() && !file.contains("://") {
            found.push((file.to_owned(), Format::for_path(file)));
        }
    }
    found
}

fn texts_of(value: &Value, path: &[&str]) -> Vec<String> {
    let texts = value.list_at(path).iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
