//! What the server answered.

use std::fmt;

use http::HeaderMap;
use serde_json::Value;

/// A whole response.
#[derive(Debug)]
pub struct Reply {
    /// The request, for messages.
    pub request: String,
    /// The status code.
    pub code: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub text: String,
    /// The body as JSON; null when it is none.
    pub body: Value,
}

impl Reply {
    /// The body of a response with that status code.
    #[track_caller]
    pub fn code(self, code: u16) -> Value {
        assert!(self.code == code, "not {code}: {self}");
        self.body
    }

    /// The body of a response that says yes.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!((200..300).contains(&self.code), "{self}");
        self.body
    }

    /// The `Status` of a failure with that code, reason and message.
    #[track_caller]
    pub fn fails(self, code: u16, reason: &str, message: impl AsRef<str>) -> Value {
        let body = &self.body;
        assert!(self.code == code, "not {code}: {self}");
        assert!(
            body["kind"] == "Status" && body["apiVersion"] == "v1",
            "no Status: {self}"
        );
        assert!(
            body["status"] == "Failure" && body["code"] == code,
            "not a Failure {code}: {self}"
        );
        assert!(
            body["reason"].as_str().unwrap_or_default() == reason,
            "not {reason}: {self}"
        );
        assert_eq!(
            body["message"].as_str().unwrap_or_default(),
            message.as_ref(),
            "{}",
            self.request
        );
        self.body
    }

    /// The texts of the `Warning` headers.
    pub fn warnings(&self) -> Vec<String> {
        let texts = self
            .headers
            .get_all("warning")
            .iter()
            .filter_map(|value| value.to_str().ok());
        let quoted = texts.filter_map(|text| text.strip_prefix("299 - \"")?.strip_suffix('"'));
        quoted.map(|text| text.replace("\\\"", "\"")).collect()
    }

    /// One header's text.
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = self.text.chars().take(3000).collect();
        write!(f, "{} gave {} {text}", self.request, self.code)
    }
}
