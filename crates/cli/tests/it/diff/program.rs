//! What the real `flux` says of the same differences, ours says, where it is installed.

use super::bed::{APP, Bed, LABELS, text};

/// Objects as they are in the cluster, and as they would be: each pair differs in another way.
const PAIRS: &[(&str, &str, &str)] = &[
    ("ConfigMap", "data: {a: x}", "data: {a: x}"),
    ("ConfigMap", "data: {a: x, b: w}", "data: {a: z, c: w}"),
    ("ConfigMap", "data: {a: x}", "{}"),
    (
        "ConfigMap",
        "{}",
        "data: {a: 'true', b: '12', c: 'x y', d: '', e: '-x', f: 'a:b', g: \"a\\tb\"}",
    ),
    (
        "ConfigMap",
        "data: {a: \"one\\ntwo\\nthree\\n\"}",
        "data: {a: \"one\\n2\\nthree\\nfour\\n\"}",
    ),
    ("ConfigMap", "data: {a: \"one\\n\"}", "data: {a: \" one\"}"),
    (
        "ConfigMap",
        "data: {a: x}",
        "data: {a: x, script: \"one\\n  two\\n\\nthree\", zero: '0'}",
    ),
    (
        "ConfigMap",
        "data: {a: x, longer-than-the-others: 'a text of more than forty characters, so that it is too wide'}",
        "data: {a: x, also-longer-than-the-others: 'a text of more than forty characters, so that it is too wide'}",
    ),
    (
        "Secret",
        "stringData: {a: geheim, b: geheim}",
        "stringData: {a: heimlich, b: geheim, c: neu}",
    ),
    ("Secret", "data: {a: eA==}", "data: {a: eQ==}"),
    (
        "Service",
        "spec: {selector: {a: b}, ports: [{name: http, port: 80}, {name: grpc, port: 90}]}",
        "spec: {selector: {a: c, d: e}, ports: [{name: grpc, port: 90}, {name: http, port: 81}]}",
    ),
    (
        "Service",
        "spec: {selector: {a: b}, ports: [{name: http, port: 80}]}",
        "spec: {selector: {a: b}, ports: [{name: http, port: 80}, {name: more, port: 90, targetPort: web}]}",
    ),
    (
        "ServiceAccount",
        "automountServiceAccountToken: true",
        "{automountServiceAccountToken: false, imagePullSecrets: [{name: one}, {name: two}]}",
    ),
    (
        "Deployment",
        "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: 'i:1', args: [a, b], env: [{name: X, value: '1'}, {name: Q, value: '2'}]}]}}}",
        "spec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b, c: d}}, spec: {containers: [{name: c, image: 'i:2', args: [b, c], env: [{name: Q, value: '2'}, {name: Z, valueFrom: {fieldRef: {fieldPath: metadata.name}}}], resources: {limits: {cpu: 100m}}, ports: [{containerPort: 80, name: http}]}, {name: d, image: j}]}}}",
    ),
    (
        "Deployment",
        "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, command: [a, b, c]}]}}}",
        "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, command: [c, b, a]}]}}}",
    ),
    (
        "Deployment",
        "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, args: [a]}], tolerations: [{key: a, operator: Exists}]}}}",
        "spec: {replicas: 1, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, args: [b]}], tolerations: [{key: b, operator: Exists}], nodeSelector: {x: w}}}}",
    ),
];

fn object(place: usize, kind: &str, body: &str) -> String {
    let version = if kind == "Deployment" { "apps/v1" } else { "v1" };
    let body = match body.strip_prefix('{') {
        Some("}") => String::new(),
        Some(fields) => {
            let fields = fields.strip_suffix('}').unwrap();
            // Only the outermost fields are told apart by this; there is one such body.
            fields.replacen(", imagePullSecrets", "\nimagePullSecrets", 1)
        }
        None => body.to_owned(),
    };
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata: {{name: n{place:02}, namespace: NAMESPACE, labels: {LABELS}}}\n{body}\n"
    )
}

