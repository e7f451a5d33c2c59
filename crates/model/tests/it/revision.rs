use std::error::Error as _;

use model::revision::Error;
use model::{Digest, Revision};
use proptest::prelude::*;

const SHA1: &str = "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709";
const SHA256: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn every_form_is_read_and_printed() {
    let digest = |text: &str| text.parse::<Digest>().unwrap();
    let cases = [
        (format!("main@{SHA1}"), Revision::named("main", digest(SHA1))),
        (
            format!("feature/a@b@{SHA1}"),
            Revision::named("feature/a@b", digest(SHA1)),
        ),
        (
            format!("refs/heads/main@{SHA1}"),
            Revision::named("refs/heads/main", digest(SHA1)),
        ),
        (SHA1.to_owned(), Revision::unnamed(digest(SHA1))),
        (
            format!("6.1.0@{SHA256}"),
            Revision::named("6.1.0", digest(SHA256)),
        ),
        (SHA256.to_owned(), Revision::unnamed(digest(SHA256))),
        ("6.1.0+1".to_owned(), Revision::version("6.1.0+1")),
        ("user@host:x".to_owned(), Revision::version("user@host:x")),
    ];
    for (text, revision) in cases {
        assert_eq!(text.parse::<Revision>().unwrap(), revision);
        assert_eq!(revision.to_string(), text);
    }
    let revision: Revision = format!("main@{SHA1}").parse().unwrap();
    assert_eq!(revision.name(), Some("main"));
    assert_eq!(revision.digest(), Some(digest(SHA1)));
}

#[test]
fn what_is_no_revision_is_refused_with_the_reason() {
    assert_eq!("".parse::<Revision>(), Err(Error::Empty));
    assert_eq!(
        format!("@{SHA1}").parse::<Revision>(),
        Err(Error::NoName(format!("@{SHA1}")))
    );
    let error = "main@sha1:12".parse::<Revision>().unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"revision "main@sha1:12" has a malformed digest"#
    );
    assert_eq!(
        error.source().unwrap().to_string(),
        "sha1 digest must have 40 hexadecimal digits, not 2"
    );
}

proptest! {
    #[test]
    fn what_is_read_prints_the_same(text in ".*", named: bool) {
        let text = if named { format!("{text}@{SHA256}") } else { text };
        if let Ok(revision) = text.parse::<Revision>() {
            prop_assert_eq!(revision.to_string(), text);
        }
    }
}
