//! Filters that make snapshots the same on every run: what differs between runs is replaced by its name in brackets.
//!
//! ```
//! let _filters = testkit::snapshot::Filters::new().bind();
//! insta::assert_snapshot!("started at 2026-11-15T08:00:01Z on 127.0.0.1:40123", @"started at [time] on 127.0.0.1:[port]");
//! ```

use regex::Regex;

/// What is replaced, in this order. Longer things come first, so that a digest is not taken for a commit.
const PATTERNS: &[(&str, &str)] = &[
    (
        r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})",
        "[time]",
    ),
    (
        r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        "[uid]",
    ),
    (r"\bsha512:[0-9a-f]{128}\b", "sha512:[digest]"),
    (r"\bsha256:[0-9a-f]{64}\b", "sha256:[digest]"),
    (r"\bsha1:[0-9a-f]{40}\b", "sha1:[commit]"),
    (r"\b[0-9a-f]{64}\b", "[digest]"),
    (r"\b[0-9a-f]{40}\b", "[commit]"),
    (r#"(\bresourceVersion"?:\s*"?)\d+"#, "${1}[version]"),
    (r"(\b127\.0\.0\.1|\blocalhost|\[::1\]):\d{2,5}\b", "${1}:[port]"),
    (
        r"(\bsluice[/ ](?:version )?)v?\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.+-]+)?",
        "${1}[sluice]",
    ),
];

/// The filters of a test. [`Filters::new`] has those for uids, resource versions, times, digests, commits, loopback
/// ports, temporary directories and the version of Sluice; a test adds its own.
#[derive(Clone, Debug)]
pub struct Filters {
    pairs: Vec<(String, String)>,
}

impl Default for Filters {
    fn default() -> Self {
        Self::new()
    }
}

impl Filters {
    /// The filters that every snapshot wants.
    pub fn new() -> Self {
        let mut pairs = vec![temporary_directories()];
        pairs.extend(
            PATTERNS
                .iter()
                .map(|(pattern, by)| (pattern.to_string(), by.to_string())),
        );
        Self { pairs }
    }

    /// Replaces one more pattern (a regular expression), before all others.
    pub fn replace(mut self, pattern: &str, by: &str) -> Self {
        self.pairs.insert(0, (pattern.to_string(), by.to_string()));
        self
    }

    /// Replaces a literal text, such as a path, before all others.
    pub fn literal(self, text: &str, by: &str) -> Self {
        self.replace(&regex::escape(text), &by.replace('$', "$$"))
    }

    /// The text with the filters applied.
    ///
    /// # Panics
    /// When a pattern that the test added is not a regular expression.
    pub fn apply(&self, text: &str) -> String {
        self.pairs.iter().fold(text.to_string(), |text, (pattern, by)| {
            let pattern = Regex::new(pattern).unwrap_or_else(|error| panic!("a bad filter: {error}"));
            pattern.replace_all(&text, by).into_owned()
        })
    }

    /// Settings of insta that use the filters.
    pub fn settings(&self) -> insta::Settings {
        let mut settings = insta::Settings::clone_current();
        self.pairs
            .iter()
            .for_each(|(pattern, by)| settings.add_filter(pattern, by.as_str()));
        settings
    }

    /// Uses the filters for every snapshot of this thread until the guard is dropped.
    pub fn bind(&self) -> insta::internals::SettingsBindDropGuard {
        self.settings().bind_to_scope()
    }
}

/// Directories in the system's place for temporary files; on macOS that place is itself behind a link.
fn temporary_directories() -> (String, String) {
    let root = std::env::temp_dir();
    let root = root.to_string_lossy();
    let root = regex::escape(root.trim_end_matches('/'));
    (
        format!(r"(?:/private)?{root}/(?:\.tmp[0-9A-Za-z]+|[\w-]+[.-][0-9A-Za-z]{{6,}})"),
        "[tmp]".to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(Filters::new().apply(text), expected);
    }

    #[test]
    fn what_differs_between_runs_is_named() {
        check("at 2026-11-15T08:00:01.123456Z", "at [time]");
        check("at 2026-11-15 08:00:01+01:00", "at [time]");
        check("uid: 0b5c7f3e-90a1-4a7e-8d5e-6a1f1f2b3c4d", "uid: [uid]");
        check(&format!("app@sha256:{}", "a1".repeat(32)), "app@sha256:[digest]");
        check(&format!("main@sha1:{}", "b2".repeat(20)), "main@sha1:[commit]");
        check(&format!("commit {}.", "c3".repeat(20)), "commit [commit].");
        check("resourceVersion: \"1234\"", "resourceVersion: \"[version]\"");
        check(
            "{\"resourceVersion\":\"1\"}",
            "{\"resourceVersion\":\"[version]\"}",
        );
        check("http://127.0.0.1:40123/x", "http://127.0.0.1:[port]/x");
        check("sluice v0.1.0-rc.1+g1 ready", "sluice [sluice] ready");
        let path = std::env::temp_dir().join(".tmpA1b2C3").join("file");
        check(&format!("read {}", path.display()), "read [tmp]/file");
    }

    #[test]
    fn what_is_the_same_on_every_run_stays() {
        for text in [
            "image: podinfo:6.1.0",
            "port: 8080",
            "replicas: 3",
            "generation: 2",
            "10.0.0.1:443",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_filter_of_the_test_comes_first() {
        let filters = Filters::new()
            .literal("127.0.0.1:8080", "[server$]")
            .replace("took [0-9]+ms", "took [duration]");
        assert_eq!(
            filters.apply("127.0.0.1:8080 took 12ms"),
            "[server$] took [duration]"
        );
    }
}
