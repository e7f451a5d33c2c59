//! OpenSSH's own server, for one test.

use std::path::Path;
use std::process::Command;

use testkit::program;

use super::server::{self, Running};

/// A key whose number begins with a zero, as one of 256 that `ssh-keygen` makes; a key by chance is seldom such.
const SHORT: [(&str, &str); 3] = [
    (
        "short",
        include_str!("../../../../source/tests/data/git/short-ecdsa"),
    ),
    (
        "short-locked",
        include_str!("../../../../source/tests/data/git/short-ecdsa-locked"),
    ),
    (
        "short.pub",
        include_str!("../../../../source/tests/data/git/short-ecdsa.pub"),
    ),
];

/// A server that runs as the user of the test and lets in who has a key of its folder.
pub(super) struct Sshd {
    _running: Running,
    port: u16,
    user: String,
    folder: tempfile::TempDir,
}

impl Sshd {
    pub(super) fn start() -> Option<Self> {
        let (sshd, _) = (program::find("sshd")?, program::find("ssh-keygen")?);
        let folder = tempfile::tempdir().unwrap();
        let user = program::run(Command::new("id").arg("-un"));
        if user == "root" {
            // The server changes to this folder before anyone is let in.
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        for kind in ["ed25519", "ecdsa", "rsa"] {
            keygen(folder.path(), &format!("host_{kind}"), kind, "");
            keygen(folder.path(), kind, kind, "");
        }
        keygen(folder.path(), "locked", "ed25519", "geheim");
        keygen_of(folder.path(), "p521", &["-t", "ecdsa", "-b", "521"], "");
        keygen_of(
            folder.path(),
            "p521-locked",
            &["-t", "ecdsa", "-b", "521"],
            "geheim",
        );
        for (name, content) in SHORT {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        let keys = [
            "ed25519",
            "ecdsa",
            "rsa",
            "locked",
            "p521",
            "p521-locked",
            "short",
        ]
        .map(|name| read(folder.path(), &format!("{name}.pub")));
        std::fs::write(folder.path().join("authorized_keys"), keys.concat()).unwrap();
        keygen(folder.path(), "stranger", "ed25519", "");
        let (path, mine) = (folder.path(), user.clone());
        let (running, port) = server::start("Server listening on", |port| {
            let config = path.join("config");
            std::fs::write(&config, configuration(path, port, &mine)).unwrap();
            let mut command = Command::new(&sshd);
            command.args(["-D", "-e", "-f"]).arg(config);
            command
        });
        Some(Sshd {
            _running: running,
            port,
            user,
            folder,
        })
    }

    /// The address of a repository by its path on this machine.
    pub(super) fn url(&self, repository: &Path) -> String {
        format!(
            "ssh://{}@127.0.0.1:{}{}",
            self.user,
            self.port,
            repository.display()
        )
    }

    /// A private key: `stranger` is not let in; all others are, those with `locked` in their name by a passphrase.
    pub(super) fn private(&self, name: &str) -> String {
        read(self.folder.path(), name)
    }

    /// A line of known_hosts for the server's key of a kind.
    pub(super) fn known(&self, kind: &str) -> String {
        let public = read(self.folder.path(), &format!("{kind}.pub"));
        format!("[127.0.0.1]:{} {public}", self.port)
    }
}

fn configuration(folder: &Path, port: u16, user: &str) -> String {
    let path = folder.display();
    format!(
        "Port {port}\nListenAddress 127.0.0.1\nPidFile none\nUsePAM no\nStrictModes no\nAllowUsers {user}\n\
         HostKey {path}/host_ed25519\nHostKey {path}/host_ecdsa\nHostKey {path}/host_rsa\n\
         AuthorizedKeysFile {path}/authorized_keys\nPasswordAuthentication no\n\
         KbdInteractiveAuthentication no\nAcceptEnv GIT_PROTOCOL\n"
    )
}

fn keygen(folder: &Path, name: &str, kind: &str, passphrase: &str) {
    keygen_of(folder, name, &["-t", kind], passphrase);
}

fn keygen_of(folder: &Path, name: &str, kind: &[&str], passphrase: &str) {
    let mut command = Command::new("ssh-keygen");
    command
        .args(kind)
        .args(["-q", "-N", passphrase, "-C", name, "-f"]);
    program::run(command.arg(folder.join(name)));
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}
