//! The query of a request.

use form_urlencoded::byte_serialize;

/// The query of a request, built pair by pair. (The serializer of `form_urlencoded` cannot cross threads.)
#[derive(Debug, Default)]
pub(super) struct Query(String);

impl Query {
    pub(super) fn add(&mut self, key: &'static str, value: &str) -> &mut Self {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(key);
        self.0.push('=');
        self.0.extend(byte_serialize(value.as_bytes()));
        self
    }

    /// The path with this query.
    pub(super) fn on(&self, path: &str) -> String {
        format!("{path}{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_become_pairs() {
        let mut query = Query::default();
        assert_eq!(query.on("/a"), "/a");
        query.add("labelSelector", "a in (b, c)&x=y").add("limit", "5");
        assert_eq!(
            query.on("/a"),
            "/a?labelSelector=a+in+%28b%2C+c%29%26x%3Dy&limit=5"
        );
    }
}
