//! As much of CBOR as envelopes need: values of known length.

/// Deeper nesting than any envelope has.
const DEPTH_LIMIT: usize = 16;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Integer(i64),
    Bytes(Vec<u8>),
    Text(String),
    Array(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Tag(u64, Box<Value>),
    /// `true`, `null` and the like.
    Simple(u8),
}

impl Value {
    /// Reads one value that is all there is.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let value = read(&mut rest, 0)?;
        rest.is_empty().then_some(value)
    }

    /// The value of a key of a map.
    pub(super) fn get(&self, key: &Value) -> Option<&Value> {
        let Value::Map(pairs) = self else {
            return None;
        };
        pairs
            .iter()
            .find(|(found, _)| found == key)
            .map(|(_, value)| value)
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.get(&Value::Text(name.to_owned()))
    }

    pub(super) fn numbered(&self, label: i64) -> Option<&Value> {
        self.get(&Value::Integer(label))
    }
}

fn read(rest: &mut &[u8], depth: usize) -> Option<Value> {
    if depth > DEPTH_LIMIT {
        return None;
    }
    let (&first, after) = rest.split_first()?;
    *rest = after;
    let (kind, low) = (first >> 5, first & 0x1f);
    if kind == 7 {
        return (low < 24).then_some(Value::Simple(low));
    }
    let number = number(rest, low)?;
    match kind {
        0 => Some(Value::Integer(i64::try_from(number).ok()?)),
        1 => Some(Value::Integer(-1 - i64::try_from(number).ok()?)),
        2 => Some(Value::Bytes(take(rest, number)?.to_vec())),
        3 => Some(Value::Text(String::from_utf8(take(rest, number)?.to_vec()).ok()?)),
        4 => {
            // Each element has at least one byte, so that a count beyond them is a lie.
            let count = usize::try_from(number)
                .ok()
                .filter(|count| *count <= rest.len())?;
            let elements: Option<Vec<_>> = (0..count).map(|_| read(rest, depth + 1)).collect();
            Some(Value::Array(elements?))
        }
        5 => {
            let count = usize::try_from(number)
                .ok()
                .filter(|count| *count <= rest.len())?;
            let pairs: Option<Vec<_>> = (0..count)
                .map(|_| Some((read(rest, depth + 1)?, read(rest, depth + 1)?)))
                .collect();
            Some(Value::Map(pairs?))
        }
        _ => Some(Value::Tag(number, Box::new(read(rest, depth + 1)?))),
    }
}

/// The number of a head: in its low bits, or in the bytes that follow. Unknown lengths are not read.
fn number(rest: &mut &[u8], low: u8) -> Option<u64> {
    let length = match low {
        0..=23 => return Some(u64::from(low)),
        24 => 1,
        25 => 2,
        26 => 4,
        27 => 8,
        _ => return None,
    };
    let bytes = take(rest, length)?;
    Some(
        bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}

fn take<'a>(rest: &mut &'a [u8], count: u64) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(usize::try_from(count).ok()?)?;
    *rest = after;
    Some(taken)
}

/// Writes the head and content of a byte string.
pub(super) fn write_bytes(content: &[u8], to: &mut Vec<u8>) {
    let length = content.len() as u64;
    match length {
        0..=23 => to.push(0x40 | length as u8),
        24..=0xff => to.extend([0x58, length as u8]),
        0x100..=0xffff => {
            to.push(0x59);
            to.extend((length as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            to.push(0x5a);
            to.extend((length as u32).to_be_bytes());
        }
        _ => {
            to.push(0x5b);
            to.extend(length.to_be_bytes());
        }
    }
    to.extend_from_slice(content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(Value::parse(&[0x38, 0x24]), Some(Value::Integer(-37)));
        assert_eq!(Value::parse(b"\x42ab"), Some(Value::Bytes(b"ab".to_vec())));
        let map = Value::parse(b"\xa2\x01\x61a\x61b\x81\xf6").unwrap();
        assert_eq!(map.numbered(1), Some(&text("a")));
        assert_eq!(map.named("b"), Some(&Value::Array(vec![Value::Simple(22)])));
        assert_eq!(
            Value::parse(&[0xc1, 0x1a, 0x65, 0x53, 0xf1, 0x00]),
            Some(Value::Tag(1, Box::new(Value::Integer(1_700_000_000))))
        );
    }

    #[test]
    fn what_is_written_is_read_back() {
        for length in [0, 23, 24, 255, 256, 65535, 65536] {
            let content = vec![7; length];
            let mut written = Vec::new();
            write_bytes(&content, &mut written);
            assert_eq!(Value::parse(&written), Some(Value::Bytes(content)), "{length}");
        }
    }

    #[test]
    fn lies_about_lengths_and_depths_are_refused() {
        assert_eq!(
            Value::parse(&[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
            None
        );
        assert_eq!(Value::parse(&[0x5a, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(Value::parse(&[0x81; 1000]), None);
        assert_eq!(Value::parse(&[0x01, 0x01]), None);
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>) {
            let _ = Value::parse(&bytes);
        }
    }
}
