//! HTTP clients that are kept.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use source::http::{Clients, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that counts connections, and answers each request on them.
async fn counting() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut request = [0; 4096];
                while stream.read(&mut request).await.is_ok_and(|length| length > 0) {
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
                    if stream.write_all(answer).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    (address, connections)
}

#[tokio::test]
async fn two_polls_with_equal_options_use_one_connection() {
    let (address, connections) = counting().await;
    let poll = async |clients: Option<Clients>, agent: &str| {
        let options = Options {
            clients,
            user_agent: Some(agent.to_owned()),
            ..Options::default()
        };
        let client = options.client().unwrap();
        let response = client.get(format!("http://{address}/")).send().await.unwrap();
        assert_eq!(response.text().await.unwrap(), "ok");
        connections.load(Ordering::SeqCst)
    };
    let kept = Some(Clients::new());
    assert_eq!(poll(kept.clone(), "a").await, 1);
    assert_eq!(poll(kept.clone(), "a").await, 1);
    assert_eq!(poll(kept.clone(), "b").await, 2, "other options, another client");
    assert_eq!(poll(None, "a").await, 3, "a client of one's own");
}
