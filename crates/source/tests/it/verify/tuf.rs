//! The trusted root is fetched from a TUF repository, which is made here: one key for each role, and snapshots that are consistent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use source::http;
use source::verify::cosign::{Error, Root, RootRepository};
use testkit::http::{Reply, Request, Server as Http, Service};
use testkit::oci::Server;
use testkit::sigstore::Instance;

use super::cosign::artifact;
use crate::oci::{anonymous, repository};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON as TUF signs it.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<_, _> = map.iter().collect();
            let fields = sorted
                .iter()
                .map(|(key, value)| format!("\"{key}\":{}", canonical(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        other => other.to_string(),
    }
}

struct Key(Ed25519KeyPair);

impl Key {
    fn new() -> Key {
        Key(Ed25519KeyPair::generate().unwrap())
    }

    fn public(&self) -> String {
        hex(self.0.public_key().as_ref())
    }

    fn id(&self) -> String {
        hex(&Sha256::digest(self.public()))
    }
}

fn signed(content: &Value, keys: &[&Key]) -> Vec<u8> {
    let text = canonical(content);
    let signatures: Vec<Value> = keys
        .iter()
        .map(|key| json!({"keyid": key.id(), "sig": hex(key.0.sign(text.as_bytes()).as_ref())}))
        .collect();
    json!({"signed": content, "signatures": signatures})
        .to_string()
        .into_bytes()
}

/// The files of a repository, by path.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl Files {
    fn put(&self, path: &str, content: Vec<u8>) {
        self.0.lock().unwrap().insert(path.to_owned(), content);
    }

    fn serve(&self) -> Http<impl Service> {
        let files = self.clone();
        Http::serve(move |request: &Request| {
            let path = request.path().trim_start_matches('/').to_owned();
            match files.0.lock().unwrap().get(&path) {
                Some(content) => Reply::ok("application/json", content.clone()),
                None => Reply::text("no such file").with_status(404),
            }
        })
    }
}

const LATER: &str = "2099-01-01T00:00:00Z";

