//! A proxy that tunnels: whatever host a client asks for with `CONNECT`, it is led to one server. So a server on a loopback port
//! is reached by any name, with TLS to its end.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
use tokio::net::TcpStream;

use super::Thread;

/// A tunnelling proxy. It stops when it is dropped.
#[derive(Debug)]
pub struct Tunnel {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    _thread: Thread,
}

impl Tunnel {
    /// Leads everyone to this server.
    ///
    /// # Panics
    /// When the machine has no free port.
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        listener
            .set_nonblocking(true)
            .expect("a fresh socket can be switched");
        let address = listener.local_addr().expect("a bound socket has an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let thread = Thread::run("testkit-tunnel", move || async move {
            let listener =
                tokio::net::TcpListener::from_std(listener).expect("the runtime takes a nonblocking socket");
            loop {
                if let Ok((client, _)) = listener.accept().await {
                    tokio::spawn(lead(client, server, Arc::clone(&noted)));
                }
            }
        });
        Tunnel {
            address,
            asked,
            _thread: thread,
        }
    }

    /// Its address as the address of a proxy.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The hosts, with ports, that were asked for.
    pub fn hosts(&self) -> Vec<String> {
        self.asked.lock().clone()
    }
}

/// One connection. What fails is seen by the client.
async fn lead(client: TcpStream, server: SocketAddr, asked: Arc<Mutex<Vec<String>>>) {
    let mut client = BufReader::new(client);
    let mut line = String::new();
    if client.read_line(&mut line).await.is_err() {
        return;
    }
    let mut words = line.split_whitespace();
    let (Some("CONNECT"), Some(host)) = (words.next(), words.next()) else {
        let refused = b"HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n";
        let _ = client.get_mut().write_all(refused).await;
        return;
    };
    asked.lock().push(host.to_owned());
    let mut header = String::new();
    while client.read_line(&mut header).await.is_ok_and(|read| read > 2) {
        header.clear();
    }
    let Ok(mut server) = TcpStream::connect(server).await else {
        return;
    };
    let accepted = client.get_mut().write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
    if accepted.is_ok() {
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}
