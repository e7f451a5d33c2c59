//! Managed fields of the `scale` subresource, which shows one field of an object under another path.

use model::{Str, Value};

use super::entry::{self, Entry, EntryError};
use crate::fieldset::{FieldSet, Path};

/// The version of the object that the subresource shows.
const SCALE_VERSION: &str = "autoscaling/v1";

/// Where the number of replicas is in a version of the object; `None` where that version has none.
#[derive(Clone, Debug)]
pub struct Replicas {
    /// The version: `apps/v1`.
    pub api_version: Str,
    /// The path: `.spec.replicas`.
    pub path: Option<Path>,
}

/// The managed fields of the scale of an object with the managed fields `parent`.
///
/// # Errors
/// When the managed fields cannot be read.
pub fn to_scale(parent: &[Value], replicas: &[Replicas]) -> Result<Option<Value>, EntryError> {
    let mut entries = entry::decode(parent)?;
    entries.retain_mut(|entry| {
        let owns = path_of(replicas, &entry.api_version)
            .flatten()
            .is_some_and(|path| entry.set.contains(&path.0));
        if owns {
            entry.set = in_scale();
            entry.api_version = Str::new(SCALE_VERSION);
            entry.read = None;
        }
        owns
    });
    Ok(entry::encode(entries))
}

/// The managed fields of an object after its scale was written: `parent` before, `scale` those of the written scale,
/// `api_version` the version of the object in the request.
///
/// # Errors
/// When the managed fields cannot be read.
pub fn from_scale(
    parent: &[Value],
    scale: &[Value],
    api_version: &str,
    replicas: &[Replicas],
) -> Result<Option<Value>, EntryError> {
    let mut scale = entry::decode(scale)?;
    let parent = entry::decode(parent)?;
    let time_of = |entry: &Entry<'_>| {
        parent
            .iter()
            .find(|known| known.is_same_manager(entry))
            .and_then(|known| known.time.clone())
    };
    // A writer that is new to the object gets no time, odd as it is: the real server looks it up before it adds it.
    scale.iter_mut().for_each(|entry| entry.time = time_of(entry));
    let mut entries = Vec::new();
    for mut entry in parent.iter().cloned() {
        let Some(path) = path_of(replicas, &entry.api_version) else {
            continue;
        };
        if let Some(path) = path.filter(|path| entry.set.contains(&path.0)) {
            // Updaters are told apart by version, of which the scale has its own: they never match.
            match scale.iter().position(|other| other.is_same_manager(&entry)) {
                Some(at) => drop(scale.swap_remove(at)),
                None => {
                    entry.set.subtract(&FieldSet::from_paths([path.clone()]));
                    entry.read = None;
                }
            }
        }
        if !entry.set.is_empty() {
            entries.push(entry);
        }
    }
    let path = path_of(replicas, api_version).flatten();
    for mut entry in scale {
        let Some(path) = path.filter(|_| entry.set.intersects(&in_scale())) else {
            continue;
        };
        entry.set = FieldSet::from_paths([path.clone()]);
        entry.api_version = Str::new(api_version);
        entry.read = None;
        entries.push(entry);
    }
    Ok(entry::encode(entries))
}

fn in_scale() -> FieldSet {
    FieldSet::from_paths([Path::fields(&["spec", "replicas"])])
}

fn path_of<'r>(replicas: &'r [Replicas], api_version: &str) -> Option<Option<&'r Path>> {
    replicas
        .iter()
        .find(|known| known.api_version == api_version)
        .map(|known| known.path.as_ref())
}
