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

/// What the rows of the contract say, one by one.
struct Row {
    /// The row and what it says.
    row: &'static str,
    /// The ignore files by their directory.
    files: &'static [(&'static str, &'static str)],
    ignore: Option<&'static str>,
    ignored: &'static [&'static str],
    kept: &'static [&'static str],
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { row: "T3 each file is for its own directory", files: &[("a", "x"), ("b", "y")], ignore: None,
        ignored: &["a/x", "a/c/x", "b/y"], kept: &["x", "y", "a/y", "b/x"] },
    Row { row: "T3 the object's patterns come last", files: &[("", "*.md\n")], ignore: Some("!keep.md"),
        ignored: &["a.md", "d/a.md"], kept: &["keep.md", "d/keep.md"] },
    Row { row: "T3 a later pattern wins", files: &[("", "x\n!x\n"), ("a", "!x\nx\n")], ignore: None, ignored: &["a/x"], kept: &["x", "b/x"] },
    Row { row: "T4 the defaults, by extension", files: &[], ignore: None,
        ignored: &["a.jpg", "a.jpeg", "a.gif", "a.png", "a.wmv", "a.flv", "d/a.tar.gz", "d/a.zip"], kept: &["a.yaml", "a.tgz", "jpg"] },
    Row { row: "T4 the defaults, files of CI", files: &[], ignore: None,
        ignored: &[".github/", ".github/x.yml", ".circleci/config.yml", ".travis.yml", ".gitlab-ci.yml", "appveyor.yml", ".drone.yml",
            "cloudbuild.yaml", "codeship-services.yml", "codeship-steps.yml"], kept: &["github/", ".github", "travis.yml"] },
    Row { row: "T4 the defaults, what else", files: &[], ignore: None,
        ignored: &[".goreleaser.yml", "d/.goreleaser.yml", ".sops.yaml", "d/.sops.yaml", ".flux.yaml", "d/e/.flux.yaml"], kept: &["sops.yaml"] },
    Row { row: "T4 no defaults where a file has a pattern", files: &[("d", "x")], ignore: None, ignored: &["d/x"], kept: &["a.jpg", ".github/", ".sops.yaml"] },
    Row { row: "T4 no defaults where the object has a pattern", files: &[], ignore: Some("x"), ignored: &["x"], kept: &["a.jpg", ".github/", ".sops.yaml"] },
    Row { row: "T5 files of version control, always", files: &[], ignore: Some("x"),
        ignored: &[".git/", ".git/HEAD", ".gitignore", ".gitmodules", ".gitattributes", "d/.gitignore"], kept: &[".github/"] },
    Row { row: "T5 unless a later pattern takes them back", files: &[], ignore: Some("!.gitignore"), ignored: &[".gitmodules"], kept: &[".gitignore"] },
    Row { row: "T6 two stars only as a whole segment", files: &[], ignore: Some("a/**/z\nb**/z"),
        ignored: &["a/z", "a/b/z", "a/b/c/z"], kept: &["b/c/z", "bx/z", "x/a/z"] },
    Row { row: "T6 patterns of segments", files: &[], ignore: Some("a/[b-d]?*.y"), ignored: &["a/bx.y", "a/dxx.y"], kept: &["a/ex.y", "a/b.y", "a/b/x.y"] },
    Row { row: "T6 without a slash any component", files: &[], ignore: Some("docs"), ignored: &["docs", "a/docs", "a/docs/b"], kept: &["docs2"] },
    Row { row: "T6 a slash at the end is for directories", files: &[], ignore: Some("out/"), ignored: &["out/", "out/a", "a/out/b"], kept: &["out", "a/out"] },
    Row { row: "T6 an ignored directory is walked", files: &[], ignore: Some("/*\n!/deploy"),
        ignored: &["src/", "src/a", "README.md"], kept: &["deploy/", "deploy/a.yaml", "deploy/b/c.yaml"] },
    Row { row: "T7 comments and blank lines", files: &[("", "# a\n\n  \nb\n")], ignore: None, ignored: &["b"], kept: &["a", "# a", "  "] },
    Row { row: "T7 blanks at the end are cut unless escaped", files: &[], ignore: Some("a   \nb\\ "), ignored: &["a", "b "], kept: &["a   ", "b"] },
];

#[test]
fn every_row_of_the_contract_holds() {
    for row in ROWS {
        let mut tree = MemoryTree::new();
        for (directory, content) in row.files {
            let path = format!("{directory}/.sourceignore");
            tree = tree.with(path.trim_start_matches('/'), *content);
        }
        let rules = Rules::of(&tree, row.ignore).unwrap();
        for path in row.ignored {
            assert!(ignores(&rules, path), "{}: {path:?} is ignored", row.row);
        }
        for path in row.kept {
            assert!(!ignores(&rules, path), "{}: {path:?} is kept", row.row);
        }
    }
}

/// T3
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
