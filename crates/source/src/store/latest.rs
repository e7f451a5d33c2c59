//! The link beside an object's files that always leads to the current one.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;

use super::place::TEMPORARY;
use super::{Error, Store};

impl Store {
    /// Sets the link `name` (`latest.tar.gz`, `index.yaml`) beside a file of the store to that file, and gives back where
    /// the link is served.
    ///
    /// # Errors
    /// Where the path or the name is none, or the link cannot be made.
    pub fn point(&self, path: &str, name: &str) -> Result<String, Error> {
        let local = self.local(path)?;
        let link_path = match path.rsplit_once('/') {
            Some((directory, _)) => format!("{directory}/{name}"),
            None => name.to_owned(),
        };
        let link = self.local(&link_path)?;
        let file = local.file_name().unwrap_or_default();
        let failed = |source| Error::Link {
            path: link.clone(),
            source,
        };
        // It names its neighbour only, so that the store can be mounted elsewhere.
        if fs::read_link(&link).is_ok_and(|now| now.as_os_str() == file) {
            return Ok(self.url_of(&link_path));
        }
        let temporary = link.with_file_name(format!("{TEMPORARY}{name}"));
        match fs::remove_file(&temporary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        symlink(file, &temporary).map_err(failed)?;
        fs::rename(&temporary, &link).map_err(|error| {
            // What is left now is found by the next one to set the link, or when the store is opened.
            let _ = fs::remove_file(&temporary);
            failed(error)
        })?;
        Ok(self.url_of(&link_path))
    }
}
