//! Whether Kubernetes would take what a chart makes: `--validate` and `--dry-run=server`.

use std::path::Path;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use tempfile::TempDir;
use testkit::Cluster;

use super::{folder, run, text};

const CHART: (&str, &str) = ("app/Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.2.3\n");
const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, maximum: 3}}}
";

/// What was printed, and what was said.
fn ours(arguments: &[&str], folder: &Path) -> (String, String) {
    let arguments = [&["helm", "template", "web", "./app"], arguments].concat();
    let output = run(env!("CARGO_BIN_EXE_sluice"), &arguments, folder);
    assert_eq!(output.status.success(), !output.stdout.is_empty());
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_chart_that_kubernetes_takes_is_printed_as_it_is() {
    let folder = folder(&[
        CHART,
        ("app/crds/things.yaml", DEFINITION),
        (
            "app/templates/a.yaml",
            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: elsewhere}\nspec: {size: 3}\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}\n",
        ),
        (
            "app/templates/test.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: test, annotations: {helm.sh/hook: test}}\nspec: {serviceAccountName: of-others, containers: [{name: a, image: b}]}\n",
        ),
    ]);
    assert_eq!(ours(&["--validate"], folder.path()), ours(&[], folder.path()));
}

#[test]
fn all_that_kubernetes_would_not_take_is_told_with_its_file() {
    let folder = folder(&[
        CHART,
        ("app/crds/things.yaml", DEFINITION),
        (
            "app/templates/a.yaml",
            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {size: 4}\n---\nkind: ConfigMap\nmetadata: {name: b}\n",
        ),
        (
            "app/templates/deployment.yaml",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replica: 2\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b}]}}\n",
        ),
        (
            "app/templates/service.yaml",
            "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 99999}]}\n",
        ),
        (
            "app/templates/test.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: test, annotations: {helm.sh/hook: test}}\nspec: {containers: []}\n",
        ),
        (
            "app/templates/unknown.yaml",
            "apiVersion: a.example/v1\nkind: Unknown\nmetadata: {name: u}\n",
        ),
    ]);
    let (printed, said) = ours(&["--validate", "-n", "shop"], folder.path());
    assert_eq!(printed, "");
    for problem in [
        "error: the chart makes 6 objects that Kubernetes would not take:",
        "  app/templates/a.yaml: Thing shop/a: Thing.example.com \"a\" is invalid: spec.size: Invalid value: 4: ",
        "  app/templates/a.yaml: ConfigMap b: apiVersion not set",
        "  app/templates/deployment.yaml: Deployment shop/web: failed to create typed patch object",
        ".spec.replica: field not declared in schema",
        "  app/templates/service.yaml: Service shop/web: Service \"web\" is invalid: [spec.ports[0].port: Invalid value: 99999: ",
        "  app/templates/test.yaml: Pod shop/test: Pod \"test\" is invalid: spec.containers: ",
        "  app/templates/unknown.yaml: Unknown u: no matches for kind \"Unknown\" in version \"a.example/v1\": the chart brings no definition of it; --api-versions a.example/v1/Unknown says",
    ] {
        assert!(said.contains(problem), "{problem}\n{said}");
    }
    let (_, said) = ours(
        &["--validate", "-n", "shop", "--skip-tests", "-a", "a.example/v1"],
        folder.path(),
    );
    assert!(
        said.contains("not checked, as nothing defines it: a.example/v1/Unknown\n"),
        "{said}"
    );
    assert!(said.contains("makes 4 objects"), "{said}");
}

/// A chart and a cluster, and how both programs ask it.
struct Bed {
    folder: TempDir,
    cluster: Cluster,
    namespace: String,
    kubeconfig: String,
}

impl Bed {
    async fn start(files: &[(&str, &str)]) -> Self {
        let cluster = Cluster::start().await;
        Bed {
            folder: folder(files),
            namespace: cluster.namespace("helm").await,
            kubeconfig: cluster.kubeconfig().await.display().to_string(),
            cluster,
        }
    }

