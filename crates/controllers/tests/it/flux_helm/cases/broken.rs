//! What cannot be released.

use serde_json::json;

use super::{Case, Chart, case, config, data};

pub(super) fn cases() -> Vec<Case> {
    let app = || Chart::app("1.0.0");
    let schema = r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#;
    let strict = || app().with("values.schema.json", schema);
    vec![
        case("no-values", app(), json!({"valuesFrom": [{"kind": "ConfigMap", "name": "some"}]}))
            .then_put(data("ConfigMap", "some", "data", json!({"values.yaml": "a: two\n"}))),
        case("bad-values", app(), json!({"valuesFrom": [{"kind": "ConfigMap", "name": "some"}]}))
            .before(data("ConfigMap", "some", "data", json!({"values.yaml": "a: ["}))),
        case("no-values-key", app(), json!({"valuesFrom": [{"kind": "ConfigMap", "name": "some"}]}))
            .before(data("ConfigMap", "some", "data", json!({"x": "y"}))),
        case("schema", strict(), json!({"values": {"a": 1}})).then_spec(json!({"values": {"a": "1"}})),
        case("schema-later", strict(), json!({})).then_spec(json!({"values": {"a": 1}})).then_spec(json!({"values": {"a": "1"}})),
        case("schema-off", strict(), json!({"values": {"a": 1}, "install": {"disableSchemaValidation": true}})),
        case("not-rendered", app().with("templates/x.yaml", "{{ fail \"no\" }}"), json!({})),
        case("not-rendered-later", app(), json!({})).chart(Chart::app("1.1.0").with("templates/x.yaml", "{{ .Values.x.y }}")).then_chart(1),
        case("no-yaml", app().with("templates/x.yaml", "a: [\n"), json!({})),
        case("unknown-kind", app().with("templates/x.yaml", "apiVersion: nobody.test/v1\nkind: Nothing\nmetadata:\n  name: it\n"), json!({})),
        case("refused", app().with("templates/x.yaml", &config("One_Two", "x", "")), json!({})),
        case("refused-later", app(), json!({})).chart(Chart::app("1.1.0").with("templates/x.yaml", &config("two", "{b: c}", ""))).then_chart(1),
        case("no-source", app(), json!({"chartRef": {"kind": "HelmChart", "name": "nobody"}})),
        case("no-artifact", app(), json!({"chartRef": {"kind": "OCIRepository", "name": "empty"}})).before(json!({
            "apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository", "metadata": {"name": "empty"},
            "spec": {"interval": "1h", "url": "oci://registry.test/app"},
        })),
        case("no-account", app(), json!({"serviceAccountName": "nobody"})),
        case("no-kubeconfig", app(), json!({"kubeConfig": {"secretRef": {"name": "nobody"}}})),
        case("bad-expression", app(), json!({"healthCheckExprs": [{"apiVersion": "v1", "kind": "ConfigMap", "current": "data."}]})),
        case("needs", app(), json!({"dependsOn": [{"name": "app", "namespace": "named"}]})),
        case("needs-nobody", app(), json!({"dependsOn": [{"name": "nobody"}]})),
        case("needs-broken", app(), json!({"dependsOn": [{"name": "app", "namespace": "not-rendered"}]})),
        case("needs-expression", app(), json!({"dependsOn": [{"name": "app", "namespace": "named", "readyExpr": "dep."}]})),
    ]
}
