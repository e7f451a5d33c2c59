//! The memory that a JSON text takes once it is read.

/// The memory of a value besides its text, about.
const VALUE: usize = 48;

/// Returns the memory that a JSON text takes once it is read: about, and no less, whatever it is. That of parts of a text, added up, is no
/// less either.
pub fn memory(text: &[u8]) -> usize {
    let values = text
        .iter()
        .filter(|byte| matches!(byte, b',' | b'[' | b'{'))
        .count();
    text.len() + VALUE * (1 + values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;

    fn taken(value: &Value) -> usize {
        let inside: usize = match value {
            Value::Array(items) => items.iter().map(taken).sum(),
            Value::Object(map) => map.iter().map(|(_, value)| 24 + taken(value)).sum(),
            _ => 0,
        };
        24 + inside
    }

    #[test]
    fn a_value_takes_no_more_than_is_counted_for_it() {
        for text in ["[0,0,0,0]", r#"{"a":{"b":[]},"c":"d"}"#, "[[],[],[[]]]"] {
            let value = crate::json::parse(text.as_bytes()).unwrap();
            assert!(memory(text.as_bytes()) >= taken(&value), "{text}");
        }
    }
}
