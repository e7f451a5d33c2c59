//! The `flux` program as the client of our controllers.

use std::path::PathBuf;

use api::source::{BucketSpec, GitRepositorySpec, HelmChartSpec, HelmRepositorySpec, OciRepositorySpec};
use api::{ReconcileStatus, Spec};
use controllers::sources::{Buckets, GitRepositories, HelmCharts, HelmRepositories, OciRepositories};
use testkit::helm::{self, Chart};
use testkit::oci::Artifact;
use testkit::{git, oci, program, s3};

use crate::sources::bed::Bed;

/// The program, and which cluster and namespace it works on.
struct Flux {
    kubeconfig: PathBuf,
    namespace: String,
}

impl Flux {
    async fn find<S: Spec<Status: ReconcileStatus + PartialEq>>(bed: &Bed<S>) -> Option<Self> {
        program::find("flux")?;
        Some(Flux {
            kubeconfig: bed.cluster.kubeconfig().await,
            namespace: bed.namespace.clone(),
        })
    }

    /// Runs it for so long at most; whether it succeeded, and all that it said.
    async fn try_run(&self, limit: &str, arguments: &[&str]) -> (bool, String) {
        let mut command = tokio::process::Command::new("flux");
        command
            .args(arguments)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["--namespace", &self.namespace, "--timeout", limit]);
        let output = command.output().await.unwrap();
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }

    async fn run(&self, arguments: &[&str]) -> String {
        let (succeeded, said) = self.try_run("30s", arguments).await;
        assert!(succeeded, "flux {arguments:?}: {said}");
        said
    }

    /// The fields of the line about an object.
    async fn line(&self, kind: &str, name: &str) -> Vec<String> {
        let said = self.run(&["get", "sources", kind, name, "--no-header"]).await;
        let fields = said.trim().split('\t').map(|field| field.trim().to_owned());
        fields.collect()
    }
}

/// A Git repository from its creation to its deletion: flux waits for what we say when it is said
#[tokio::test]
async fn flux_creates_reconciles_suspends_and_deletes_a_repository() {
    let mut bed: Bed<GitRepositorySpec> = Bed::start().await;
    let Some(flux) = Flux::find(&bed).await else {
        return;
    };
    bed.run(GitRepositories::new);
    let server = git::Server::start();
    let repository = server.repository("app");
    let first = repository.commit("main", "Start", [("a.yaml", "a: 1")]);
    let url = format!("--url={}", server.clone_url("app"));
    let create = [
        "create",
        "source",
        "git",
        "app",
        &url,
        "--branch=main",
        "--interval=1h",
    ];
    let said = flux.run(&create).await;
    assert!(
        said.contains(&format!("fetched revision: main@sha1:{first}")),
        "{said}"
    );
    let stored = format!("stored artifact for revision 'main@sha1:{first}'");
    let short = format!("main@sha1:{}", &first.to_string()[..8]);
    let shown = [
        "app",
        &short,
        "False",
        "True",
        &stored.replace(&first.to_string(), &first.to_string()[..8]),
    ];
    assert_eq!(flux.line("git", "app").await, shown);

    let second = repository.commit("main", "More", [("b.yaml", "b: 1")]);
    let said = flux.run(&["reconcile", "source", "git", "app"]).await;
    assert!(
        said.contains(&format!("fetched revision main@sha1:{second}")),
        "{said}"
    );

    flux.run(&["suspend", "source", "git", "app"]).await;
    assert_eq!(flux.line("git", "app").await[2], "True");
    let said = flux.run(&["resume", "source", "git", "app"]).await;
    assert!(
        said.contains(&format!("fetched revision main@sha1:{second}")),
        "{said}"
    );

    server.repository("app").delete_ref("refs/heads/main");
    // As with Flux's own controllers, flux waits in vain for an object that fails and is tried again.
    let (succeeded, said) = flux.try_run("3s", &["reconcile", "source", "git", "app"]).await;
    assert!(!succeeded && said.contains("context deadline exceeded"), "{said}");
    let line = flux.line("git", "app").await;
    assert_eq!(line[3], "False");
    assert!(
        line[4].contains("the repository is empty: push a commit"),
        "{line:?}"
    );

    let exported = flux.run(&["export", "source", "git", "app"]).await;
    assert!(
        exported.contains("kind: GitRepository") && exported.contains("branch: main"),
        "{exported}"
    );
    flux.run(&["delete", "source", "git", "app", "--silent"]).await;
    let (_, said) = flux.try_run("30s", &["get", "sources", "git", "app"]).await;
    assert!(said.contains("not found"), "{said}");
}

