//! The protocol, without signatures.

use testkit::clock::Clock;
use testkit::http::{Client, Method, Response};
use testkit::s3::Server;

async fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> Response {
    let client = headers
        .iter()
        .fold(Client::new(), |client, (name, value)| client.header(name, value));
    client.get(&format!("{}{path}", server.url())).await.unwrap()
}

/// The texts of all elements of a name.
fn texts<'a>(xml: &'a str, element: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    xml.split(&open)
        .skip(1)
        .map(|rest| rest.split(&close).next().unwrap())
        .collect()
}

#[tokio::test]
async fn objects_are_read_whole_in_part_and_when_they_changed() {
    let server = Server::builder()
        .clock(&Clock::at("2026-05-01T10:00:00Z"))
        .start();
    let etag = server.bucket("mine").put("a/b c.txt", "0123456789");
    assert_eq!(etag, "\"781e5e245d69b566979b86e28d23f2c7\"");
    let whole = get(&server, "/mine/a/b%20c.txt", &[]).await;
    assert_eq!(
        (whole.text().as_str(), whole.header("etag")),
        ("0123456789", etag.as_str())
    );
    assert_eq!(whole.header("last-modified"), "Fri, 01 May 2026 10:00:00 GMT");
    let part = get(&server, "/mine/a/b%20c.txt", &[("range", "bytes=-2")]).await;
    assert_eq!((part.status.as_u16(), part.text().as_str()), (206, "89"));
    let same = get(&server, "/mine/a/b%20c.txt", &[("if-none-match", &etag)]).await;
    assert_eq!((same.status.as_u16(), same.header("etag")), (304, etag.as_str()));
    let other = get(&server, "/mine/a/b%20c.txt", &[("if-match", "\"x\"")]).await;
    assert_eq!(other.status.as_u16(), 412);
    let beyond = get(&server, "/mine/a/b%20c.txt", &[("range", "bytes=10-")]).await;
    assert_eq!(
        (beyond.status.as_u16(), texts(&beyond.text(), "Code")),
        (416, vec!["InvalidRange"])
    );
    let hosted = get(&server, "/a/b%20c.txt", &[("host", "mine.s3.example.com")]).await;
    assert_eq!(hosted.text(), "0123456789");
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let server = Server::start();
    server.bucket("mine");
    let key = get(&server, "/mine/none", &[]).await;
    assert_eq!(
        (key.status.as_u16(), texts(&key.text(), "Code")),
        (404, vec!["NoSuchKey"])
    );
    assert_eq!(texts(&key.text(), "Resource"), ["/mine/none"]);
    let bucket = get(&server, "/other/none", &[]).await;
    assert_eq!(texts(&bucket.text(), "Code"), ["NoSuchBucket"]);
    let head = Client::new()
        .send(Method::HEAD, &format!("{}/other", server.url()), "")
        .await
        .unwrap();
    assert_eq!((head.status.as_u16(), head.body.len()), (404, 0));
    assert_eq!(get(&server, "/mine?versions", &[]).await.status.as_u16(), 501);
}

#[tokio::test]
async fn keys_are_listed_in_pages() {
    let server = Server::builder().clock(&Clock::default()).start();
    let bucket = server.bucket("mine");
    ["a", "b/1", "b/2", "b/c/3", "d&e"]
        .iter()
        .for_each(|key| drop(bucket.put(key, "x")));
    let list = async |query: &str| {
        get(&server, &format!("/mine?list-type=2{query}"), &[])
            .await
            .text()
    };
    let all = list("").await;
    assert_eq!(texts(&all, "Key"), ["a", "b/1", "b/2", "b/c/3", "d&amp;e"]);
    assert_eq!(
        (texts(&all, "IsTruncated"), texts(&all, "KeyCount")),
        (vec!["false"], vec!["5"])
    );
    assert_eq!(texts(&all, "LastModified")[0], "2026-01-01T00:00:00.000Z");
    assert_eq!(texts(&list("&prefix=b/").await, "Key"), ["b/1", "b/2", "b/c/3"]);
    assert_eq!(
        texts(&list("&start-after=b/2").await, "Key"),
        ["b/c/3", "d&amp;e"]
    );
    assert_eq!(
        texts(&list("&encoding-type=url&prefix=d").await, "Key"),
        ["d%26e"]
    );
    let mut keys = Vec::new();
    let mut token = String::new();
    for _ in 0..3 {
        let page = list(&format!("&max-keys=2{token}")).await;
        keys.extend(texts(&page, "Key").into_iter().map(str::to_string));
        token = texts(&page, "NextContinuationToken")
            .first()
            .map(|token| format!("&continuation-token={token}"))
            .unwrap_or_default();
    }
    assert_eq!((keys.len(), token.as_str()), (5, ""));
    assert_eq!(
        texts(&list("&continuation-token=%21").await, "Code"),
        ["InvalidArgument"]
    );
}

