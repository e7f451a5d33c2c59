//! What a request is about: a bucket and perhaps a key, named in the path or in the host.

use std::net::IpAddr;

use super::signature::pairs;
use crate::http::{Request, percent_decode};

/// A request with the bucket and key that it names.
#[derive(Debug)]
pub(super) struct Target<'a> {
    pub(super) request: &'a Request,
    /// Nothing for the store itself.
    pub(super) bucket: Option<String>,
    /// Nothing for the bucket itself.
    pub(super) key: Option<String>,
}

impl<'a> Target<'a> {
    /// Takes a request apart. A host such as `bucket.s3.example.com` names the bucket, if there is such a bucket.
    pub(super) fn of(request: &'a Request, exists: impl Fn(&str) -> bool) -> Self {
        let path = request.path().trim_start_matches('/');
        let named = bucket_of_host(request.host())
            .filter(|name| exists(name))
            .map(str::to_string);
        let (bucket, key) = match named {
            Some(bucket) => (Some(bucket), path),
            None => match path.split_once('/') {
                Some((bucket, key)) => (Some(percent_decode(bucket)), key),
                None => (Some(percent_decode(path)), ""),
            },
        };
        let bucket = bucket.filter(|bucket| !bucket.is_empty());
        let key = Some(percent_decode(key)).filter(|key| !key.is_empty());
        Self { request, bucket, key }
    }

    /// A query parameter.
    pub(super) fn parameter(&self, name: &str) -> Option<String> {
        pairs(self.request.uri.query().unwrap_or_default())
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// What errors are about.
    pub(super) fn resource(&self) -> String {
        let parts = [self.bucket.as_deref(), self.key.as_deref()];
        format!("/{}", parts.into_iter().flatten().collect::<Vec<_>>().join("/"))
    }
}

/// The first label of a host name that has more than one.
fn bucket_of_host(host: &str) -> Option<&str> {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if name.parse::<IpAddr>().is_ok() {
        return None;
    }
    name.split_once('.').map(|(first, _)| first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_named_by_path_or_by_host() {
        let target = |host: &str, path: &str| {
            let mut headers = http::HeaderMap::new();
            headers.insert("host", host.parse().unwrap());
            let request = Request {
                method: Default::default(),
                uri: path.parse().unwrap(),
                headers,
                body: Default::default(),
                scheme: "http",
            };
            Target::of(&request, |name| name == "mine").resource()
        };
        assert_eq!(target("127.0.0.1:80", "/mine/a/b%20c"), "/mine/a/b c");
        assert_eq!(target("localhost:80", "/mine"), "/mine");
        assert_eq!(target("mine.localhost:80", "/a/b"), "/mine/a/b");
        assert_eq!(target("mine.localhost:80", "/"), "/mine");
        assert_eq!(target("other.localhost:80", "/mine/a"), "/mine/a");
        assert_eq!(target("localhost:80", "/"), "/");
    }
}
