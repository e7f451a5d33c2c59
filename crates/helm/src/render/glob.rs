//! Patterns of `.Files.Glob`, as the library `gobwas/glob` reads them with `/` as the separator.
//!
//! `*` and `?` stop at slashes and `**` does not; `[abc]`, `[!abc]` and `[a-z]` are one character, `{a,b}` is either.

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(super) struct Glob(Regex);

/// The largest compiled pattern, in bytes.
const LARGEST: usize = 1 << 20;

/// How many braces may be inside of one another.
const MAX_NESTING: usize = 32;

impl Glob {
    /// Compiles a pattern; nothing where it is none, and then everything matches in Helm.
    pub(super) fn new(pattern: &str) -> Option<Glob> {
        let mut out = String::from("(?s)^(?:");
        let mut characters = pattern.chars().peekable();
        let mut nesting = 0usize;
        while let Some(character) = characters.next() {
            match character {
                '*' if characters.next_if_eq(&'*').is_some() => out.push_str(".*"),
                '*' => out.push_str("[^/]*"),
                '?' => out.push_str("[^/]"),
                '[' => class(&mut characters, &mut out)?,
                '{' => {
                    nesting += 1;
                    if nesting > MAX_NESTING {
                        return None;
                    }
                    out.push_str("(?:");
                }
                '}' if nesting > 0 => {
                    nesting -= 1;
                    out.push(')');
                }
                ',' if nesting > 0 => out.push('|'),
                '\\' => literal(characters.next()?, &mut out),
                other => literal(other, &mut out),
            }
        }
        if nesting > 0 {
            return None;
        }
        out.push_str(")$");
        let compiled = RegexBuilder::new(&out).size_limit(LARGEST).build();
        compiled.ok().map(Glob)
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

fn literal(character: char, out: &mut String) {
    out.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
}

/// One range, or a set of characters; both at once is no pattern.
fn class(characters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) -> Option<()> {
    let negated = characters.next_if_eq(&'!').is_some();
    out.push_str(if negated { "[^" } else { "[" });
    let first = characters.next()?;
    if characters.next_if_eq(&'-').is_some() {
        let last = characters.next()?;
        if last < first || characters.next() != Some(']') {
            return None;
        }
        let _ = write!(out, "\\x{{{:x}}}-\\x{{{:x}}}]", u32::from(first), u32::from(last));
        return Some(());
    }
    let mut member = first;
    let mut is_empty = true;
    loop {
        match member {
            ']' if is_empty => return None,
            ']' => break,
            '\\' => {
                let escaped = characters.next()?;
                let _ = write!(out, "\\x{{{:x}}}", u32::from(escaped));
            }
            other => {
                let _ = write!(out, "\\x{{{:x}}}", u32::from(other));
            }
        }
        is_empty = false;
        member = characters.next()?;
    }
    out.push(']');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_what_they_match_in_helm() {
        for (pattern, name, matches) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "x/a.txt", false),
            ("**.txt", "x/a.txt", true),
            ("x/**", "x/y/z", true),
            ("x/*/z", "x/y/z", true),
            ("x/?", "x/y", true),
            ("x?y", "x/y", false),
            ("{a,b}.yaml", "b.yaml", true),
            ("{a,b*}/c", "bcd/c", true),
            ("[abc].x", "b.x", true),
            ("[!abc].x", "b.x", false),
            ("[a-c].x", "c.x", true),
            ("a,b", "a,b", true),
            (r"a\*", "a*", true),
            (r"a\*", "ab", false),
        ] {
            assert_eq!(
                Glob::new(pattern).unwrap().matches(name),
                matches,
                "{pattern} {name}"
            );
        }
        for pattern in ["[", "[]", "{a", "[a-z0-9]", "[z-a]"] {
            assert!(Glob::new(pattern).is_none(), "{pattern}");
        }
    }
}
