//! Where the files of an object are.

use std::fmt;
use std::path::PathBuf;

use super::{Error, Store};

/// The ending of lock files.
pub(super) const LOCK: &str = ".lock";
/// How the names of temporary files begin.
pub(super) const TEMPORARY: &str = ".tmp-";

/// The directory of one object: `<kind in lower case>/<namespace>/<name>`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(String);

impl Place {
    /// The place of an object.
    ///
    /// # Errors
    /// Where one of the three cannot be the name of a directory.
    pub fn new(kind: &str, namespace: &str, name: &str) -> Result<Self, Error> {
        for part in [kind, namespace, name] {
            check_part(part)?;
        }
        Ok(Place(format!("{}/{namespace}/{name}", kind.to_lowercase())))
    }

    /// The namespace of the object.
    pub fn namespace(&self) -> &str {
        self.0.split('/').nth(1).unwrap_or_default()
    }

    /// The path of a file of the object, as it stands in `status.artifact.path`.
    ///
    /// # Errors
    /// Where the name cannot be that of an artifact.
    pub fn file(&self, file: &str) -> Result<String, Error> {
        check_part(file)?;
        if file.ends_with(LOCK) {
            return Err(refused(file, "the ending is that of lock files"));
        }
        Ok(format!("{self}/{file}"))
    }

    /// Refuses paths of other objects.
    pub(super) fn check_owns(&self, path: &str) -> Result<(), Error> {
        let file = path.strip_prefix(&self.0).and_then(|rest| rest.strip_prefix('/'));
        match file {
            Some(file) if !file.contains('/') => Ok(()),
            _ => Err(refused(path, "it is a file of another object")),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Store {
    /// The file of an artifact's path. Paths come from objects in the cluster, so they are not trusted.
    pub(super) fn local(&self, path: &str) -> Result<PathBuf, Error> {
        let mut local = self.root.clone();
        let parts: Vec<&str> = path.split('/').collect();
        if parts.len() != 4 {
            return Err(refused(path, "it must be <kind>/<namespace>/<name>/<file>"));
        }
        for part in parts {
            check_part(part)?;
            local.push(part);
        }
        Ok(local)
    }

    pub(super) fn directory_of(&self, place: &Place) -> PathBuf {
        self.root.join(&place.0)
    }
}

fn check_part(part: &str) -> Result<(), Error> {
    if part.is_empty() {
        return Err(refused(part, "a part of it is empty"));
    }
    // Names with a dot in front are our own: temporary files, and content by digest.
    if part.starts_with('.') {
        return Err(refused(part, "no part may begin with a dot"));
    }
    if part.contains(['/', '\\', '\0']) {
        return Err(refused(
            part,
            "a part of it has a slash, a backslash or a zero byte",
        ));
    }
    if part.len() > 255 - LOCK.len() {
        return Err(refused(part, "a part of it is too long"));
    }
    Ok(())
}

fn refused(path: &str, reason: &'static str) -> Error {
    Error::Path {
        path: path.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_kind_namespace_and_name() {
        let place = Place::new("GitRepository", "flux-system", "podinfo").unwrap();
        assert_eq!(place.to_string(), "gitrepository/flux-system/podinfo");
        let file = place.file("sha256:00.tar.gz").unwrap();
        assert_eq!(file, "gitrepository/flux-system/podinfo/sha256:00.tar.gz");
        place.check_owns(&file).unwrap();
        for other in [
            "gitrepository/flux-system/podinfo2/a",
            "gitrepository/other/podinfo/a",
            "bucket/flux-system/podinfo/a",
            "gitrepository/flux-system/podinfo/a/b",
            "gitrepository/flux-system/podinfo",
        ] {
            assert!(place.check_owns(other).is_err(), "{other}");
        }
    }

    #[test]
    fn no_part_leads_elsewhere() {
        for part in [
            "",
            ".",
            "..",
            "a/b",
            "/",
            "a\\b",
            "a\0",
            ".content",
            &"x".repeat(300),
        ] {
            assert!(Place::new("Bucket", part, "a").is_err(), "{part:?}");
            assert!(
                Place::new("Bucket", "a", "a").unwrap().file(part).is_err(),
                "{part:?}"
            );
        }
        assert!(Place::new("Bucket", "a", "a").unwrap().file("a.lock").is_err());
    }
}
