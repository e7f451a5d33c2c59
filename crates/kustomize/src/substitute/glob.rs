//! Patterns of `#` and `%`: `*`, `?`, `[a-z]` and `\`.

/// A pattern that cannot be read matches nothing.
struct Malformed;

/// How much of a value the shortest beginning has that a pattern matches; nothing, if none does.
///
/// As in the original, the empty beginning is none: `*` takes one letter.
pub(super) fn shortest(value: &str, pattern: &str) -> usize {
    let mut found = 0;
    for end in ends(value) {
        match matches(pattern, &value[..end]) {
            Ok(true) => found = end,
            Ok(false) => {}
            Err(Malformed) => return 0,
        }
    }
    found
}

/// The same for the longest beginning.
pub(super) fn longest(value: &str, pattern: &str) -> usize {
    for end in ends(value) {
        match matches(pattern, &value[..end]) {
            Ok(true) => return end,
            Ok(false) => {}
            Err(Malformed) => return 0,
        }
    }
    0
}

/// Where beginnings of a value can end, the longest first.
fn ends(value: &str) -> impl Iterator<Item = usize> {
    let ends = value
        .char_indices()
        .map(|(start, letter)| start + letter.len_utf8());
    ends.rev()
}

/// Whether a pattern matches a whole text.
fn matches(pattern: &str, text: &str) -> Result<bool, Malformed> {
    let (mut pattern, mut text) = (pattern, text);
    'pieces: while !pattern.is_empty() {
        let after_star = pattern.trim_start_matches('*');
        let is_star = after_star.len() < pattern.len();
        let (piece, rest) = after_star.split_at(end_of_piece(after_star));
        if is_star && piece.is_empty() {
            return Ok(true);
        }
        pattern = rest;
        if let Some(left) = begins(piece, text)?
            && (left.is_empty() || !pattern.is_empty())
        {
            text = left;
            continue;
        }
        if is_star {
            let starts = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
            for start in starts {
                if let Some(left) = begins(piece, &text[start..])?
                    && (left.is_empty() || !pattern.is_empty())
                {
                    text = left;
                    continue 'pieces;
                }
            }
        }
        return Ok(false);
    }
    Ok(text.is_empty())
}

/// Where the piece before the next `*` ends.
fn end_of_piece(pattern: &str) -> usize {
    let (mut in_set, mut escaped) = (false, false);
    for (at, letter) in pattern.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_set = true,
            ']' => in_set = false,
            '*' if !in_set => return at,
            _ => {}
        }
    }
    pattern.len()
}

/// What is left of a text after a piece without `*`; `None` where it does not begin with it.
fn begins<'t>(piece: &str, text: &'t str) -> Result<Option<&'t str>, Malformed> {
    let (mut piece, mut text) = (piece.chars(), text.chars());
    while let Some(sign) = piece.next() {
        let Some(letter) = text.next() else {
            return Ok(None);
        };
        let fits = match sign {
            '?' => true,
            '[' => set(&mut piece, letter)?,
            '\\' => piece.next().ok_or(Malformed)? == letter,
            sign => sign == letter,
        };
        if !fits {
            return Ok(None);
        }
    }
    Ok(Some(text.as_str()))
}

/// Whether a letter is in the set that follows `[`.
fn set(piece: &mut std::str::Chars<'_>, letter: char) -> Result<bool, Malformed> {
    let is_negated = piece.as_str().starts_with('^');
    if is_negated {
        piece.next();
    }
    let (mut found, mut ranges) = (false, 0);
    loop {
        if ranges > 0 && piece.as_str().starts_with(']') {
            piece.next();
            return Ok(found != is_negated);
        }
        let low = member(piece)?;
        let mut high = low;
        if piece.as_str().starts_with('-') {
            piece.next();
            high = member(piece)?;
        }
        found |= (low..=high).contains(&letter);
        ranges += 1;
    }
}

/// A letter of a set, after which there must be more.
fn member(piece: &mut std::str::Chars<'_>) -> Result<char, Malformed> {
    let letter = match piece.next() {
        None | Some('-' | ']') => return Err(Malformed),
        Some('\\') => piece.next().ok_or(Malformed)?,
        Some(letter) => letter,
    };
    if piece.as_str().is_empty() {
        return Err(Malformed);
    }
    Ok(letter)
}
