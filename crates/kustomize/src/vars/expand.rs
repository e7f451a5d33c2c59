//! Putting values in the places of `$(NAME)`.

use std::borrow::Cow;

use yaml::node::{Kind, Scalar};

/// The text with what `lookup` knows put in. A text that is nothing but a reference gets the type of the value.
pub(super) fn expand(text: &str, lookup: &mut dyn FnMut(&str) -> Option<Scalar>) -> Scalar {
    let string = |text: String| Scalar::new(text, Kind::Quoted);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        match after.as_bytes().first() {
            None => {
                out.push('$');
                rest = after;
            }
            Some(b'$') => {
                out.push('$');
                rest = &after[1..];
            }
            Some(b'(') => match after.find(')') {
                Some(end) => {
                    let name = &after[1..end];
                    let value = lookup(name);
                    if at == 0 && text.len() == end + 2 && out.is_empty() {
                        return value.unwrap_or_else(|| string(format!("$({name})")));
                    }
                    match value {
                        Some(value) => out.push_str(&in_text(&value)),
                        None => {
                            out.push_str("$(");
                            out.push_str(name);
                            out.push(')');
                        }
                    }
                    rest = &after[end + 1..];
                }
                None => {
                    out.push_str("$(");
                    rest = &after[1..];
                }
            },
            Some(_) => {
                out.push('$');
                let width = after.chars().next().map_or(0, char::len_utf8);
                out.push_str(&after[..width]);
                rest = &after[width..];
            }
        }
    }
    out.push_str(rest);
    string(out)
}

/// A value as a part of a text: floats have the digits of Go's `%v` there, which is more ready for exponents than the form of a float that
/// stands alone.
fn in_text(value: &Scalar) -> Cow<'_, str> {
    match (value.kind, value.text.parse()) {
        (Kind::Float, Ok(number)) => yaml::go::float(number).into(),
        _ => value.text.as_str().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> (String, Kind) {
        let mut lookup = |name: &str| {
            let known = match name {
                "A" => ("one", Kind::Plain),
                "N" => ("8080", Kind::Int),
                "F" => ("1234567.5", Kind::Float),
                _ => return None,
            };
            Some(Scalar::new(known.0, known.1))
        };
        let scalar = expand(text, &mut lookup);
        (scalar.text.to_string(), scalar.kind)
    }

    #[test]
    fn references_are_replaced_and_unknown_ones_stay() {
        assert_eq!(expanded("x-$(A)-$(B)").0, "x-one-$(B)");
        assert_eq!(expanded("$$(A) $A $(A").0, "$(A) $A $(A");
        assert_eq!(expanded("$(N)"), ("8080".to_owned(), Kind::Int));
        assert_eq!(expanded("$(N)/tcp"), ("8080/tcp".to_owned(), Kind::Quoted));
        assert_eq!(expanded("$(F)"), ("1234567.5".to_owned(), Kind::Float));
        assert_eq!(expanded("=$(F)").0, "=1.2345675e+06");
        assert_eq!(expanded("end$").0, "end$");
    }
}
