//! What characters are, as Go's `unicode` package tells it.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Sets of characters as ranges in order. They are facts of Unicode, read once out of the tables of `regex-syntax`.
struct Set(Vec<(char, char)>);

impl Set {
    fn new(expression: &str) -> Set {
        let ranges = match regex_syntax::parse(expression).map(regex_syntax::hir::Hir::into_kind) {
            Ok(HirKind::Class(Class::Unicode(class))) => {
                class.iter().map(|range| (range.start(), range.end())).collect()
            }
            _ => Vec::new(),
        };
        Set(ranges)
    }

    fn contains(&self, char: char) -> bool {
        let index = self.0.partition_point(|(_, end)| *end < char);
        self.0.get(index).is_some_and(|(start, _)| *start <= char)
    }
}

static LETTERS: LazyLock<Set> = LazyLock::new(|| Set::new(r"\p{L}"));
static DIGITS: LazyLock<Set> = LazyLock::new(|| Set::new(r"\p{Nd}"));
static PRINTED: LazyLock<Set> = LazyLock::new(|| Set::new(r"[\p{L}\p{M}\p{N}\p{P}\p{S}]"));
static UPPER: LazyLock<Set> = LazyLock::new(|| Set::new(r"\p{Lu}"));
static LOWER: LazyLock<Set> = LazyLock::new(|| Set::new(r"\p{Ll}"));
static TITLE: LazyLock<Set> = LazyLock::new(|| Set::new(r"\p{Lt}"));

/// `unicode.IsLetter`
pub(crate) fn is_letter(char: char) -> bool {
    match char.is_ascii() {
        true => char.is_ascii_alphabetic(),
        false => LETTERS.contains(char),
    }
}

/// `unicode.IsDigit`
pub(crate) fn is_digit(char: char) -> bool {
    match char.is_ascii() {
        true => char.is_ascii_digit(),
        false => DIGITS.contains(char),
    }
}

/// What names are made of.
pub(crate) fn is_alphanumeric(char: char) -> bool {
    char == '_' || is_letter(char) || is_digit(char)
}

/// `unicode.IsPrint`
pub(crate) fn is_print(char: char) -> bool {
    match char.is_ascii() {
        true => (' '..='~').contains(&char),
        false => PRINTED.contains(char),
    }
}

static PUNCTUATION: LazyLock<Set> = LazyLock::new(|| Set::new(r"\p{P}"));

/// `unicode.IsPunct`
pub(crate) fn is_punctuation(char: char) -> bool {
    PUNCTUATION.contains(char)
}

/// `unicode.IsUpper`
pub(crate) fn is_upper(char: char) -> bool {
    match char.is_ascii() {
        true => char.is_ascii_uppercase(),
        false => UPPER.contains(char),
    }
}

/// `unicode.IsLower`
pub(crate) fn is_lower(char: char) -> bool {
    match char.is_ascii() {
        true => char.is_ascii_lowercase(),
        false => LOWER.contains(char),
    }
}

/// `unicode.IsTitle`
pub(crate) fn is_title(char: char) -> bool {
    !char.is_ascii() && TITLE.contains(char)
}

/// `unicode.IsSpace`
pub(crate) fn is_space(char: char) -> bool {
    matches!(char, '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}') || (char > '\u{ff}' && char.is_whitespace())
}

/// `unicode.ToUpper`: one character for one.
pub(crate) fn to_upper(char: char) -> char {
    single(char, char.to_uppercase())
}

/// `unicode.ToLower`: one character for one.
pub(crate) fn to_lower(char: char) -> char {
    match char {
        // The only letter whose full form has two characters has a simple form too.
        'İ' => 'i',
        _ => single(char, char.to_lowercase()),
    }
}

/// `unicode.ToTitle`: the upper case, but for the letters that are two in one.
pub(crate) fn to_title(char: char) -> char {
    match char {
        'Ǆ' | 'ǅ' | 'ǆ' => 'ǅ',
        'Ǉ' | 'ǈ' | 'ǉ' => 'ǈ',
        'Ǌ' | 'ǋ' | 'ǌ' => 'ǋ',
        'Ǳ' | 'ǲ' | 'ǳ' => 'ǲ',
        _ => to_upper(char),
    }
}

fn single(char: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(mapped), None) => mapped,
        // Greek letters with an iota below have a simple form eight or nine further on.
        _ => match u32::from(char) {
            code @ (0x1f80..=0x1f87 | 0x1f90..=0x1f97 | 0x1fa0..=0x1fa7) => {
                char::from_u32(code + 8).unwrap_or(char)
            }
            code @ (0x1fb3 | 0x1fc3 | 0x1ff3) => char::from_u32(code + 9).unwrap_or(char),
            _ => char,
        },
    }
}
