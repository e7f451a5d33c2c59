//! A program that changes manifests after they were rendered.

use std::io::Write as _;
use std::process::{Command, Stdio};

use helm::release::PostRenderer;

/// A program with arguments.
pub(super) struct Program {
    pub(super) command: String,
    pub(super) arguments: Vec<String>,
}

impl PostRenderer for Program {
    fn run(&mut self, manifests: &str) -> Result<String, String> {
        let failed = |error: std::io::Error| format!("error while running command {}: {error}", self.command);
        let mut child = Command::new(&self.command)
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let mut input = child.stdin.take();
        let written = std::thread::scope(|scope| {
            // A program that writes before it has read everything must not wait for us.
            let writer = scope.spawn(move || match &mut input {
                Some(input) => input.write_all(manifests.as_bytes()),
                None => Ok(()),
            });
            let output = child.wait_with_output();
            let _ = writer.join();
            output
        });
        let output = written.map_err(failed)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!(
                "error while running command {}. error output:\n{}: {}",
                self.command,
                said.trim_end(),
                output.status
            ));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if text.trim().is_empty() {
            return Err(format!("post-renderer {:?} produced empty output", self.command));
        }
        Ok(text)
    }
}
