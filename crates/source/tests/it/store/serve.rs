//! The HTTP server.

use std::fs;
use std::os::unix::fs::symlink;

use reqwest::{Client, Method, Response, StatusCode};
use source::store::serve;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{Fixture, place, put};

struct Served {
    address: String,
    client: Client,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Served {
    async fn start(fixture: &Fixture) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        let server = tokio::spawn(serve(fixture.root.path().to_owned(), listener, async {
            let _ = stopped.await;
        }));
        Served {
            address,
            client: Client::builder().no_proxy().build().unwrap(),
            stop: Some(stop),
            server,
        }
    }

    async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
        let url = format!("http://{}/{path}", self.address);
        let request = headers
            .iter()
            .fold(self.client.request(method, url), |request, (name, value)| {
                request.header(*name, *value)
            });
        request.send().await.unwrap()
    }

    async fn get(&self, path: &str) -> Response {
        self.ask(Method::GET, path, &[]).await
    }

    /// Without the client, which would clean the path. The answer's first line.
    async fn raw(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer)
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    }
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response
        .headers()
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_served_and_the_root_is_ready() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let large = "0123456789".repeat(100_000);
    let artifact = put(&store, &place("a"), "sha256:00.tar.gz", &large);
    store.point(&artifact.path, "latest.tar.gz").unwrap();
    let served = Served::start(&fixture).await;
    assert_eq!(served.get("").await.status(), StatusCode::OK);
    for path in [
        &*artifact.path,
        "bucket/apps/a/latest.tar.gz",
        "bucket/apps/a/sha256%3A00.tar.gz",
    ] {
        let response = served.get(path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(header(&response, "content-type"), "application/gzip");
        assert_eq!(header(&response, "content-length"), "1000000");
        assert_eq!(
            header(&response, "last-modified"),
            "Thu, 01 Jan 2026 00:00:00 GMT"
        );
        assert_eq!(response.text().await.unwrap(), large);
    }
    let head = served.ask(Method::HEAD, &artifact.path, &[]).await;
    assert_eq!(head.status(), StatusCode::OK);
    assert_eq!(header(&head, "content-length"), "1000000");
    let post = served.ask(Method::POST, &artifact.path, &[]).await;
    assert_eq!(post.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(header(&post, "allow"), "GET, HEAD");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_else_is_served() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let artifact = put(&store, &place("a"), "1.tar.gz", "one");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret").unwrap();
    symlink(
        outside.path().join("secret"),
        fixture.path("bucket/apps/a/out.tar.gz"),
    )
    .unwrap();
    symlink(outside.path(), fixture.path("bucket/apps/out")).unwrap();
    fs::write(fixture.path("bucket/apps/a/1.tar.gz.lock"), "").unwrap();
    fs::write(fixture.path("bucket/apps/a/.tmp-1"), "half").unwrap();
    let served = Served::start(&fixture).await;
    let content = fixture
        .files()
        .into_iter()
        .find(|file| file.starts_with(".content/"));
    for path in [
        "bucket",
        "bucket/",
        "bucket/apps/a/",
        "bucket/apps/a/2.tar.gz",
        "bucket/apps/a/1.tar.gz/",
        "bucket/apps/a/1.tar.gz/x",
        "bucket//apps/a/1.tar.gz",
        "bucket/apps/a/out.tar.gz",
        "bucket/apps/out/secret",
        "bucket/apps/a/1.tar.gz.lock",
        "bucket/apps/a/.tmp-1",
        &content.unwrap(),
        "%2e%2e/%2e%2e/etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "..%5c..%5cetc",
        "a%00b",
        "%ff",
        &"x".repeat(3000),
    ] {
        assert_eq!(served.get(path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    for path in [
        "/../etc/passwd",
        "/bucket/../../etc/passwd",
        "//etc/passwd",
        "/./x",
    ] {
        assert_eq!(served.raw(path).await, "HTTP/1.1 404 Not Found", "{path}");
    }
    assert_eq!(served.get(&artifact.path).await.text().await.unwrap(), "one");
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_file_are_served() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let path = put(&store, &place("a"), "1.tar.gz", "0123456789").path;
    let served = Served::start(&fixture).await;
    let etag = header(&served.get(&path).await, "etag").to_owned();
    let part = async |range: &str, if_range: &str| {
        let headers: &[(&str, &str)] = match if_range {
            "" => &[("range", range)],
            tag => &[("range", range), ("if-range", tag)],
        };
        let response = served.ask(Method::GET, &path, headers).await;
        let (status, said) = (
            response.status().as_u16(),
            header(&response, "content-range").to_owned(),
        );
        (status, said, response.text().await.unwrap())
    };
    let answer = |status, said: &str, text: &str| (status, said.to_owned(), text.to_owned());
    assert_eq!(part("bytes=2-4", "").await, answer(206, "bytes 2-4/10", "234"));
    assert_eq!(part("bytes=7-", "").await, answer(206, "bytes 7-9/10", "789"));
    assert_eq!(part("bytes=-2", "").await, answer(206, "bytes 8-9/10", "89"));
    assert_eq!(part("bytes=0-0,2-3", "").await, answer(200, "", "0123456789"));
    assert_eq!(part("bytes=10-", "").await.0, 416);
    assert_eq!(part("bytes=10-", "").await.1, "bytes */10");
    assert_eq!(part("bytes=2-4", &etag).await.2, "234");
    assert_eq!(part("bytes=2-4", "\"other\"").await.2, "0123456789");
    assert_eq!(part("bytes=2-4", "Thu, 01 Jan 2026 00:00:00 GMT").await.2, "234");
    assert_eq!(
        part("bytes=2-4", "Thu, 01 Jan 2026 00:00:01 GMT").await.2,
        "0123456789"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_client_has_is_not_sent_again() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let path = put(&store, &place("a"), "1.tar.gz", "0123456789").path;
    let served = Served::start(&fixture).await;
    let etag = header(&served.get(&path).await, "etag").to_owned();
    let status = async |name: &str, value: &str| {
        let response = served.ask(Method::GET, &path, &[(name, value)]).await;
        response.status().as_u16()
    };
    assert_eq!(status("if-none-match", &etag).await, 304);
    assert_eq!(status("if-none-match", &format!("\"x\", W/{etag}")).await, 304);
    assert_eq!(status("if-none-match", "*").await, 304);
    assert_eq!(status("if-none-match", "\"x\"").await, 200);
    assert_eq!(
        status("if-modified-since", "Thu, 01 Jan 2026 00:00:00 GMT").await,
        304
    );
    assert_eq!(
        status("if-modified-since", "Wed, 31 Dec 2025 23:59:59 GMT").await,
        200
    );
    assert_eq!(status("if-modified-since", "yesterday").await, 200);
    assert_eq!(status("if-match", &etag).await, 200);
    assert_eq!(status("if-match", "\"x\"").await, 412);
    fixture.clock.advance(std::time::Duration::from_secs(5));
    put(&store, &place("a"), "1.tar.gz", "9876543210");
    assert_eq!(
        status("if-none-match", &etag).await,
        200,
        "it is another file now"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_are_served_at_once() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let content = "0123456789".repeat(10_000);
    let path = put(&store, &place("a"), "1.tar.gz", &content).path;
    let served = Served::start(&fixture).await;
    let answers = futures::future::join_all((0..200).map(|_| async {
        let response = served.get(&path).await;
        response.text().await.unwrap().len()
    }));
    assert!(answers.await.into_iter().all(|length| length == content.len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_under_way_are_answered_when_the_server_stops() {
    let fixture = Fixture::new();
    let store = fixture.open();
    let content = "0123456789".repeat(2_000_000);
    let path = put(&store, &place("a"), "1.tar.gz", &content).path;
    let mut served = Served::start(&fixture).await;
    let response = served.get(&path).await;
    served.stop.take().unwrap().send(()).unwrap();
    assert_eq!(response.text().await.unwrap().len(), content.len());
    served.server.await.unwrap().unwrap();
    assert!(
        TcpStream::connect(&served.address).await.is_err(),
        "no one listens any more"
    );
}
