//! Following an index piece by piece finds what reading it whole finds.

use std::fs;

use proptest::prelude::*;

use super::*;

fn open(text: &str) -> Result<Index, Error> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    // The file is kept: an index reads from it again.
    Index::open(file.into_temp_path().keep().unwrap())
}

impl Drop for Index {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn is_followed(index: &Index) -> bool {
    matches!(index.form, Form::Pieces(..))
}

fn json(index: &Index) -> String {
    let mut out = Vec::new();
    index.write_json(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The same index, read whole.
fn whole_json(text: &str) -> Option<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let value = whole(file.path()).ok()?;
    value
        .get("apiVersion")
        .and_then(Value::as_str)
        .filter(|version| !version.is_empty())?;
    let path = file.into_temp_path().keep().unwrap();
    Some(json(&Index {
        path,
        form: Form::Whole(value),
    }))
}

const INDEX: &str = r#"apiVersion: v1
entries:
  # a comment
  alpine:
  - apiVersion: v2
    created: 2026-01-01T00:00:00Z
    description: |
      a text
        beta: no chart
    name: alpine
    urls:
    - https://example.com/alpine-0.1.0.tgz
    version: 0.1.0
  - created: "2026-01-02T00:00:00Z"
    description: a plain text
      over two lines
    keywords: [a, "b]", it's]
    name: alpine
    urls: []
    version: 0.10.0
  "beta":
    - name: beta
      description: "quoted
  gamma:
      text"
      version: 1.2.3
      maintainers:
        - name: me
          email: me@example.com

    - name: beta
      version: broken
generated: 2026-01-01T00:00:00Z
"#;

#[test]
fn an_index_in_block_style_is_followed_and_written_sorted_without_broken_entries() {
    let index = open(INDEX).unwrap();
    assert!(is_followed(&index));
    assert_eq!(index.charts(), ["alpine", "beta"]);
    let expected = r#"{
  "apiVersion": "v1",
  "generated": "2026-01-01T00:00:00Z",
  "entries": {
    "alpine": [
      {
        "name": "alpine",
        "version": "0.10.0",
        "description": "a plain text over two lines",
        "keywords": [
          "a",
          "b]",
          "it's"
        ],
        "apiVersion": "v1",
        "urls": null,
        "created": "2026-01-02T00:00:00Z"
      },
      {
        "name": "alpine",
        "version": "0.1.0",
        "description": "a text   beta: no chart ",
        "apiVersion": "v2",
        "urls": [
          "https://example.com/alpine-0.1.0.tgz"
        ],
        "created": "2026-01-01T00:00:00Z"
      }
    ],
    "beta": [
      {
        "name": "beta",
        "version": "1.2.3",
        "description": "quoted gamma: text",
        "maintainers": [
          {
            "name": "me",
            "email": "me@example.com"
          }
        ],
        "apiVersion": "v1",
        "urls": null,
        "created": "0001-01-01T00:00:00Z"
      }
    ]
  }
}"#;
    assert_eq!(json(&index), expected);
    assert_eq!(whole_json(INDEX).unwrap(), expected);
}

#[test]
fn what_was_written_is_followed_again() {
    let first = json(&open(INDEX).unwrap());
    let again = open(&first).unwrap();
    assert!(is_followed(&again));
    assert_eq!(json(&again), first);
    assert_eq!(again.versions("alpine").unwrap().unwrap().len(), 2);
    let compact = first.replace(['\n', ' '], "");
    assert_eq!(open(&compact).unwrap().charts(), ["alpine", "beta"]);
}

#[test]
fn an_index_with_anchors_or_in_flow_style_is_read_whole() {
    let anchors =
        "apiVersion: v1\nentries:\n  a:\n  - &x {name: a, version: 1.0.0}\n  - <<: *x\n    version: 1.1.0\n";
    let index = open(anchors).unwrap();
    assert!(!is_followed(&index));
    assert_eq!(index.versions("a").unwrap().unwrap().len(), 2);
    let flow = "{apiVersion: v1, entries: {a: [{name: a, version: 1.0.0}]}}";
    assert_eq!(open(flow).unwrap().versions("a").unwrap().unwrap().len(), 1);
}

#[test]
fn indexes_that_are_none_are_refused() {
    assert!(matches!(open(""), Err(Error::Empty)));
    assert!(matches!(open("entries: {}\n"), Err(Error::NoApiVersion)));
    assert!(matches!(open("<html>no index</html>"), Err(Error::Shape(_))));
    assert!(open("apiVersion: v1\nentries: []\n").is_err());
    assert!(open("apiVersion: [\n").is_err());
}

#[test]
fn a_repository_of_chartmuseum_without_charts_is_fine() {
    let index = open("apiVersion: v1\nentries: {}\ngenerated: \"x\"\nserverInfo: {}\n").unwrap();
    assert!(index.charts().is_empty());
    assert!(json(&index).contains("\"entries\": {}"));
    assert!(matches!(index.find("a", "").unwrap(), Err(PickError::NoChart(_))));
}

fn versions(list: &[(&str, &str)]) -> Vec<ChartVersion> {
    let entry = |(version, created): &(&str, &str)| {
        let text = format!("name: a\nversion: {version:?}\ncreated: {created:?}");
        ChartVersion::read(&yaml::parse(text.as_bytes()).unwrap()).unwrap()
    };
    list.iter().map(entry).collect()
}

#[test]
fn the_exact_text_wins_then_the_range_then_the_youngest() {
    let list = [
        ("1.0.0", ""),
        ("v1.1.0", ""),
        ("1.2.0-rc.1", ""),
        ("1.1.5+a", "2026-01-02T00:00:00Z"),
        ("1.1.5+b", "2026-01-01T00:00:00Z"),
        ("9", ""),
    ];
    let picked = |wanted: &str| pick("a", versions(&list), wanted).map(|found| found.metadata.version);
    assert_eq!(picked("v1.1.0").unwrap(), "v1.1.0");
    assert_eq!(picked("9").unwrap(), "9");
    assert_eq!(picked("").unwrap(), "1.1.5+a");
    assert_eq!(picked("*").unwrap(), "1.1.5+a");
    assert_eq!(picked(">=1.2.0-0").unwrap(), "1.2.0-rc.1");
    assert_eq!(picked("1.0").unwrap(), "1.0.0");
    assert_eq!(
        picked(">2").unwrap_err().to_string(),
        "no 'a' chart with version matching '>2' found: check the version and those that the repository has"
    );
    assert!(matches!(picked("no range"), Err(PickError::Range { .. })));
    assert!(matches!(pick("a", Vec::new(), ""), Err(PickError::NoVersions(_))));
}

/// Lines that are put together at random: most of the texts are no YAML, and the others are full of traps.
fn pieces() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "  a:",
        "  b:",
        "  - name: a",
        "    version: 1.0.0",
        "    description: |",
        "      x: y",
        "   x",
        "",
        "  - name: b",
        "    - c",
        "    description: \"x",
        "  c:",
        "    y\"",
        "    keywords: [a,",
        "    b]",
        "    urls: []",
        "    'q': 'it''s",
        "    x'",
        "generated: x",
        "  # c",
        "    home: x",
        "      - y",
        "  -",
        "    icon: >-",
        "  d: []",
        "  \"e\":",
        "      \"z",
        "    - name: c",
        "      version: 2.0.0",
        "  - - x",
        "annotations:",
        "- x",
        "    tags: &t v",
        "    home: *t",
        "---",
        "  - {name: d, version: 1.0.0}",
        "\tz",
        "  - # c",
        "    home: # c",
    ]);
    prop::collection::vec(line, 0..14)
        .prop_map(|lines| format!("apiVersion: v1\nentries:\n{}\n", lines.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]
    #[test]
    fn an_index_that_can_be_read_whole_gives_the_same_piece_by_piece(text in pieces()) {
        if let Some(expected) = whole_json(&text) {
            let index = open(&text).unwrap();
            prop_assert_eq!(json(&index), expected, "{}", text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\":,a-c \n#|>&*'-]{0,60}") {
        if let Ok(index) = open(&format!("apiVersion: v1\n{text}")) {
            json(&index);
        }
        let _ = open(&text);
    }
}

/// Half an index is none: whoever stored it would lose the charts of the other half.
#[test]
fn an_index_that_is_no_yaml_cannot_be_used_wherever_it_breaks() {
    let good = "apiVersion: v1\nentries:\n  aaa:\n  - apiVersion: v2\n    name: aaa\n    version: 1.0.0\n    urls: [a.tgz]\n  \
                app:\n  - apiVersion: v2\n    name: app\n    version: 1.0.0\n    description: \"an app\"\n    urls: [app.tgz]\n";
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("index.yaml");
    let written = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let index = Index::open(&path)?;
        let mut out = Vec::new();
        index
            .write_json(&mut out)
            .map(|()| String::from_utf8(out).unwrap())
    };
    assert!(written(good).unwrap().contains("app.tgz"));
    for broken in [
        good.split("an app").next().unwrap().to_owned(),
        good.replace("\"an app\"", "\"an app"),
        good.replace("\"an app\"", "a: b: c"),
        good.replace("\"an app\"", "\"\\q\""),
        good.replace("    description", "   description"),
    ] {
        let error = written(&broken).expect_err(&broken);
        assert!(error.to_string().contains("index"), "{error}");
    }
}
