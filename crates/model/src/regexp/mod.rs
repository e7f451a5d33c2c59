//! Regular expressions in Go's syntax, which is RE2's.
//!
//! Flux, kustomize and the API server all take Go's expressions. The `regex` crate comes from the same family, but means
//! other things by some texts: `\d`, `\w`, `\s` and `\b` know all of Unicode, `[a-z&&[^x]]` is an intersection, `(?x)`
//! exists and `\Q..\E` does not. So expressions are read here as Go reads them, and written anew in words that mean the
//! same to the crate. What Go refuses is refused with Go's message.
//!
//! [`translate`] goes through the expression from left to right and knows groups and repetitions, [`class`] reads and
//! writes sets of characters, [`escape`] reads what follows a backslash, and [`unicode`] knows sets by name.

mod class;
mod error;
mod escape;
mod names;
mod translate;
mod unicode;

pub use error::{Error, Problem};
/// What groups have found.
pub use regex::Captures;
pub use translate::translate;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Regexp {
    text: Box<str>,
    regex: regex::Regex,
    /// Whether places inside of characters may fit, which then are none.
    splits: bool,
    /// An upper bound of the compiled size.
    size: usize,
}

/// How large a compiled expression may get where nothing else is said, in bytes.
const SIZE: usize = 1 << 20;

/// The memory that searching may take beside that, in bytes, for each thread that searches.
const SEARCH: usize = 2 << 20;

/// The sizes that are tried one after the other, so that the size of an expression is known, if only roughly.
const SIZES: [usize; 5] = [4 << 10, 32 << 10, 256 << 10, 1 << 20, 4 << 20];

/// The memory that the places of groups may take: searching may need all of them for each part of the compiled expression.
const GROUPS: usize = 64 << 20;

/// A bound of the bytes of places that one group takes for each byte of the compiled expression: two places of eight bytes, in two
/// tables, for each part of the expression, which has at least sixteen bytes.
const GROUP: usize = 2;

/// The longest expression, in bytes. What an expression is parsed to takes memory before its compiled size is known.
const LONGEST: usize = 1 << 16;

impl Regexp {
    /// Compiles an expression. A compiled one takes at most 1 MiB.
    ///
    /// # Errors
    /// What Go says to expressions that are none; to those that are too large, of which Go allows larger ones; and to those
    /// in which more than about a hundred groups are inside of one another, where Go allows a thousand.
    pub fn new(text: &str) -> Result<Regexp, Error> {
        Regexp::with_size(text, SIZE)
    }

    /// Compiles an expression that takes at most `size` bytes, and at most as much again to search with.
    ///
    /// # Errors
    /// Like [`Regexp::new`].
    pub fn with_size(text: &str, size: usize) -> Result<Regexp, Error> {
        if text.len() > LONGEST {
            let start: String = text.chars().take(100).collect();
            return Err(Error::new(Problem::Large, &start));
        }
        let translated = translate(text)?;
        let built = |limit| {
            regex::RegexBuilder::new(&translated)
                .size_limit(limit)
                .dfa_size_limit(size.min(SEARCH))
                .build()
        };
        let mut sizes = SIZES.into_iter().filter(|smaller| *smaller < size).chain([size]);
        let (regex, size) = loop {
            let limit = sizes.next().ok_or_else(|| Error::new(Problem::Large, text))?;
            match built(limit) {
                Ok(regex) => break (regex, limit),
                Err(regex::Error::CompiledTooBig(_)) => {}
                // Nothing else is left of what the crate refuses.
                Err(_) => return Err(Error::new(Problem::TooDeep, text)),
            }
        };
        if regex.captures_len().saturating_mul(size).saturating_mul(GROUP) > GROUPS {
            return Err(Error::new(Problem::Large, text));
        }
        Ok(Regexp {
            text: text.into(),
            regex,
            splits: translated.contains(r"\B"),
            size,
        })
    }

    /// An upper bound of the compiled size, in bytes: searching a text takes at most as long as its length times this.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether some part of a text matches.
    pub fn is_match(&self, text: &str) -> bool {
        // `Regex::is_match` stops at the first place that fits, even one inside of a character, and so overlooks what
        // started before it.
        if self.splits {
            return self.regex.find(text).is_some();
        }
        self.regex.is_match(text)
    }

