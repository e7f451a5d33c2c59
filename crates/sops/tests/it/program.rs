//! The real `sops` encrypts random documents, and what it decrypts again is what is decrypted here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fastrand::Rng;
use sops::{Encrypted, Format, Keys, Mac};
use testkit::program::find;

use crate::kit::documents;

/// A folder with keys and the program.
struct Sops {
    program: PathBuf,
    folder: tempfile::TempDir,
    identity: PathBuf,
    recipient: String,
}

/// How often each is tried: `SOPS_CASES` asks for more.
fn cases(default: usize) -> usize {
    std::env::var("SOPS_CASES")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

impl Sops {
    fn new() -> Option<Sops> {
        let program = find("sops")?;
        let folder = tempfile::tempdir().unwrap();
        let identity = folder.path().join("key.agekey");
        let (secret, recipient) = crate::kit::AGE;
        fs::write(&identity, secret).unwrap();
        Some(Sops {
            program,
            folder,
            identity,
            recipient: recipient.to_owned(),
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(self.folder.path())
            .env("SOPS_AGE_KEY_FILE", &self.identity)
            .env("GNUPGHOME", self.path("gnupg"))
            .env("HOME", self.folder.path());
        command
    }

    /// The encrypted file; `None` for what the program refuses to encrypt.
    fn encrypt(&self, plain: &[u8], format: &str, recipient: &[&str], rules: &[&str]) -> Option<Vec<u8>> {
        let file = self.path("plain");
        fs::write(&file, plain).unwrap();
        let output = self
            .command()
            .arg("encrypt")
            .args(recipient)
            .args(rules)
            .args(["--input-type", format, "--output-type", format])
            .arg(&file)
            .output()
            .unwrap();
        output.status.success().then_some(output.stdout)
    }

    fn decrypt(&self, file: &Path, input: &str, output: &str) -> Result<Vec<u8>, String> {
        let mut command = self.command();
        command
            .args(["decrypt", "--input-type", input, "--output-type", output])
            .arg(file);
        let output = command.output().unwrap();
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// Checks that both make the same of a file.
    fn compare(&self, encrypted: &[u8], keys: &Keys, (input, output): (&str, &str), plain: &[u8]) {
        let file = self.path("encrypted");
        fs::write(&file, encrypted).unwrap();
        let wanted = self.decrypt(&file, input, output);
        let read = Encrypted::read(encrypted, format(input));
        let ours = read.and_then(|read| {
            let key = read.unlock(keys).finish()?;
            read.decrypt(&key, Mac::Verified)?.write(format(output))
        });
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match (ours, wanted) {
            (Ok(ours), Ok(wanted)) => assert!(
                ours == wanted,
                "{input} to {output}:\n--- source\n{}\n--- encrypted\n{}\n--- sops\n{}\n--- ours\n{}",
                show(plain),
                show(encrypted),
                show(&wanted),
                show(&ours)
            ),
            (Err(_), Err(_)) => {}
            (ours, wanted) => panic!(
                "{input} to {output}:\n--- source\n{}\n--- encrypted\n{}\n--- sops\n{:?}\n--- ours\n{:?}",
                show(plain),
                show(encrypted),
                wanted.map(|bytes| show(&bytes)),
                ours.map(|bytes| show(&bytes))
            ),
        }
    }
}

fn format(name: &str) -> Format {
    match name {
        "binary" => Format::Binary,
        "dotenv" => Format::Dotenv,
        "ini" => Format::Ini,
        "json" => Format::Json,
        _ => Format::Yaml,
    }
}

const FORMATS: [&str; 5] = ["yaml", "json", "dotenv", "ini", "binary"];

#[test]
fn random_documents_in_every_format_are_decrypted_to_the_same_bytes() {
    let Some(sops) = Sops::new() else { return };
    let keys = Keys::from_secret([("key.agekey", crate::kit::AGE.0.as_bytes())]).unwrap();
    let recipient = ["--age", sops.recipient.as_str()];
    let mut random = Rng::with_seed(cases(0) as u64 + 20_261_116);
    let rules: [&[&str]; 5] = [
        &[],
        &["--unencrypted-suffix", "a"],
        &["--encrypted-regex", "^(a|b|data)"],
        &["--unencrypted-regex", "b$", "--mac-only-encrypted"],
        &["--encrypted-comment-regex", "x"],
    ];
    let only = std::env::var("SOPS_FORMAT").ok();
    for name in FORMATS
        .into_iter()
        .filter(|name| only.as_deref().is_none_or(|only| only == *name))
    {
        let mut encrypted_some = 0;
        for index in 0..cases(8) {
            let plain = documents::random(name, &mut random);
            let rule = if name == "binary" {
                &[][..]
            } else {
                rules[index % rules.len()]
            };
            let Some(encrypted) = sops.encrypt(&plain, name, &recipient, rule) else {
                continue;
            };
            encrypted_some += 1;
            sops.compare(&encrypted, &keys, (name, name), &plain);
            if index % 4 == 0 && name != "binary" {
                let other = FORMATS[random.usize(..FORMATS.len())];
                sops.compare(&encrypted, &keys, (name, other), &plain);
            }
        }
        assert!(
            encrypted_some * 2 > cases(8),
            "sops has refused most documents of {name}"
        );
    }
}
