//! Keys that are for nothing but tests, and documents.

pub(crate) mod documents;

use std::path::Path;

use sops::Keys;

/// An age identity and its recipient.
pub(crate) const AGE: (&str, &str) = (
    "# created for tests\nAGE-SECRET-KEY-145R5G0Y3EUDZNRFD7Q5WP56KS3CARF6UR2ERHQ88XVWK7F3F0X6S925LCU\n",
    "age1g2w4ztqk6dphg4xwpg4va08ty8v8d3tvzs57gxn6lm4skjheda4sze2wds",
);

/// A recorded file.
pub(crate) fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The entry of a Secret: a recorded file, or the age identity.
pub(crate) fn entry(name: &str) -> Vec<u8> {
    match name {
        "key.agekey" => AGE.0.as_bytes().to_vec(),
        other => file(other),
    }
}

/// Keys of a Secret with one entry.
pub(crate) fn secret(name: &str) -> Keys {
    Keys::from_secret([(name, entry(name).as_slice())]).unwrap()
}

/// The age identity.
pub(crate) fn age() -> Keys {
    secret("key.agekey")
}
