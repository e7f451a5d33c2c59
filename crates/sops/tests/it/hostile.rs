//! Files that somebody made to do harm: never a panic, always an end.

use proptest::prelude::*;
use sops::{Encrypted, Error, Format, Mac, limits};

use crate::kit::{self, file};

const FORMATS: [Format; 5] = [
    Format::Binary,
    Format::Dotenv,
    Format::Ini,
    Format::Json,
    Format::Yaml,
];

fn try_all(data: &[u8], format: Format) {
    let Ok(read) = Encrypted::read(data, format) else {
        return;
    };
    let Ok(key) = read.unlock(&kit::age()).finish() else {
        return;
    };
    let Ok(decrypted) = read.decrypt(&key, Mac::Ignored) else {
        return;
    };
    for output in FORMATS {
        let _ = decrypted.write(output);
    }
}

/// SO6: larger files are refused.
#[test]
fn a_file_of_more_than_five_mebibytes_is_refused() {
    let large = vec![b' '; limits::MAX_SIZE + 1];
    for format in FORMATS {
        let error = Encrypted::read(&large, format).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the file has 5242881 bytes, and at most 5242880 are decrypted"
        );
    }
}

#[test]
fn deep_nesting_is_refused() {
    for depth in [101, 130, 20_000] {
        let json = format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(matches!(
            Encrypted::read(json.as_bytes(), Format::Json),
            Err(Error::Read { .. })
        ));
        let yaml = format!("a: {}1{}\n", "[".repeat(depth), "]".repeat(depth));
        assert!(matches!(
            Encrypted::read(yaml.as_bytes(), Format::Yaml),
            Err(Error::Read { .. })
        ));
    }
    let dotenv = format!("sops_{}=1\n", "a__map_".repeat(20_000));
    assert!(matches!(
        Encrypted::read(dotenv.as_bytes(), Format::Dotenv),
        Err(Error::Metadata { .. })
    ));
}

#[test]
fn aliases_that_grow_are_refused() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        text += &format!("a{level}: &a{level} [{below}]\n");
    }
    let error = Encrypted::read(text.as_bytes(), Format::Yaml)
        .unwrap_err()
        .to_string();
    assert!(error.contains("too large"), "{error}");
}

#[test]
fn too_many_recipients_and_too_long_keys_are_refused() {
    let file = |age: &str| {
        format!(r#"{{"sops": {{"age": [{age}], "lastmodified": "2020-01-01T00:00:00Z", "mac": ""}}}}"#)
    };
    let one = r#"{"recipient": "age1x", "enc": "x"}"#;
    let many = vec![one; limits::MAX_RECIPIENTS + 1].join(",");
    let error = Encrypted::read(file(&many).as_bytes(), Format::Json)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("it has too many recipients"), "{error}");
    let long = format!(
        r#"{{"recipient": "age1x", "enc": "{}"}}"#,
        "x".repeat(limits::MAX_ENCRYPTED_KEY + 1)
    );
    let error = Encrypted::read(file(&long).as_bytes(), Format::Json)
        .unwrap_err()
        .to_string();
    assert!(error.ends_with("an encrypted data key is too long"), "{error}");
}

#[test]
fn metadata_that_makes_no_sense_is_named() {
    for (text, wanted) in [
        ("{}", "sops metadata not found"),
        (r#"{"sops": 1}"#, "the entry sops is no map"),
        (r#"{"sops": {}}"#, "no keys found in file"),
        (r#"{"sops": {"age": [{"enc": "x"}]}}"#, "lastmodified is no time"),
        (
            r#"{"sops": {"age": [{"enc": "x"}], "lastmodified": "2020-01-01T00:00:00Z", "encrypted_regex": "a", "encrypted_suffix": "b"}}"#,
            "encrypted_suffix and encrypted_regex cannot be used together",
        ),
        (
            r#"{"sops": {"age": [{"enc": "x"}], "lastmodified": "2020-01-01T00:00:00Z", "encrypted_regex": "("}}"#,
            "the metadata's encrypted_regex is no regular expression: encrypt the file again with a valid one",
        ),
    ] {
        let error = Encrypted::read(text.as_bytes(), Format::Json)
            .unwrap_err()
            .to_string();
        assert!(error.ends_with(wanted), "{error}");
    }
}

fn fixture() -> impl Strategy<Value = (Vec<u8>, Format)> {
    prop::sample::select(vec![
        ("age.yaml", Format::Yaml),
        ("age.json", Format::Json),
        ("age.env", Format::Dotenv),
        ("age.ini", Format::Ini),
        ("age.bin", Format::Binary),
        ("regex.yaml", Format::Yaml),
    ])
    .prop_map(|(name, format)| (file(name), format))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A file with pieces changed, moved or cut out is decrypted or refused, and nothing else happens.
    #[test]
    fn a_mutated_file_never_panics(
        (mut data, format) in fixture(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_u8..4, any::<u8>()), 1..6),
    ) {
        for (at, to, kind, byte) in changes {
            if data.is_empty() {
                break;
            }
            let (at, to) = (at.index(data.len()), to.index(data.len()));
            match kind {
                0 => data[at] = byte,
                1 => data.insert(at, byte),
                2 => { data.drain(at.min(to)..at.max(to).min(at.min(to) + 40)); }
                _ => {
                    let piece = data[at..data.len().min(at + 30)].to_vec();
                    data.splice(to..to, piece);
                }
            }
        }
        try_all(&data, format);
    }

    /// Values of other types, at any place in the text.
    #[test]
    fn any_text_never_panics(text in "[ -~\n\u{feff}\u{85}ü]{0,80}", at in any::<prop::sample::Index>(), (mut data, format) in fixture()) {
        for format in FORMATS {
            try_all(text.as_bytes(), format);
        }
        let at = at.index(data.len());
        data.splice(at..at, text.bytes());
        try_all(&data, format);
    }
}
