//! The real `sops` encrypts random documents, and what it decrypts again is what is decrypted here.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
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

    /// The encrypted file; `None` for what the program refuses to encrypt. The rule is a line of its configuration.
    fn encrypt(&self, plain: &[u8], format: &str, recipient: &str, rule: &str) -> Option<Vec<u8>> {
        let (file, config) = (self.path("plain"), self.path("config.yaml"));
        fs::write(&file, plain).unwrap();
        fs::write(&config, format!("creation_rules:\n  - {recipient}\n{rule}")).unwrap();
        let output = self
            .command()
            .arg("--config")
            .arg(&config)
            .args(["encrypt", "--input-type", format, "--output-type", format])
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
            // An empty comment of an INI file crashes SOPS.
            (Ok(_), Err(crash)) if crash.starts_with("panic: ") => {}
            // SOPS writes what Go prints of its trees where an INI file has nothing for them; that is refused here.
            (Err(sops::Error::Write { .. }), Ok(_)) if output == "ini" && input != "ini" => {}
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
    let recipient = format!("age: {}", sops.recipient);
    let mut random = Rng::with_seed(cases(0) as u64 + 20_261_116);
    let rules = [
        "",
        "    unencrypted_suffix: a\n",
        "    encrypted_regex: ^(a|b|data)\n",
        "    unencrypted_regex: b$\n    mac_only_encrypted: true\n",
        "    encrypted_comment_regex: x\n",
        "    unencrypted_comment_regex: a\n",
        "    encrypted_suffix: b\n",
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
                ""
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

#[test]
fn what_is_encrypted_for_a_pgp_key_is_decrypted_with_it() {
    let (Some(sops), Some(gpg)) = (Sops::new(), find("gpg")) else {
        return;
    };
    let home = sops.path("gnupg");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let gpg = |arguments: &[&str]| {
        let mut command = Command::new(&gpg);
        command
            .arg("--homedir")
            .arg(&home)
            .args(["--batch", "--quiet", "--passphrase", ""])
            .args(arguments);
        testkit::program::run(&mut command)
    };
    let mut random = Rng::with_seed(7);
    for (name, kinds) in [("rsa", ["rsa2048", "rsa2048"]), ("curve", ["ed25519", "cv25519"])] {
        let user = format!("{name}@example.com");
        gpg(&["--quick-gen-key", &user, kinds[0], "default", "never"]);
        let listed = gpg(&["--list-keys", "--with-colons", &user]);
        let line = listed.lines().find(|line| line.starts_with("fpr:")).unwrap();
        let fingerprint = line.split(':').nth(9).unwrap().to_owned();
        gpg(&["--quick-add-key", &fingerprint, kinds[1], "encr", "never"]);
        let exported = gpg(&["--export-secret-keys", "--armor", &fingerprint]);
        let keys = Keys::from_secret([("key.asc", exported.as_bytes())]).unwrap();
        for format in ["yaml", "json", "binary"] {
            let plain = documents::random(format, &mut random);
            let recipient = format!("pgp: {fingerprint}");
            let encrypted = sops.encrypt(&plain, format, &recipient, "").unwrap();
            sops.compare(&encrypted, &keys, (format, format), &plain);
        }
    }
    // GnuPG starts an agent, which would stay.
    let mut end = Command::new("gpgconf");
    end.arg("--homedir").arg(&home).args(["--kill", "gpg-agent"]);
    testkit::program::run(&mut end);
}
