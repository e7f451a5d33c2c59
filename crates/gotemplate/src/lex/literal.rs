//! Strings, characters and numbers.

use super::{Kind, Lexer, Token};
use crate::unicode::is_alphanumeric;

impl<'t> Lexer<'t> {
    pub(super) fn quoted(&mut self, quote: char, kind: Kind, unclosed: &str) -> Token<'t> {
        loop {
            match self.bump() {
                Some('\\') => {
                    if matches!(self.bump(), None | Some('\n')) {
                        return self.error(unclosed);
                    }
                }
                None | Some('\n') => return self.error(unclosed),
                Some(char) if char == quote => return self.token(kind),
                Some(_) => {}
            }
        }
    }

    pub(super) fn raw_quoted(&mut self) -> Token<'t> {
        let rest = self.rest();
        let Some(end) = rest.find('`') else {
            return self.error("unterminated raw quoted string");
        };
        self.pos += end + 1;
        self.line += super::newlines(&rest[..end]);
        self.token(Kind::RawString)
    }

    pub(super) fn number(&mut self) -> Token<'t> {
        if !self.scan_number() {
            return self.bad_number();
        }
        if matches!(self.peek(), Some('+' | '-')) {
            if !self.scan_number() || self.input.as_bytes()[self.pos - 1] != b'i' {
                return self.bad_number();
            }
            return self.token(Kind::Complex);
        }
        self.token(Kind::Number)
    }

    fn bad_number(&mut self) -> Token<'t> {
        let text = model::quote::quote(&self.input[self.start..self.pos]);
        self.error(format!("bad number syntax: {text}"))
    }

    fn scan_number(&mut self) -> bool {
        const DECIMAL: &str = "0123456789_";
        const HEX: &str = "0123456789abcdefABCDEF_";
        self.accept("+-");
        let mut digits = DECIMAL;
        if self.accept("0") {
            if self.accept("xX") {
                digits = HEX;
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        let exponent = match digits {
            DECIMAL => "eE",
            HEX => "pP",
            _ => "",
        };
        if self.accept(exponent) {
            self.accept("+-");
            self.accept_run(DECIMAL);
        }
        self.accept("i");
        if self.peek().is_some_and(is_alphanumeric) {
            self.bump();
            return false;
        }
        true
    }
}
