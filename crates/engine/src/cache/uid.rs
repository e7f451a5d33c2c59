//! Uids in sixteen bytes.

use std::fmt;

/// The uid of an object. Nearly all are UUIDs, which are kept as sixteen bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Uid(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Uuid([u8; 16]),
    Text(Box<str>),
}

/// Where the dashes of a UUID are.
const DASHES: [usize; 4] = [8, 13, 18, 23];

impl Uid {
    /// The uid with this text.
    pub fn new(text: &str) -> Uid {
        Uid(uuid(text).map_or_else(|| Repr::Text(text.into()), Repr::Uuid))
    }

    /// The memory that it takes besides itself.
    pub(super) fn size(&self) -> usize {
        match &self.0 {
            Repr::Uuid(_) => 0,
            Repr::Text(text) => text.len(),
        }
    }

    /// Whether there is none: only what was never on a server has no uid.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Repr::Text(text) if text.is_empty())
    }
}

/// The bytes of a UUID in the one way that prints as the same text again.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let text = text.as_bytes();
    if text.len() != 36 || DASHES.iter().any(|at| text[*at] != b'-') {
        return None;
    }
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut digits = text.iter().enumerate().filter(|(at, _)| !DASHES.contains(at));
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        let (high, low) = (digits.next()?, digits.next()?);
        *byte = digit(*high.1)? << 4 | digit(*low.1)?;
    }
    Some(bytes)
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Uid::new(text)
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Text(text) => f.write_str(text),
            Repr::Uuid(bytes) => {
                for (at, byte) in bytes.iter().enumerate() {
                    if [4, 6, 8, 10].contains(&at) {
                        f.write_str("-")?;
                    }
                    write!(f, "{byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_prints_as_it_was() {
        let uuid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
        assert!(matches!(Uid::new(uuid).0, Repr::Uuid(_)));
        for text in [
            uuid,
            "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0",
            "",
            "mirror-pod",
            "ééééééééééééééééé€",
        ] {
            assert_eq!(Uid::new(text).to_string(), text);
        }
        assert_ne!(Uid::new(uuid), Uid::new(&uuid.to_uppercase()));
    }
}
