//! Paths of fields in definitions (`.spec.replicas`, `.metadata['a.b']`) followed through a schema.

use super::schema::Node;

/// Follows a path. Returns it as messages write it, with the node it ends at, which is `None` for any value.
///
/// # Errors
/// Why it leads nowhere, in the words of the real server.
pub(crate) fn follow<'n>(
    path: &str,
    schema: &'n Node,
    brackets: bool,
) -> Result<(String, Option<&'n Node>), String> {
    let mut text = String::new();
    let mut node = Some(schema);
    let mut rest = path;
    while let Some(start) = rest.chars().next() {
        let (name, tail) = match start {
            '[' if !brackets => return Err("array notation is not allowed".into()),
            '[' => bracketed(&rest[1..])?,
            '.' => dotted(&rest[1..])?,
            _ => return Err(format!("expected [ or . but got: {}", token(rest).0)),
        };
        let current = node.ok_or("does not refer to a valid field")?;
        if !current.fields.is_empty() {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(&name);
            node = Some(current.field(&name).ok_or("does not refer to a valid field")?);
        } else if current.additional.is_said() {
            text.push_str(&format!("[{name}]"));
            node = current.additional.node();
        } else {
            return Err("does not refer to a valid field".into());
        }
        rest = tail;
    }
    Ok((text, node))
}

fn dotted(rest: &str) -> Result<(String, &str), String> {
    match token(rest) {
        ("", _) => Err("unexpected end of JSON path".into()),
        (name, tail) => Ok((name.to_owned(), tail)),
    }
}

fn bracketed(rest: &str) -> Result<(String, &str), String> {
    let (quoted, tail) = token(rest);
    if quoted.is_empty() {
        return Err("unexpected end of JSON path".into());
    }
    let inner = quoted
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .filter(|_| quoted.len() >= 2);
    let inner = inner.ok_or_else(|| format!("expected single quoted string but got {quoted}"))?;
    let name =
        unescape(inner).map_err(|escape| format!("invalid string literal: invalid escape char {escape}"))?;
    match tail.strip_prefix(']') {
        Some(tail) => Ok((name, tail)),
        None if tail.is_empty() => Err("unexpected end of JSON path".into()),
        None => Err(format!("expected ] but got {}", token(tail).0)),
    }
}

/// The next word: a delimiter, a quoted text, or what stands before the next delimiter.
fn token(text: &str) -> (&str, &str) {
    let end = match text.as_bytes().first() {
        None => 0,
        Some(b'.' | b'[' | b']') => 1,
        Some(b'\'') => {
            let bytes = text.as_bytes();
            let close = (1..bytes.len()).find(|at| bytes[*at] == b'\'' && bytes[at - 1] != b'\\');
            close.map_or(text.len(), |at| at + 1)
        }
        Some(_) => text.find(['.', '[', ']']).unwrap_or(text.len()),
    };
    text.split_at(end)
}

fn unescape(text: &str) -> Result<String, String> {
    let mut result = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            result.push(char);
            continue;
        }
        result.push(match chars.next() {
            Some('a') => '\x07',
            Some('b') => '\x08',
            Some('f') => '\x0C',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\x0B',
            Some('\'') => '\'',
            Some('\\') => '\\',
            Some(other) => return Err(format!("\\{other}")),
            None => '\\',
        });
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn follow_in_example(path: &str, brackets: bool) -> Result<String, String> {
        let schema = Node::read(&value!({ "type": "object", "properties": {
            "spec": { "type": "object", "properties": { "a.b": { "type": "string" }, "n": { "type": "integer" } } },
            "map": { "type": "object", "additionalProperties": { "type": "string" } },
        } }));
        follow(path, &schema, brackets).map(|(text, _)| text)
    }

    #[test]
    fn paths_lead_to_fields_and_keys() {
        assert_eq!(follow_in_example(".spec.n", false), Ok("spec.n".into()));
        assert_eq!(follow_in_example(".spec['a.b']", true), Ok("spec.a.b".into()));
        assert_eq!(follow_in_example("['map']['x\\'y']", true), Ok("map[x'y]".into()));
    }

    #[test]
    fn what_leads_nowhere_is_told() {
        let cases = [
            ("spec", "expected [ or . but got: spec"),
            (".spec.x", "does not refer to a valid field"),
            (".spec.n.x", "does not refer to a valid field"),
            (".spec.", "unexpected end of JSON path"),
            (".spec[n]", "expected single quoted string but got n"),
            (".spec['n'", "unexpected end of JSON path"),
            (".spec['n'x", "expected ] but got x"),
            (".spec['\\q']", "invalid string literal: invalid escape char \\q"),
        ];
        for (path, error) in cases {
            assert_eq!(follow_in_example(path, true), Err(error.into()), "{path}");
        }
        assert_eq!(
            follow_in_example(".spec['n']", false),
            Err("array notation is not allowed".into())
        );
    }
}
