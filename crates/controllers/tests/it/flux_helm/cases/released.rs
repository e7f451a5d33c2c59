//! Releases that do well.

use serde_json::json;

use super::{Case, Chart, Origin, case, config, data};

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels: {app: {{ .Release.Name }}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
    spec:
      containers:
      - name: c
        image: i:1
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: {app: {{ .Release.Name }}}
  ports: [{port: 80}]
";

pub(super) fn cases() -> Vec<Case> {
    let app = || Chart::app("1.0.0");
    let two = || Chart::app("1.1.0").with("templates/two.yaml", &config("two", "x", ""));
    let notes = || app().with("templates/NOTES.txt", "Hello {{ .Release.Name }}.\n");
    let workload = || {
        Chart::named("app", "1.0.0")
            .with("values.yaml", "replicas: 1\n")
            .with("templates/all.yaml", DEPLOYMENT)
    };
    let library = || {
        app()
            .with("templates/_helpers.tpl", "{{ define \"x\" }}y{{ end }}\n")
            .with("files/a.txt", "{{ not a template }}\n")
            .with("README.md", "# app\n")
    };
    vec![
        case("install", app(), json!({})).then().then_deleted(),
        case("values", app(), json!({"values": {"a": "two"}})).then_spec(json!({"values": {"a": "three"}})),
        case("version", app(), json!({})).chart(two()).then_chart(1).then_deleted(),
        case("version-back", two(), json!({})).chart(app()).then_chart(1),
        case("notes", notes(), json!({})),
        case("files", library(), json!({"values": {"n": 1, "f": 1.5, "l": [1, "x", null], "o": {"p": true}}})),
        case("workload", workload(), json!({}))
            .then_spec(json!({"values": {"replicas": 2}}))
            .then_deleted(),
        case("template", app(), json!({}))
            .origin(Origin::Template)
            .chart(two())
            .then_chart(1)
            .then_deleted(),
        case("oci", app(), json!({}))
            .origin(Origin::Oci)
            .chart(app().with("README.md", "another\n"))
            .then_chart(1)
            .then(),
        case("external", app(), json!({})).origin(Origin::External).then(),
        case(
            "values-from",
            app(),
            json!({"valuesFrom": [
                {"kind": "ConfigMap", "name": "some"},
                {"kind": "Secret", "name": "other", "valuesKey": "a", "targetPath": "b.c"},
                {"kind": "ConfigMap", "name": "some", "valuesKey": "list", "targetPath": "d", "literal": true},
                {"kind": "ConfigMap", "name": "nobody", "optional": true},
            ], "values": {"e": 1}}),
        )
        .before(data("ConfigMap", "some", "data", json!({"values.yaml": "a: here\ne: 2\n", "list": "{1,2}"})))
        .before(data("Secret", "other", "stringData", json!({"a": "1,2"})))
        .then_put(data("ConfigMap", "some", "data", json!({"values.yaml": "a: there\n", "list": "x=y"}))),
        case("no-wait", app(), json!({"install": {"disableWait": true}, "upgrade": {"disableWait": true}}))
            .then_spec(json!({"values": {"a": "two"}})),
        case("client-side", app(), json!({"install": {"serverSideApply": false}, "upgrade": {"serverSideApply": "disabled"}}))
            .then_spec(json!({"values": {"a": "two"}}))
            .then_spec(json!({"upgrade": {"serverSideApply": "enabled"}, "values": {"a": "three"}})),
        case("client-side-forced", app(), json!({"install": {"serverSideApply": false}, "upgrade": {"force": true}}))
            .then_spec(json!({"values": {"a": "two"}})),
        case("preserve-values", app(), json!({"values": {"a": "two", "b": 1}, "upgrade": {"preserveValues": true}}))
            .then_spec(json!({"values": {"a": "two", "b": null, "c": 2}})),
        case("max-history", app(), json!({"maxHistory": 1, "values": {"a": "1"}}))
            .then_spec(json!({"values": {"a": "2"}}))
            .then_spec(json!({"values": {"a": "3"}})),
        case(
            "rendered",
            app(),
            json!({
                "commonMetadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}},
                "postRenderers": [{"kustomize": {"patches": [
                    {"target": {"kind": "ConfigMap"}, "patch": "- op: add\n  path: /data/b\n  value: c\n"},
                ]}}],
            }),
        )
        .then_spec(json!({"commonMetadata": {"labels": {"team": "b"}, "annotations": null}}))
        .then_spec(json!({"postRenderers": null})),
    ]
}
