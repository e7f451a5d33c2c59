//! What a substitution makes of a value.

use super::glob;

/// Whether an operator has an answer for a variable that is not there.
pub(super) fn is_default(operator: &str) -> bool {
    matches!(operator, "=" | ":=" | ":-" | ":?" | ":+")
}

/// The value after an operation; `None` where it would be no text.
pub(super) fn apply(operator: &str, value: &str, arguments: &[String]) -> Option<String> {
    let argument = |at: usize| arguments.get(at).map_or("", String::as_str);
    Some(match operator {
        "," => first(value, lower),
        ",," => value.chars().map(lower).collect(),
        "^" => first(value, upper),
        "^^" => value.chars().map(upper).collect(),
        "#" if arguments.is_empty() => value.len().to_string(),
        "#" => value[glob::shortest(value, argument(0))..].to_owned(),
        "##" => value[glob::longest(value, argument(0))..].to_owned(),
        "%" => from_behind(value, argument(0), glob::shortest),
        "%%" => from_behind(value, argument(0), glob::longest),
        ":" => part(value, arguments)?.to_owned(),
        "/" => value.replacen(argument(0), argument(1), 1),
        "//" => value.replace(argument(0), argument(1)),
        "/#" if arguments.len() == 2 && value.starts_with(argument(0)) => {
            value.replacen(argument(0), argument(1), 1)
        }
        "/%" if arguments.len() == 2 => match value.strip_suffix(argument(0)) {
            Some(rest) => format!("{rest}{}", argument(1)),
            None => value.to_owned(),
        },
        _ if value.is_empty() => arguments.concat(),
        _ => value.to_owned(),
    })
}

/// One letter for one letter, as in Go: what has no such letter stays.
fn upper(letter: char) -> char {
    alone(letter.to_uppercase()).unwrap_or(letter)
}

fn lower(letter: char) -> char {
    alone(letter.to_lowercase()).unwrap_or(letter)
}

fn alone(mut letters: impl Iterator<Item = char>) -> Option<char> {
    let only = letters.next();
    only.filter(|_| letters.next().is_none())
}

fn first(value: &str, change: fn(char) -> char) -> String {
    let mut letters = value.chars();
    let changed = letters.next().map(change);
    changed.into_iter().chain(letters).collect()
}

fn from_behind(value: &str, pattern: &str, cut: fn(&str, &str) -> usize) -> String {
    let reversed = |text: &str| text.chars().rev().collect::<String>();
    let behind = reversed(value);
    let start = cut(&behind, &reversed(pattern));
    reversed(&behind[start..])
}

/// The part of a value from an offset on, with a length or to the end. A number that is none gives the whole value.
fn part<'v>(value: &'v str, arguments: &[String]) -> Option<&'v str> {
    let Some(Ok(offset)) = arguments.first().map(|text| text.parse::<i64>()) else {
        return Some(value);
    };
    let size = i64::try_from(value.len()).ok()?;
    let offset = match offset {
        ..0 => (size + offset).max(0),
        _ => offset,
    };
    let end = match arguments.get(1).map(|text| text.parse::<i64>()) {
        None => size,
        Some(Err(_)) => return Some(value),
        Some(Ok(length)) => offset.saturating_add(length).min(size),
    };
    if offset >= size {
        return if end >= size { Some("") } else { None };
    }
    value.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}
