//! The real `git http-backend` behind a server of the test kit.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::http::{Reply, Request, Service};

/// Serves the repositories in a directory with the `git` program of this machine.
#[derive(Debug)]
pub struct Backend {
    root: PathBuf,
    environment: Vec<(String, String)>,
}

impl Backend {
    /// Serves the repositories below this directory.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Backend {
            root: root.into(),
            environment: Vec::new(),
        }
    }

    /// Sets a variable in the environment of the program.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl Service for Backend {
    fn reply(&self, request: &Request) -> Reply {
        let header = |name: &str| request.header(name).unwrap_or_default().to_owned();
        let mut command = Command::new("git");
        command
            .arg("http-backend")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", &self.root)
            .env("REQUEST_METHOD", request.method.as_str())
            .env("PATH_INFO", request.path())
            .env("QUERY_STRING", request.uri.query().unwrap_or_default())
            .env("CONTENT_TYPE", header("content-type"))
            .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
            .env("GIT_PROTOCOL", header("git-protocol"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        match answer(&mut command, &request.body) {
            Some(reply) => reply,
            None => Reply::text("git http-backend cannot be run").with_status(500),
        }
    }
}

/// Runs the program and reads what it prints as the answer of a CGI program.
fn answer(command: &mut Command, body: &[u8]) -> Option<Reply> {
    let mut child = command.spawn().ok()?;
    // A program that does not want the whole body may close its end: what it answers counts.
    child.stdin.take()?.write_all(body).ok();
    let output = child.wait_with_output().ok()?.stdout;
    let end = output.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let field = |name: &str| {
        let mut lines = head.lines();
        lines
            .find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
            .unwrap_or_default()
    };
    let status = field("Status:");
    let status = status.split(' ').next().and_then(|code| code.parse().ok());
    let content = output[end + 4..].to_vec();
    Some(Reply::ok(&field("Content-Type:"), content).with_status(status.unwrap_or(200)))
}
