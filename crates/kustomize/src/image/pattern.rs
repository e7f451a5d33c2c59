//! Which images an entry means: its name is an expression, followed by any tag and digest.

use model::regexp::Regexp;

pub(super) enum Pattern {
    /// A name in which nothing but points mean something: any character.
    Name(String),
    Expression(Regexp),
}

impl Pattern {
    pub(super) fn new(name: &str) -> Result<Pattern, String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./_:-".contains(&byte);
        if name.bytes().all(plain) {
            return Ok(Pattern::Name(name.to_owned()));
        }
        let expression = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        Regexp::new(&expression)
            .map(Pattern::Expression)
            .map_err(|error| error.to_string())
    }
}

/// Whether nothing but a tag and a digest follows the name of an image.
pub(super) fn is_tag_and_digest(rest: &str) -> bool {
    let word = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_.{}-".contains(&byte))
    };
    let (tag, digest) = rest
        .split_once('@')
        .map_or((rest, None), |(tag, digest)| (tag, Some(digest)));
    let tag_fits = tag.is_empty() || tag.strip_prefix(':').is_some_and(word);
    tag_fits && digest.is_none_or(|digest| digest.strip_prefix("sha256:").is_some_and(word))
}
