//! Where values come from, in which order, and what they come to.

use api::helm::HelmRelease;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::bed::{CONFIG, Setting};
use super::hands::{message, said};

const FILES: [(&str, &str); 2] = [
    ("app/values.yaml", "a: one\n"),
    ("app/templates/config.yaml", CONFIG),
];

/// The values that a release was made with.
async fn given(setting: &Setting, name: &str, version: i64) -> Value {
    setting.deployed(name, version).await;
    let config = setting.record(name, version).await.config.unwrap_or_default();
    let mut values = serde_json::to_value(&config).unwrap();
    plain(&mut values);
    values
}

/// All numbers are floats to Helm; whole ones are the same to people.
fn plain(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(plain),
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Number(number) => {
            let float = number.as_f64().unwrap();
            if float.fract() == 0.0 {
                *value = json!(float as i64);
            }
        }
        _ => {}
    }
}

async fn put_map(setting: &Setting, name: &str, data: Value) {
    let labels = json!({"reconcile.fluxcd.io/watch": "Enabled"});
    let metadata = json!({"name": name, "labels": labels});
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
    setting.put(map).await;
}

fn from_map(key: &str, path: Option<&str>) -> Value {
    let mut from = json!({"kind": "ConfigMap", "name": "values", "valuesKey": key});
    if let Some(path) = path {
        from["targetPath"] = json!(path);
    }
    from
}

/// VA1, VA2, VA3, VA5, trap22, `values`, `valuesFrom`: all kinds of references in one release, in their order, with paths into maps and lists and with dots and slashes in keys.
#[tokio::test]
async fn values_are_put_together_in_their_order() {
    let setting = Setting::with(&FILES).await;
    put_map(
        &setting,
        "values",
        json!({
            "limits": "size:\n  limits: {cpu: 200m, memory: 1Gi}\n  list: [1, 2]\n",
            "requests": "size:\n  requests: {cpu: 100m}\n  list: [3]\n",
            "cpu": "400m", "list": "{x,y,z}", "third": "w", "mark": "shop", "number": "5", "text": "'5'",
            "comma": "a,b=c", "inline": "over",
        }),
    )
    .await;
    setting
        .bed
        .secret(
            "hidden",
            "Opaque",
            json!({"values.yaml": "hidden: {enabled: true}\n"}),
        )
        .await;
    let literal = json!({"kind": "ConfigMap", "name": "values", "valuesKey": "comma", "targetPath": "comma", "literal": true});
    let spec = json!({
        "valuesFrom": [
            from_map("limits", None),
            from_map("requests", None),
            from_map("inline", Some("own.deep.a")),
            from_map("cpu", Some("size.limits.cpu")),
            from_map("list", Some("names.all")),
            from_map("third", Some("names.all[2]")),
            from_map("mark", Some(r"marks.example\.com\/team")),
            from_map("number", Some("numbers.plain")),
            from_map("text", Some("numbers.quoted")),
            literal,
            {"kind": "Secret", "name": "hidden"},
        ],
        "values": {"a": "inline", "own": {"deep": {"a": "inline", "b": "inline"}}, "size": {"requests": {"memory": "2Gi"}}},
    });
    setting.create("web", spec).await;
    let wanted = json!({
        "a": "inline", "comma": "a,b=c", "hidden": {"enabled": true},
        "marks": {"example.com/team": "shop"}, "names": {"all": ["x", "y", "w"]},
        "numbers": {"plain": 5, "quoted": "5"}, "own": {"deep": {"a": "over", "b": "inline"}},
        "size": {"limits": {"cpu": "400m", "memory": "1Gi"}, "list": [3], "requests": {"cpu": "100m", "memory": "2Gi"}},
    });
    assert_eq!(given(&setting, "web", 1).await, wanted);
}

