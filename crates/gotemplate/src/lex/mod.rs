//! The words of a template's text: what is between actions, and what they are made of.

mod literal;

use crate::unicode::is_alphanumeric;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Error,
    Bool,
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    Eof,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

impl Kind {
    /// Whether messages show it as a word of the language.
    pub(crate) fn is_keyword(self) -> bool {
        use Kind::{Block, Break, Continue, Define, Dot, Else, End, If, Nil, Range, Template, With};
        matches!(
            self,
            Block | Break | Continue | Dot | Define | Else | End | If | Nil | Range | Template | With
        )
    }
}

/// A word of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) pos: usize,
    pub(crate) line: usize,
    pub(crate) text: &'t str,
}

/// What is before and after actions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delims<'t> {
    pub(crate) left: &'t str,
    pub(crate) right: &'t str,
}

/// Reads tokens one after the other.
pub(crate) struct Lexer<'t> {
    input: &'t str,
    delims: Delims<'t>,
    pos: usize,
    start: usize,
    line: usize,
    start_line: usize,
    parens: usize,
    in_action: bool,
    /// What is wrong: after an error there is only the end.
    problem: Option<Box<str>>,
    /// Whether `break` and `continue` are words of the language: not where functions have these names.
    pub(crate) break_is_word: bool,
    pub(crate) continue_is_word: bool,
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

