//! Charts inside of charts, packed and unpacked, for `--with-subcharts`.

use std::fs;
use std::path::{Path, PathBuf};

/// Adds the charts in a directory and in those below it, in the order of their paths. Links are not followed, and what cannot be read is not
/// looked at: so it is in Helm.
pub(super) fn find(directory: &Path, charts: &mut Vec<PathBuf>) {
    let is_link = fs::symlink_metadata(directory).is_ok_and(|kind| kind.is_symlink());
    let entries = match is_link {
        true => None,
        false => fs::read_dir(directory).ok(),
    };
    let mut paths: Vec<PathBuf> = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == "Chart.yaml" {
            charts.push(directory.to_owned());
        } else if name.ends_with(".tgz") || name.ends_with(".tar.gz") {
            charts.push(path.clone());
        }
        find(&path, charts);
    }
}
