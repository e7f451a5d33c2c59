//! One segment of a path pattern, matched as Go's `filepath.Match` matches it: the files that sources and charts ignore are
//! named with such patterns.

/// A compiled segment: `*`, `?`, `[a-z]`, `[^a-z]`, `\` before a character that means itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Glob {
    /// There is nothing to expand, so that comparing bytes suffices. Most patterns are such.
    Literal(Vec<u8>),
    /// Something has to be expanded.
    Tokens(Vec<Token>),
}

/// A part of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A byte that means itself.
    Byte(u8),
    /// `?`: one character.
    One,
    /// `*`: any number of bytes. Go skips bytes, not characters, and so do we.
    Any,
    /// `[a-z]`: one character of a set.
    Class {
        /// Whether it is one that is not in the set.
        negated: bool,
        /// The first and the last character of each range.
        ranges: Vec<(char, char)>,
    },
}

/// What Go gives for bytes that are no character.
const REPLACEMENT: char = '\u{FFFD}';

impl Glob {
    /// The compiled segment, or nothing where Go says that the pattern is malformed: such a pattern matches nothing.
    pub fn compile(segment: &[u8]) -> Option<Glob> {
        if !segment.iter().any(|byte| b"*?[\\".contains(byte)) {
            return Some(Glob::Literal(segment.to_vec()));
        }
        let mut tokens = Vec::new();
        let mut rest = segment;
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            match first {
                b'*' => {
                    if tokens.last() != Some(&Token::Any) {
                        tokens.push(Token::Any);
                    }
                }
                b'?' => tokens.push(Token::One),
                b'[' => tokens.push(class(&mut rest)?),
                b'\\' => {
                    let (&escaped, after) = rest.split_first()?;
                    rest = after;
                    tokens.push(Token::Byte(escaped));
                }
                byte => tokens.push(Token::Byte(byte)),
            }
        }
        Some(Glob::Tokens(tokens))
    }

    /// Whether the whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Glob::Literal(literal) => literal == name.as_bytes(),
            Glob::Tokens(tokens) => matches(tokens, name.as_bytes()),
        }
    }
}

/// The last `*` is the only one that ever needs another try: this takes no more than pattern times name steps.
fn matches(tokens: &[Token], name: &[u8]) -> bool {
    let (mut token, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match tokens.get(token) {
            None if at == name.len() => return true,
            None => None,
            Some(Token::Any) => {
                retry = Some((token + 1, at));
                token += 1;
                continue;
            }
            Some(single) => single.width_at(&name[at..]),
        };
        match (step, retry) {
            (Some(width), _) => {
                token += 1;
                at += width;
            }
            (None, Some((after_star, from))) if from < name.len() => {
                retry = Some((after_star, from + 1));
                token = after_star;
                at = from + 1;
            }
            (None, _) => return false,
        }
    }
}

impl Token {
    /// How many bytes of the name it takes, or nothing where it does not match.
    fn width_at(&self, name: &[u8]) -> Option<usize> {
        match self {
            Token::Any => Some(0),
            Token::Byte(byte) => (name.first() == Some(byte)).then_some(1),
            Token::One => decode(name).map(|(_, width)| width),
            Token::Class { negated, ranges } => {
                let (found, width) = decode(name)?;
                let inside = ranges.iter().any(|&(low, high)| low <= found && found <= high);
                (inside != *negated).then_some(width)
            }
        }
    }
}

/// The character at the beginning. Where there is none, as after a `*` that ended inside of a character, it is the
/// replacement character and one byte wide.
fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let width = match bytes.first()? {
        0x00..=0x7F => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        0x80..=0xBF => return Some((REPLACEMENT, 1)),
    };
    let text = bytes
        .get(..width)
        .and_then(|bytes| std::str::from_utf8(bytes).ok());
    match text.and_then(|text| text.chars().next()) {
        Some(found) => Some((found, width)),
        None => Some((REPLACEMENT, 1)),
    }
}

