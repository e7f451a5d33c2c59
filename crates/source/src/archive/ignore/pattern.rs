//! One line of an ignore file.

use model::glob::Glob;

/// What a pattern says about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Exclude,
    Include,
}

/// A line of an ignore file, as go-git reads it. It differs from Git in that a match of a leading part is a match of the
/// whole path, whatever follows, and in that `**` must be a whole segment.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// The directory that the file with the pattern is in, component by component.
    scope: Vec<String>,
    /// Nothing where a segment is malformed: the pattern then matches no path, but there is a pattern.
    shape: Option<Shape>,
    verdict: Verdict,
    directories_only: bool,
}

#[derive(Clone, Debug)]
enum Shape {
    /// Without a slash: any component of the path may match.
    Name(Glob),
    /// With slashes: matched from the scope downwards.
    Path(Vec<Segment>),
}

#[derive(Clone, Debug)]
enum Segment {
    /// Nothing between two slashes, or before the first one.
    Empty,
    /// `**`: any number of directories.
    Directories,
    One(Glob),
}

impl Pattern {
    pub(super) fn parse(line: &[u8], scope: &[String]) -> Pattern {
        let (verdict, mut text) = match line.strip_prefix(b"!") {
            Some(rest) => (Verdict::Include, rest),
            None => (Verdict::Exclude, line),
        };
        if !text.ends_with(b"\\ ") {
            while let Some(rest) = text.strip_suffix(b" ") {
                text = rest;
            }
        }
        let directories_only = text.ends_with(b"/");
        if directories_only {
            text = &text[..text.len() - 1];
        }
        let shape = if text.contains(&b'/') {
            text.split(|&byte| byte == b'/')
                .map(segment)
                .collect::<Option<_>>()
                .map(Shape::Path)
        } else {
            Glob::compile(text).map(Shape::Name)
        };
        Pattern {
            scope: scope.to_vec(),
            shape,
            verdict,
            directories_only,
        }
    }

    /// What it says about a path, or nothing where it does not match.
    pub(super) fn verdict(&self, path: &[&str], is_directory: bool) -> Option<Verdict> {
        let below = path.get(self.scope.len()..)?;
        if below.is_empty() || self.scope.iter().zip(path).any(|(scope, part)| scope != part) {
            return None;
        }
        let matched = match self.shape.as_ref()? {
            Shape::Name(glob) => self.name_matches(glob, below, is_directory),
            Shape::Path(segments) => self.path_matches(segments, below, is_directory),
        };
        matched.then_some(self.verdict)
    }

    fn name_matches(&self, glob: &Glob, path: &[&str], is_directory: bool) -> bool {
        match path.iter().position(|part| glob.matches(part)) {
            Some(position) => !self.directories_only || is_directory || position + 1 < path.len(),
            None => false,
        }
    }

    fn path_matches(&self, segments: &[Segment], path: &[&str], is_directory: bool) -> bool {
        let mut matched = false;
        let mut skip_directories = false;
        let mut rest = path;
        for (index, segment) in segments.iter().enumerate() {
            let glob = match segment {
                Segment::Empty => {
                    skip_directories = false;
                    continue;
                }
                Segment::Directories if index + 1 == segments.len() => break,
                Segment::Directories => {
                    skip_directories = true;
                    continue;
                }
                Segment::One(glob) => glob,
            };
            if rest.is_empty() {
                return false;
            }
            if skip_directories {
                skip_directories = false;
                let position = rest.iter().position(|part| glob.matches(part));
                matched = position.is_some();
                rest = &rest[position.map_or(rest.len(), |position| position + 1)..];
            } else if glob.matches(rest[0]) {
                matched = true;
                rest = &rest[1..];
            } else {
                return false;
            }
        }
        matched && (!self.directories_only || is_directory || !rest.is_empty())
    }
}

/// Nothing where the segment is malformed, as it is with `**` inside of it.
fn segment(text: &[u8]) -> Option<Segment> {
    match text {
        b"" => Some(Segment::Empty),
        b"**" => Some(Segment::Directories),
        text if text.windows(2).any(|pair| pair == b"**") => None,
        text => Glob::compile(text).map(Segment::One),
    }
}
