//! The words without quotes that are no strings.

/// What a word stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Word {
    Null,
    Bool(bool),
    /// A boolean of YAML 1.1 that is a string in YAML 1.2.
    OldBool(bool),
    Float(f64),
}

/// What a text stands for, if it is one of the words.
pub(crate) fn word(text: &str) -> Option<Word> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Word::Null,
        "true" | "True" | "TRUE" => Word::Bool(true),
        "false" | "False" | "FALSE" => Word::Bool(false),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Word::OldBool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Word::OldBool(false),
        ".nan" | ".NaN" | ".NAN" => Word::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Word::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Word::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}
