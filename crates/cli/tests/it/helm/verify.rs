//! Provenance files: `sluice helm verify`, and `--verify` of other commands. Signatures are made by GnuPG, and by helm where it is
//! installed, which then has to say the same.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use aws_lc_rs::digest::{SHA256, digest};
use tempfile::TempDir;
use testkit::helm::{Chart, Server as Repository};
use testkit::oci::Server as Registry;

use super::{run, text};

const OURS: &str = env!("CARGO_BIN_EXE_sluice");

/// Keys in a keyring of their own.
struct Signer {
    home: TempDir,
}

impl Signer {
    fn new(name: &str) -> Option<Signer> {
        let gpg = testkit::program::find("gpg")?;
        let home = tempfile::tempdir().unwrap();
        let signer = Signer { home };
        let made = Command::new(gpg)
            .arg("--homedir")
            .arg(signer.home.path())
            .args(["--batch", "--quiet", "--pinentry-mode=loopback", "--passphrase="])
            .args([
                "--quick-generate-key",
                &format!("{name} <{name}@example.com>"),
                "rsa2048",
                "sign",
                "never",
            ])
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
        for (file, what) in [("public", "--export"), ("secret", "--export-secret-keys")] {
            fs::write(signer.home.path().join(file), signer.gpg(&[what], "")).unwrap();
        }
        Some(signer)
    }

    fn gpg(&self, arguments: &[&str], input: &str) -> Vec<u8> {
        let input_file = self.home.path().join("input");
        fs::write(&input_file, input).unwrap();
        let output = Command::new("gpg")
            .arg("--homedir")
            .arg(self.home.path())
            .args(["--batch", "--quiet", "--pinentry-mode=loopback", "--passphrase="])
            .args(arguments)
            .stdin(fs::File::open(&input_file).unwrap())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        output.stdout
    }

    fn keyring(&self) -> String {
        self.home.path().join("public").display().to_string()
    }

    /// The provenance file of an archive.
    fn sign(&self, name: &str, archive: &[u8]) -> String {
        let hash: String = digest(&SHA256, archive)
            .as_ref()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let message =
            format!("apiVersion: v2\nname: web\n- dashed\n\n...\nfiles:\n  {name}: sha256:{hash}\n");
        String::from_utf8(self.gpg(&["--clearsign", "--digest-algo=SHA512"], &message)).unwrap()
    }
}

impl Drop for Signer {
    fn drop(&mut self) {
        // The agent of this home ends with it.
        let _ = Command::new("gpgconf")
            .arg("--homedir")
            .arg(self.home.path())
            .args(["--kill", "all"])
            .status();
    }
}

fn chart() -> Chart {
    Chart::new("web", "1.0.0").values("port: 80\n")
}

fn signed(signer: &Signer) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let archive = chart().archive();
    fs::write(
        folder.path().join("web-1.0.0.tgz.prov"),
        signer.sign("web-1.0.0.tgz", &archive),
    )
    .unwrap();
    fs::write(folder.path().join("web-1.0.0.tgz"), archive).unwrap();
    folder
}

fn ours(folder: &Path, arguments: &[&str]) -> Output {
    run(OURS, &[&["helm"], arguments].concat(), folder)
}

/// Both end alike and print the same, where helm is; what ours printed.
fn same(folder: &Path, arguments: &[&str]) -> Output {
    let mine = ours(folder, arguments);
    if testkit::program::find("helm").is_some() {
        let theirs = run("helm", arguments, folder);
        assert_eq!(
            theirs.status.success(),
            mine.status.success(),
            "{arguments:?} {}",
            text(&mine.stderr)
        );
        let reason = |output: &Output| {
            let said = text(&output.stderr);
            let said = said.trim().to_owned();
            ["Error: ", "error: "]
                .iter()
                .fold(said, |said, word| said.replace(word, ""))
        };
        // What is fetched before a failure, and said of it, depends on what helm has kept.
        match mine.status.success() {
            true => assert_eq!(text(&theirs.stdout), text(&mine.stdout), "{arguments:?}"),
            false => assert_eq!(reason(&theirs), reason(&mine), "{arguments:?}"),
        }
    }
    mine
}

/// Programs that keep files change line endings and add to them.
#[test]
fn what_is_around_the_signed_message_means_nothing() {
    let Some(signer) = Signer::new("ada") else { return };
    let folder = signed(&signer);
    let keyring = signer.keyring();
    let path = folder.path().join("web-1.0.0.tgz.prov");
    let signed = fs::read_to_string(&path).unwrap();
    for changed in [
        signed.replace('\n', "\r\n"),
        format!("{signed}\nfetched today\n"),
        format!("fetched today\n{signed}"),
    ] {
        fs::write(&path, &changed).unwrap();
        let output = same(folder.path(), &["verify", "web-1.0.0.tgz", "--keyring", &keyring]);
        assert!(output.status.success(), "{} {changed}", text(&output.stderr));
    }
    let cut = signed.replace("-----END PGP SIGNATURE-----", "");
    fs::write(&path, cut).unwrap();
    let output = ours(folder.path(), &["verify", "web-1.0.0.tgz", "--keyring", &keyring]);
    assert!(!output.status.success());
}