#[tokio::test]
async fn a_delimiter_makes_directories_that_count_once() {
    let server = Server::start();
    let bucket = server.bucket("mine");
    ["a", "b/1", "b/2", "b/c/3", "d/4", "e"]
        .iter()
        .for_each(|key| drop(bucket.put(key, "x")));
    let list = async |query: &str| {
        get(&server, &format!("/mine?list-type=2&delimiter=/{query}"), &[])
            .await
            .text()
    };
    let all = list("").await;
    assert_eq!(texts(&all, "Key"), ["a", "e"]);
    assert_eq!(
        texts(&all, "CommonPrefixes"),
        ["<Prefix>b/</Prefix>", "<Prefix>d/</Prefix>"]
    );
    assert_eq!(
        texts(&list("&prefix=b/").await, "CommonPrefixes"),
        ["<Prefix>b/c/</Prefix>"]
    );
    let first = list("&max-keys=2").await;
    assert_eq!(texts(&first, "CommonPrefixes"), ["<Prefix>b/</Prefix>"]);
    let token = texts(&first, "NextContinuationToken")[0];
    let second = list(&format!("&continuation-token={token}")).await;
    assert_eq!(
        (texts(&second, "CommonPrefixes"), texts(&second, "Key")),
        (vec!["<Prefix>d/</Prefix>"], vec!["e"])
    );
}

#[tokio::test]
async fn buckets_are_made_located_and_removed() {
    let server = Server::builder().region("eu-west-1").start();
    let send = async |method: Method, path: &str| {
        Client::new()
            .send(method, &format!("{}{path}", server.url()), "")
            .await
            .unwrap()
    };
    assert_eq!(send(Method::PUT, "/mine").await.status.as_u16(), 200);
    assert_eq!(
        send(Method::HEAD, "/mine").await.header("x-amz-bucket-region"),
        "eu-west-1"
    );
    assert!(
        send(Method::GET, "/mine?location")
            .await
            .text()
            .ends_with(">eu-west-1</LocationConstraint>")
    );
    assert_eq!(texts(&send(Method::GET, "/").await.text(), "Name"), ["mine"]);
    assert_eq!(send(Method::PUT, "/mine/key").await.status.as_u16(), 200);
    assert_eq!(
        texts(&send(Method::DELETE, "/mine").await.text(), "Code"),
        ["BucketNotEmpty"]
    );
    assert_eq!(send(Method::DELETE, "/mine/key").await.status.as_u16(), 204);
    assert_eq!(send(Method::DELETE, "/mine").await.status.as_u16(), 204);
    assert_eq!(send(Method::HEAD, "/mine").await.status.as_u16(), 404);
}

#[tokio::test]
async fn a_body_that_is_not_what_was_announced_is_refused() {
    let server = Server::start();
    server.bucket("mine");
    let put = async |headers: &[(&str, &str)], body: &str| {
        let client = headers
            .iter()
            .fold(Client::new(), |client, (name, value)| client.header(name, value));
        let url = format!("{}/mine/key", server.url());
        let response = client.send(Method::PUT, &url, body.to_string()).await.unwrap();
        texts(&response.text(), "Code")
            .first()
            .map(|code| code.to_string())
            .unwrap_or_default()
    };
    assert_eq!(
        put(&[("content-md5", "XUFAKrxLKna5cZ2REBfFkg==")], "hello").await,
        ""
    );
    assert_eq!(
        put(&[("content-md5", "XUFAKrxLKna5cZ2REBfFkg==")], "hellp").await,
        "BadDigest"
    );
    let unsigned = [
        ("x-amz-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
        ("x-amz-decoded-content-length", "5"),
    ];
    assert_eq!(put(&unsigned, "5\r\nhello\r\n0\r\n\r\n").await, "");
    assert_eq!(put(&unsigned, "4\r\nhell\r\n0\r\n\r\n").await, "IncompleteBody");
    assert_eq!(
        put(&[("if-none-match", "*")], "again").await,
        "PreconditionFailed"
    );
    assert_eq!(server.bucket("mine").get("key").unwrap(), "hello");
}

#[tokio::test]
async fn a_request_without_a_signature_is_denied_where_one_is_needed() {
    let server = Server::builder().key("access", "secret").start();
    server.bucket("mine").put("key", "x");
    let denied = get(&server, "/mine/key", &[]).await;
    assert_eq!(
        (denied.status.as_u16(), texts(&denied.text(), "Code")),
        (403, vec!["AccessDenied"])
    );
    let malformed = get(&server, "/mine/key", &[("authorization", "Basic YTpi")]).await;
    assert_eq!(texts(&malformed.text(), "Code"), ["AuthorizationHeaderMalformed"]);
    let half = get(&server, "/mine/key?X-Amz-Algorithm=AWS4-HMAC-SHA256", &[]).await;
    assert_eq!(texts(&half.text(), "Code"), ["InvalidArgument"]);
}

#[tokio::test]
async fn a_token_is_exchanged_for_a_temporary_key() {
    let server = Server::builder()
        .web_identity("token", "arn:aws:iam::1:role/reader")
        .start();
    let assume = async |token: &str, role: &str| {
        let form = format!(
            "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleSessionName=me&RoleArn={role}&WebIdentityToken={token}"
        );
        Client::new()
            .send(Method::POST, &server.url(), form)
            .await
            .unwrap()
    };
    let answer = assume("token", "arn:aws:iam::1:role/reader").await.text();
    assert_eq!(texts(&answer, "SessionToken"), ["session-1"]);
    assert_eq!(texts(&answer, "Arn"), ["arn:aws:iam::1:role/reader/me"]);
    assert_eq!(
        texts(
            &assume("other", "arn:aws:iam::1:role/reader").await.text(),
            "Code"
        ),
        ["InvalidIdentityToken"]
    );
    assert_eq!(
        texts(&assume("token", "arn:aws:iam::1:role/admin").await.text(), "Code"),
        ["AccessDenied"]
    );
    // From now on signatures are needed.
    assert_eq!(get(&server, "/mine", &[]).await.status.as_u16(), 403);
}
