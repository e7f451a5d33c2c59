//! What all HTTP servers share.

use std::time::{Duration, Instant};

use bytes::Bytes;
use testkit::http::{Builder, Client, Credential, Fault, Method, Reply, Request, Server};
use testkit::settled;
use testkit::tls::{Authority, LOOPBACK, Validity};

fn echo(request: &Request) -> Reply {
    Reply::text(format!(
        "{} {} {}",
        request.method,
        request.path(),
        String::from_utf8_lossy(&request.body)
    ))
}

#[tokio::test]
async fn requests_are_answered_and_recorded() {
    let server = Server::serve(echo);
    let url = format!("{}/a%20b?x=1", server.url());
    let response = Client::new()
        .header("user-agent", "tester")
        .send(Method::POST, &url, "hello")
        .await
        .unwrap();
    assert_eq!(response.text(), "POST /a%20b hello");
    let records = server.requests();
    assert_eq!(records.len(), 1);
    assert_eq!(
        (
            records[0].path.as_str(),
            records[0].query.as_str(),
            records[0].body
        ),
        ("/a%20b", "x=1", 5)
    );
    assert_eq!(
        (
            records[0].header("user-agent"),
            records[0].status.unwrap().as_u16()
        ),
        ("tester", 200)
    );
    assert_eq!(server.count(Method::POST, "/a"), 1);
    assert_eq!(server.count(Method::GET, "/a"), 0);
}

#[tokio::test]
async fn head_has_the_length_and_no_body() {
    let server = Server::serve(echo);
    let response = Client::new().send(Method::HEAD, &server.url(), "").await.unwrap();
    assert_eq!((response.header("content-length"), response.body.len()), ("7", 0));
}

#[tokio::test]
async fn settled_waits_for_a_request() {
    let server = Server::serve(echo);
    let url = server.url();
    let client = tokio::spawn(async move { Client::new().get(&url).await });
    let found = settled(Duration::from_secs(10), server.changes(), async || {
        match server.requests().pop() {
            Some(record) => Ok(record.path),
            None => Err("no request yet"),
        }
    });
    assert_eq!(found.await.unwrap(), "/");
    client.await.unwrap().unwrap();
}

#[tokio::test]
async fn credentials_are_asked_for_with_a_challenge_of_each_scheme() {
    let server = Builder::new(echo).basic("ada", "secret").bearer("token").start();
    let refused = Client::new().get(&server.url()).await.unwrap();
    assert_eq!(refused.status.as_u16(), 401);
    let challenges: Vec<_> = refused.headers.get_all("www-authenticate").iter().collect();
    assert_eq!(
        challenges,
        ["Basic realm=\"testkit\"", "Bearer realm=\"testkit\""]
    );
    for (credential, status) in [
        (Credential::basic("ada", "secret"), 200),
        (Credential::basic("ada", "wrong"), 401),
        (Credential::bearer("token"), 200),
        (Credential::bearer("other"), 401),
    ] {
        let response = Client::new()
            .credential(&credential)
            .get(&server.url())
            .await
            .unwrap();
        assert_eq!(response.status.as_u16(), status, "{credential:?}");
    }
    server.accept_only(&[Credential::bearer("other")]);
    let response = Client::new()
        .credential(&Credential::bearer("other"))
        .get(&server.url())
        .await
        .unwrap();
    assert_eq!(response.status.as_u16(), 200);
}

#[tokio::test]
async fn tls_needs_a_trusted_authority() {
    let (authority, stranger) = (Authority::new("ours"), Authority::new("theirs"));
    let server = Builder::new(echo).tls(&authority).start();
    assert!(server.url().starts_with("https://127.0.0.1:"));
    assert!(
        Client::new()
            .tls(&authority, None)
            .get(&server.url())
            .await
            .is_ok()
    );
    let error = Client::new()
        .tls(&stranger, None)
        .get(&server.url())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
}

#[tokio::test]
async fn an_expired_certificate_is_refused_by_clients() {
    let authority = Authority::default();
    let server = Builder::new(echo)
        .identity(authority.server(&LOOPBACK, Validity::Expired))
        .start();
    let error = Client::new()
        .tls(&authority, None)
        .get(&server.url())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("expired"), "{error}");
}

