//! Names that no other test has.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A letter and seven random letters or digits: short enough for every kind of name.
pub(super) fn random() -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    // The keys of a `RandomState` come from the operating system and differ each time.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let mut number = hasher.finish();
    let mut name = String::from("t");
    for _ in 0..7 {
        name.push(char::from(
            DIGITS[usize::try_from(number % 36).expect("it is below 36")],
        ));
        number /= 36;
    }
    name
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_prefixes_differ() {
        let (a, b) = (super::random(), super::random());
        assert_ne!(a, b);
        assert_eq!((a.len(), &a[..1]), (8, "t"));
    }
}