fn is_space(char: char) -> bool {
    SPACES.contains(&char)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// `- ` after the left delimiter.
fn has_left_trim(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('-') && chars.next().is_some_and(is_space)
}

/// ` -` before the right delimiter.
fn has_right_trim(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(is_space) && chars.next() == Some('-')
}

const TRIM: usize = 2;

impl<'t> Lexer<'t> {
    pub(crate) fn new(input: &'t str, delims: Delims<'t>) -> Lexer<'t> {
        Lexer {
            input,
            delims,
            pos: 0,
            start: 0,
            line: 1,
            start_line: 1,
            parens: 0,
            in_action: false,
            problem: None,
            break_is_word: true,
            continue_is_word: true,
        }
    }

    /// The next token; after the last one always the end.
    pub(crate) fn next(&mut self) -> Token<'t> {
        if self.problem.is_some() {
            return Token {
                kind: Kind::Eof,
                pos: self.pos,
                line: self.start_line,
                text: "EOF",
            };
        }
        if self.in_action {
            self.inside_action()
        } else {
            self.text()
        }
    }

    /// What is wrong, once an error was read.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    fn rest(&self) -> &'t str {
        &self.input[self.pos..]
    }

    fn bump(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.pos += char.len_utf8();
        if char == '\n' {
            self.line += 1;
        }
        Some(char)
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn accept(&mut self, valid: &str) -> bool {
        let found = self.peek().is_some_and(|char| valid.contains(char));
        if found {
            self.bump();
        }
        found
    }

    fn accept_run(&mut self, valid: &str) {
        while self.accept(valid) {}
    }

    fn token(&mut self, kind: Kind) -> Token<'t> {
        let token = Token {
            kind,
            pos: self.start,
            line: self.start_line,
            text: &self.input[self.start..self.pos],
        };
        self.start = self.pos;
        self.start_line = self.line;
        token
    }

    /// Passes over what was read, counting its lines.
    fn ignore(&mut self) {
        self.line += newlines(&self.input[self.start..self.pos]);
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn error(&mut self, text: impl Into<Box<str>>) -> Token<'t> {
        let token = Token {
            kind: Kind::Error,
            pos: self.start,
            line: self.start_line,
            text: "",
        };
        self.problem = Some(text.into());
        self.start = 0;
        self.pos = 0;
        token
    }

    fn text(&mut self) -> Token<'t> {
        loop {
            let Some(found) = self.rest().find(self.delims.left) else {
                self.pos = self.input.len();
                if self.pos == self.start {
                    let mut end = self.token(Kind::Eof);
                    end.text = "EOF";
                    return end;
                }
                self.line += newlines(&self.input[self.start..self.pos]);
                return self.token(Kind::Text);
            };
            if found > 0 {
                self.pos += found;
                let after = self.pos + self.delims.left.len();
                let mut trimmed = 0;
                if has_left_trim(&self.input[after..]) {
                    let text = &self.input[self.start..self.pos];
                    trimmed = text.len() - text.trim_end_matches(SPACES).len();
                }
                self.pos -= trimmed;
                self.line += newlines(&self.input[self.start..self.pos]);
                let token = self.token(Kind::Text);
                self.pos += trimmed;
                self.ignore();
                if !token.text.is_empty() {
                    return token;
                }
            }
            if let Some(token) = self.left_delim() {
                return token;
            }
        }
    }

    /// The start of an action, or nothing after a comment.
    fn left_delim(&mut self) -> Option<Token<'t>> {
        self.pos += self.delims.left.len();
        let marker = if has_left_trim(self.rest()) { TRIM } else { 0 };
        if self.input[self.pos + marker..].starts_with("/*") {
            self.pos += marker;
            self.ignore();
            return self.comment();
        }
        let token = self.token(Kind::LeftDelim);
        self.in_action = true;
        self.pos += marker;
        self.ignore();
        self.parens = 0;
        Some(token)
    }

    /// Passes over a comment, or says what is wrong with it.
    fn comment(&mut self) -> Option<Token<'t>> {
        self.pos += 2;
        let Some(found) = self.rest().find("*/") else {
            return Some(self.error("unclosed comment"));
        };
        self.pos += found + 2;
        let (delim, trim) = self.at_right_delim();
        if !delim {
            return Some(self.error("comment ends before closing delimiter"));
        }
        self.line += newlines(&self.input[self.start..self.pos]);
        self.start = self.pos;
        self.start_line = self.line;
        if trim {
            self.pos += TRIM;
        }
        self.pos += self.delims.right.len();
        if trim {
            self.skip_spaces();
        }
        self.ignore();
        None
    }

    fn skip_spaces(&mut self) {
        let rest = self.rest();
        self.pos += rest.len() - rest.trim_start_matches(SPACES).len();
    }

    /// Whether the action ends here, and with a mark to trim what follows.
    fn at_right_delim(&self) -> (bool, bool) {
        let rest = self.rest();
        if has_right_trim(rest) && rest[TRIM..].starts_with(self.delims.right) {
            return (true, true);
        }
        (rest.starts_with(self.delims.right), false)
    }

    fn right_delim(&mut self) -> Token<'t> {
        let (_, trim) = self.at_right_delim();
        if trim {
            self.pos += TRIM;
            self.ignore();
        }
        self.pos += self.delims.right.len();
        let token = self.token(Kind::RightDelim);
        if trim {
            self.skip_spaces();
            self.ignore();
        }
        self.in_action = false;
        token
    }

    fn inside_action(&mut self) -> Token<'t> {
        if self.at_right_delim().0 {
            if self.parens == 0 {
                return self.right_delim();
            }
            return self.error("unclosed left paren");
        }
        let Some(char) = self.peek() else {
            return self.error("unclosed action");
        };
        if is_space(char) {
            return self.space();
        }
        self.bump();
        match char {
            '=' => self.token(Kind::Assign),
            ':' => {
                if self.bump() != Some('=') {
                    return self.error("expected :=");
                }
                self.token(Kind::Declare)
            }
            '|' => self.token(Kind::Pipe),
            '"' => self.quoted('"', Kind::String, "unterminated quoted string"),
            '`' => self.raw_quoted(),
            '$' => self.field_or_variable(Kind::Variable),
            '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant"),
            '.' if !matches!(self.peek(), Some('0'..='9') | None) => self.field_or_variable(Kind::Field),
            '.' | '+' | '-' | '0'..='9' => {
                self.pos -= 1;
                self.number()
            }
            '(' => {
                self.parens += 1;
                self.token(Kind::LeftParen)
            }
            ')' => {
                if self.parens == 0 {
                    return self.error("unexpected right paren");
                }
                self.parens -= 1;
                self.token(Kind::RightParen)
            }
            other if is_alphanumeric(other) => self.identifier(),
            ' '..='~' => self.token(Kind::Char),
            other => self.error(format!("unrecognized character in action: {}", shown(other))),
        }
    }

    fn space(&mut self) -> Token<'t> {
        let mut spaces = 0;
        while self.peek().is_some_and(is_space) {
            self.bump();
            spaces += 1;
        }
        // The last of the spaces may belong to the mark before the end.
        let last = self.pos - 1;
        if has_right_trim(&self.input[last..]) && self.input[last + TRIM..].starts_with(self.delims.right) {
            self.pos = last;
            if self.input.as_bytes()[last] == b'\n' {
                self.line -= 1;
            }
            if spaces == 1 {
                return self.right_delim();
            }
        }
        self.token(Kind::Space)
    }

    /// Passes over the rest of a name.
    fn name(&mut self) {
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        loop {
            let rest = &self.input.as_bytes()[self.pos..];
            self.pos += rest
                .iter()
                .position(|byte| !is_of_name(byte))
                .unwrap_or(rest.len());
            match self.peek() {
                Some(char) if !char.is_ascii() && is_alphanumeric(char) => self.pos += char.len_utf8(),
                _ => return,
            }
        }
    }

    fn identifier(&mut self) -> Token<'t> {
        self.name();
        if !self.at_terminator() {
            return self.bad_character();
        }
        let kind = match &self.input[self.start..self.pos] {
            "block" => Kind::Block,
            "break" if self.break_is_word => Kind::Break,
            "continue" if self.continue_is_word => Kind::Continue,
            "define" => Kind::Define,
            "else" => Kind::Else,
            "end" => Kind::End,
            "if" => Kind::If,
            "range" => Kind::Range,
            "nil" => Kind::Nil,
            "template" => Kind::Template,
            "with" => Kind::With,
            "true" | "false" => Kind::Bool,
            _ => Kind::Identifier,
        };
        self.token(kind)
    }

    fn field_or_variable(&mut self, kind: Kind) -> Token<'t> {
        if self.at_terminator() {
            return self.token(if kind == Kind::Variable { kind } else { Kind::Dot });
        }
        self.name();
        if !self.at_terminator() {
            return self.bad_character();
        }
        self.token(kind)
    }

    fn bad_character(&mut self) -> Token<'t> {
        let text = self.peek().map_or_else(|| "U+FFFFFFFFFFFFFFFF".to_owned(), shown);
        self.error(format!("bad character {text}"))
    }

    fn at_terminator(&self) -> bool {
        match self.peek() {
            None => true,
            Some(char) if is_space(char) => true,
            Some('.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(_) => self.rest().starts_with(self.delims.right),
        }
    }
}

/// A character as Go's `%#U` prints it.
fn shown(char: char) -> String {
    let code = u32::from(char);
    if crate::unicode::is_print(char) {
        format!("U+{code:04X} '{char}'")
    } else {
        format!("U+{code:04X}")
    }
}
