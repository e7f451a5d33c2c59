//! Hooks, tests and definitions.

use serde_json::json;

use super::{Case, Chart, case, config};

fn hook(name: &str, events: &str, weight: i32, policy: &str) -> String {
    let policy = match policy {
        "" => String::new(),
        policy => format!("    helm.sh/hook-delete-policy: {policy}\n"),
    };
    let metadata = format!(
        "  annotations:\n    helm.sh/hook: {events}\n    helm.sh/hook-weight: \"{weight}\"\n{policy}"
    );
    config(name, "\"{{ .Release.Revision }}\"", &metadata)
}

/// A Job that is a hook, and ends well.
const JOB: &str = "apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations:
    helm.sh/hook: pre-install
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i}]
";

/// A Pod that is a test.
fn test_pod(outcome: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: check\n  annotations:\n    helm.sh/hook: test\n{outcome}spec:\n  restartPolicy: \
         Never\n  containers: [{{name: c, image: i}}]\n"
    )
}

fn definition(group: &str, more: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: things.{group}\nspec:\n  group: {group}\n  \
         scope: Namespaced\n  names: {{kind: Thing, plural: things}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          a: {{type: string}}\n{more}"
    )
}

pub(super) fn cases() -> Vec<Case> {
    let app = || Chart::app("1.0.0");
    let all = || {
        app()
            .with(
                "templates/1.yaml",
                &hook("first", "pre-install,pre-upgrade", -1, "before-hook-creation"),
            )
            .with(
                "templates/2.yaml",
                &hook("second", "pre-install", 5, "hook-succeeded"),
            )
            .with(
                "templates/3.yaml",
                &hook("third", "post-install,post-upgrade", 0, ""),
            )
            .with(
                "templates/4.yaml",
                &hook("rollback", "pre-rollback,post-rollback", 0, ""),
            )
            .with("templates/5.yaml", &hook("deleted", "pre-delete", 0, ""))
            .with(
                "templates/6.yaml",
                &hook("deleted-after", "post-delete", 0, "hook-succeeded,hook-failed"),
            )
    };
    let off = json!({"install": {"disableHooks": true}, "upgrade": {"disableHooks": true}, "uninstall": {"disableHooks": true}});
    let failing = "    simulator.sluice.dev/outcome: crash\n";
    let tested = |outcome: &str| app().with("templates/test.yaml", &test_pod(outcome));
    let defined = |name: &str, more: &str| {
        let version = if more.is_empty() { "1.0.0" } else { "1.1.0" };
        Chart::app(version).with("crds/things.yaml", &definition(&format!("{name}.test"), more))
    };
    let more = "          b: {type: string}\n";
    let crds = |name: &str, policy: &str| {
        let spec = json!({"install": {"crds": policy}, "upgrade": {"crds": policy}});
        case(name, defined(name, ""), spec)
            .chart(defined(name, more))
            .then_chart(1)
            .then_deleted()
    };
    vec![
        case("hooks", all(), json!({}))
            .then_spec(json!({"values": {"a": "two"}}))
            .then_deleted(),
        case("no-hooks", all(), off)
            .then_spec(json!({"values": {"a": "two"}}))
            .then_deleted(),
        case("job-hook", app().with("templates/job.yaml", JOB), json!({})),
        case("tested", tested(""), json!({"test": {"enable": true}}))
            .then()
            .then_spec(json!({"values": {"a": "two"}})),
        case(
            "test-fails",
            tested(failing),
            json!({"test": {"enable": true, "timeout": "7s"}}),
        )
        .then_deleted(),
        case(
            "test-fails-ignored",
            tested(failing),
            json!({"test": {"enable": true, "ignoreFailures": true, "timeout": "7s"}}),
        ),
        case(
            "tests-filtered",
            tested(failing).with("templates/other.yaml", &hook("other", "test", 0, "")),
            json!({"test": {"enable": true, "filters": [{"name": "check", "exclude": true}]}}),
        ),
        case(
            "test-enabled-later",
            app().with("templates/other.yaml", &hook("other", "test", 0, "")),
            json!({}),
        )
        .then_spec(json!({"test": {"enable": true}}))
        .then_spec(json!({"test": {"enable": false}})),
        crds("crds-created", "Create"),
        crds("crds-replaced", "CreateReplace"),
        crds("crds-skipped", "Skip"),
    ]
}
