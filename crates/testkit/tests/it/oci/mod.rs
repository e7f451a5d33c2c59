//! The registry, by its protocol and through a client that no one of us wrote.

mod access;
mod blobs;
mod client;
mod manifests;
mod referrers;

use testkit::http::{Client, Method, Response};
use testkit::oci::Server;

/// Sends a request below `/v2/` and returns the answer.
async fn send(server: &Server, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let client = headers
        .iter()
        .fold(Client::new(), |client, (name, value)| client.header(name, value));
    client
        .send(method, &format!("{}/v2/{path}", server.url()), body.to_string())
        .await
        .unwrap()
}

/// The code of an error, as the specification names it.
fn code(response: &Response) -> String {
    let json: serde_json::Value = serde_json::from_slice(&response.body).unwrap();
    json["errors"][0]["code"].as_str().unwrap().to_string()
}
