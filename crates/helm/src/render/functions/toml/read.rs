//! Reading TOML. Times become strings.

use gotemplate::{List, Map, Value};

/// How deep lists and tables may be inside of one another.
const MAX_DEPTH: usize = 100;

struct Reader<'t> {
    rest: &'t str,
    line: usize,
}

/// The table of a document.
pub(super) fn document(text: &str) -> Result<Map, String> {
    let mut reader = Reader { rest: text, line: 1 };
    let root = Map::new();
    let mut table = root.clone();
    loop {
        reader.skip_lines();
        if reader.rest.is_empty() {
            return Ok(root);
        }
        if reader.take("[[") {
            let path = reader.path()?;
            reader.expect("]]")?;
            table = reader.append(&root, &path)?;
        } else if reader.take("[") {
            let path = reader.path()?;
            reader.expect("]")?;
            table = reader.descend(&root, &path)?;
        } else {
            reader.pair(&table, 0)?;
        }
        reader.end_of_line()?;
    }
}

impl<'t> Reader<'t> {
    fn fail<T>(&self, problem: impl AsRef<str>) -> Result<T, String> {
        Err(format!("toml: line {}: {}", self.line, problem.as_ref()))
    }

    fn take(&mut self, sign: &str) -> bool {
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        self.skip_spaces();
        if self.take(sign) {
            return Ok(());
        }
        let found: String = self.rest.chars().take(1).collect();
        self.fail(format!("expected '{sign}' but found '{found}' instead"))
    }

    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Skips white space, line breaks and comments.
    fn skip_lines(&mut self) {
        loop {
            self.skip_spaces();
            if self.rest.starts_with('#') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            if self.take("\n") || self.take("\r\n") {
                self.line += 1;
            } else {
                return;
            }
        }
    }

    fn end_of_line(&mut self) -> Result<(), String> {
        let before = self.line;
        self.skip_lines();
        if self.line > before || self.rest.is_empty() {
            return Ok(());
        }
        self.fail("expected a top-level item to end with a newline, comment, or EOF")
    }

    /// `a."b c".d`
    fn path(&mut self) -> Result<Vec<String>, String> {
        let mut path = Vec::new();
        loop {
            self.skip_spaces();
            path.push(self.key()?);
            self.skip_spaces();
            if !self.take(".") {
                return Ok(path);
            }
        }
    }

    fn key(&mut self) -> Result<String, String> {
        if self.take("\"") {
            return self.basic();
        }
        if self.take("'") {
            return self.until("'");
        }
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let end = self.rest.find(|c| !is_bare(c)).unwrap_or(self.rest.len());
        if end == 0 {
            return self.fail("expected a key");
        }
        let (key, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(key.to_owned())
    }

    /// The table at a path; what is missing on the way is made, and of a list of tables the last one counts.
    fn descend(&self, from: &Map, path: &[String]) -> Result<Map, String> {
        let mut table = from.clone();
        for key in path {
            let next = match table.get(key) {
                None => {
                    let next = Map::new();
                    table.insert(key.as_str(), Value::Map(next.clone()));
                    next
                }
                Some(Value::Map(next)) => next,
                Some(Value::List(list)) => match list.items().last() {
                    Some(Value::Map(next)) => next.clone(),
                    _ => return self.fail(format!("Key '{key}' has already been defined.")),
                },
                Some(_) => return self.fail(format!("Key '{key}' has already been defined.")),
            };
            table = next;
        }
        Ok(table)
    }

    fn append(&self, root: &Map, path: &[String]) -> Result<Map, String> {
        let Some((last, above)) = path.split_last() else {
            return self.fail("expected a key");
        };
        let table = self.descend(root, above)?;
        let mut items = match table.get(last) {
            None => Vec::new(),
            Some(Value::List(list)) => list.items().to_vec(),
            Some(_) => {
                return self.fail(format!(
                    "Key '{last}' was already created and cannot be used as an array."
                ));
            }
        };
        let next = Map::new();
        items.push(Value::Map(next.clone()));
        table.insert(last.as_str(), Value::List(List::new(items)));
        Ok(next)
    }

    /// `key = value`
    fn pair(&mut self, table: &Map, depth: usize) -> Result<(), String> {
        let path = self.path()?;
        self.expect("=")?;
        self.skip_spaces();
        let value = self.value(depth)?;
        let Some((last, above)) = path.split_last() else {
            return self.fail("expected a key");
        };
        let table = self.descend(table, above)?;
        if table.contains(last) {
            return self.fail(format!("Key '{last}' has already been defined."));
        }
        table.insert(last.as_str(), value);
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return self.fail("values are nested too deep");
        }
        if self.take("\"\"\"") {
            return Ok(Value::str(self.long("\"\"\"")?));
        }
        if self.take("'''") {
            return Ok(Value::str(self.long("'''")?));
        }
        if self.take("\"") {
            return Ok(Value::str(self.basic()?));
        }
        if self.take("'") {
            return Ok(Value::str(self.until("'")?));
        }
        if self.take("[") {
            return self.list(depth);
        }
        if self.take("{") {
            return self.inline(depth);
        }
        self.plain()
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            self.skip_lines();
            if self.take("]") {
                return Ok(Value::list(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip_lines();
            if !self.take(",") && !self.rest.starts_with(']') {
                return self.fail("expected a comma (',') or array terminator (']')");
            }
        }
    }

    fn inline(&mut self, depth: usize) -> Result<Value, String> {
        let table = Map::new();
        self.skip_lines();
        while !self.take("}") {
            self.pair(&table, depth + 1)?;
            self.skip_lines();
            if !self.take(",") && !self.rest.starts_with('}') {
                return self.fail("expected a comma or an inline table terminator '}'");
            }
            self.skip_lines();
        }
        Ok(Value::Map(table))
    }

    /// Numbers, booleans and times.
    fn plain(&mut self) -> Result<Value, String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-_.:".contains(c);
        let mut end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        // A time may stand after its date with a space in between.
        let is_date = end == 10 && self.rest[..end].matches('-').count() == 2;
        if is_date && self.rest[end..].len() > 5 && self.rest.as_bytes()[end + 1].is_ascii_digit() {
            let more = &self.rest[end + 1..];
            end += 1 + more.find(|c| !is_part(c)).unwrap_or(more.len());
        }
        let (text, rest) = self.rest.split_at(end);
        let value = match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "inf" | "+inf" => Value::Float(f64::INFINITY),
            "-inf" => Value::Float(f64::NEG_INFINITY),
            "nan" | "+nan" | "-nan" => Value::Float(f64::NAN),
            _ => match number(text) {
                Some(value) => value,
                None if text.len() > 4
                    && text.contains(['-', ':'])
                    && text.starts_with(|c: char| c.is_ascii_digit()) =>
                {
                    Value::str(text.replacen(' ', "T", 1))
                }
                None => {
                    let found: String = self.rest.chars().take(1).collect();
                    let found = found.replace('\n', "\\n");
                    return self.fail(format!("expected value but found '{found}' instead"));
                }
            },
        };
        self.rest = rest;
        Ok(value)
    }

