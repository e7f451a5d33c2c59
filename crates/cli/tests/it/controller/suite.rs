//! The end-to-end suite of Flux's helm-controller (`hack/ci/e2e` of `fluxcd/helm-controller`) with Sluice in its place: its own scripts and its
//! own objects on a real cluster with a simulated node, looked at by the real kubectl and helm.
//!
//! It runs where `SLUICE_HELM_CONTROLLER` names a checkout of that repository, alone, as namespaces have fixed names: `tests/helm-controller/run`
//! brings both. Scripts and objects are as they are there but for what names servers of the internet: addresses, the digests of two
//! artifacts, and the check of one signature that nobody here can make. The charts are the copy of podinfo that is part of the repository, under
//! the versions that are asked for, with what these have and it has not.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use testkit::archive::File;
use testkit::helm::Chart;
use testkit::{git, helm, oci, program};
use tokio::process::Command;

use super::bed::Bed;
use super::example::collect;

/// The scripts run side by side, as they do upstream.
const SCRIPTS: [&str; 4] = ["smoke", "lifecycle", "ssa", "advanced"];
/// Each waits for minutes where something never comes.
const LIMIT: Duration = Duration::from_secs(900);
const RENAMED: &str = "config/testdata/charts/upgrade-chart-name-change/podinfo-renamed";
const VERSIONS: [&str; 5] = ["6.2.1", "6.3.5", "6.6.0", "6.8.0", "6.11.3"];
const NEWEST: &str = "6.11.3";
const NAMESPACE: &str = "  namespace: {{ include \"podinfo.namespace\" . }}\n";

/// A Job that ends, which newer versions of podinfo have.
const HOOK: &str = r#"{{- with ((.Values.hooks).postInstall).job }}
{{- if .enabled }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ $.Release.Name }}-post-install
  annotations:
    helm.sh/hook: post-install
spec:
  ttlSecondsAfterFinished: {{ .ttlSecondsAfterFinished }}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: one, image: "registry.example.com/one:1"}]
{{- end }}
{{- end }}
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_to_end_suite_of_helm_controller_passes() {
    let Some(checkout) = program::named_by("SLUICE_HELM_CONTROLLER") else {
        return;
    };
    for needed in ["kubectl", "helm", "jq", "bash"] {
        assert!(program::find(needed).is_some(), "{needed} is missing");
    }
    let bed = Bed::start().await;
    let servers = Servers::start(&checkout);
    let folder = tempfile::tempdir().unwrap();
    servers.lay_out(&checkout, folder.path());
    let suite = Suite {
        folder: folder.path(),
        kubeconfig: &bed.kubeconfig,
    };
    for definition in api::definitions() {
        let definition = serde_json::to_value(definition.to_value()).unwrap();
        bed.cluster.serve(&definition).await;
    }

    suite
        .runs("kubectl apply -f config/testdata/status-defaults")
        .await;
    let status = suite
        .runs("kubectl get helmrelease status-defaults -o go-template={{.status}}")
        .await;
    assert_eq!(status, "map[observedGeneration:-1]");
    let everywhere = ["--watch-all-namespaces=true", "--requeue-dependency=5s"];
    let controllers = bed.program().with_all().with(&everywhere).start();
    controllers.serves().await;
    suite.runs("kubectl create namespace helm-system").await;
    suite
        .runs("kubectl -n helm-system apply -f config/testdata/sources")
        .await;
    let ran = SCRIPTS.map(|name| suite.script(name));
    let failed: String = futures::future::join_all(ran)
        .await
        .into_iter()
        .flatten()
        .collect();
    assert!(
        failed.is_empty(),
        "{failed}\nSluice said:\n{}",
        controllers.said()
    );
    controllers.stop().await;
}

/// What stands for the servers of the internet.
struct Servers {
    git: git::Server,
    charts: helm::Server,
    registry: oci::Server,
}

impl Servers {
    fn start(checkout: &Path) -> Self {
        let servers = Servers {
            git: git::Server::start(),
            charts: helm::Server::start(),
            registry: oci::Server::start(),
        };
        for version in VERSIONS {
            let chart = podinfo(checkout, version);
            servers.charts.add(&chart);
            servers
                .registry
                .push("stefanprodan/charts/podinfo", version, &chart.artifact());
        }
        let files = podinfo(checkout, NEWEST).all_files().into_iter();
        let files = files.map(|(path, content)| (format!("charts/podinfo/{path}"), text(content)));
        servers.commit("podinfo", files.collect());
        let mut own = Vec::new();
        collect(
            &checkout.join("config/testdata/charts"),
            "config/testdata/charts/",
            &mut own,
        );
        let own = own.into_iter().map(|file| (file.path, text(file.content)));
        servers.commit("helm-controller", own.collect());
        servers
    }