/// Runs both, one after the other: `flux` writes a kustomization into the directory while it runs.
async fn compare(bed: &Bed, flux: &str, arguments: &[&str]) -> Vec<String> {
    let ours = bed.sluice(arguments).await;
    let theirs = bed.run(flux, arguments).await;
    if theirs.status.code() == ours.status.code() && theirs.stdout == ours.stdout {
        return Vec::new();
    }
    vec![format!(
        "== {arguments:?}\n-- flux {:?}\n{}{}\n-- ours {:?}\n{}{}",
        theirs.status.code(),
        text(&theirs.stdout),
        text(&theirs.stderr),
        ours.status.code(),
        text(&ours.stdout),
        text(&ours.stderr)
    )]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn differences_are_told_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let flux = flux.to_str().unwrap();
    let bed = Bed::start().await;
    bed.apply(APP).await;
    let mut differ = Vec::new();
    for (place, (kind, live, desired)) in PAIRS.iter().enumerate() {
        bed.apply(&object(place, kind, live)).await;
        let folder = format!("pair{place}");
        bed.write(&format!("{folder}/object.yaml"), &object(place, kind, desired));
        let path = bed.path(&folder);
        let arguments = [
            "diff",
            "kustomization",
            "app",
            "--path",
            &path,
            "--progress-bar=false",
        ];
        differ.extend(compare(&bed, flux, &arguments).await);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

/// What is made, left alone or encrypted, what is ignored, what is refused, and Kustomizations of files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_special_is_told_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let flux = flux.to_str().unwrap();
    let bed = Bed::start().await;
    bed.apply(APP).await;
    let map = |name: &str, annotations: &str, data: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: NAMESPACE, labels: {LABELS}, annotations: {annotations}}}\ndata: {data}\n"
        )
    };
    for name in ["disabled", "ignored", "there", "one"] {
        bed.apply(&map(name, "{}", "{a: x}")).await;
    }
    bed.write(
        "app/marked.yaml",
        &[
            map(
                "disabled",
                "{kustomize.toolkit.fluxcd.io/reconcile: disabled}",
                "{a: w}",
            ),
            map("ignored", "{kustomize.toolkit.fluxcd.io/ssa: Ignore}", "{a: w}"),
            map(
                "there",
                "{kustomize.toolkit.fluxcd.io/ssa: IfNotPresent}",
                "{a: w}",
            ),
            map("new", "{kustomize.toolkit.fluxcd.io/ssa: IfNotPresent}", "{a: w}"),
            map("one", "{new: annotation}", "{a: w, b: z}"),
        ]
        .join("---\n"),
    );
    let sops = "sops: {mac: 'ENC[x]', version: 3.0.0}";
    let secret = |name: &str, keys: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}, namespace: NAMESPACE, labels: {LABELS}}}\ndata: {{{keys}}}\n"
        )
    };
    bed.apply(&secret("same-keys", "a: eA==")).await;
    bed.apply(&secret("other-keys", "a: eA==")).await;
    bed.write(
        "app/secrets.yaml",
        &format!(
            "{}{sops}\n---\n{}{sops}\n",
            secret("same-keys", "a: 'ENC[AES]'"),
            secret("other-keys", "b: 'ENC[AES]'")
        ),
    );
    let ignoring = APP.replace(
        "status:",
        "  ignore: [{paths: [/data/a], target: {kind: ConfigMap}}]\nstatus:",
    );
    let file = bed.write("ignoring.yaml", &ignoring);
    let file = file.to_str().unwrap();
    let path = bed.path("app");
    let start = ["diff", "kustomization", "app", "--progress-bar=false", "--path"];
    let mut differ = Vec::new();
    for more in [
        vec![path.as_str()],
        vec![&path, "--kustomization-file", file],
        vec![&path, "--ignore-paths", "secrets.yaml"],
        vec!["/nowhere"],
    ] {
        let arguments = [&start[..], &more].concat();
        differ.extend(compare(&bed, flux, &arguments).await);
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
