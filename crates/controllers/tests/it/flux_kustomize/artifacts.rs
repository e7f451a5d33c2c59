//! The artifacts that both sides fetch, and the objects that tell of them. No source controller is at work: what it would say is
//! written by hand.

use std::any::Any;
use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::http::{Builder, Reply, Request};

use super::cases::{Case, Files};
use super::side::NAMESPACE;

/// What is served, by path.
pub(super) struct Artifacts {
    url: String,
    /// Serves until this is dropped.
    _server: Box<dyn Any + Send + Sync>,
    digests: HashMap<String, (String, usize)>,
}

impl Artifacts {
    /// Packs the files of all cases.
    pub(super) fn serve(cases: &[Case]) -> Self {
        let mut content: HashMap<String, Vec<u8>> = HashMap::new();
        for case in cases {
            for (number, files) in [&case.files, &case.then_files].into_iter().enumerate() {
                content.insert(path(&case.name, number), packed(files));
            }
        }
        let digests = content.iter().map(|(path, bytes)| {
            let hex: String = Sha256::digest(bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            (path.clone(), (format!("sha256:{hex}"), bytes.len()))
        });
        let digests = digests.collect();
        let answer = move |request: &Request| match content.get(request.path()) {
            Some(bytes) => Reply::ok("application/gzip", bytes.clone()),
            None => Reply::status(404),
        };
        let server = Builder::new(answer).start();
        Artifacts {
            url: server.url(),
            _server: Box::new(server),
            digests,
        }
    }

    /// The status of the source of a case.
    pub(super) fn status(&self, case: &str, number: usize) -> Value {
        let path = path(case, number);
        let (digest, size) = &self.digests[&path];
        json!({"status": {
            "observedGeneration": 1,
            "artifact": {
                "path": path.trim_start_matches('/'), "url": format!("{}{path}", self.url),
                "revision": format!("main@sha1:{number:040}"), "digest": digest, "size": size,
                "lastUpdateTime": "2026-01-02T03:04:05Z",
            },
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact",
                "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1,
            }],
        }})
    }
}

fn path(case: &str, number: usize) -> String {
    format!("/gitrepository/{NAMESPACE}/{case}/{number}.tar.gz")
}

fn packed(files: &Files) -> Vec<u8> {
    let encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut archive = tar::Builder::new(encoder);
    for (path, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, path, text.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}
