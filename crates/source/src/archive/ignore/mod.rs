//! Which files of a source do not become part of its artifact.
//!
//! The rules are those of Flux, which are go-git's and not quite Git's: a directory that is ignored is still walked, so that
//! `/*` followed by `!/deploy` leaves `deploy` and everything in it.
//!
//! | where a pattern comes from | when |
//! |---|---|
//! | version control files (`.git/`, `.gitignore`, …) | always, as the weakest |
//! | images, archives, CI files | only where no other pattern is given at all |
//! | `.sourceignore` files of the tree | each for its own directory |
//! | the `ignore` field of the object | as the strongest |

mod pattern;

use std::io::{self, Read};

use super::{Kind, Tree};
use pattern::{Pattern, Verdict};

/// The name of the files in a tree that hold patterns.
pub const FILE: &str = ".sourceignore";

const VERSION_CONTROL: &[&str] = &[".git/", ".gitignore", ".gitmodules", ".gitattributes"];

#[rustfmt::skip]
const DEFAULTS: &[&str] = &[
    "*.jpg", "*.jpeg", "*.gif", "*.png", "*.wmv", "*.flv", "*.tar.gz", "*.zip",
    ".github/", ".circleci/", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml", "cloudbuild.yaml",
    "codeship-services.yml", "codeship-steps.yml",
    "**/.goreleaser.yml", "**/.sops.yaml", "**/.flux.yaml",
];

/// Go's scanner gives up at a line of this length, and what comes after it is not read.
const LONGEST_LINE: usize = 64 * 1024;
const LARGEST_FILE: u64 = 1024 * 1024;
const MOST_PATTERNS: usize = 20_000;

/// Why there are no rules.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The tree or one of its ignore files cannot be read.
    #[error("the ignore file {path:?} cannot be read")]
    Read {
        /// The file, or the root.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// An ignore file is larger than any sensible one.
    #[error("the ignore file {path:?} is larger than {LARGEST_FILE} bytes: use fewer and wider patterns")]
    TooLarge {
        /// The file.
        path: String,
    },
    /// There are more patterns than can be matched in sensible time.
    #[error("there are more than {MOST_PATTERNS} ignore patterns: use fewer and wider ones")]
    TooMany,
}

/// Patterns by increasing strength.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    patterns: Vec<Pattern>,
}

impl Rules {
    /// Rules that ignore nothing.
    pub fn none() -> Self {
        Rules::default()
    }

    /// The rules of a tree from Git or a registry: its own ignore files, then the patterns of the object; the defaults where
    /// neither has any.
    ///
    /// # Errors
    /// Where the tree cannot be read, or holds more than can be matched.
    pub fn of(tree: &dyn Tree, ignore: Option<&str>) -> Result<Self, Error> {
        let mut given = in_tree(tree)?;
        read_lines(ignore.unwrap_or_default().as_bytes(), &[], &mut given)?;
        let mut words = VERSION_CONTROL.to_vec();
        if given.is_empty() {
            words.extend_from_slice(DEFAULTS);
        }
        let mut patterns: Vec<Pattern> = words
            .into_iter()
            .map(|word| Pattern::parse(word.as_bytes(), &[]))
            .collect();
        patterns.append(&mut given);
        Ok(Rules { patterns })
    }

    /// The rules of `flux build`: as [`Rules::of`], but the defaults are always among them, as the weakest.
    ///
    /// # Errors
    /// Where the tree cannot be read, or holds more than can be matched.
    pub fn with_defaults(tree: &dyn Tree, ignore: Option<&str>) -> Result<Self, Error> {
        let words = VERSION_CONTROL.iter().chain(DEFAULTS);
        let mut patterns: Vec<Pattern> = words.map(|word| Pattern::parse(word.as_bytes(), &[])).collect();
        patterns.append(&mut in_tree(tree)?);
        read_lines(ignore.unwrap_or_default().as_bytes(), &[], &mut patterns)?;
        Ok(Rules { patterns })
    }

    /// The given texts and nothing else, the later ones stronger: the rules of a bucket, of its ignore file and the object's
    /// patterns. Flux adds neither defaults nor version control files there.
    ///
    /// # Errors
    /// Where there is more than can be matched.
    pub fn only<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Result<Self, Error> {
        let mut patterns = Vec::new();
        for text in texts {
            read_lines(text, &[], &mut patterns)?;
        }
        Ok(Rules { patterns })
    }

    /// Adds the patterns of a file in this directory, as the strongest: what `.gitignore` files say is added while a tree is
    /// walked, each before what is in its directory.
    ///
    /// # Errors
    /// Where there is more than can be matched.
    pub fn add(&mut self, text: &[u8], directory: &[String]) -> Result<(), Error> {
        read_lines(text, directory, &mut self.patterns)
    }

    /// Whether an entry is left out. What is in a directory that is left out is asked for on its own.
    pub fn ignores(&self, path: &str, kind: Kind) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        let is_directory = kind == Kind::Directory;
        let strongest = self
            .patterns
            .iter()
            .rev()
            .find_map(|pattern| pattern.verdict(&parts, is_directory));
        strongest == Some(Verdict::Exclude)
    }
}

/// The patterns of all ignore files, outer directories first. What is in `.git` is not looked at.
fn in_tree(tree: &dyn Tree) -> Result<Vec<Pattern>, Error> {
    let entries = tree.entries().map_err(|source| Error::Read {
        path: ".".to_owned(),
        source,
    })?;
    let mut scopes: Vec<Vec<String>> = Vec::new();
    for entry in entries.iter().filter(|entry| entry.kind != Kind::Directory) {
        let mut parts = entry.path.split('/');
        if parts.next_back() == Some(FILE) && !parts.clone().any(|part| part == ".git") {
            scopes.push(parts.map(str::to_owned).collect());
        }
    }
    scopes.sort();
    let mut patterns = Vec::new();
    for scope in scopes {
        let mut path = scope.join("/");
        if !scope.is_empty() {
            path.push('/');
        }
        path.push_str(FILE);
        read_lines(&content(tree, &path)?, &scope, &mut patterns)?;
    }
    Ok(patterns)
}

fn content(tree: &dyn Tree, path: &str) -> Result<Vec<u8>, Error> {
    // A tree that holds a file whole does not have to, where its size tells enough.
    let size = tree.size(path).ok().flatten();
    if size.is_some_and(|size| size > LARGEST_FILE) {
        return Err(Error::TooLarge {
            path: path.to_owned(),
        });
    }
    let mut content = Vec::new();
    let read = tree
        .open(path)
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut content));
    match read {
        Err(source) => Err(Error::Read {
            path: path.to_owned(),
            source,
        }),
        Ok(_) if content.len() as u64 > LARGEST_FILE => Err(Error::TooLarge {
            path: path.to_owned(),
        }),
        Ok(_) => Ok(content),
    }
}

fn read_lines(text: &[u8], scope: &[String], patterns: &mut Vec<Pattern>) -> Result<(), Error> {
    for line in text.split(|&byte| byte == b'\n') {
        if line.len() >= LONGEST_LINE {
            break;
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.starts_with(b"#") || String::from_utf8_lossy(line).trim().is_empty() {
            continue;
        }
        if patterns.len() == MOST_PATTERNS {
            return Err(Error::TooMany);
        }
        patterns.push(Pattern::parse(line, scope));
    }
    Ok(())
}