/// The other kinds, each created by flux and made anew on its request
#[tokio::test]
async fn flux_creates_and_reconciles_every_kind_of_source() {
    let mut bed: Bed<OciRepositorySpec> = Bed::start().await;
    let Some(flux) = Flux::find(&bed).await else {
        return;
    };
    bed.serve::<HelmRepositorySpec>().await;
    bed.serve::<HelmChartSpec>().await;
    bed.serve::<BucketSpec>().await;
    bed.serve::<GitRepositorySpec>().await;
    bed.run(OciRepositories::new);
    bed.run(HelmRepositories::new);
    bed.run(HelmCharts::new);
    bed.run(Buckets::new);

    let registry = oci::Server::start();
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", "1")]));
    let url = format!("--url=oci://{}/team/app", registry.host());
    let create = [
        "create",
        "source",
        "oci",
        "app",
        &url,
        "--tag=latest",
        "--insecure",
        "--interval=1h",
    ];
    let said = flux.run(&create).await;
    assert!(
        said.contains(&format!("fetched revision: latest@{digest}")),
        "{said}"
    );
    let digest = registry.push("team/app", "latest", &Artifact::files(&[("a", "2")]));
    let said = flux.run(&["reconcile", "source", "oci", "app"]).await;
    assert!(
        said.contains(&format!("fetched revision latest@{digest}")),
        "{said}"
    );

    let charts = helm::Server::start();
    charts.add(&Chart::new("podinfo", "6.1.0"));
    let url = format!("--url={}", charts.url());
    let create = ["create", "source", "helm", "charts", &url, "--interval=1h"];
    let said = flux.run(&create).await;
    assert!(said.contains("fetched revision: sha256:"), "{said}");
    let create = [
        "create",
        "source",
        "chart",
        "podinfo",
        "--source=HelmRepository/charts",
        "--chart=podinfo",
    ];
    let said = flux.run(&[&create[..], &["--interval=1h"]].concat()).await;
    assert!(said.contains("fetched revision: 6.1.0"), "{said}");
    charts.add(&Chart::new("podinfo", "6.2.0"));
    flux.run(&["reconcile", "source", "helm", "charts"]).await;
    let said = flux.run(&["reconcile", "source", "chart", "podinfo"]).await;
    assert!(said.contains("fetched revision 6.2.0"), "{said}");

    let place = format!("--url=oci://{}/charts", registry.host());
    flux.run(&["create", "source", "helm", "registry", &place]).await;
    let said = flux.run(&["reconcile", "source", "helm", "registry"]).await;
    assert!(said.contains("reconciliation not supported"), "{said}");

    let store = s3::Server::builder().key("access", "geheim").start();
    store.bucket("manifests").put("a", "1");
    let endpoint = format!("--endpoint={}", store.host());
    let create = [
        "create",
        "source",
        "bucket",
        "files",
        "--bucket-name=manifests",
        &endpoint,
    ];
    let login = [
        "--access-key=access",
        "--secret-key=geheim",
        "--insecure",
        "--interval=1h",
    ];
    let said = flux.run(&[&create[..], &login[..]].concat()).await;
    assert!(said.contains("fetched revision: sha256:"), "{said}");
    flux.run(&["reconcile", "source", "bucket", "files"]).await;

    let all = flux.run(&["get", "sources", "all"]).await;
    for name in [
        "ocirepository/app",
        "helmrepository/charts",
        "helmchart/podinfo",
        "bucket/files",
    ] {
        assert!(all.contains(name), "{name}: {all}");
    }
}
