//! `.helmignore`, as Helm reads it: close to `.gitignore`, but not the same.
//!
//! Patterns are those of Go's `filepath.Match`. One without a slash is compared with the last part of a path, others with
//! the whole path; a slash at the end means directories only. The first pattern that decides wins, and `!pattern` ignores
//! everything that does *not* match it.

use model::glob::Glob;

/// The rules of one chart.
#[derive(Clone, Debug)]
pub struct Rules {
    patterns: Vec<Pattern>,
}

#[derive(Clone, Debug)]
struct Pattern {
    /// One for each part of the path.
    globs: Vec<Glob>,
    negated: bool,
    directories_only: bool,
    whole_path: bool,
}

/// Why the rules cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// `**` is not known.
    #[error("double-star (**) syntax is not supported in '{0}': correct .helmignore")]
    DoubleStar(String),
    /// It is no pattern.
    #[error("syntax error in pattern '{0}': correct .helmignore")]
    Syntax(String),
}

impl Default for Rules {
    /// What is always ignored: hidden files among the templates.
    fn default() -> Self {
        let mut rules = Rules { patterns: Vec::new() };
        rules
            .patterns
            .extend(Pattern::parse("templates/.?*").ok().flatten());
        rules
    }
}

impl Rules {
    /// Reads the rules; what is always ignored comes after them.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut patterns = Vec::new();
        for line in text.lines() {
            patterns.extend(Pattern::parse(line)?);
        }
        patterns.extend(Rules::default().patterns);
        Ok(Rules { patterns })
    }

    /// Whether a file or directory is left out.
    pub fn ignores(&self, path: &str, is_directory: bool) -> bool {
        for pattern in &self.patterns {
            if pattern.negated {
                if pattern.directories_only && !is_directory || !pattern.matches(path) {
                    return true;
                }
            } else if (!pattern.directories_only || is_directory) && pattern.matches(path) {
                return true;
            }
        }
        false
    }
}

impl Pattern {
    fn parse(line: &str) -> Result<Option<Self>, Error> {
        let rule = line.trim();
        if rule.is_empty() || rule.starts_with('#') {
            return Ok(None);
        }
        if rule.contains("**") {
            return Err(Error::DoubleStar(rule.to_owned()));
        }
        let (negated, glob) = match rule.strip_prefix('!') {
            Some(glob) => (true, glob),
            None => (false, rule),
        };
        let (directories_only, glob) = match glob.strip_suffix('/') {
            Some(glob) => (true, glob),
            None => (false, glob),
        };
        let whole_path = glob.contains('/');
        let parts = glob.strip_prefix('/').unwrap_or(glob).split('/');
        let globs: Option<Vec<Glob>> = parts.map(|part| Glob::compile(part.as_bytes())).collect();
        Ok(Some(Pattern {
            globs: globs.ok_or_else(|| Error::Syntax(rule.to_owned()))?,
            negated,
            directories_only,
            whole_path,
        }))
    }

    fn matches(&self, path: &str) -> bool {
        let name = match path.rsplit_once('/') {
            Some((_, name)) if !self.whole_path => name,
            _ => path,
        };
        name.split('/').count() == self.globs.len()
            && name
                .split('/')
                .zip(&self.globs)
                .all(|(part, glob)| glob.matches(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_decide_as_helm_does() {
        let rules = Rules::parse("# c\n*.txt\n/root\nsub/dir\nonly/\ntemplates/a*.yaml\n").unwrap();
        assert!(rules.ignores("a.txt", false));
        assert!(rules.ignores("x/a.txt", false));
        assert!(rules.ignores("root", false));
        assert!(!rules.ignores("x/root", false));
        assert!(rules.ignores("sub/dir", true));
        assert!(!rules.ignores("x/sub/dir", true));
        assert!(rules.ignores("x/only", true));
        assert!(!rules.ignores("only", false));
        assert!(rules.ignores("templates/.hidden", false));
        assert!(!rules.ignores("templates/_helpers.tpl", false));
    }

    #[test]
    fn a_negated_rule_ignores_all_that_does_not_match() {
        let rules = Rules::parse("!*.yaml\n").unwrap();
        assert!(rules.ignores("a.txt", false));
        assert!(!rules.ignores("a.yaml", false));
    }

    #[test]
    fn rules_that_are_none_are_refused() {
        assert_eq!(
            Rules::parse("a/**\n").unwrap_err(),
            Error::DoubleStar("a/**".to_owned())
        );
        assert_eq!(Rules::parse("[\n").unwrap_err(), Error::Syntax("[".to_owned()));
    }
}
