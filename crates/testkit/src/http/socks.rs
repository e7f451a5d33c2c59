//! A SOCKS 5 proxy: whatever host a client asks for, it is led to one server. So it is seen whether a client leaves names to the
//! proxy, as it must where only the proxy can resolve them.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::TcpStream;

use super::Thread;

const VERSION: u8 = 5;
const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const NONE_OF_THESE: u8 = 0xff;

/// A SOCKS 5 proxy. It stops when it is dropped.
#[derive(Debug)]
pub struct Socks {
    address: SocketAddr,
    shared: Arc<Shared>,
    _thread: Thread,
}

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    /// The user name and the password that are let in; everyone, if there are none.
    login: Option<(String, String)>,
    asked: Mutex<Vec<String>>,
}

impl Socks {
    /// Lets everyone in and leads them to this server.
    pub fn to(server: SocketAddr) -> Self {
        Self::start(server, None)
    }

    /// Lets this user in and leads them to this server.
    pub fn with_login(server: SocketAddr, user: &str, password: &str) -> Self {
        Self::start(server, Some((user.to_owned(), password.to_owned())))
    }

    fn start(server: SocketAddr, login: Option<(String, String)>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        listener
            .set_nonblocking(true)
            .expect("a fresh socket can be switched");
        let address = listener.local_addr().expect("a bound socket has an address");
        let shared = Arc::new(Shared {
            server,
            login,
            asked: Mutex::new(Vec::new()),
        });
        let serving = Arc::clone(&shared);
        let thread = Thread::run("testkit-socks", move || async move {
            let listener =
                tokio::net::TcpListener::from_std(listener).expect("the runtime takes a nonblocking socket");
            loop {
                if let Ok((client, _)) = listener.accept().await {
                    let serving = Arc::clone(&serving);
                    // What fails is seen by the client.
                    tokio::spawn(async move { serving.lead(client).await });
                }
            }
        });
        Socks {
            address,
            shared,
            _thread: thread,
        }
    }

    /// Its address as the address of a proxy.
    pub fn url(&self) -> String {
        format!("socks5://{}", self.address)
    }

    /// The hosts, with ports, that were asked for.
    pub fn hosts(&self) -> Vec<String> {
        self.shared.asked.lock().clone()
    }
}

impl Shared {
    async fn lead(&self, mut client: TcpStream) -> io::Result<()> {
        if !self.let_in(&mut client).await? {
            return Ok(());
        }
        // Version, command, a byte that means nothing.
        let mut request = [0; 3];
        client.read_exact(&mut request).await?;
        let host = host(&mut client).await?;
        let port = client.read_u16().await?;
        self.asked.lock().push(format!("{host}:{port}"));
        let mut server = TcpStream::connect(self.server).await?;
        // It worked; that it goes out by 0.0.0.0:0 is no one's concern.
        client.write_all(&[VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
        copy_bidirectional(&mut client, &mut server).await.map(drop)
    }

    async fn let_in(&self, client: &mut TcpStream) -> io::Result<bool> {
        let _version = client.read_u8().await?;
        let offered = counted(client).await?;
        let wanted = match &self.login {
            None => NO_LOGIN,
            Some(_) => PASSWORD,
        };
        let method = match offered.contains(&wanted) {
            true => wanted,
            false => NONE_OF_THESE,
        };
        client.write_all(&[VERSION, method]).await?;
        let Some((user, password)) = self.login.as_ref().filter(|_| method == PASSWORD) else {
            return Ok(method == NO_LOGIN);
        };
        let _version = client.read_u8().await?;
        let shown = (counted(client).await?, counted(client).await?);
        let known = shown.0 == user.as_bytes() && shown.1 == password.as_bytes();
        client.write_all(&[1, u8::from(!known)]).await?;
        Ok(known)
    }
}

/// Bytes after their number.
async fn counted(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::from(client.read_u8().await?)];
    client.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// A host as a request names it: an address or a name.
async fn host(client: &mut TcpStream) -> io::Result<String> {
    match client.read_u8().await? {
        1 => Ok(Ipv4Addr::from(client.read_u32().await?).to_string()),
        4 => Ok(Ipv6Addr::from(client.read_u128().await?).to_string()),
        _ => Ok(String::from_utf8_lossy(&counted(client).await?).into_owned()),
    }
}
