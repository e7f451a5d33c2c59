//! The text of a file: UTF-8, or UTF-16 with a byte order mark, as go-yaml reads it.

/// Why a file is no text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoText {
    /// The line of the first byte that is wrong.
    pub(super) line: usize,
    pub(super) message: &'static str,
}

/// The text of a file.
pub(super) fn text(content: Vec<u8>) -> Result<String, NoText> {
    match content.as_slice() {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8(content).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            NoText {
                line: memchr::memchr_iter(b'\n', good).count() + 1,
                message: "yaml: it is neither UTF-8 nor UTF-16 with a byte order mark: save it as UTF-8",
            }
        }),
    }
}

/// kustomize looks for the ends of documents among bytes, and so finds none here: of several documents it reads the first.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, NoText> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut text = String::with_capacity(bytes.len());
    let mut is_good = rest.is_empty();
    for letter in char::decode_utf16(units) {
        match letter {
            Ok(letter) => text.push(letter),
            Err(_) => {
                is_good = false;
                break;
            }
        }
    }
    if !is_good {
        return Err(NoText {
            line: memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1,
            message: "yaml: it begins as UTF-16, but is none: save it as UTF-8",
        });
    }
    if let Some(second) = text.find("\n---") {
        text.truncate(second + 1);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16_of(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(bytes).collect()
    }

    #[test]
    fn utf16_is_read_by_its_mark_and_up_to_the_second_document() {
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(text(utf16_of("a: ä😀\n", bytes)).as_deref(), Ok("a: ä😀\n"));
            assert_eq!(
                text(utf16_of("---\na: b\n---\nc: d\n", bytes)).as_deref(),
                Ok("---\na: b\n")
            );
        }
    }

    #[test]
    fn what_is_no_text_is_told_with_its_line() {
        let line = |content: &[u8]| text(content.to_vec()).map_err(|error| error.line);
        assert_eq!(line(b"a: b\nc: \xe9\n"), Err(2));
        assert_eq!(line(b"\xff\xfea\0\n\0b"), Err(2));
        assert_eq!(line(b"\xff\xfe\n\0\0\xd8a\0"), Err(2));
        assert_eq!(line(b"a\n"), Ok("a\n".to_owned()));
    }
}
