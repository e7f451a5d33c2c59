use model::Digest;
use model::digest::{Algorithm, Error};
use proptest::prelude::*;

const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn a_digest_is_read_and_printed() {
    let digest: Digest = EMPTY.parse().unwrap();
    assert_eq!(digest.algorithm(), Algorithm::Sha256);
    assert_eq!(digest.bytes()[..2], [0xe3, 0xb0]);
    assert_eq!(digest.bytes().len(), 32);
    assert_eq!(digest.to_string(), EMPTY);
    assert_eq!(digest.hex(), EMPTY[7..]);
    assert_eq!(Digest::sha256(digest.bytes().try_into().unwrap()), digest);
}

#[test]
fn what_is_no_digest_is_refused_with_the_reason() {
    let message = |text: &str| text.parse::<Digest>().unwrap_err().to_string();
    assert_eq!(
        message("abc"),
        r#"digest "abc" has no algorithm: it must look like sha256:<hex>"#
    );
    assert_eq!(
        message("md5:abc"),
        r#"digest algorithm "md5" is not supported: it must be one of sha1, sha256, sha384, sha512, blake3"#
    );
    assert_eq!(
        message("sha1:abcd"),
        "sha1 digest must have 40 hexadecimal digits, not 4"
    );
    assert_eq!(
        message(&EMPTY.to_uppercase().replace("SHA", "sha")),
        "'E' is no lower-case hexadecimal digit of a digest"
    );
    assert_eq!(
        message("sha256:é"),
        "'é' is no lower-case hexadecimal digit of a digest"
    );
    assert!(matches!(
        Digest::new(Algorithm::Sha1, &[0; 32]),
        Err(Error::Length {
            expected: 40,
            found: 64,
            ..
        })
    ));
}

#[test]
fn a_digest_is_a_string_in_json() {
    let digest: Digest = serde_json::from_str(&format!("{EMPTY:?}")).unwrap();
    assert_eq!(serde_json::to_string(&digest).unwrap(), format!("{EMPTY:?}"));
    assert!(serde_json::from_str::<Digest>("\"sha256:\"").is_err());
}

proptest! {
    #[test]
    fn every_digest_reads_back(nth in 0..5usize, bytes: [u8; 32]) {
        let algorithm = Algorithm::ALL[nth];
        let bytes: Vec<u8> = bytes.into_iter().cycle().take(algorithm.length()).collect();
        let digest = Digest::new(algorithm, &bytes).unwrap();
        prop_assert_eq!(digest.to_string().parse(), Ok(digest));
        prop_assert_eq!(digest.bytes(), bytes);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(sha1|sha256|x)?:?.{0,70}") {
        let _ = text.parse::<Digest>();
    }
}
