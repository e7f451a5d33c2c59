//! The little XML that is needed.

use crate::http::Reply;

/// A document in the making.
#[derive(Debug)]
pub(super) struct Xml(String);

impl Xml {
    /// Begins a document. The name may carry attributes.
    pub(super) fn new() -> Self {
        Self("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_string())
    }

    /// An element with text.
    pub(super) fn text(&mut self, name: &str, text: impl AsRef<str>) {
        self.0
            .push_str(&format!("<{name}>{}</{name}>", escape(text.as_ref())));
    }

    /// Text by itself.
    pub(super) fn raw_text(&mut self, text: &str) {
        self.0.push_str(&escape(text));
    }

    /// An element with others in it. The name may carry attributes.
    pub(super) fn element(&mut self, name: &str, content: impl FnOnce(&mut Self)) {
        self.0.push_str(&format!("<{name}>"));
        content(self);
        let name = name.split(' ').next().unwrap_or(name);
        self.0.push_str(&format!("</{name}>"));
    }

    pub(super) fn reply(self) -> Reply {
        Reply::ok("application/xml", self.0)
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#xA;"),
            '\r' => escaped.push_str("&#xD;"),
            // Other control characters cannot stand in XML at all; clients ask for URL encoding to see them.
            control if control.is_ascii_control() && control != '\t' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a<b>&\"c\"\u{1}"), "a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}");
    }
}
