//! Texts cut and wrapped as `github.com/Masterminds/goutils` does it: by bytes.

use super::strings::find;
use crate::error::Error;
use crate::unicode::is_space;
use crate::utf8;

/// A text cut to a width, with three dots for what is missing; from an offset on.
pub(super) fn abbreviate(text: &[u8], offset: i64, width: i64) -> Vec<u8> {
    let length = text.len() as i64;
    if width < 4 || text.is_empty() {
        return Vec::new();
    }
    if length <= width {
        return text.to_vec();
    }
    let mut offset = offset.min(length);
    if length - offset < width - 3 {
        offset = length - (width - 3);
    }
    let kept = (width - 3) as usize;
    if offset <= 4 {
        return [&text[..kept], b"..."].concat();
    }
    if width < 7 {
        return Vec::new();
    }
    if offset + width - 3 < length {
        let rest = abbreviate(&text[offset as usize..], 0, width - 3);
        return [b"...", rest.as_slice()].concat();
    }
    [b"...", &text[text.len() - kept..]].concat()
}

/// Lines of at most `width` bytes, broken at spaces; words that are longer are broken too, or not.
pub(super) fn wrap(
    text: &[u8],
    width: i64,
    line: &[u8],
    break_words: bool,
    room: usize,
) -> Result<Vec<u8>, Error> {
    let width = usize::try_from(width).unwrap_or(1).max(1);
    let mut out = Vec::with_capacity(text.len());
    let mut offset = 0;
    while text.len() - offset > width {
        if out.len() > room {
            return Err(Error::limit("more would be made than the limits allow"));
        }
        if text[offset] == b' ' {
            offset += 1;
            continue;
        }
        let end = width + offset;
        let space = text[offset..=end].iter().rposition(|byte| *byte == b' ');
        let (until, next) = match space {
            Some(space) => (offset + space, offset + space + 1),
            None if break_words => (end, end),
            None => match find(&text[end..], b" ") {
                Some(space) => (end + space, end + space + 1),
                None => {
                    out.extend_from_slice(&text[offset..]);
                    return Ok(out);
                }
            },
        };
        out.extend_from_slice(&text[offset..until]);
        out.extend_from_slice(line);
        offset = next;
    }
    out.extend_from_slice(&text[offset..]);
    Ok(out)
}

/// Every byte is taken for a character of its own, as the library does.
fn bytes_as_chars(text: &[u8]) -> impl Iterator<Item = char> {
    text.iter().map(|byte| char::from(*byte))
}

/// Without white space.
pub(super) fn delete_spaces(text: &[u8]) -> Vec<u8> {
    if !bytes_as_chars(text).any(is_space) {
        return text.to_vec();
    }
    let mut out = Vec::with_capacity(text.len());
    for char in bytes_as_chars(text).filter(|char| !is_space(*char)) {
        utf8::push(&mut out, char);
    }
    out
}

/// The first letter of each word.
pub(super) fn initials(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut gap = true;
    for char in bytes_as_chars(text) {
        if is_space(char) {
            gap = true;
        } else if gap {
            utf8::push(&mut out, char);
            gap = false;
        }
    }
    out
}
