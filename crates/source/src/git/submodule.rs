//! Where submodules come from: `.gitmodules`.

use gix_config::File;
use gix_hash::ObjectId;
use gix_object::Kind;

use super::error::Cause;
use super::objects::Objects;
use super::scan::check_size;

/// The bytes that `.gitmodules` may have.
const LARGEST_FILE: u64 = 1 << 20;

/// A submodule as `.gitmodules` tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// Where it is in the tree.
    pub(super) path: String,
    /// Where it comes from; it may be relative.
    pub(super) url: String,
}

/// Reads `.gitmodules` from the objects of a repository.
pub(super) fn read(objects: &Objects, file: ObjectId) -> Result<Vec<Module>, Cause> {
    check_size(".gitmodules", objects.size(file)?, LARGEST_FILE)?;
    parse(&objects.get_kind(file, Kind::Blob)?)
}

/// Parses `.gitmodules`. Entries without path or address are left out, as they are of no use.
fn parse(content: &[u8]) -> Result<Vec<Module>, Cause> {
    let text =
        std::str::from_utf8(content).map_err(|_| Cause::Submodules(".gitmodules is not UTF-8".to_owned()))?;
    let file = File::try_from(text)
        .map_err(|error| Cause::Submodules(format!(".gitmodules cannot be read: {error}")))?;
    let mut modules = Vec::new();
    for section in file.sections_by_name("submodule").into_iter().flatten() {
        let value = |name: &str| section.value(name).map(|value| value.to_string());
        if let (Some(path), Some(url)) = (value("path"), value("url")) {
            modules.push(Module {
                path: path.trim_end_matches('/').to_owned(),
                url,
            });
        }
    }
    Ok(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_read_and_incomplete_ones_left_out() {
        let text =
            b"[submodule \"lib\"]\n\tpath = vendor/lib/\n\turl = ../lib.git\n[submodule \"x\"]\n\tpath = x\n";
        let expected = Module {
            path: "vendor/lib".into(),
            url: "../lib.git".into(),
        };
        assert_eq!(parse(text).unwrap(), [expected]);
        assert!(parse(b"[submodule").is_err());
        assert!(parse(b"\xff").is_err());
    }
}
