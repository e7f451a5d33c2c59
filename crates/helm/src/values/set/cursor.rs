//! The text that is being read.

/// A place in the text.
pub(super) struct Cursor<'t> {
    rest: &'t str,
}

/// What was read up to a sign.
pub(super) struct Until {
    /// The characters before it, without the backslashes that quoted them.
    pub(super) text: String,
    /// The sign; nothing at the end of the text.
    pub(super) sign: Option<char>,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Cursor { rest: text }
    }

    /// What was not read yet.
    pub(super) fn rest(&self) -> &'t str {
        self.rest
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = &self.rest[character.len_utf8()..];
        Some(character)
    }

    /// Reads on if this comes next.
    pub(super) fn take(&mut self, wanted: char) -> bool {
        match self.rest.strip_prefix(wanted) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads up to one of these signs; a backslash, where that means something, takes the meaning from what follows it.
    pub(super) fn until(&mut self, signs: &[char], quoting: bool) -> Until {
        let mut text = String::new();
        while let Some(character) = self.next() {
            if signs.contains(&character) {
                return Until {
                    text,
                    sign: Some(character),
                };
            }
            if quoting && character == '\\' {
                match self.next() {
                    Some(next) => text.push(next),
                    None => break,
                }
            } else {
                text.push(character);
            }
        }
        Until { text, sign: None }
    }

    /// Skips white space; whether the value ends here, with a comma or the text.
    pub(super) fn is_empty_value(&mut self) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.is_empty() || self.take(',')
    }
}