    /// Puts an object there that belongs to nobody.
    async fn put_there(&self) {
        let maps: Api<ConfigMap> = Api::namespaced(self.cluster.client(), &self.namespace);
        let there = json!({ "metadata": { "name": "there" }, "data": { "key": "value" } });
        let there = serde_json::from_value(there).unwrap();
        maps.create(&PostParams::default(), &there).await.unwrap();
    }

    /// What ours prints and says; the real one must print and say the same, if it is there.
    async fn same(&self, arguments: &[&str]) -> (String, String) {
        let namespace = self.namespace.as_str();
        let first = ["template", "web", "./app", "--dry-run=server", "-n", namespace];
        let arguments: Vec<String> = [&first[..], &["--kubeconfig", &self.kubeconfig], arguments]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let folder = self.folder.path().to_owned();
        let work = move || {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let ours = run(
                env!("CARGO_BIN_EXE_sluice"),
                &[&["helm"], arguments.as_slice()].concat(),
                &folder,
            );
            let ours = (text(&ours.stdout), text(&ours.stderr));
            if testkit::program::find("helm").is_some() {
                let theirs = run("helm", &arguments, &folder);
                assert_eq!(ours.0, text(&theirs.stdout), "{}", text(&theirs.stderr));
                let theirs = text(&theirs.stderr).replacen("Error: ", "error: ", 1);
                assert_eq!(ours.1, theirs);
            }
            ours
        };
        tokio::task::spawn_blocking(work).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_see_the_cluster_that_is_asked() {
    let bed = Bed::start(&[
        CHART,
        (
            "app/templates/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  version: {{ .Capabilities.KubeVersion.Version | quote }}\n  has: {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" | quote }}\n  hasNot: {{ .Capabilities.APIVersions.Has \"a.example/v1\" | quote }}\n  found: {{ (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"there\").data.key | quote }}\n  gone: {{ len (lookup \"v1\" \"ConfigMap\" .Release.Namespace \"gone\") }}\n",
        ),
    ])
    .await;
    bed.put_there().await;
    // What is said of the cluster by flags does not count.
    let (printed, _) = bed.same(&["-a", "a.example/v1", "--kube-version", "1.20"]).await;
    assert!(!printed.contains("v1.20"), "{printed}");
    for line in [
        "has: \"true\"",
        "hasNot: \"false\"",
        "found: \"value\"",
        "gone: 0",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kinds_that_are_missing_and_objects_in_the_way_are_told_as_helm_tells_them() {
    let bed = Bed::start(&[
        CHART,
        (
            "app/templates/a.yaml",
            "{{ range .Values.kinds }}\n---\napiVersion: a.example/v1\nkind: {{ . }}\nmetadata: {name: u}\n{{ end }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: there}\n",
        ),
        ("app/values.yaml", "kinds: []\n"),
    ])
    .await;
    let (_, said) = bed.same(&["--set", "kinds={One}"]).await;
    assert!(said.contains("no matches for kind \"One\""), "{said}");
    let (_, said) = bed.same(&["--set", "kinds={One,Two}"]).await;
    assert!(said.contains("no matches for kind \"Two\""), "{said}");
    assert_ne!(bed.same(&[]).await.0, "");
    bed.put_there().await;
    let (printed, said) = bed.same(&[]).await;
    assert_eq!(printed, "");
    assert!(
        said.contains("unable to continue with install: ConfigMap \"there\" in namespace"),
        "{said}"
    );
    assert_ne!(bed.same(&["--is-upgrade"]).await.0, "");
}

#[test]
fn what_cannot_be_asked_is_told() {
    let folder = folder(&[CHART, ("app/templates/a.yaml", "kind: A\n")]);
    for (arguments, problem) in [
        (
            &["--dry-run=none"][..],
            "error: invalid dry-run value (\"none\"). Must be \"server\" or \"client\"\n",
        ),
        (
            &["--dry-run=x"],
            "error: invalid dry-run value (\"x\"). Must be \"none\", \"server\", or \"client\"\n",
        ),
        (
            &["--dry-run=server", "--kubeconfig", "/does/not/exist"],
            "error: cluster reachability check failed: kubernetes cluster unreachable: ",
        ),
    ] {
        let (_, said) = ours(arguments, folder.path());
        assert!(said.starts_with(problem), "{said}");
    }
}
