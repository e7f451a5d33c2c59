//! The charts that both sides fetch, and what their sources say of them. No source controller is at work: what it would say is written by
//! hand.

use std::any::Any;
use std::collections::HashMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::http::{Builder, Reply, Request};

use super::cases::{Case, Origin};

/// What is served, by path.
pub(super) struct Artifacts {
    url: String,
    /// Serves until this is dropped.
    _server: Box<dyn Any + Send + Sync>,
    facts: HashMap<String, Facts>,
}

/// What a status tells of an artifact.
struct Facts {
    version: String,
    /// Without its algorithm.
    digest: String,
    size: usize,
}

impl Artifacts {
    /// Packs the charts of all cases.
    pub(super) fn serve(cases: &[Case]) -> Self {
        let mut content: HashMap<String, Vec<u8>> = HashMap::new();
        let mut facts = HashMap::new();
        for case in cases {
            for (number, chart) in case.charts.iter().enumerate() {
                let bytes = chart.packed();
                let digest = Sha256::digest(&bytes);
                let told = Facts {
                    version: chart.version.clone(),
                    digest: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
                    size: bytes.len(),
                };
                facts.insert(path(case, number), told);
                content.insert(path(case, number), bytes);
            }
        }
        let answer = move |request: &Request| match content.get(request.path()) {
            Some(bytes) => Reply::ok("application/gzip", bytes.clone()),
            None => Reply::status(404),
        };
        let server = Builder::new(answer).start();
        Artifacts {
            url: server.url(),
            _server: Box::new(server),
            facts,
        }
    }

    /// The status of the source of a case that has this one of its charts.
    pub(super) fn status(&self, case: &Case, number: usize) -> Value {
        let path = path(case, number);
        let Facts {
            version,
            digest,
            size,
        } = &self.facts[&path];
        let revision = match case.origin {
            Origin::Chart | Origin::Template => version.clone(),
            Origin::Oci | Origin::External => format!("{version}@sha256:{digest}"),
        };
        json!({"status": {
            "observedGeneration": 1,
            "artifact": {
                "path": path.trim_start_matches('/'), "url": format!("{}{path}", self.url),
                "revision": revision, "digest": format!("sha256:{digest}"), "size": size,
                "lastUpdateTime": "2026-01-02T03:04:05Z",
            },
            "conditions": [{
                "type": "Ready", "status": "True", "reason": "Succeeded", "message": "stored artifact",
                "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": 1,
            }],
        }})
    }
}

fn path(case: &Case, number: usize) -> String {
    let name = &case.name;
    let source = match case.origin {
        Origin::Chart => format!("helmchart/{name}/app"),
        Origin::Template => format!("helmchart/{name}/{name}-app"),
        Origin::Oci => format!("ocirepository/{name}/app"),
        Origin::External => format!("charts/{name}"),
    };
    format!("/{source}/{number}.tgz")
}