/// VA5: maps are merged and lists replaced; null stays in what is given, and takes the chart's own value away.
#[tokio::test]
async fn null_takes_the_value_of_the_chart_away() {
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  a: {{ hasKey .Values.map \"gone\" | quote }}\n";
    let setting = Setting::with(&[
        ("app/values.yaml", "map: {gone: 1, kept: 2}\nlist: [1, 2]\n"),
        ("app/templates/config.yaml", template),
    ])
    .await;
    put_map(
        &setting,
        "values",
        json!({"values.yaml": "map: {gone: null, more: 3}\nlist: [3]\n"}),
    )
    .await;
    let spec = json!({"valuesFrom": [{"kind": "ConfigMap", "name": "values"}]});
    setting.create("web", spec).await;
    let values = given(&setting, "web", 1).await;
    assert_eq!(values, json!({"map": {"gone": null, "more": 3}, "list": [3]}));
    setting.value("web", Some("false")).await;
}

/// VA6, trap18: digests of values are those of Flux, byte for byte; so values that are the same make no release.
#[tokio::test]
async fn the_digest_of_values_is_that_of_flux() {
    let setting = Setting::with(&FILES).await;
    let values = json!({"z": [true, null], "a": "on", "number": 1.5, "deep": {"b": "1", "a": {}}});
    // As Go writes it: keys in order, texts that would be something else in quotes.
    let text = "a: \"on\"\ndeep:\n  a: {}\n  b: \"1\"\nnumber: 1.5\nz:\n- true\n- null\n";
    setting.create("none", json!({})).await;
    setting.create("some", json!({"values": values})).await;
    let digest = |text: &str| {
        let digest = Sha256::digest(text.as_bytes());
        let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Some(format!("sha256:{digits}"))
    };
    for (name, text) in [("none", ""), ("some", text)] {
        let status = setting.deployed(name, 1).await.status.unwrap();
        assert_eq!(status.last_attempted_config_digest, digest(text), "{name}");
        assert_eq!(
            Some(status.history[0].config_digest.clone()),
            digest(text),
            "{name}"
        );
    }
    put_map(&setting, "values", json!({"values.yaml": text})).await;
    let same = json!({"values": null, "valuesFrom": [{"kind": "ConfigMap", "name": "values"}]});
    setting.change("some", same).await;
    let handled = |object: &HelmRelease| {
        let status = object.status.as_ref().unwrap();
        status.observed_generation == Some(2) && said(object, &["Reconciling"]) == ["no Reconciling"]
    };
    let object = setting.bed.until("some", handled).await;
    assert_eq!(object.status.unwrap().history[0].version, 1);
}

/// VA4, trap22: what may be missing may be missing as an object and as a key.
#[tokio::test]
async fn what_may_be_missing_is_left_out() {
    let setting = Setting::with(&FILES).await;
    setting.set_values("values", "a: two").await;
    let spec = json!({"valuesFrom": [
        {"kind": "ConfigMap", "name": "nowhere", "optional": true},
        {"kind": "Secret", "name": "nowhere", "optional": true, "targetPath": "a"},
        {"kind": "ConfigMap", "name": "values", "valuesKey": "other", "optional": true},
    ]});
    setting.create("web", spec).await;
    assert_eq!(given(&setting, "web", 1).await, json!({}));
}

/// `bad:values`, HS3, HS6, HR2: values that are not there or cannot be read are told by object and key, never by what is in them; nothing is changed, and with
/// the object that was missing the release goes on.
#[tokio::test]
async fn values_that_cannot_be_had_are_told_and_what_runs_stays() {
    let setting = Setting::with(&FILES).await;
    setting.create("web", json!({})).await;
    setting.deployed("web", 1).await;
    let space = setting.bed.namespace.clone();
    let from = |from: Value| json!({"valuesFrom": [from]});
    setting
        .change("web", from(json!({"kind": "ConfigMap", "name": "later"})))
        .await;
    let told = |object: &HelmRelease, wanted: &str| {
        said(object, &["Ready"]) == ["Ready=False ValuesError"] && message(object, "Ready").contains(wanted)
    };
    let missing =
        format!("could not resolve ConfigMap chart values reference '{space}/later' with key 'values.yaml'");
    let object = setting.bed.until("web", |object| told(object, &missing)).await;
    assert!(message(&object, "Ready").ends_with("configmaps \"later\" not found"));
    setting
        .bed
        .until_event(|event| {
            let is_warning = event.type_.as_deref() == Some("Warning");
            is_warning && event.reason.as_deref() == Some("ValuesError")
        })
        .await;
    setting.value("web", Some("one")).await;
    put_map(&setting, "later", json!({"values.yaml": "a: two\n"})).await;
    setting.deployed("web", 2).await;
    setting.value("web", Some("two")).await;

    setting
        .bed
        .secret("broken", "Opaque", json!({"values.yaml": "password: [geheim"}))
        .await;
    setting
        .change(
            "web",
            from(json!({"kind": "Secret", "name": "broken", "valuesKey": "other"})),
        )
        .await;
    let key = format!("Secret chart values reference '{space}/broken' with key 'other': key not found");
    setting.bed.until("web", |object| told(object, &key)).await;
    setting
        .change("web", from(json!({"kind": "Secret", "name": "broken"})))
        .await;
    let unreadable = format!("Secret chart values reference '{space}/broken' with key 'values.yaml'");
    let object = setting.bed.until("web", |object| told(object, &unreadable)).await;
    assert!(
        !message(&object, "Ready").contains("geheim"),
        "{}",
        message(&object, "Ready")
    );
    setting.value("web", Some("two")).await;
    assert_eq!(setting.records("web").await.len(), 2);
}

/// VA1, `bad`: what comes out of a Secret is in no message, though a schema or a chart complains of it.
#[tokio::test]
async fn what_is_secret_is_in_no_message() {
    let schema = r#"{"properties": {"password": {"type": "string", "pattern": "^[a-z]+$"}}}"#;
    let fails = "{{ if .Values.shout }}{{ fail .Values.password }}{{ end }}";
    let setting = Setting::with(&[
        ("app/values.yaml", "a: one\n"),
        ("app/templates/config.yaml", CONFIG),
        ("app/templates/fails.yaml", fails),
        ("app/values.schema.json", schema),
    ])
    .await;
    let secret = |password: &str| {
        json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hush"},
            "stringData": {"values.yaml": format!("password: {password}\n")},
        })
    };
    setting.put(secret("TOPSECRET43")).await;
    let from = json!([{"kind": "Secret", "name": "hush"}]);
    setting.create("web", json!({"valuesFrom": from})).await;
    let object = setting.ready("web", "False", "InstallFailed").await;
    let told = message(&object, "Ready");
    assert!(
        told.contains("at '/password'") && !told.contains("TOPSECRET43"),
        "{told}"
    );
    setting.put(secret("quietword")).await;
    setting.change("web", json!({"values": {"shout": true}})).await;
    let masked = |object: &HelmRelease| message(object, "Ready").contains("fails.yaml");
    let object = setting.bed.until("web", masked).await;
    let told = message(&object, "Ready");
    assert!(!told.contains("quietword"), "{told}");
    let event = setting
        .bed
        .until_event(|event| {
            // The release may have been installed between the two changes, and is upgraded then.
            let text = event.message.as_deref().unwrap_or_default();
            event.type_.as_deref() == Some("Warning") && text.contains("fails.yaml")
        })
        .await;
    assert!(!event.message.unwrap().contains("quietword"));
}
