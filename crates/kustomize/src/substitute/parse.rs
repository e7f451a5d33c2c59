//! Reads a text with substitutions.

use super::{Error, Problem};

/// How deep substitutions may stand in each other.
pub(super) const DEEPEST: usize = 64;

/// A piece of a text.
#[derive(Debug)]
pub(super) enum Part {
    Text(String),
    Substitution(Substitution),
}

/// `${name}`, with or without an operation.
#[derive(Debug)]
pub(super) struct Substitution {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    pub(super) name: String,
    /// `:=`, `^^`, …; empty where there is none.
    pub(super) operator: String,
    pub(super) arguments: Vec<Part>,
}

type Result<T> = std::result::Result<T, Error>;

/// All pieces of a text from a place on.
pub(super) fn parse(text: &str, from: usize) -> Result<Vec<Part>> {
    let mut reader = Reader {
        text,
        at: from,
        open: Vec::new(),
    };
    let mut parts = Vec::new();
    while let Some(part) = reader.piece(&Until::End, Escapes::Dollar)? {
        parts.push(part);
    }
    Ok(parts)
}

/// The pieces of a text, as far as it can be read, and all that cannot be. What stands in a substitution that cannot be read
/// is looked at as well.
pub(super) fn parse_all(text: &str, most: usize) -> (Vec<Part>, Vec<Error>) {
    let (mut parts, mut errors) = (Vec::new(), Vec::new());
    let mut from = 0;
    while errors.len() < most {
        let mut reader = Reader {
            text,
            at: from,
            open: Vec::new(),
        };
        let failed = loop {
            match reader.piece(&Until::End, Escapes::Dollar) {
                Ok(Some(part)) => parts.push(part),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let Some(error) = failed else { break };
        // The outermost one begins with two letters that are not looked at again.
        from = reader.open.first().copied().unwrap_or(error.start) + 2;
        errors.push(error);
    }
    (parts, errors)
}

/// Where a plain text ends, besides at a substitution.
enum Until {
    End,
    /// Before the first of these letters.
    One(&'static [char]),
}

/// Which letters can be taken for themselves by one before them.
#[derive(Clone, Copy, PartialEq)]
enum Escapes {
    None,
    /// `$$`
    Dollar,
    /// `$$`, `\/` and `\\`
    All,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// Where the substitutions begin that are not closed yet.
    open: Vec<usize>,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn fail<T>(&self, problem: Problem) -> Result<T> {
        let start = self.open.last().copied().unwrap_or(self.at);
        Err(Error::new(self.text, start, self.at, problem))
    }

    /// Goes on if this comes next.
    fn take(&mut self, text: &str) -> bool {
        let comes = self.rest().starts_with(text);
        if comes {
            self.at += text.len();
        }
        comes
    }

    /// A plain text or a substitution; `None` where the text ends, or the letter that ends it comes at once.
    fn piece(&mut self, until: &Until, escapes: Escapes) -> Result<Option<Part>> {
        if self.take("${") {
            return self.substitution().map(|one| Some(Part::Substitution(one)));
        }
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(letter) = rest.chars().next() else { break };
            if rest.starts_with("${") {
                break;
            }
            let escaped = match escapes {
                Escapes::None => false,
                Escapes::Dollar => rest.starts_with("$$"),
                Escapes::All => ["$$", "\\/", "\\\\"].iter().any(|pair| rest.starts_with(pair)),
            };
            if escaped {
                text.push_str(&rest[1..2]);
                self.at += 2;
                continue;
            }
            if matches!(until, Until::One(ends) if ends.contains(&letter)) {
                break;
            }
            text.push(letter);
            self.at += letter.len_utf8();
        }
        Ok((!text.is_empty()).then_some(Part::Text(text)))
    }

    /// What follows `${`.
    fn substitution(&mut self) -> Result<Substitution> {
        let start = self.at - 2;
        self.open.push(start);
        if self.open.len() > DEEPEST {
            return self.fail(Problem::TooDeep);
        }
        let (name, operator, arguments) = self.inner()?;
        self.open.pop();
        Ok(Substitution {
            start,
            name,
            operator,
            arguments,
        })
    }

    fn inner(&mut self) -> Result<(String, String, Vec<Part>)> {
        if self.take("#") {
            let name = self.word();
            if name.is_empty() {
                return self.fail(Problem::Bad);
            }
            return self.closed((name, "#".into(), Vec::new()));
        }
        let name = self.word();
        if name.is_empty() {
            return self.fail(Problem::NoName);
        }
        match self.peek() {
            Some(':') => match self.rest()[1..].chars().next() {
                Some('=' | '-' | '?' | '+') => self.default_of(name, 2),
                // The original steps back by the width of the letter it has seen, not of the colon.
                Some(letter) if letter.len_utf8() > 1 => self.fail(Problem::Bad),
                None => self.fail(Problem::Bad),
                Some(_) => self.part_of(name),
            },
            Some('=') => self.default_of(name, 1),
            Some(',' | '^') => {
                let operator = self.operator(&[',', '^'], &[',', '^']);
                self.closed((name, operator, Vec::new()))
            }
            Some('/') => self.replaced(name),
            Some(sign @ ('#' | '%')) => {
                let operator = self.operator(&[sign], &[sign]);
                let argument = self.argument(&Until::One(&['}']), Escapes::None)?;
                self.closed((name, operator, vec![argument]))
            }
            _ if self.take("}") => Ok((name, String::new(), Vec::new())),
            _ => self.fail(Problem::NotClosed(name)),
        }
    }

    /// The letters of a name.
    fn word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|letter: char| !(letter.is_alphabetic() || letter.is_numeric() || letter == '_'));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word.to_owned()
    }

    /// One letter of the first set, and one of the second if it follows.
    fn operator(&mut self, first: &[char], second: &[char]) -> String {
        let mut operator = String::new();
        for set in [first, second] {
            match self.peek() {
                Some(letter) if set.contains(&letter) => {
                    operator.push(letter);
                    self.at += letter.len_utf8();
                }
                _ => break,
            }
        }
        operator
    }

    /// `:=default`, of any number of pieces.
    fn default_of(&mut self, name: String, width: usize) -> Result<(String, String, Vec<Part>)> {
        let operator = self.rest()[..width].to_owned();
        self.at += width;
        let mut arguments = Vec::new();
        while !self.take("}") {
            arguments.push(self.argument(&Until::One(&['}']), Escapes::None)?);
        }
        Ok((name, operator, arguments))
    }

    /// `:offset` or `:offset:length`.
    fn part_of(&mut self, name: String) -> Result<(String, String, Vec<Part>)> {
        self.at += 1;
        let mut arguments = vec![self.argument(&Until::One(&[':', '}']), Escapes::None)?];
        if self.take("}") {
            return Ok((name, ":".into(), arguments));
        }
        if !self.take(":") {
            return self.fail(Problem::Bad);
        }
        while self.take(":") {}
        arguments.push(self.argument(&Until::One(&['}']), Escapes::None)?);
        self.closed((name, ":".into(), arguments))
    }

    /// `/old/new` and its relatives.
    fn replaced(&mut self, name: String) -> Result<(String, String, Vec<Part>)> {
        let operator = self.operator(&['/'], &['/', '#', '%']);
        let mut arguments = vec![self.argument(&Until::One(&['/']), Escapes::All)?];
        if !self.take("/") {
            return self.fail(Problem::Bad);
        }
        while self.take("/") {}
        if self.peek() != Some('}') {
            arguments.push(self.argument(&Until::One(&['}']), Escapes::All)?);
        }
        self.closed((name, operator, arguments))
    }

    fn argument(&mut self, until: &Until, escapes: Escapes) -> Result<Part> {
        match self.piece(until, escapes)? {
            Some(part) => Ok(part),
            None => self.fail(Problem::NoArgument),
        }
    }

    fn closed<T>(&mut self, what: T) -> Result<T> {
        if self.take("}") {
            return Ok(what);
        }
        self.fail(Problem::Bad)
    }
}
