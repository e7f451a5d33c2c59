//! Bundles that sigstore's public instance has issued, as the tests of sigstore-go have them in Go's module cache.

use std::path::PathBuf;
use std::process::Command;

use source::verify::cosign::{Identity, Keyless};

/// As `cargo xtask real-programs` downloads it.
const MODULE: &str = "github.com/sigstore/sigstore-go@v1.2.1";

const GITHUB: &str = "^https://token.actions.githubusercontent.com$";

const OAUTH: &str = "^https://github.com/login/oauth$";

/// Each bundle with the digest that it is about, and who knew its signer.
const BUNDLES: &[(&str, &str, &str, &str)] = &[
    (
        "examples/bundle-provenance.json",
        "sha512:76176ffa33808b54602c7c35de5c6e9a4deb96066dba6533f50ac234f4f1f4c6b3527515dc17c06fbe2860030f410eee69ea20079bd3a2c6f3dcf3b329b10751",
        GITHUB,
        "^https://github.com/sigstore/sigstore-js/",
    ),
    (
        "pkg/testing/data/bundles/sigstore.js@2.0.0-provenance.sigstore.json",
        "sha512:46d4e2f74c4877316640000a6fdf8a8b59f1e0847667973e9859f774dd31b8f1e0937813b777fb66a2ac67d50540fe34640966eee9fc2ccca387082b4c85cd3c",
        GITHUB,
        "^https://github.com/sigstore/sigstore-js/",
    ),
    (
        "pkg/testing/data/bundles/dsse.sigstore.json",
        "sha512:bbfd372fc9beeb777fe35d05bb10c0c70a9733d366a75fed7dd18866c7391de3ee7e88ba74dd47abf3e15c845e547fcf0e5c3da80854c751554224d3a6d4e55f",
        OAUTH,
        "^[^/@]+@[^/@]+$",
    ),
];

/// The folder of the module. Where it must be there and is not, the test fails.
fn module() -> Option<PathBuf> {
    let found = Command::new("go").args(["env", "GOMODCACHE"]).output();
    let cache = found.ok().filter(|output| output.status.success());
    let cache = cache.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let folder = cache
        .map(|cache| cache.join(MODULE))
        .filter(|folder| folder.is_dir());
    if folder.is_none() {
        let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
        let required = is_ci || std::env::var_os("SLUICE_TEST_REAL_PROGRAMS").is_some();
        assert!(
            !required,
            "{MODULE} is missing: `cargo xtask real-programs get` downloads it"
        );
        eprintln!("skipped: this machine has no {MODULE}; `cargo xtask real-programs get` downloads it");
    }
    folder
}

fn keyless(issuer: &str, subject: &str) -> Keyless {
    let identity = Identity {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
    };
    Keyless::public(&[identity]).unwrap()
}

#[test]
fn bundles_of_the_public_instance_are_verified() {
    let Some(folder) = module() else { return };
    let others = BUNDLES.iter().cycle().skip(1);
    for ((file, digest, issuer, subject), (_, other, ..)) in BUNDLES.iter().zip(others) {
        let bundle = std::fs::read(folder.join(file)).unwrap();
        let check = |keyless: Keyless, digest: &str| keyless.verify_bundle(&bundle, digest.parse().unwrap());
        check(keyless(issuer, subject), digest).unwrap_or_else(|why| panic!("{file}: {why}"));
        check(keyless(issuer, "^https://github.com/mallory/"), digest).unwrap_err();
        check(keyless("^https://accounts.example.com$", subject), digest).unwrap_err();
        check(keyless(issuer, subject), other).unwrap_err();
    }
}

#[test]
fn bundles_that_are_changed_or_of_others_are_refused() {
    let Some(folder) = module() else { return };
    let anyone = Keyless::public(&[]).unwrap();
    let (file, digest, ..) = BUNDLES[1];
    let text = std::fs::read_to_string(folder.join(file)).unwrap();
    let good: serde_json::Value = serde_json::from_str(&text).unwrap();
    anyone
        .verify_bundle(text.as_bytes(), digest.parse().unwrap())
        .unwrap();
    type Change = fn(&mut serde_json::Value);
    let changes: &[(&str, Change)] = &[
        ("payload", |bundle| {
            let payload = bundle["dsseEnvelope"]["payload"]
                .as_str()
                .unwrap()
                .replacen("ey", "eX", 1);
            bundle["dsseEnvelope"]["payload"] = payload.into();
        }),
        ("log entry", |bundle| {
            bundle["verificationMaterial"]["tlogEntries"] = serde_json::json!([])
        }),
        ("time", |bundle| {
            bundle["verificationMaterial"]["tlogEntries"][0]["integratedTime"] = "1792374735".into();
        }),
        ("certificate", |bundle| {
            bundle["verificationMaterial"]["x509CertificateChain"]["certificates"] = serde_json::json!([]);
        }),
        ("promise", |bundle| {
            bundle["verificationMaterial"]["tlogEntries"][0]["inclusionPromise"] =
                serde_json::json!({"signedEntryTimestamp": "MEUCIQDx"});
        }),
    ];
    for (name, change) in changes {
        let mut bundle = good.clone();
        change(&mut bundle);
        assert_ne!(bundle, good, "{name}");
        let refused = anyone.verify_bundle(bundle.to_string().as_bytes(), digest.parse().unwrap());
        assert!(refused.is_err(), "{name}");
    }
    // Signed with a key, and by another instance.
    for other in [
        "examples/bundle-publish.json",
        "pkg/testing/data/bundles/othername.sigstore.json",
    ] {
        let bundle = std::fs::read(folder.join(other)).unwrap();
        assert!(
            anyone.verify_bundle(&bundle, digest.parse().unwrap()).is_err(),
            "{other}"
        );
    }
}