    /// The parts of a text that match, from left to right; none overlaps another.
    pub fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = std::ops::Range<usize>> + 't {
        self.regex.find_iter(text).map(|found| found.range())
    }

    /// The same with what the groups have found.
    pub fn captures<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Captures<'t>> + 't {
        self.regex.captures_iter(text)
    }

    /// The number of the group with that name; of several the first.
    pub fn group(&self, name: &str) -> Option<usize> {
        names::group_names(&self.text)
            .position(|known| known == name)
            .map(|index| index + 1)
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The text as an expression that matches nothing else.
pub fn quote_meta(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for char in text.chars() {
        if r"\.+*?()|[]{}^$".contains(char) {
            quoted.push('\\');
        }
        quoted.push(char);
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Regexp::new(pattern).unwrap().is_match(text)
    }

    #[test]
    fn digits_words_spaces_and_boundaries_are_ascii() {
        assert!(matches(r"^\d+$", "123"));
        assert!(!matches(r"^\d+$", "١٢٣"));
        assert!(!matches(r"^[\w]+$", "é"));
        assert!(matches(r"^\W$", "é"));
        assert!(matches(r"^[\W]$", "é"));
        assert!(!matches(r"\s", "\u{b}"));
        assert!(matches(r"a\b", "aé"));
        assert!(!matches(r"a\B", "aé"));
    }

    #[test]
    fn classes_have_no_operators() {
        assert!(matches(r"^[a-z&&[^x]]$", "&]"));
        assert!(!matches(r"^[a-z&&[^x]]$", "a"));
        assert!(matches(r"^[[a]$", "["));
        assert!(matches(r"^[]a]+$", "]a"));
        assert!(matches(r"^[^]]+$", "abc"));
        assert!(matches(r"^[[:alpha:]--~~]+$", "a-~"));
    }

    #[test]
    fn quoted_texts_stand_for_themselves() {
        assert!(matches(r"^\Qa.b\E$", "a.b"));
        assert!(!matches(r"^\Qa.b\E$", "axb"));
        assert!(matches(r"^\Qa.", "a.b"));
        let odd = r"\.+*?()|[]{}^$é-";
        assert!(matches(&format!("^{}$", quote_meta(odd)), odd));
    }

    #[test]
    fn what_go_refuses_is_refused_in_its_words() {
        let told = |pattern: &str| Regexp::new(pattern).unwrap_err().to_string();
        assert_eq!(
            told("a{1001}"),
            "error parsing regexp: invalid repeat count: `{1001}`"
        );
        assert_eq!(
            told("(?x)a"),
            "error parsing regexp: invalid or unsupported Perl syntax: `(?x`"
        );
        assert_eq!(told("a)"), "error parsing regexp: unexpected ): `a)`");
        assert_eq!(told("x["), "error parsing regexp: missing closing ]: `[`");
    }

    /// Searching would take gigabytes: the places of all groups for each part of the expression.
    #[test]
    fn expressions_with_too_many_groups_for_their_size_are_refused() {
        let groups = "(a)".repeat(5_000);
        assert_eq!(Regexp::new(&groups).unwrap_err().problem(), Problem::Large);
        assert!(Regexp::new(&"(a)".repeat(100)).is_ok());
    }

    #[test]
    fn the_size_of_an_expression_is_known_roughly() {
        let size = |pattern: &str| Regexp::new(pattern).unwrap().size();
        assert_eq!(size(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"), 4 << 10);
        assert!(size(r"\pL{10}") > 32 << 10);
        assert!(size(r"^[^,]+,\S+\.[^/]{3}$") <= 32 << 10);
    }

    #[test]
    fn what_is_too_large_or_too_deep_is_refused() {
        let deep = format!("{}a{}", "(".repeat(30_000), ")".repeat(30_000));
        let large = [
            r"(\pL{1000})".to_owned(),
            "a".repeat(1 << 20),
            r"[\pL]".repeat(10_000),
        ];
        for pattern in large {
            assert_eq!(Regexp::new(&pattern).unwrap_err().problem(), Problem::Large);
        }
        assert_eq!(Regexp::new(&deep).unwrap_err().problem(), Problem::TooDeep);
        let within = |pattern: &str, size| Regexp::with_size(pattern, size).map_err(|error| error.problem());
        assert!(within(r"^app-[a-z]{1,63}$", 1 << 16).is_ok());
        assert_eq!(within(r"\pL{100}", 1 << 16).unwrap_err(), Problem::Large);
        assert!(within(r"\pL{63}", 10 << 20).is_ok());
        for (start, end, depth) in [("(?:b|(?i)", ")*", 60), ("(x", ")", 120)] {
            let fits = format!("{}a{}", start.repeat(depth), end.repeat(depth));
            assert!(Regexp::new(&fits).is_ok());
        }
    }
}
