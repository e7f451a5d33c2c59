//! The comments beside a scalar.

/// The comment that follows a place on its line; a comma may stand between.
pub(super) fn after(text: &str, place: usize) -> Option<&str> {
    let rest = &text[place..];
    let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
    let blanks = [' ', '\t'];
    let tail = line.trim_start_matches(blanks);
    let tail = tail.strip_prefix(',').unwrap_or(tail);
    let comment = tail.trim_start_matches(blanks);
    let before = &line[..line.len() - comment.len()];
    (comment.starts_with('#') && before.ends_with(blanks)).then(|| comment.trim_end())
}

/// The lines of comment directly above the line of a place, if that line has nothing else before the place than the dashes
/// of a list.
pub(super) fn above(text: &str, place: usize) -> Option<&str> {
    let line = text[..place].rfind('\n').map_or(0, |at| at + 1);
    let own = text[line..place].trim_start_matches('\u{feff}');
    if !own.bytes().all(|byte| matches!(byte, b' ' | b'-')) {
        return None;
    }
    let (mut start, mut end) = (line, line);
    while start > 0 {
        let before = text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        let candidate = text[before..start].trim();
        if !candidate.trim_start_matches('\u{feff}').starts_with('#') {
            break;
        }
        if end == line {
            end = before + text[before..start].trim_end().len();
        }
        start = before;
    }
    let found = text[start..end].trim_start_matches(|letter: char| letter != '#');
    (start < line).then_some(found)
}
