//! What is asked of etcd itself, over its plain HTTP interface.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use anyhow::Context;

/// How many revisions a new store is made old by.
const AGE: u32 = 20;

/// Whether it serves.
pub(super) fn is_healthy(port: u16) -> bool {
    ask(port, "GET /health HTTP/1.0\r\n\r\n").is_ok_and(|answer| answer.contains(r#""health":"true""#))
}

/// Gives an empty store a forgotten past: in a cluster that has run for a while the first resource versions are gone, and
/// who asks for them is told so. In a new one they would still be known.
pub(super) fn age(port: u16) -> anyhow::Result<()> {
    for _ in 0..AGE {
        // The key `past`, in base64, without a value.
        post(port, "/v3/kv/put", r#"{"key":"cGFzdA=="}"#)?;
    }
    post(port, "/v3/kv/compaction", &format!(r#"{{"revision":"{AGE}"}}"#))
}

fn post(port: u16, path: &str, body: &str) -> anyhow::Result<()> {
    let request = format!(
        "POST {path} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = ask(port, &request).with_context(|| format!("failed to ask etcd for {path}"))?;
    let status = answer.lines().next().unwrap_or_default();
    anyhow::ensure!(status.contains(" 200 "), "etcd refuses {path}: {answer}");
    Ok(())
}

fn ask(port: u16, request: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