fn class(rest: &mut &[u8]) -> Option<Token> {
    let negated = rest.first() == Some(&b'^');
    if negated {
        *rest = &rest[1..];
    }
    let mut ranges = Vec::new();
    loop {
        if rest.first() == Some(&b']') && !ranges.is_empty() {
            *rest = &rest[1..];
            return Some(Token::Class { negated, ranges });
        }
        let low = member(rest)?;
        let mut high = low;
        if rest.first() == Some(&b'-') {
            *rest = &rest[1..];
            high = member(rest)?;
        }
        ranges.push((low, high));
    }
}

/// One character of a class. It is never the last byte of the pattern: the class has to be closed.
fn member(rest: &mut &[u8]) -> Option<char> {
    match rest.first()? {
        b'-' | b']' => return None,
        b'\\' => *rest = &rest[1..],
        _ => {}
    }
    let (found, width) = decode(rest)?;
    if found == REPLACEMENT && width == 1 {
        return None;
    }
    *rest = &rest[width..];
    (!rest.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of Go 1.26's `filepath.Match`; nothing where it says that the pattern is malformed.
    const ANSWERS: &[(&str, &str, Option<bool>)] = &[
        ("abc", "abc", Some(true)),
        ("*", "abc", Some(true)),
        ("*", "", Some(true)),
        ("*c", "abc", Some(true)),
        ("a*", "ab", Some(true)),
        ("a*b*c*d*e*", "axbxcxdxe", Some(true)),
        ("a*b*c*d*e*", "axbxcxdxexxx", Some(true)),
        ("a*b?c*x", "abxbbxdbxebxczzx", Some(true)),
        ("a*b?c*x", "abxbbxdbxebxczzy", Some(false)),
        ("ab[c]", "abc", Some(true)),
        ("ab[b-d]", "abc", Some(true)),
        ("ab[e-g]", "abc", Some(false)),
        ("ab[^c]", "abc", Some(false)),
        ("ab[^e-g]", "abc", Some(true)),
        ("ab[!c]", "abd", Some(false)),
        ("ab[!c]", "ab!", Some(true)),
        ("a\\*b", "a*b", Some(true)),
        ("a\\*b", "ab", Some(false)),
        ("a?b", "a☺b", Some(true)),
        ("a[^a]b", "a☺b", Some(true)),
        ("a???b", "a☺b", Some(false)),
        ("*??", "€", Some(true)),
        ("*???", "€", Some(false)),
        ("[a-ζ]*", "α", Some(true)),
        ("*[a-ζ]", "A", Some(false)),
        ("[\\]a]", "]", Some(true)),
        ("[\\-]", "-", Some(true)),
        ("[x\\-]", "x", Some(true)),
        ("[x\\-]", "z", Some(false)),
        ("[\\-x]", "-", Some(true)),
        ("[*]", "*", Some(true)),
        ("[[*]", "[", Some(true)),
        ("[]a]", "]", None),
        ("[-]", "-", None),
        ("[x-]", "x", None),
        ("[-x]", "x", None),
        ("[a-b-c]", "a", None),
        ("[", "a", None),
        ("[^", "a", None),
        ("[^]*]", "a", None),
        ("[^bc", "a", None),
        ("a[", "ab", None),
        ("a[", "x", None),
        ("*[", "", None),
        ("\\", "a", None),
        ("a\\", "a", None),
        ("a]", "a]", Some(true)),
        ("**", "a.b", Some(true)),
        ("*x", "xxx", Some(true)),
        ("", "", Some(true)),
        ("", "a", Some(false)),
    ];

    #[test]
    fn answers_are_those_of_go() {
        for (pattern, name, answer) in ANSWERS {
            let found = Glob::compile(pattern.as_bytes()).map(|glob| glob.matches(name));
            assert_eq!(found, *answer, "{pattern:?} on {name:?}");
        }
    }

    #[test]
    fn many_stars_take_no_longer_than_pattern_times_name() {
        let pattern = "*a".repeat(500);
        let name = "a".repeat(499) + &"b".repeat(5_000);
        assert!(!Glob::compile(pattern.as_bytes()).unwrap().matches(&name));
    }
}
