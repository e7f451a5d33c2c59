//! Acting for another user.

use http::{HeaderValue, Request};
use kube::Client;
use kube::client::Body;
use tower::service_fn;

/// Puts the impersonation headers on every request of a client.
pub(super) fn as_user(client: Client, user: &str, groups: &[&str]) -> Client {
    let value = |text: &str| HeaderValue::from_str(text).expect("names of users and groups are printable");
    let user = value(user);
    let groups: Vec<HeaderValue> = groups.iter().map(|group| value(group)).collect();
    let namespace = client.default_namespace().to_owned();
    let service = service_fn(move |mut request: Request<Body>| {
        let headers = request.headers_mut();
        headers.insert("impersonate-user", user.clone());
        for group in &groups {
            headers.append("impersonate-group", group.clone());
        }
        let client = client.clone();
        async move { client.send(request).await }
    });
    Client::new(service, namespace)
}
