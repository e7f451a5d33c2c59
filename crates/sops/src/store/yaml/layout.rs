//! Where lines and comments go, as go-yaml's emitter decides it.

/// How much what is nested is indented.
pub(super) const INDENT: usize = 4;

/// Comments that are waiting for the place where they are written.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) head: Vec<u8>,
    pub(super) line: Vec<u8>,
    pub(super) foot: Vec<u8>,
    pub(super) tail: Vec<u8>,
}

/// Text in the making.
pub(super) struct Output {
    pub(super) text: Vec<u8>,
    column: usize,
    /// Whether the last character was one that separates.
    whitespace: bool,
    /// Whether the line so far has only what indents: spaces, and the signs of lists and long keys.
    indention: bool,
    /// The indentation of the last foot comment: what follows it there is set apart by an empty line.
    foot_indent: Option<usize>,
    pub(super) waiting: Waiting,
}

impl Output {
    pub(super) fn new() -> Output {
        Output {
            text: Vec::new(),
            column: 0,
            whitespace: true,
            indention: true,
            foot_indent: None,
            waiting: Waiting::default(),
        }
    }

    pub(super) fn put_break(&mut self) {
        self.text.push(b'\n');
        self.column = 0;
        self.indention = true;
    }

    /// Begins a line, unless the current one has nothing yet but what indents.
    pub(super) fn indent(&mut self, indent: usize) {
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.put_break();
        }
        if self.foot_indent == Some(indent) {
            self.put_break();
        }
        while self.column < indent {
            self.text.push(b' ');
            self.column += 1;
        }
        self.whitespace = true;
        self.foot_indent = None;
    }

    /// Writes a sign that separates nothing by itself.
    pub(super) fn sign(&mut self, sign: &str, needs_space: bool, indents: bool) {
        if needs_space && !self.whitespace {
            self.text.push(b' ');
            self.column += 1;
        }
        self.raw(sign.as_bytes());
        self.whitespace = false;
        self.indention &= indents;
    }

    /// Writes text of one line.
    pub(super) fn words(&mut self, text: &[u8]) {
        if !text.is_empty() && !self.whitespace {
            self.text.push(b' ');
            self.column += 1;
        }
        self.raw(text);
        self.whitespace = self.whitespace && text.is_empty();
        self.indention = false;
    }

    pub(super) fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.column += text.len();
    }

    /// Writes the lines of a block scalar, each indented.
    pub(super) fn lines(&mut self, text: &str, indent: usize) {
        self.whitespace = true;
        let mut at_break = true;
        for character in text.chars() {
            if super::scalar::is_break(character) {
                if character == '\n' {
                    self.put_break();
                } else {
                    self.raw(character.encode_utf8(&mut [0; 4]).as_bytes());
                    self.column = 0;
                    self.indention = true;
                }
                at_break = true;
                continue;
            }
            if at_break {
                self.indent(indent);
            }
            self.raw(character.encode_utf8(&mut [0; 4]).as_bytes());
            self.indention = false;
            at_break = false;
        }
    }

    /// Writes the comment that ends what was before, and the one that begins what comes.
    pub(super) fn head_comment(&mut self, indent: usize) {
        let tail = std::mem::take(&mut self.waiting.tail);
        if !tail.is_empty() {
            self.indent(indent);
            self.comment(&tail, indent);
            self.foot_indent = Some(indent);
        }
        let head = std::mem::take(&mut self.waiting.head);
        if !head.is_empty() {
            self.indent(indent);
            self.comment(&head, indent);
        }
    }

    /// Writes the comment behind a value. Where a break must follow in any case, `break_after` says so.
    pub(super) fn line_comment(&mut self, indent: usize, break_after: bool) {
        let line = std::mem::take(&mut self.waiting.line);
        if line.is_empty() {
            if break_after {
                self.put_break();
            }
            return;
        }
        if !self.whitespace {
            self.raw(b" ");
        }
        self.comment(&line, indent);
    }

    pub(super) fn foot_comment(&mut self, indent: usize) {
        let foot = std::mem::take(&mut self.waiting.foot);
        if foot.is_empty() {
            return;
        }
        self.indent(indent);
        self.comment(&foot, indent);
        self.foot_indent = Some(indent);
    }

    /// Sets what follows a document apart from a comment that is still to come.
    pub(super) fn end_document(&mut self) {
        self.foot_indent = Some(0);
        self.foot_comment(0);
        self.foot_indent = None;
        self.indent(0);
    }

    /// Writes the lines of a comment, each with its sign.
    fn comment(&mut self, comment: &[u8], indent: usize) {
        let text = String::from_utf8_lossy(comment);
        let (mut breaks, mut sign) = (false, false);
        for character in text.chars() {
            if super::scalar::is_break(character) {
                if character == '\n' {
                    self.put_break();
                } else {
                    self.raw(character.encode_utf8(&mut [0; 4]).as_bytes());
                    self.column = 0;
                    self.indention = true;
                }
                breaks = true;
                sign = false;
                continue;
            }
            if breaks {
                self.indent(indent);
            }
            if !sign {
                if character != '#' {
                    self.raw(b"# ");
                }
                sign = true;
            }
            self.raw(character.encode_utf8(&mut [0; 4]).as_bytes());
            self.indention = false;
            breaks = false;
        }
        if !breaks {
            self.put_break();
        }
        self.whitespace = true;
    }
}