#[tokio::test]
async fn a_client_certificate_can_be_insisted_on() {
    let (authority, clients) = (Authority::default(), Authority::new("clients"));
    let server = Builder::new(echo)
        .tls(&authority)
        .client_certificates(&clients)
        .start();
    let good = clients.client("ada");
    assert!(
        Client::new()
            .tls(&authority, Some(&good))
            .get(&server.url())
            .await
            .is_ok()
    );
    assert!(
        Client::new()
            .tls(&authority, None)
            .get(&server.url())
            .await
            .is_err()
    );
    let foreign = authority.client("ada");
    assert!(
        Client::new()
            .tls(&authority, Some(&foreign))
            .get(&server.url())
            .await
            .is_err()
    );
}

#[tokio::test]
async fn faults_happen_to_the_requests_they_name_and_then_stop() {
    let server = Server::serve(echo);
    let client = Client::new();
    server.fail(Fault::status(503).header("Retry-After", "7").on("/b").times(2));
    server.fail(Fault::redirect(307, "http://example.com/"));
    let get = async |path: &str| client.get(&format!("{}{path}", server.url())).await.unwrap();
    assert_eq!(get("/b").await.header("retry-after"), "7");
    let redirect = get("/a?x=1").await;
    assert_eq!(
        (redirect.status.as_u16(), redirect.header("location")),
        (307, "http://example.com/a?x=1")
    );
    assert_eq!(get("/a").await.status.as_u16(), 200);
    assert_eq!(get("/b").await.status.as_u16(), 503);
    assert_eq!(get("/b").await.status.as_u16(), 200);
    server.fail(Fault::status(500).forever());
    assert_eq!(get("/").await.status.as_u16(), 500);
    assert_eq!(get("/").await.status.as_u16(), 500);
    server.heal();
    assert_eq!(get("/").await.status.as_u16(), 200);
}

#[tokio::test]
async fn connections_break_on_demand() {
    let server = Server::serve(|_: &Request| Reply::text("0123456789"));
    let client = Client::new();
    server.fail(Fault::drop_connection());
    assert!(client.get(&server.url()).await.is_err());
    server.fail(Fault::truncate(4));
    let error = client.get(&server.url()).await.unwrap_err();
    assert!(format!("{error:?}").contains("IncompleteBody"), "{error:?}");
    server.fail(Fault::corrupt());
    assert_eq!(client.get(&server.url()).await.unwrap().text(), "0123446789");
    server.fail(Fault::hang());
    let url = server.url();
    assert!(
        tokio::time::timeout(Duration::from_millis(50), client.get(&url))
            .await
            .is_err()
    );
    // The request may reach the server after the client gave up on it.
    let every = testkit::settled::Every(Duration::from_millis(10));
    let arrived = testkit::settled(testkit::DEADLINE, every, async || match server.requests().len() {
        4 => Ok(()),
        other => Err(format!("{other} requests")),
    });
    arrived.await.unwrap();
    assert_eq!(client.get(&server.url()).await.unwrap().text(), "0123456789");
    let statuses: Vec<_> = server
        .requests()
        .iter()
        .map(|record| record.status.is_some())
        .collect();
    assert_eq!(statuses, [false, true, true, false, true]);
}

#[tokio::test]
async fn answers_can_be_late_and_slow() {
    let server = Server::serve(|_: &Request| Reply::text("0123456789"));
    for fault in [
        Fault::delay(Duration::from_millis(60)),
        Fault::slow(4, Duration::from_millis(30)),
    ] {
        server.fail(fault);
        let begin = Instant::now();
        assert_eq!(
            Client::new().get(&server.url()).await.unwrap().text(),
            "0123456789"
        );
        assert!(begin.elapsed() >= Duration::from_millis(60));
    }
}

#[tokio::test]
async fn a_body_in_pieces_is_made_while_it_is_sent() {
    let pieces = || (0..1000).map(|number| Bytes::from(format!("{number}\n")));
    let server = Server::serve(move |_: &Request| Reply::status(200).pieces(pieces()));
    let response = Client::new().get(&server.url()).await.unwrap();
    assert_eq!(response.text().lines().count(), 1000);
    assert_eq!(response.header("transfer-encoding"), "chunked");
}

#[tokio::test]
async fn a_dropped_server_no_longer_answers() {
    let server = Server::serve(echo);
    let url = server.url();
    assert!(Client::new().get(&url).await.is_ok());
    drop(server);
    assert!(Client::new().get(&url).await.is_err());
}
