//! Which of YAML's ways to write a string go-yaml v2 chooses.

use crate::resolve;
use crate::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// The style of a value.
pub(crate) fn of_value(text: &str) -> Style {
    if is_simple(text) && is_string(text) {
        return Style::Plain;
    }
    let found = Analysis::of(text, Tabs::Escaped);
    let wanted = if text.contains('\n') {
        Style::Literal
    } else if is_string(text) {
        Style::Plain
    } else {
        Style::DoubleQuoted
    };
    match wanted {
        Style::Literal if found.block_allowed => Style::Literal,
        Style::Plain if found.plain_allowed => Style::Plain,
        Style::Plain if found.single_quoted_allowed => Style::SingleQuoted,
        _ => Style::DoubleQuoted,
    }
}

/// The style of a key that stands before its colon.
pub(super) fn of_key(text: &str) -> Style {
    match of_value(text) {
        Style::Literal => Style::DoubleQuoted,
        Style::Plain if text.is_empty() => Style::SingleQuoted,
        style => style,
    }
}

/// Whether go-yaml writes the text as lines after `|` or `>` when it is asked to.
pub(crate) fn block_allowed(text: &str) -> bool {
    Analysis::of(text, Tabs::Escaped).block_allowed
}

/// Whether the text has a break of lines in it, in YAML's wide sense.
pub(super) fn has_break(text: &str) -> bool {
    text.chars().any(is_break)
}

/// Whether the character breaks lines, in YAML's wide sense.
pub fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether go-yaml's emitter leaves the character as it is.
pub fn is_printable(character: char) -> bool {
    matches!(character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
}

/// Whether every byte is one that never needs quotes: nearly all strings are so.
fn is_simple(text: &str) -> bool {
    let Some((first, rest)) = text.as_bytes().split_first() else {
        return false;
    };
    (first.is_ascii_alphanumeric() || b"/_".contains(first))
        && rest
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(byte))
}

/// Whether a reader of YAML 1.1 takes the text for a string when it has no quotes.
fn is_string(text: &str) -> bool {
    match text.as_bytes().first() {
        None => false,
        Some(b'+' | b'-' | b'0'..=b'9') => {
            resolve::means_itself(text) && Timestamp::parse(text).is_none() && !is_base60(text)
        }
        Some(b'.' | b'~') => resolve::means_itself(text),
        Some(first) if b"yYnNtTfFoO".contains(first) => resolve::means_itself(text),
        Some(_) => true,
    }
}

/// Whether YAML 1.1 has the text for a number to the base of 60: `^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$`
pub fn is_base60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    let starts = |part: &str| part.starts_with(|first: char| first.is_ascii_digit());
    let Some(first) = parts.next().filter(|part| starts(part) && digits(part)) else {
        return false;
    };
    let rest = &unsigned[first.len()..];
    let (rest, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let sixtieth = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [b'0'..=b'5', digit] => digit.is_ascii_digit(),
        _ => false,
    };
    !rest.is_empty() && rest[1..].split(':').all(sixtieth) && digits(fraction)
}

/// What tabs are to the emitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tabs {
    /// To go-yaml v2: characters that need to be escaped.
    Escaped,
    /// To go-yaml v3: characters that lines after `|` may have, but texts between single quotes and without any may not.
    InBlocks,
}

/// What go-yaml's emitter finds out about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// It may stand without quotes, if it means no number or the like.
    pub plain_allowed: bool,
    /// It may stand between single quotes.
    pub single_quoted_allowed: bool,
    /// It may stand as lines after `|` or `>`.
    pub block_allowed: bool,
}

impl Analysis {
    /// Looks at each character of a text.
    pub fn of(text: &str, how: Tabs) -> Analysis {
        if text.is_empty() {
            return Analysis {
                plain_allowed: true,
                single_quoted_allowed: true,
                block_allowed: false,
            };
        }
        let mut indicators = text.starts_with("---") || text.starts_with("...");
        let (mut breaks, mut special, mut tabs) = (false, false, false);
        let (mut break_space, mut space_break) = (false, false);
        let mut previous = None;
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            let followed = characters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicators |= is_indicator(character, previous, followed);
            match character {
                '\t' if how == Tabs::InBlocks => tabs = true,
                _ => special |= !is_printable(character),
            }
            breaks |= is_break(character);
            break_space |= character == ' ' && previous.is_some_and(is_break);
            space_break |= is_break(character) && previous == Some(' ');
            previous = Some(character);
        }
        let edge = |character: Option<char>| character.is_some_and(|edge| edge == ' ' || is_break(edge));
        let (first, last) = (text.chars().next(), previous);
        let odd = break_space || space_break || tabs || special;
        Analysis {
            plain_allowed: !(indicators || breaks || odd || edge(first) || edge(last)),
            single_quoted_allowed: !odd,
            block_allowed: !(last == Some(' ') || space_break || special),
        }
    }
}

/// Whether a character means something to YAML where it stands, so that a text with it cannot be plain.
fn is_indicator(character: char, previous: Option<char>, followed_by_blank: bool) -> bool {
    let Some(previous) = previous else {
        return match character {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`' => true,
            '?' | ':' | '-' => followed_by_blank,
            _ => false,
        };
    };
    match character {
        ':' => followed_by_blank,
        '#' => matches!(previous, ' ' | '\t' | '\0') || is_break(previous),
        _ => false,
    }
}
