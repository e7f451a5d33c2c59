//! Names of fields in expressions: what is no identifier is written with words between underscores.

use std::borrow::Cow;

const WORDS: [(&str, &str); 4] = [
    ("__underscores__", "__"),
    ("__dot__", "."),
    ("__dash__", "-"),
    ("__slash__", "/"),
];

/// The words of the language, and those it keeps for later, that are written between underscores.
pub(crate) const RESERVED: [&str; 18] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
];

/// The name of the field that an expression calls `identifier`.
pub(super) fn unescape(identifier: &str) -> Cow<'_, str> {
    if !identifier.contains("__") {
        return Cow::Borrowed(identifier);
    }
    let inner = identifier
        .strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("__"));
    if let Some(word) = inner.filter(|word| RESERVED.contains(word)) {
        return Cow::Owned(word.to_owned());
    }
    let mut name = String::with_capacity(identifier.len());
    let mut rest = identifier;
    while !rest.is_empty() {
        let word = WORDS
            .iter()
            .find_map(|(word, plain)| Some((rest.strip_prefix(word)?, plain)));
        rest = match word {
            Some((tail, plain)) => {
                name.push_str(plain);
                tail
            }
            None => {
                let mut chars = rest.chars();
                name.extend(chars.next());
                chars.as_str()
            }
        };
    }
    Cow::Owned(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_between_underscores_stand_for_characters() {
        let cases = [
            ("a", "a"),
            ("__namespace__", "namespace"),
            ("a__dash__b__dot__c", "a-b.c"),
            ("x__slash__y", "x/y"),
            ("a__underscores__b", "a__b"),
            ("__a__", "__a__"),
        ];
        for (identifier, name) in cases {
            assert_eq!(unescape(identifier), name);
        }
    }
}