fn root(version: u32, key: &Key) -> Value {
    let role = json!({"keyids": [key.id()], "threshold": 1});
    json!({
        "_type": "root", "spec_version": "1.0.31", "version": version, "expires": LATER, "consistent_snapshot": true,
        "keys": {key.id(): {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": key.public()}}},
        "roles": {"root": role, "timestamp": role, "snapshot": role, "targets": role},
    })
}

/// Publishes a `trusted_root.json` in a version.
fn publish(files: &Files, key: &Key, version: u32, expires: &str, trusted_root: &str) {
    let hash = hex(&Sha256::digest(trusted_root));
    let head =
        |kind: &str| json!({"_type": kind, "spec_version": "1.0.31", "version": version, "expires": expires});
    let mut targets = head("targets");
    targets["targets"] = json!({
        "trusted_root.json": {"length": trusted_root.len(), "hashes": {"sha256": hash}},
    });
    let mut snapshot = head("snapshot");
    snapshot["meta"] = json!({"targets.json": {"version": version}});
    let mut timestamp = head("timestamp");
    timestamp["meta"] = json!({"snapshot.json": {"version": version}});
    files.put("timestamp.json", signed(&timestamp, &[key]));
    files.put(&format!("{version}.snapshot.json"), signed(&snapshot, &[key]));
    files.put(&format!("{version}.targets.json"), signed(&targets, &[key]));
    files.put(
        &format!("targets/{hash}.trusted_root.json"),
        trusted_root.as_bytes().to_vec(),
    );
}

fn refreshed(url: &str, key: &Key) -> Root {
    Root::refreshed(RootRepository {
        url: url.to_owned(),
        root: signed(&root(1, key), &[key]),
        http: http::Options::default(),
    })
    .unwrap()
}

async fn verify(root: &Root, registry: &Server, digest: &str, now: Timestamp) -> Result<(), Error> {
    let keyless = root.keyless(&[], now).await?;
    let digest = digest.parse().unwrap();
    keyless
        .verify(&anonymous(), &repository(registry, "team/app"), digest)
        .await
}

#[tokio::test]
async fn the_trusted_root_is_refreshed_through_tuf() {
    let (registry, first, second) = (Server::start(), Instance::default(), Instance::default());
    let digest = registry.push("team/app", "latest", &artifact());
    second.push_signature(&registry, "team/app", &digest);
    let (files, key) = (Files::default(), Key::new());
    publish(&files, &key, 1, LATER, &first.trusted_root());
    let server = files.serve();
    let (root, now) = (refreshed(&server.url(), &key), Timestamp::now());
    assert_eq!(
        server.requests().len(),
        0,
        "nothing is fetched before it is needed"
    );

    // The first root does not know the instance that signed.
    verify(&root, &registry, &digest, now).await.unwrap_err();
    let asked = server.requests().len();
    publish(&files, &key, 2, LATER, &second.trusted_root());
    verify(&root, &registry, &digest, now).await.unwrap_err();
    assert_eq!(server.requests().len(), asked, "it is fetched once a day");

    let day = SignedDuration::from_hours(25);
    verify(&root, &registry, &digest, now + day).await.unwrap();

    // What cannot be refreshed is used for a week.
    drop(server);
    verify(&root, &registry, &digest, now + day * 2).await.unwrap();
    let error = verify(&root, &registry, &digest, now + day * 9)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("it cannot be fetched from"), "{error}");
}

#[tokio::test]
async fn keys_of_the_root_can_change_if_the_old_ones_agree() {
    let (files, old, new) = (Files::default(), Key::new(), Key::new());
    let instance = Instance::default();
    publish(&files, &new, 1, LATER, &instance.trusted_root());
    let server = files.serve();
    let now = Timestamp::now();

    // Nobody has said that the new key counts.
    let error = refreshed(&server.url(), &old)
        .keyless(&[], now)
        .await
        .unwrap_err();
    assert!(matches!(error, Error::TrustedRoot(_)), "{error}");
    files.put("2.root.json", signed(&root(2, &new), &[&new]));
    refreshed(&server.url(), &old)
        .keyless(&[], now)
        .await
        .unwrap_err();
    files.put("2.root.json", signed(&root(2, &new), &[&old, &new]));
    refreshed(&server.url(), &old).keyless(&[], now).await.unwrap();
}

#[tokio::test]
async fn what_was_not_signed_is_old_or_is_swapped_is_refused() {
    let (key, stranger) = (Key::new(), Key::new());
    let (good, evil) = (
        Instance::default().trusted_root(),
        Instance::default().trusted_root(),
    );
    let refused = async |files: &Files, why: &str| {
        let server = files.serve();
        let error = refreshed(&server.url(), &key)
            .keyless(&[], Timestamp::now())
            .await
            .unwrap_err();
        assert!(matches!(error, Error::TrustedRoot(_)), "{why}: {error}");
    };
    let files = Files::default();
    publish(&files, &stranger, 1, LATER, &evil);
    refused(&files, "signed by a stranger").await;

    let files = Files::default();
    publish(&files, &key, 1, "2020-01-01T00:00:00Z", &good);
    refused(&files, "expired").await;

    let files = Files::default();
    publish(&files, &key, 1, LATER, &good);
    let name = format!("targets/{}.trusted_root.json", hex(&Sha256::digest(&good)));
    files.put(&name, evil.clone().into_bytes());
    refused(&files, "swapped").await;

    refused(&Files::default(), "nothing there").await;

    let files = Files::default();
    publish(&files, &key, 1, LATER, "no root");
    refused(&files, "no trusted root").await;

    let wrong = RootRepository {
        url: "https://tuf.test".to_owned(),
        root: b"{}".to_vec(),
        http: http::Options::default(),
    };
    assert!(Root::refreshed(wrong).is_err());
}
