//! How many objects the API server takes at best: a loop that does nothing but apply the same objects, while nobody else works.

use std::time::Instant;

use anyhow::ensure;
use bytes::Bytes;
use futures::StreamExt;
use http_body_util::BodyExt;
use kube::client::Body;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{manifests, workload};

/// How many requests were under way at once when a loop was quickest.
const AT_ONCE: [usize; 3] = [8, 16, 32];
/// How many units the loops apply at most.
const MOST: usize = 250;

/// Objects per second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Rates {
    /// By an apply of each.
    pub(crate) apply: f64,
    /// By a dry run and an apply of each.
    pub(crate) both: f64,
    /// Kustomizations, by what it takes to ask each for a run and to answer: a patch of its annotations and one of its status.
    pub(crate) asked: f64,
}

/// Measures both, in namespaces that are deleted after it.
pub(crate) async fn measure(client: &kube::Client, count: usize) -> anyhow::Result<Rates> {
    let units = count.min(MOST);
    // The first objects of a kind make a server prepare for them.
    run(client, "bare-warm", 20, 8, false).await?;
    let (mut apply, mut both) = (0f64, 0f64);
    for at_once in AT_ONCE {
        let part = units.div_ceil(AT_ONCE.len());
        apply = apply.max(run(client, &format!("bare-apply-{at_once}"), part, at_once, false).await?);
        both = both.max(run(client, &format!("bare-both-{at_once}"), part, at_once, true).await?);
    }
    let mut asked = 0f64;
    for at_once in AT_ONCE {
        let part = units.div_ceil(AT_ONCE.len());
        asked = asked.max(ask(client, &format!("bare-asked-{at_once}"), part, at_once).await?);
    }
    Ok(Rates { apply, both, asked })
}

/// How many Kustomizations a second can be asked for a run and answered, by nothing but the two writes.
async fn ask(client: &kube::Client, namespace: &str, count: usize, at_once: usize) -> anyhow::Result<f64> {
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    workload::create(client, None, "Namespace", "namespaces", object).await?;
    let version = "kustomize.toolkit.fluxcd.io/v1";
    for number in 0..count {
        let object = json!({
            "apiVersion": version, "kind": "Kustomization", "metadata": {"name": workload::name(number)},
            "spec": {"interval": "60m", "prune": true, "sourceRef": {"kind": "OCIRepository", "name": "none"}},
        });
        let (kind, plural) = ("Kustomization", "kustomizations");
        workload::create(client, Some(namespace), kind, plural, object).await?;
    }
    let annotations = json!({"metadata": {"annotations": {"reconcile.fluxcd.io/requestedAt": "bare"}}});
    let status = json!({"status": {"lastHandledReconcileAt": "bare", "observedGeneration": 1}});
    let (annotations, status) = (annotations.to_string(), status.to_string());
    let begun = Instant::now();
    let sent = futures::stream::iter(0..count).map(async |number| {
        let name = workload::name(number);
        let path = format!("/apis/{version}/namespaces/{namespace}/kustomizations/{name}");
        merge(client, &path, annotations.clone()).await?;
        merge(client, &format!("{path}/status"), status.clone()).await
    });
    let mut sent = std::pin::pin!(sent.buffer_unordered(at_once));
    while let Some(done) = sent.next().await {
        done?;
    }
    let rate = count as f64 / begun.elapsed().as_secs_f64();
    // The controllers are not to find them.
    let path = format!("/apis/{version}/namespaces/{namespace}/kustomizations");
    client
        .request_text(http::Request::delete(path).body(Vec::new())?)
        .await?;
    let path = format!("/api/v1/namespaces/{namespace}");
    client
        .request_text(http::Request::delete(path).body(Vec::new())?)
        .await?;
    Ok(rate)
}

async fn merge(client: &kube::Client, path: &str, patch: String) -> anyhow::Result<()> {
    let request = http::Request::patch(path)
        .header("content-type", "application/merge-patch+json")
        .body(patch.into_bytes())?;
    client.request_text(request).await?;
    Ok(())
}

async fn run(
    client: &kube::Client,
    namespace: &str,
    units: usize,
    at_once: usize,
    with_dry_run: bool,
) -> anyhow::Result<f64> {
    let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    workload::create(client, None, "Namespace", "namespaces", object).await?;
    let mut requests = Vec::new();
    for number in 0..units {
        for (path, text) in manifests::files(1) {
            requests.push(request(path, &text, namespace, &workload::name(number))?);
        }
    }
    let objects = requests.len();
    let begun = Instant::now();
    let sent = futures::stream::iter(requests).map(async |(path, body)| {
        if with_dry_run {
            send(client, &format!("{path}&dryRun=All"), body.clone()).await?;
        }
        send(client, &path, body).await
    });
    let mut sent = std::pin::pin!(sent.buffer_unordered(at_once));
    while let Some(done) = sent.next().await {
        done?;
    }
    let rate = objects as f64 / begun.elapsed().as_secs_f64();
    let path = format!("/api/v1/namespaces/{namespace}");
    let delete = http::Request::delete(path).body(Vec::new())?;
    client.request_text(delete).await?;
    Ok(rate)
}

/// The path and the body of an apply.
fn request(file: &str, text: &str, namespace: &str, name: &str) -> anyhow::Result<(String, Bytes)> {
    let text = text
        .replace("${INDEX}", name)
        .replace("${PODS:=0}", "0")
        .replace("${MCPU:=1m}", "1m");
    let mut object = serde_json::to_value(yaml::parse(text.as_bytes())?)?;
    object["metadata"]["namespace"] = json!(namespace);
    object["metadata"]["labels"]["kustomize.toolkit.fluxcd.io/name"] = json!(name);
    object["metadata"]["labels"]["kustomize.toolkit.fluxcd.io/namespace"] = json!(namespace);
    let (api, plural) = match file {
        "service-account.yaml" => ("api/v1", "serviceaccounts"),
        "service.yaml" => ("api/v1", "services"),
        "deployment.yaml" => ("apis/apps/v1", "deployments"),
        _ => ("apis/networking.k8s.io/v1", "ingresses"),
    };
    let path = format!("/{api}/namespaces/{namespace}/{plural}/podinfo-{name}?fieldManager=bench&force=true");
    Ok((path, Bytes::from(object.to_string())))
}

async fn send(client: &kube::Client, path: &str, body: Bytes) -> anyhow::Result<()> {
    let request = http::Request::patch(path)
        .header("content-type", "application/apply-patch+yaml")
        .header("accept", "application/json")
        .body(Body::from(body))?;
    let answer = client.send(request).await?;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    ensure!(
        status.is_success(),
        "{path}: {status}: {}",
        String::from_utf8_lossy(&body)
    );
    Ok(())
}
