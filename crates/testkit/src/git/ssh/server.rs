//! The SSH listener.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use russh::keys::PublicKey;
use russh::server::{Config, run_stream};
use russh::{MethodKind, MethodSet};
use tokio::sync::watch;

use super::connection::Connection;
use super::key::{KeyKind, KeyPair};
use crate::git::server::Git;
use crate::http::Thread;

/// How an SSH server is started: [`Git::over_ssh`] begins it.
#[derive(Debug)]
pub struct SshBuilder {
    git: Git,
    host_keys: Vec<KeyPair>,
    allowed: Vec<PublicKey>,
}

impl SshBuilder {
    pub(crate) fn new(git: Git) -> Self {
        Self {
            git,
            host_keys: Vec::new(),
            allowed: Vec::new(),
        }
    }

    /// Shows this host key. Without one an Ed25519 key is made.
    pub fn host_key(mut self, key: &KeyPair) -> Self {
        self.host_keys.push(key.clone());
        self
    }

    /// Lets the holder of this key in.
    pub fn allow(mut self, key: &KeyPair) -> Self {
        self.allowed.push(key.public_key().clone());
        self
    }

    /// Lets the holder of a public key in, given as one line.
    ///
    /// # Panics
    /// When the line is no public key.
    pub fn allow_public(mut self, line: &str) -> Self {
        self.allowed
            .push(PublicKey::from_openssh(line).unwrap_or_else(|error| panic!("not a public key: {error}")));
        self
    }

    /// Starts the server on a free loopback port.
    ///
    /// # Panics
    /// When the machine has no free port.
    pub fn start(mut self) -> SshServer {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        listener
            .set_nonblocking(true)
            .expect("a fresh socket can be switched");
        let address = listener.local_addr().expect("a bound socket has an address");
        if self.host_keys.is_empty() {
            self.host_keys.push(KeyPair::generate(KeyKind::Ed25519));
        }
        let config = Config {
            methods: MethodSet::from(&[MethodKind::PublicKey][..]),
            keys: self.host_keys.iter().map(|key| key.private.clone()).collect(),
            // A test that tries a wrong key does not want to wait.
            auth_rejection_time: Duration::ZERO,
            nodelay: true,
            ..Config::default()
        };
        let shared = Arc::new(Shared {
            git: self.git,
            allowed: Mutex::new(self.allowed),
            commands: Mutex::default(),
            count: watch::Sender::new(0),
        });
        let serving = shared.clone();
        let thread = Thread::run("testkit-ssh", move || accept(listener, Arc::new(config), serving));
        SshServer {
            shared,
            address,
            host_keys: self.host_keys,
            _thread: thread,
        }
    }
}

/// A running SSH server. It stops when it is dropped.
pub struct SshServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    host_keys: Vec<KeyPair>,
    _thread: Thread,
}

impl SshServer {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a repository, such as `ssh://git@127.0.0.1:40123/team/app.git`.
    pub fn clone_url(&self, name: &str) -> String {
        let name = name.trim_matches('/').trim_end_matches(".git");
        format!("ssh://git@{}/{name}.git", self.address)
    }

    /// What a client must know about the host: `known_hosts` of a secret.
    pub fn known_hosts(&self) -> String {
        let host = format!("[{}]:{}", self.address.ip(), self.address.port());
        self.host_keys
            .iter()
            .map(|key| format!("{host} {}\n", key.public()))
            .collect()
    }

    /// The commands that clients have run, such as `git-upload-pack '/app.git'`.
    pub fn commands(&self) -> Vec<String> {
        self.shared.commands.lock().clone()
    }

    /// Changes with each command: what [`crate::settled()`] waits on.
    pub fn changes(&self) -> watch::Receiver<usize> {
        self.shared.count.subscribe()
    }

    /// From now on lets in only the holders of these keys.
    pub fn allow_only(&self, keys: &[&KeyPair]) {
        *self.shared.allowed.lock() = keys.iter().map(|key| key.public_key().clone()).collect();
    }
}

pub(super) struct Shared {
    pub(super) git: Git,
    allowed: Mutex<Vec<PublicKey>>,
    commands: Mutex<Vec<String>>,
    count: watch::Sender<usize>,
}

impl Shared {
    pub(super) fn is_allowed(&self, key: &PublicKey) -> bool {
        // Comments are no part of a key.
        self.allowed
            .lock()
            .iter()
            .any(|allowed| allowed.key_data() == key.key_data())
    }

    pub(super) fn command(&self, command: &str) {
        self.commands.lock().push(command.to_string());
        self.count.send_modify(|count| *count += 1);
    }
}

async fn accept(listener: TcpListener, config: Arc<Config>, shared: Arc<Shared>) {
    let listener =
        tokio::net::TcpListener::from_std(listener).expect("the runtime takes a nonblocking socket");
    loop {
        // A connection that failed before it was accepted concerns only its client.
        let Ok((stream, _)) = listener.accept().await else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (config, connection) = (config.clone(), Connection::new(shared.clone()));
        tokio::spawn(async move {
            // Errors are the client's business: it sees them too.
            if let Ok(session) = run_stream(config, stream, connection).await {
                let _ = session.await;
            }
        });
    }
}