    fn until(&mut self, end: &str) -> Result<String, String> {
        match self.rest.split_once(end) {
            Some((text, rest)) if !text.contains('\n') => {
                self.rest = rest;
                Ok(text.to_owned())
            }
            _ => self.fail("strings cannot contain newlines"),
        }
    }

    /// A string in double quotes, of which the first was read.
    fn basic(&mut self) -> Result<String, String> {
        let mut out = String::new();
        loop {
            let Some(character) = self.rest.chars().next() else {
                return self.fail("unexpected EOF; expected '\"'");
            };
            self.rest = &self.rest[character.len_utf8()..];
            match character {
                '"' => return Ok(out),
                '\n' => return self.fail("strings cannot contain newlines"),
                '\\' => self.escape(&mut out)?,
                other => out.push(other),
            }
        }
    }

    /// A string of several lines.
    fn long(&mut self, end: &str) -> Result<String, String> {
        let _ = self.take("\n") || self.take("\r\n");
        let Some(mut at) = self.rest.find(end) else {
            return self.fail(format!("unexpected EOF; expected '{end}'"));
        };
        if end == "'''" {
            let (text, rest) = self.rest.split_at(at);
            self.line += text.matches('\n').count();
            self.rest = &rest[3..];
            return Ok(text.to_owned());
        }
        // Quotes that are escaped do not end it.
        while self.rest[..at].ends_with('\\') {
            match self.rest[at + 1..].find(end) {
                Some(next) => at += 1 + next,
                None => return self.fail(format!("unexpected EOF; expected '{end}'")),
            }
        }
        let whole = self.rest;
        let mut out = String::new();
        self.rest = &whole[..at];
        while let Some(character) = self.rest.chars().next() {
            self.rest = &self.rest[character.len_utf8()..];
            match character {
                '\\' if self.rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') => {
                    self.rest = self.rest.trim_start();
                }
                '\\' => self.escape(&mut out)?,
                other => out.push(other),
            }
        }
        self.line += whole[..at].matches('\n').count();
        self.rest = &whole[at + 3..];
        Ok(out)
    }

    fn escape(&mut self, out: &mut String) -> Result<(), String> {
        let Some(sign) = self.rest.chars().next() else {
            return self.fail("unexpected EOF in an escape");
        };
        self.rest = &self.rest[sign.len_utf8()..];
        let plain = match sign {
            'b' => Some('\u{8}'),
            't' => Some('\t'),
            'n' => Some('\n'),
            'f' => Some('\u{c}'),
            'r' => Some('\r'),
            'e' => Some('\u{1b}'),
            '"' | '\\' => Some(sign),
            _ => None,
        };
        if let Some(plain) = plain {
            out.push(plain);
            return Ok(());
        }
        let digits = match sign {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            other => return self.fail(format!("invalid escape character '{other}'")),
        };
        let code = self
            .rest
            .get(..digits)
            .and_then(|text| u32::from_str_radix(text, 16).ok());
        let Some(character) = code.and_then(char::from_u32) else {
            return self.fail("invalid hexadecimal digits in an escape");
        };
        self.rest = &self.rest[digits..];
        out.push(character);
        Ok(())
    }
}

fn number(text: &str) -> Option<Value> {
    let bare = text.replace('_', "");
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = bare.strip_prefix(prefix) {
            return i64::from_str_radix(digits, radix).ok().map(Value::int64);
        }
    }
    if let Ok(whole) = bare.parse::<i64>() {
        return Some(Value::int64(whole));
    }
    let is_float =
        bare.contains(['.', 'e', 'E']) && bare.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    is_float.then(|| bare.parse().ok().map(Value::Float))?
}
