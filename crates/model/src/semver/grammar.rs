//! What a version looks like, in texts and inside of ranges.

/// The parts of a version at the beginning of a text.
pub(super) struct Parts<'a> {
    pub(super) major: &'a str,
    pub(super) minor: Option<&'a str>,
    pub(super) patch: Option<&'a str>,
    pub(super) prerelease: Option<&'a str>,
    pub(super) metadata: Option<&'a str>,
    /// How many bytes of the text it is made of.
    pub(super) length: usize,
}

/// What may stand where a number is expected.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Numbers {
    /// Digits only.
    Digits,
    /// Digits and wildcards. The bar belongs to them as well, by a slip of the original that ranges like `1 - 2||3` show.
    Wildcards,
}

impl Numbers {
    fn holds(self, byte: u8) -> bool {
        byte.is_ascii_digit() || self == Numbers::Wildcards && matches!(byte, b'x' | b'X' | b'*' | b'|')
    }
}

/// Whether the byte may stand in a pre-release or in build metadata.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Whether the byte is white space to a range.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')
}

/// Reads the longest version that the text begins with.
pub(super) fn version(text: &str, numbers: Numbers) -> Option<Parts<'_>> {
    let mut at = usize::from(text.starts_with('v'));
    let number = |from: usize| {
        let length = run(&text[from..], |byte| numbers.holds(byte));
        (length > 0).then(|| &text[from..from + length])
    };
    let major = number(at)?;
    at += major.len();

    let mut dotted = || {
        let next = text[at..].starts_with('.').then(|| number(at + 1)).flatten()?;
        at += 1 + next.len();
        Some(next)
    };
    let minor = dotted();
    let patch = minor.and_then(|_| dotted());

    let mut marked = |mark: char| {
        let words = text[at..]
            .strip_prefix(mark)
            .map(dotted_words)
            .filter(|words| !words.is_empty())?;
        at += 1 + words.len();
        Some(words)
    };
    let prerelease = marked('-');
    let metadata = marked('+');
    Some(Parts {
        major,
        minor,
        patch,
        prerelease,
        metadata,
        length: at,
    })
}

/// The longest beginning that is words with single dots between them.
fn dotted_words(text: &str) -> &str {
    let mut end = run(text, is_word);
    while end > 0 && text[end..].starts_with('.') {
        let word = run(&text[end + 1..], is_word);
        if word == 0 {
            break;
        }
        end += 1 + word;
    }
    &text[..end]
}

fn run(text: &str, holds: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|byte| holds(*byte)).count()
}

/// Rewrites hyphen ranges: `1.2 - 3` is `>= 1.2, <= 3`.
pub(super) fn rewrite_hyphens(text: &str) -> String {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match hyphen_range(&text[at..]) {
            Some(range) => {
                found.push((&text[at..at + range.length], range.from, range.to));
                at += range.length;
            }
            None => at += text[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    let mut rewritten = text.to_owned();
    for (range, from, to) in found {
        // The first equal text is replaced, even if it stands elsewhere: so does the original.
        rewritten = rewritten.replacen(range, &format!(">= {from}, <= {to} "), 1);
    }
    rewritten
}

struct Hyphen<'a> {
    from: &'a str,
    to: &'a str,
    length: usize,
}

/// The hyphen range that the text begins with, with the white space around it.
fn hyphen_range(text: &str) -> Option<Hyphen<'_>> {
    let mut at = run(text, is_space);
    let from = &text[at..][..version(&text[at..], Numbers::Wildcards)?.length];
    at += from.len();
    at += some_space(&text[at..])?;
    at += text[at..].starts_with('-').then_some(1)?;
    at += some_space(&text[at..])?;
    let to = &text[at..][..version(&text[at..], Numbers::Wildcards)?.length];
    at += to.len();
    at += run(&text[at..], is_space);
    Some(Hyphen { from, to, length: at })
}

fn some_space(text: &str) -> Option<usize> {
    Some(run(text, is_space)).filter(|length| *length > 0)
}
