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

    pub(super) fn fits(&self, image: &str) -> bool {
        match self {
            Pattern::Expression(regex) => regex.is_match(image),
            Pattern::Name(name) => after(name, image).is_some_and(is_tag_and_digest),
        }
    }
}

/// What follows the name in an image.
fn after<'i>(name: &str, image: &'i str) -> Option<&'i str> {
    let mut rest = image.chars();
    for wanted in name.chars() {
        let found = rest.next()?;
        if found != wanted && (wanted != '.' || found == '\n') {
            return None;
        }
    }
    Some(rest.as_str())
}

fn is_tag_and_digest(rest: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_with_and_without_tags_and_digests() {
        let fits = |name: &str, image: &str| {
            let found = Pattern::new(name).unwrap().fits(image);
            let regex = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
            assert_eq!(
                found,
                Regexp::new(&regex).unwrap().is_match(image),
                "{name} {image}"
            );
            found
        };
        for image in [
            "nginx",
            "nginx:",
            "nginx:1.2",
            "nginx@sha256:ab",
            "nginx:{v}@sha256:ab",
        ] {
            assert!(fits("nginx", image), "{image}");
        }
        for image in [
            "nginx2",
            "my/nginx",
            "nginx:1:2",
            "nginx@md5:a",
            "nginx/x",
            "nginx:1@sha256:a@b",
            "",
        ] {
            assert!(!fits("nginx", image), "{image}");
        }
        assert!(fits("a.b/c", "axb/c:1") && fits("host:5000/x", "host:5000/x") && fits("ng.*x", "nginx:1"));
    }
}
