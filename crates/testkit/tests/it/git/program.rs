//! The real `git` program in a directory of its own, away from the user's settings.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A directory in which `git` runs.
pub(crate) struct Program {
    pub(crate) directory: TempDir,
    /// Settings for each call, such as `protocol.version=0`.
    settings: Vec<String>,
    environment: Vec<(String, String)>,
}

/// The program, or nothing (with a printed reason) if this machine has none.
pub(crate) fn git() -> Option<Program> {
    testkit::program::find("git")?;
    let directory = tempfile::tempdir().unwrap();
    Some(Program {
        directory,
        settings: Vec::new(),
        environment: Vec::new(),
    })
}

/// What a call printed.
pub(crate) struct Printed {
    pub(crate) out: String,
    pub(crate) error: String,
}

impl Program {
    pub(crate) fn setting(mut self, setting: impl Into<String>) -> Self {
        self.settings.push(setting.into());
        self
    }

    pub(crate) fn environment(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_string(), value.into()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_string()
    }

    /// Writes a file that no one else may read, as `ssh` wants its keys.
    pub(crate) fn write_private(&self, name: &str, content: &str) -> String {
        let path = self.write(name, content);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    /// Runs it and expects success.
    pub(crate) fn run(&self, arguments: &[&str]) -> Printed {
        let output = self.output(arguments);
        let printed = Printed::of(&output);
        assert!(
            output.status.success(),
            "git {arguments:?} failed:\n{}{}",
            printed.out,
            printed.error
        );
        printed
    }

    /// Runs it and expects failure.
    pub(crate) fn fails(&self, arguments: &[&str]) -> Printed {
        let output = self.output(arguments);
        let printed = Printed::of(&output);
        assert!(
            !output.status.success(),
            "git {arguments:?} should fail:\n{}{}",
            printed.out,
            printed.error
        );
        printed
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.current_dir(self.directory.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let home = self.directory.path();
        command
            .env("HOME", home)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Bob")
                .env(format!("GIT_{who}_EMAIL"), "bob@example.com");
        }
        command.envs(self.environment.iter().cloned());
        // Lists and fetches in the background would make counts of requests uncertain.
        for setting in [
            "init.defaultBranch=main",
            "maintenance.auto=false",
            "advice.detachedHead=false",
        ] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command.args(arguments).output().unwrap()
    }
}

impl Printed {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            out: text(&output.stdout),
            error: text(&output.stderr),
        }
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }
}
