//! The protocol itself, without a `git` program.

use testkit::git::Server;
use testkit::http::{Client, Method};

const V2: (&str, &str) = ("git-protocol", "version=2");
const UPLOAD: (&str, &str) = ("content-type", "application/x-git-upload-pack-request");

fn client(headers: &[(&str, &str)]) -> Client {
    headers
        .iter()
        .fold(Client::new(), |client, (name, value)| client.header(name, value))
}

fn line(text: &str) -> String {
    format!("{:04x}{text}", text.len() + 4)
}

#[tokio::test]
async fn version_0_lists_references_at_once() {
    let server = Server::start();
    let id = server.repository("app").commit("main", "One", [("a", "1")]);
    let url = format!("{}/info/refs?service=git-upload-pack", server.clone_url("app"));
    let response = Client::new().get(&url).await.unwrap();
    assert_eq!(
        response.header("content-type"),
        "application/x-git-upload-pack-advertisement"
    );
    let text = response.text();
    assert!(
        text.starts_with(&format!("001e# service=git-upload-pack\n0000{}", &line("")[..0])),
        "{text}"
    );
    assert!(text.contains(&format!("{id} HEAD\0multi_ack ")), "{text}");
    assert!(text.contains(" symref=HEAD:refs/heads/main "), "{text}");
    assert!(
        text.ends_with(&format!("{}0000", line(&format!("{id} refs/heads/main\n")))),
        "{text}"
    );
}

#[tokio::test]
async fn version_2_lists_what_is_asked_for() {
    let server = Server::start();
    let repository = server.repository("app");
    let id = repository.commit("main", "One", [("a", "1")]);
    let tag = repository.annotated_tag("v1", id).create();
    let info = format!("{}/info/refs?service=git-upload-pack", server.clone_url("app"));
    let abilities = client(&[V2]).get(&info).await.unwrap().text();
    assert!(abilities.starts_with("000eversion 2\n"), "{abilities}");
    assert_eq!(repository.stats().listings, 0);
    let lines = ["command=ls-refs\n", "object-format=sha1"].map(line).concat();
    let arguments = [
        "peel\n",
        "symrefs\n",
        "ref-prefix refs/tags/\n",
        "ref-prefix HEAD\n",
    ]
    .map(line)
    .concat();
    let url = format!("{}/git-upload-pack", server.clone_url("app"));
    let body = format!("{lines}0001{arguments}0000");
    let listed = client(&[V2, UPLOAD])
        .send(Method::POST, &url, body)
        .await
        .unwrap()
        .text();
    let expected = [
        line(&format!("{id} HEAD symref-target:refs/heads/main\n")),
        line(&format!("{tag} refs/tags/v1 peeled:{id}\n")),
        "0000".to_string(),
    ];
    assert_eq!(listed, expected.concat());
    assert_eq!(repository.stats().listings, 1);
}

#[tokio::test]
async fn nonsense_is_answered_with_an_error() {
    let server = Server::start();
    server.repository("app").commit("main", "One", [("a", "1")]);
    let url = format!("{}/git-upload-pack", server.clone_url("app"));
    let fetch = |argument: &str| format!("{}0001{}0000", line("command=fetch"), line(argument));
    let cases = [
        ("zzzz".to_string(), "bad line length character"),
        (
            format!("{}0000", line("command=dance")),
            "\"command=dance\" is not supported",
        ),
        (fetch("want 12"), "unexpected \"want 12\""),
        (fetch(&format!("want {}", "1".repeat(40))), "not our ref 1111"),
        (fetch("filter tree:0"), "\"filter tree:0\" is not supported"),
        (fetch("deepen-not nowhere"), "deepen-not is not a ref: nowhere"),
    ];
    for (body, expected) in cases {
        let response = client(&[V2, UPLOAD])
            .send(Method::POST, &url, body)
            .await
            .unwrap();
        let text = response.text();
        assert!(text[4..].starts_with("ERR ") && text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn only_the_protocols_own_requests_are_answered() {
    let server = Server::start();
    server.repository("app").commit("main", "One", [("a", "1")]);
    let url = server.clone_url("app");
    let status = async |client: Client, method: Method, path: &str| {
        client
            .send(method, &format!("{url}{path}"), "0000")
            .await
            .unwrap()
            .status
            .as_u16()
    };
    assert_eq!(status(client(&[]), Method::GET, "/info/refs").await, 403);
    assert_eq!(status(client(&[]), Method::GET, "/HEAD").await, 404);
    assert_eq!(status(client(&[]), Method::GET, "/git-upload-pack").await, 405);
    assert_eq!(status(client(&[]), Method::POST, "/git-upload-pack").await, 415);
    assert_eq!(
        status(
            client(&[UPLOAD, ("content-encoding", "br")]),
            Method::POST,
            "/git-upload-pack"
        )
        .await,
        400
    );
    assert_eq!(
        status(client(&[UPLOAD]), Method::POST, "/git-upload-pack").await,
        200
    );
}