#[test]
fn a_signed_chart_is_verified() {
    let Some(signer) = Signer::new("ada") else { return };
    let folder = signed(&signer);
    let keyring = signer.keyring();
    let output = same(folder.path(), &["verify", "web-1.0.0.tgz", "--keyring", &keyring]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "Signed by: ada <ada@example.com>");
    assert!(
        lines[1].starts_with("Using Key With Fingerprint: ") && lines[1].len() == 68,
        "{lines:?}"
    );
    assert!(lines[2].starts_with("Chart Hash Verified: sha256:"), "{lines:?}");
    for arguments in [
        &["template", "r", "web-1.0.0.tgz"][..],
        &["show", "values", "web-1.0.0.tgz"],
    ] {
        let output = same(
            folder.path(),
            &[arguments, &["--verify", "--keyring", &keyring]].concat(),
        );
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    // A keyring of secret keys has the public ones too.
    let secret = signer.home.path().join("secret").display().to_string();
    assert!(
        same(folder.path(), &["verify", "web-1.0.0.tgz", "--keyring", &secret])
            .status
            .success()
    );
}

#[test]
fn what_was_not_signed_is_refused_in_the_words_of_helm() {
    let (Some(ada), Some(eve)) = (Signer::new("ada"), Signer::new("eve")) else {
        return;
    };
    let folder = signed(&ada);
    let path = folder.path();
    let ring = ada.keyring();
    let archive = fs::read(path.join("web-1.0.0.tgz")).unwrap();
    let provenance = fs::read_to_string(path.join("web-1.0.0.tgz.prov")).unwrap();
    let other = Chart::new("web", "1.0.0").values("port: 81\n").archive();
    let write = |name: &str, archive: &[u8], provenance: Option<&str>| {
        fs::write(path.join(name), archive).unwrap();
        if let Some(provenance) = provenance {
            fs::write(path.join(format!("{name}.prov")), provenance).unwrap();
        }
    };
    write(
        "changed.tgz",
        &archive,
        Some(&provenance.replace("name: web", "name: evil")),
    );
    write("renamed.tgz", &archive, Some(&provenance));
    write("plain.tgz", &archive, None);
    write("nothing.tgz", &archive, Some("no message"));
    write("web.zip", &archive, Some(&provenance));
    fs::create_dir(path.join("swapped")).unwrap();
    write("swapped/web-1.0.0.tgz", &other, Some(&provenance));
    fs::create_dir(path.join("unpacked")).unwrap();
    fs::write(path.join("armored"), ada.gpg(&["--export", "--armor"], "")).unwrap();
    let cases: &[(&str, &str, &str)] = &[
        (
            "web-1.0.0.tgz",
            &eve.keyring(),
            "openpgp: signature made by unknown entity",
        ),
        ("changed.tgz", &ring, "openpgp: invalid signature: "),
        (
            "renamed.tgz",
            &ring,
            "provenance does not contain a SHA for a file named \"renamed.tgz\"",
        ),
        (
            "swapped/web-1.0.0.tgz",
            &ring,
            "sha256 sum does not match for web-1.0.0.tgz: \"sha256:",
        ),
        ("nothing.tgz", &ring, "signature block not found"),
        ("web.zip", &ring, "chart must be a tgz file"),
        ("unpacked", &ring, "unpacked charts cannot be verified"),
        (
            "web-1.0.0.tgz",
            "armored",
            "failed to load keyring: openpgp: invalid data: tag byte does not have MSB set",
        ),
    ];
    for (chart, keyring, reason) in cases {
        let output = same(path, &["verify", chart, "--keyring", keyring]);
        assert_eq!(output.status.code(), Some(1), "{chart}");
        let said = text(&output.stderr);
        assert!(said.contains(reason), "{chart}: {said}");
        let output = ours(
            path,
            &[
                "template",
                "r",
                &format!("./{chart}"),
                "--verify",
                "--keyring",
                keyring,
            ],
        );
        assert_eq!(output.status.code(), Some(1), "{chart}");
        assert!(
            output.stdout.is_empty() && text(&output.stderr).contains(reason),
            "{chart}"
        );
    }
    for (chart, keyring, reason) in [
        (
            "plain.tgz",
            ring.as_str(),
            "could not load provenance file plain.tgz.prov",
        ),
        ("gone.tgz", &ring, "gone.tgz"),
        ("web-1.0.0.tgz", "gone", "failed to load keyring"),
    ] {
        let output = ours(path, &["verify", chart, "--keyring", keyring]);
        assert_eq!(output.status.code(), Some(1), "{chart}");
        assert!(text(&output.stderr).contains(reason), "{}", text(&output.stderr));
    }
    // Without a flag, GnuPG's own keyring counts.
    let home = path.join("gnupg");
    fs::create_dir(&home).unwrap();
    fs::copy(&ring, home.join("pubring.gpg")).unwrap();
    let verified = Command::new(OURS)
        .args(["helm", "verify", "web-1.0.0.tgz"])
        .current_dir(path)
        .env("GNUPGHOME", &home)
        .status();
    assert!(verified.unwrap().success());
}

#[test]
fn keys_that_are_revoked_are_refused() {
    let Some(signer) = Signer::new("mal") else { return };
    let folder = signed(&signer);
    let revocations = signer.home.path().join("openpgp-revocs.d");
    let entry = fs::read_dir(revocations).unwrap().next().unwrap().unwrap();
    let certificate = fs::read_to_string(entry.path())
        .unwrap()
        .replace(":-----BEGIN", "-----BEGIN");
    signer.gpg(&["--import"], &certificate);
    let revoked = folder.path().join("revoked");
    fs::write(&revoked, signer.gpg(&["--export"], "")).unwrap();
    let arguments = ["verify", "web-1.0.0.tgz", "--keyring", revoked.to_str().unwrap()];
    let output = same(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("openpgp: signature made by revoked key"), "{said}");
}

#[test]
fn charts_are_verified_before_they_are_pulled() {
    let (Some(ada), Some(eve)) = (Signer::new("ada"), Signer::new("eve")) else {
        return;
    };
    let repository = Repository::start();
    repository.add_signed(&chart(), |archive| ada.sign("web-1.0.0.tgz", archive));
    repository.add(&Chart::new("plain", "1.0.0"));
    let url = repository.url();
    let registry = Registry::start();
    let below = format!("oci://{}/charts", registry.host());
    let local = signed(&ada);
    assert!(
        ours(local.path(), &["push", "web-1.0.0.tgz", &below, "--plain-http"])
            .status
            .success()
    );
    let oci = format!("{below}/web");
    for chart in [
        &["web", "--repo", &url][..],
        &[&oci, "--version", "1.0.0", "--plain-http"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let with = |verb: &[&str], keyring: &str| {
            same(
                folder.path(),
                &[verb, chart, &["--verify", "--keyring", keyring]].concat(),
            )
        };
        let output = with(&["pull"], &ada.keyring());
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("Signed by: ada <ada@example.com>\n"));
        for file in ["web-1.0.0.tgz", "web-1.0.0.tgz.prov"] {
            assert!(folder.path().join(file).is_file(), "{file}");
        }
        assert!(with(&["show", "values"], &ada.keyring()).status.success());
        let output = with(&["template", "r"], &eve.keyring());
        assert_eq!(output.status.code(), Some(1));

        // Nothing that is not verified is left on disk.
        let empty = tempfile::tempdir().unwrap();
        let output = ours(
            empty.path(),
            &[&["pull"], chart, &["--verify", "--keyring", &eve.keyring()]].concat(),
        );
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains("signature made by unknown entity"));
        assert_eq!(fs::read_dir(empty.path()).unwrap().count(), 0);
    }
    let arguments = [
        "show",
        "chart",
        "plain",
        "--repo",
        &url,
        "--verify",
        "--keyring",
        &ada.keyring(),
    ];
    let output = same(local.path(), &arguments);
    assert_eq!(output.status.code(), Some(1));
    let wanted = format!(
        "failed to fetch provenance \"{}/plain-1.0.0.tgz.prov\"",
        url.trim_end_matches('/')
    );
    assert!(text(&output.stderr).contains(&wanted), "{}", text(&output.stderr));
}

/// What helm signs is verified here.
#[test]
fn what_helm_signs_is_verified() {
    let (Some(signer), Some(_)) = (Signer::new("ada"), testkit::program::find("helm")) else {
        return;
    };
    let folder = super::chart();
    let secret = signer.home.path().join("secret").display().to_string();
    let packed = run(
        "helm",
        &["package", "app", "--sign", "--key", "ada", "--keyring", &secret],
        folder.path(),
    );
    assert!(packed.status.success(), "{}", text(&packed.stderr));
    let output = same(
        folder.path(),
        &["verify", "app-1.2.3.tgz", "--keyring", &signer.keyring()],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
}
