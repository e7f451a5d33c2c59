//! The process that is killed.

use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::faulty;
use super::program::FOLDER;

/// The program, which ends with this at the latest.
pub(super) struct Program(Child);

impl Program {
    pub(super) fn start(folder: &Path, seed: u64) -> Program {
        let said = std::fs::File::options()
            .create(true)
            .append(true)
            .open(folder.join("said"))
            .unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--nocapture",
                "engine::kills::program::an_engine_runs_until_it_is_killed",
            ])
            .env(FOLDER, folder)
            .env(faulty::SEED, seed.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(said)
            .spawn()
            .unwrap();
        Program(child)
    }

    /// Says that the sources have changed.
    pub(super) fn tell(&mut self) {
        // One that was killed sees it when it starts. One that has ended by itself is found out by what it leaves undone.
        if let Some(stdin) = &mut self.0.stdin {
            drop(stdin.write_all(b"changed\n"));
        }
    }

    /// With SIGKILL: nothing is tidied up.
    pub(super) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
