//! The rules against answers of Flux.

use serde::Deserialize;
use source::archive::ignore::{Error, Rules};
use source::archive::{Kind, MemoryTree};

/// One line of `answers.jsonl`, which a program made with `github.com/fluxcd/pkg/sourceignore` v0.19.0: its `ReadPatterns` on
/// the files by directory and on the text of the object, its matchers on the paths. A slash at the end says directory.
#[derive(Deserialize)]
struct Case {
    name: String,
    #[serde(default)]
    files: std::collections::BTreeMap<String, String>,
    ignore: Option<String>,
    /// As for buckets.
    #[serde(default)]
    bare: bool,
    ignored: Vec<String>,
    kept: Vec<String>,
}

impl Case {
    fn rules(&self) -> Rules {
        if self.bare {
            return Rules::only(self.ignore.iter().map(String::as_bytes)).unwrap();
        }
        let mut tree = MemoryTree::new();
        for (directory, content) in &self.files {
            let path = format!("{directory}/.sourceignore");
            tree = tree.with(path.trim_start_matches('/'), content.as_str());
        }
        Rules::of(&tree, self.ignore.as_deref()).unwrap()
    }
}

fn ignores(rules: &Rules, path: &str) -> bool {
    match path.strip_suffix('/') {
        Some(path) => rules.ignores(path, Kind::Directory),
        None => rules.ignores(path, Kind::File { executable: false }),
    }
}

#[test]
fn answers_are_those_of_flux() {
    for line in include_str!("../../data/ignore/answers.jsonl").lines() {
        let case: Case = serde_json::from_str(line).unwrap();
        let rules = case.rules();
        for path in &case.ignored {
            assert!(ignores(&rules, path), "{}: {path:?} is ignored", case.name);
        }
        for path in &case.kept {
            assert!(!ignores(&rules, path), "{}: {path:?} is kept", case.name);
        }
    }
}

#[test]
fn ignore_files_inside_of_git_directories_are_not_read() {
    let tree = MemoryTree::new()
        .with(".git/.sourceignore", "*")
        .with("a/.git/b/.sourceignore", "*");
    let rules = Rules::of(&tree, None).unwrap();
    assert!(!ignores(&rules, "a/app.yaml"));
    assert!(ignores(&rules, "a/image.png"), "so the defaults hold");
}

#[test]
fn an_outer_file_is_weaker_than_an_inner_one_whatever_the_names() {
    // `-` and `#` come before `.` in the alphabet, and so before the ignore file of their parent.
    let tree = MemoryTree::new()
        .with("#a/.sourceignore", "!x")
        .with(".sourceignore", "x");
    let rules = Rules::of(&tree, None).unwrap();
    assert!(ignores(&rules, "x"));
    assert!(!ignores(&rules, "#a/x"));
}

#[test]
fn what_follows_a_line_that_is_too_long_is_not_read_as_in_flux() {
    let text = format!("a\n{}\nb\n", "x".repeat(64 * 1024));
    let rules = Rules::only([text.as_bytes()]).unwrap();
    assert!(ignores(&rules, "a"));
    assert!(!ignores(&rules, "b"));
    let text = format!("{}\nb\n", "x".repeat(64 * 1024 - 1));
    assert!(ignores(&Rules::only([text.as_bytes()]).unwrap(), "b"));
}

#[test]
fn too_many_patterns_are_refused() {
    let text = "a\n".repeat(20_001);
    assert!(matches!(Rules::only([text.as_bytes()]), Err(Error::TooMany)));
    let tree = MemoryTree::new().with("b/.sourceignore", "#".repeat((1 << 20) + 1));
    let Err(Error::TooLarge { path }) = Rules::of(&tree, None) else {
        panic!("the file is too large");
    };
    assert_eq!(path, "b/.sourceignore");
}

#[test]
fn patterns_need_not_be_text() {
    let tree = MemoryTree::new().with(".sourceignore", b"\xff\xfe*\n[\xff]\nok\n".to_vec());
    let rules = Rules::of(&tree, None).unwrap();
    assert!(ignores(&rules, "ok"));
    assert!(!ignores(&rules, "é"));
}
