use std::fmt;
use std::str::FromStr;

use super::Error;

/// A field selector: `metadata.name=web,spec.nodeName!=`. All of its requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    /// What single fields must be. None of them: everything is selected.
    pub requirements: Vec<FieldRequirement>,
}

/// What one field must be or must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRequirement {
    /// The path of the field: `metadata.name`.
    pub field: String,
    /// Whether the field must differ from `value`.
    pub negated: bool,
    /// The value, without escapes.
    pub value: String,
}

impl FieldSelector {
    /// Whether fields are selected; `get` tells the value of one. A missing field counts as empty.
    pub fn matches<'a>(&self, get: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements.iter().all(|requirement| {
            let equal = get(&requirement.field).unwrap_or_default() == requirement.value;
            equal != requirement.negated
        })
    }

    /// The value that `field` must have, if there is only one.
    pub fn exact(&self, field: &str) -> Option<&str> {
        let exact = |requirement: &&FieldRequirement| !requirement.negated && requirement.field == field;
        self.requirements
            .iter()
            .find(exact)
            .map(|requirement| requirement.value.as_str())
    }
}

impl FromStr for FieldSelector {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut terms = split_terms(text);
        terms.sort_unstable();
        let mut requirements = Vec::new();
        for term in terms.into_iter().filter(|term| !term.is_empty()) {
            let (field, negated, value) = split_term(term)
                .ok_or_else(|| Error(format!("invalid selector: '{text}'; can't understand '{term}'")))?;
            requirements.push(FieldRequirement {
                field: field.to_owned(),
                negated,
                value: unescape(value)?,
            });
        }
        Ok(FieldSelector { requirements })
    }
}

/// Splits at the commas that no backslash precedes.
fn split_terms(text: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    let (mut start, mut escaped) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b',' => {
                terms.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    terms.push(&text[start..]);
    terms
}

/// Splits at the first `!=`, `==` or `=`: the field cannot hold one.
fn split_term(term: &str) -> Option<(&str, bool, &str)> {
    let equals = term.find('=')?;
    let (field, value) = (&term[..equals], &term[equals + 1..]);
    match field.strip_suffix('!') {
        Some(field) => Some((field, true, value)),
        None => Some((field, false, value.strip_prefix('=').unwrap_or(value))),
    }
}

fn unescape(value: &str) -> Result<String, Error> {
    let wrong = |sequence: &str| {
        Error(format!(
            "invalid field selector: invalid escape sequence: \\{sequence}"
        ))
    };
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                Some(other) => return Err(wrong(other.encode_utf8(&mut [0; 4]))),
                None => return Err(wrong("")),
            },
            ',' | '=' => {
                let code = u32::from(character);
                return Err(Error(format!(
                    "invalid field selector: unescaped character in value: {code}"
                )));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (
            nth,
            FieldRequirement {
                field,
                negated,
                value,
            },
        ) in self.requirements.iter().enumerate()
        {
            let comma = if nth > 0 { "," } else { "" };
            let operator = if *negated { "!=" } else { "=" };
            write!(f, "{comma}{field}{operator}")?;
            for character in value.chars() {
                if matches!(character, '\\' | ',' | '=') {
                    f.write_str("\\")?;
                }
                write!(f, "{character}")?;
            }
        }
        Ok(())
    }
}
