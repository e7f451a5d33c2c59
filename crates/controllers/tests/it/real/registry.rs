//! The registry of Debian, for one test.

use std::process::Command;

use testkit::program;
use testkit::tls::{Authority, LOOPBACK, Validity};

use super::server::{self, Running};

/// `ada` with the password `geheim`, as `htpasswd -B` writes it.
const LOGIN: &str = "ada:$2b$04$CSX9GZFDhrWvHgHwEb7BD.JlqZWKf6964qDo26YRP3f5FUHzlE/36\n";

/// A registry with a folder of its own.
pub(super) struct Registry {
    _running: Running,
    port: u16,
    folder: tempfile::TempDir,
}

impl Registry {
    /// One that anyone may use, without TLS.
    pub(super) fn start() -> Option<Self> {
        Self::with(|_| String::new())
    }

    /// One that only `ada` may use, with TLS.
    pub(super) fn closed(authority: &Authority) -> Option<Self> {
        Self::with(|folder| {
            let identity = authority.server(&LOOPBACK, Validity::Current);
            let path = folder.display();
            std::fs::write(folder.join("tls.crt"), identity.certificate).unwrap();
            std::fs::write(folder.join("tls.key"), identity.key).unwrap();
            std::fs::write(folder.join("ca.crt"), authority.pem()).unwrap();
            std::fs::write(folder.join("login"), LOGIN).unwrap();
            format!(
                "  tls: {{certificate: {path}/tls.crt, key: {path}/tls.key}}\n\
                 auth: {{htpasswd: {{realm: test, path: {path}/login}}}}\n"
            )
        })
    }

    fn with(rest: impl FnOnce(&std::path::Path) -> String) -> Option<Self> {
        let program = program::find("docker-registry")?;
        let folder = tempfile::tempdir().unwrap();
        let (path, rest) = (folder.path(), rest(folder.path()));
        let (running, port) = server::start("listening on", |port| {
            let config = format!(
                "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}/data}}, delete: {{enabled: true}}}}\n\
                 http:\n  addr: 127.0.0.1:{port}\n  secret: test\n{rest}",
                path.display(),
            );
            let file = path.join("config.yml");
            std::fs::write(&file, config).unwrap();
            let mut command = Command::new(&program);
            command.arg("serve").arg(file);
            command
        });
        Some(Registry {
            _running: running,
            port,
            folder,
        })
    }

    pub(super) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Where clients may keep files. The authority of a closed registry is `ca.crt` in it.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Runs a client of registries, with this folder as its home.
    pub(super) fn client(&self, name: &str, arguments: &[&str]) -> String {
        let folder = self.folder.path();
        let mut command = Command::new(name);
        command
            .args(arguments)
            .current_dir(folder)
            .env("HOME", folder)
            .env("XDG_CONFIG_HOME", folder)
            .env("COSIGN_PASSWORD", "");
        if folder.join("ca.crt").exists() {
            command.env("SSL_CERT_FILE", folder.join("ca.crt"));
        }
        program::run(&mut command)
    }
}