    fn commit(&self, repository: &str, files: Vec<(String, String)>) {
        let repository = self.git.repository(repository);
        let files: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, content)| (path.as_str(), content.as_str()))
            .collect();
        let commit = repository.commit("main", "Start", files);
        repository.tag(NEWEST, commit);
    }

    /// Copies scripts and objects, led to these servers.
    fn lay_out(&self, checkout: &Path, folder: &Path) {
        for part in ["config/samples", "config/testdata", "hack/ci/e2e"] {
            let mut files = Vec::new();
            collect(&checkout.join(part), &format!("{part}/"), &mut files);
            for file in files {
                let path = folder.join(&file.path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, self.led_here(&text(file.content))).unwrap();
            }
        }
    }

    fn led_here(&self, text: &str) -> String {
        let digest = |version| {
            let digest = self.registry.digest("stefanprodan/charts/podinfo", version);
            digest.unwrap()
        };
        let registry = format!("insecure: true\n  url: oci://{}/", self.registry.host());
        let led = [
            ("https://stefanprodan.github.io/podinfo", self.charts.url()),
            (
                "https://github.com/stefanprodan/podinfo",
                self.git.clone_url("podinfo"),
            ),
            (
                "https://github.com/$TEST_REPOSITORY",
                self.git.clone_url("helm-controller"),
            ),
            ("url: oci://ghcr.io/", registry),
            (
                "sha256:cdd538a0167e4b51152b71a477e51eb6737553510ce8797dbcc537e1342311bb",
                digest("6.3.5"),
            ),
            (
                "sha256:0cc9a8446c95009ef382f5eade883a67c257f77d50f84e78ecef2aac9428d1e5",
                digest("6.6.0"),
            ),
            ("      verify:\n        provider: cosign\n", String::new()),
            ("  verify:\n    provider: cosign\n", String::new()),
        ];
        led.iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }
}

/// The copy of podinfo in the repository, by its old name and under a version.
fn podinfo(checkout: &Path, version: &str) -> Chart {
    let mut files = Vec::new();
    collect(&checkout.join(RENAMED), "", &mut files);
    // Its schema, which podinfo does not have, allows less than the objects ask for.
    let is_same = |file: &File| !["Chart.yaml", "values.schema.json"].contains(&file.path.as_str());
    let files = files.into_iter().filter(is_same);
    let chart = Chart::new("podinfo", version).metadata("appVersion", version);
    let chart = files.fold(chart, |chart, file| {
        // Before 6.9.0 objects did not name their namespace, which patches rely on.
        let content = match version {
            NEWEST => text(file.content),
            _ => text(file.content).replace(NAMESPACE, ""),
        };
        chart.file(&file.path, content)
    });
    chart.template("hooks/job.yaml", HOOK)
}

fn text(content: Vec<u8>) -> String {
    String::from_utf8(content).unwrap()
}

/// Where the scripts are, and which cluster they are to be run against.
struct Suite<'a> {
    folder: &'a Path,
    kubeconfig: &'a Path,
}

impl Suite<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new("bash");
        command
            .current_dir(self.folder)
            .env("KUBECONFIG", self.kubeconfig)
            .envs([
                ("GITHUB_REPOSITORY", "fluxcd/helm-controller"),
                ("GITHUB_REF", "refs/heads/main"),
                ("GITHUB_EVENT_NAME", "push"),
            ])
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// What a command prints that must succeed.
    async fn runs(&self, line: &str) -> String {
        let output = self.command().args(["-ec", line]).output().await.unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {complaint}");
        text(output.stdout)
    }

    /// Runs a script to its end; all that it said, if it has failed.
    async fn script(&self, name: &str) -> Option<String> {
        let path = format!("hack/ci/e2e/{name}.sh");
        let ran = tokio::time::timeout(LIMIT, self.command().args(["-e", &path]).output()).await;
        let Ok(output) = ran else {
            return Some(format!("{path} does not end\n"));
        };
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].map(text).concat();
        eprintln!("{path}: {}\n{said}", output.status);
        (!output.status.success()).then(|| format!("{path}: {}\n{said}\n", output.status))
    }
}
