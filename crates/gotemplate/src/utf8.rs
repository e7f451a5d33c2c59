//! Strings of Go, which need not be UTF-8: each byte that belongs to no character counts as one.

/// The characters of a string, each with its place and length; `None` is a byte that belongs to none.
pub(crate) fn runes(bytes: &[u8]) -> impl Iterator<Item = (usize, usize, Option<char>)> {
    let mut start = 0;
    bytes.utf8_chunks().flat_map(move |chunk| {
        let at = start;
        let valid = chunk.valid();
        start += valid.len() + chunk.invalid().len();
        let broken = at + valid.len()..start;
        let chars = valid
            .char_indices()
            .map(move |(index, char)| (at + index, char.len_utf8(), Some(char)));
        chars.chain(broken.map(|index| (index, 1, None)))
    })
}

/// How many there are.
pub(crate) fn count(bytes: &[u8]) -> usize {
    match bytes.is_ascii() {
        true => bytes.len(),
        false => runes(bytes).count(),
    }
}

/// Maps each character; what is none becomes `�`, as in Go's `strings.Map`.
pub(crate) fn map(bytes: &[u8], mut with: impl FnMut(char) -> Option<char>) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for (_, _, char) in runes(bytes) {
        if let Some(char) = with(char.unwrap_or(char::REPLACEMENT_CHARACTER)) {
            push(&mut out, char);
        }
    }
    out
}

/// Appends a character.
pub(crate) fn push(out: &mut Vec<u8>, char: char) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}
