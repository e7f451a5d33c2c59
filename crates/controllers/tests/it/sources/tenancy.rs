//! An object is not given what another one fetched, though a server that its owner has chosen says that it may read it.

use api::source::{GitRepositorySpec, HelmRepositorySpec, OciRepositorySpec};
use controllers::sources::{GitRepositories, OciRepositories};
use k8s_openapi::api::core::v1::Event;
use kube::api::{ListParams, Patch, PatchParams};
use kube::client::Body;
use kube::{Api, Client};
use serde_json::json;
use testkit::helm::{self, Chart};
use testkit::http::{Fault, Method, Reply, Request, Socks};
use testkit::oci::{Artifact, Server};

use super::bed::{Bed, condition};
use super::git_repository;
use super::helm_chart::{self, spec, started_with};

#[tokio::test]
async fn a_registry_that_merely_claims_a_digest_brings_nobody_the_artifact() {
    let registry = Server::builder().basic("ada", "geheim").start();
    let digest = registry.push(
        "team/app",
        "latest",
        &Artifact::files(&[("app.yaml", "secret\n")]),
    );
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.run(OciRepositories::new);
    let login = json!({"auths": {registry.host(): {"username": "ada", "password": "geheim"}}});
    let login = json!({".dockerconfigjson": login.to_string()});
    bed.secret("login", "kubernetes.io/dockerconfigjson", login).await;
    let spec = json!({
        "url": format!("oci://{}/team/app", registry.host()), "interval": "1h", "insecure": true,
    });
    let mut own = spec.clone();
    own["secretRef"] = json!({"name": "login"});
    bed.create("ada", own.clone()).await;
    bed.ready("ada", "True", "Succeeded").await;
    bed.create("again", own).await;
    bed.ready("again", "True", "Succeeded").await;
    assert_eq!(
        registry.count(Method::GET, "/blobs/"),
        1,
        "the same reader shares one pull"
    );

    // Mallory's proxy leads to a server of hers, which claims to have everything and gives nothing.
    let claimed = digest.clone();
    let forged = testkit::http::Server::serve(move |request: &Request| match request.method {
        Method::HEAD => Reply::status(200)
            .with("docker-content-digest", &claimed)
            .with("content-type", "application/vnd.oci.image.manifest.v1+json")
            .with("content-length", "100"),
        _ if request.path() == "/v2/" => Reply::status(200),
        _ => Reply::status(404),
    });
    let socks = Socks::to(forged.address());
    bed.secret("proxy", "Opaque", json!({"address": socks.url()}))
        .await;
    for (name, reference) in [
        ("by-tag", json!({"tag": "latest"})),
        ("by-digest", json!({"digest": digest})),
    ] {
        let mut stolen = spec.clone();
        stolen["proxySecretRef"] = json!({"name": "proxy"});
        stolen["ref"] = reference;
        bed.create(name, stolen).await;
        let object = bed.ready(name, "False", "OCIArtifactPullFailed").await;
        assert_eq!(object.status.unwrap().artifact, None, "{name}");
    }
}

/// Mallory may write the status of her own object: she has it name the file of another one.
#[tokio::test]
async fn a_status_that_names_the_file_of_another_object_does_it_no_harm() {
    let registry = Server::start();
    registry.push(
        "team/app",
        "latest",
        &Artifact::files(&[("app.yaml", "secret\n")]),
    );
    registry.push(
        "mallory/app",
        "latest",
        &Artifact::files(&[("app.yaml", "own\n")]),
    );
    let mut bed = Bed::<OciRepositorySpec>::start().await;
    bed.run(OciRepositories::new);
    for (name, path) in [("ada", "team/app"), ("mallory", "mallory/app")] {
        let url = format!("oci://{}/{path}", registry.host());
        bed.create(name, json!({"url": url, "interval": "1h", "insecure": true}))
            .await;
    }
    let ada = bed.ready("ada", "True", "Succeeded").await;
    let ada = ada.status.unwrap().artifact.unwrap();
    let mallory = bed.ready("mallory", "True", "Succeeded").await;
    let mallory = mallory.status.unwrap().artifact.unwrap();

    let patch = json!({"status": {"artifact": {"path": ada.path}}});
    let by = PatchParams::default();
    bed.api
        .patch_status("mallory", &by, &Patch::Merge(&patch))
        .await
        .unwrap();
    let object = bed.requested("mallory", "now").await;
    let again = object.status.unwrap().artifact.unwrap();
    assert_eq!((&again.path, again.digest), (&mallory.path, mallory.digest));
    assert!(bed.store.root().join(&ada.path).exists(), "it was removed");
    bed.store.read(&ada).unwrap();
    let events: Api<Event> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let digest = ada.digest.unwrap().to_string();
    for event in events.list(&ListParams::default()).await.unwrap() {
        let about = event.involved_object.name.unwrap_or_default();
        let message = event.message.unwrap_or_default();
        assert!(about != "mallory" || !message.contains(&digest), "{message}");
    }
}

