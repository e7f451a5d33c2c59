//! Servers that are programs of their own, each for one test.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// A program that runs until this is dropped.
pub(super) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Starts a server on a free port, and waits until it says these words. Where somebody else took the port meanwhile,
/// another one is tried.
pub(super) fn start(words: &str, command: impl Fn(u16) -> Command) -> (Running, u16) {
    let mut said = Vec::new();
    for _ in 0..5 {
        let port = free_port();
        let child = command(port).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut running = Running(child.unwrap());
        let output = running.0.stderr.take().unwrap();
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        said = Vec::new();
        for line in lines.by_ref() {
            let ready = line.contains(words);
            said.push(line);
            if ready {
                // Somebody must read on, or the server is held up.
                std::thread::spawn(move || lines.for_each(drop));
                return (running, port);
            }
        }
    }
    panic!("the server ended: {said:?}");
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