/// Mallory's index lists the chart that Ada may read. Her object is not given the file that Ada's was given.
#[tokio::test]
async fn a_chart_that_somebody_else_may_read_is_not_given_from_the_cache() {
    let ada = helm::Server::builder().basic("ada", "geheim").start();
    ada.add(&Chart::new("podinfo", "6.1.0").values("secret: 1\n"));
    let url = format!("{}/podinfo-6.1.0.tgz", ada.url());
    let mallory = helm::Server::start();
    mallory.set_index(&format!(
        "apiVersion: v1\nentries:\n  podinfo:\n  - name: podinfo\n    version: 6.1.0\n    urls: ['{url}']\n"
    ));
    let bed = helm_chart::started().await;
    let login = json!({"username": "ada", "password": "geheim"});
    bed.secret("login", "Opaque", login).await;
    for (name, spec) in [
        (
            "ada",
            json!({"url": ada.url(), "interval": "1h", "secretRef": {"name": "login"}}),
        ),
        ("mallory", json!({"url": mallory.url(), "interval": "1h"})),
    ] {
        bed.create_other::<HelmRepositorySpec>(name, spec).await;
    }
    bed.create("ada", spec("HelmRepository", "ada", "podinfo", json!({})))
        .await;
    bed.ready("ada", "True", "ChartPullSucceeded").await;
    bed.create("mallory", spec("HelmRepository", "mallory", "podinfo", json!({})))
        .await;
    let object = bed.ready("mallory", "False", "Unknown").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("401"), "{message}");
    assert_eq!(object.status.unwrap().artifact, None);
}

/// Mallory's chart needs another one of a server that never answers. Her object does not hold its worker.
#[tokio::test]
async fn the_build_of_a_chart_has_a_deadline() {
    let silent = helm::Server::start();
    silent.fail(Fault::hang().forever());
    let git = testkit::git::Server::start();
    let chart = format!(
        "apiVersion: v2\nname: app\nversion: 1.0.0\ndependencies:\n- {{name: a, version: 1.x, repository: '{}'}}\n",
        silent.url()
    );
    git.repository("team/app")
        .commit("main", "Start", [("charts/app/Chart.yaml", chart.as_str())]);
    let limit = std::time::Duration::from_secs(1);
    let bed = started_with(|shared| shared.settings.helm_chart_timeout = limit).await;
    let source = json!({"url": git.clone_url("team/app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create_other::<GitRepositorySpec>("app", source).await;
    bed.create("app", spec("GitRepository", "app", "charts/app", json!({})))
        .await;
    let object = bed.ready("app", "False", "ChartPackageError").await;
    let message = condition(&object, "Ready").unwrap().message;
    assert!(message.contains("was not built within 1s"), "{message}");
}

/// Mallory's commits take long to be verified. Her objects do not hold the workers until that is over.
#[tokio::test]
async fn a_git_repository_that_is_slow_after_its_fetch_holds_no_worker() {
    let server = testkit::git::Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("app.yaml", "1\n")]);
    let mut bed = Bed::<GitRepositorySpec>::start().await;
    let (tell, mut hanging) = tokio::sync::watch::channel(0);
    let cluster = bed.cluster.client();
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (cluster, tell) = (cluster.clone(), tell.clone());
        async move {
            if request.uri().path().ends_with("/secrets/keys") {
                tell.send_modify(|count| *count += 1);
                std::future::pending::<()>().await;
            }
            cluster.send(request).await
        }
    });
    bed.shared.client = Client::new(service, "default");
    bed.run(GitRepositories::new);
    let url = server.clone_url("team/app");
    let slow = json!({"verify": {"mode": "HEAD", "secretRef": {"name": "keys"}}});
    for number in 0..2 {
        let name = format!("mallory-{number}");
        bed.create(&name, git_repository::spec(&url, slow.clone())).await;
    }
    let both = hanging.wait_for(|count| *count == 2);
    tokio::time::timeout(testkit::DEADLINE, both)
        .await
        .expect("both are verified")
        .unwrap();
    bed.create("ada", git_repository::spec(&url, json!({}))).await;
    bed.ready("ada", "True", "Succeeded").await;
}

/// What was fetched for an object takes no room when the last object that used it is gone.
#[tokio::test]
async fn a_git_repository_that_is_gone_keeps_nothing_on_disk() {
    let server = testkit::git::Server::start();
    let repository = server.repository("team/app");
    repository.commit("main", "Start", [("app.yaml", "1\n")]);
    let bed = git_repository::started().await;
    let url = server.clone_url("team/app");
    for name in ["one", "two"] {
        bed.create(name, git_repository::spec(&url, json!({}))).await;
        bed.ready(name, "True", "Succeeded").await;
    }
    let kept = || {
        let cache = bed.folder.path().join(".git-cache/0");
        let entries = std::fs::read_dir(cache).unwrap().map(Result::unwrap);
        entries.filter(|entry| entry.path().is_dir()).count()
    };
    assert_eq!(kept(), 1);
    bed.delete("one").await;
    assert_eq!(kept(), 1, "another object uses it");
    bed.delete("two").await;
    let removed = async {
        while kept() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(testkit::DEADLINE, removed)
        .await
        .expect("the repository is removed");
}
