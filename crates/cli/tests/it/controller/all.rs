//! `sluice controller`: all controllers in one process.

use std::collections::BTreeSet;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Event;
use kube::{Api, ResourceExt as _};
use serde_json::json;

use super::bed::{Bed, eventually, fetch, free_port};
use super::kustomize::{
    applied, create_kustomization, create_kustomization_of, kustomization_ready, serve_kustomizations,
};

const LEASES: [&str; 3] = [
    "source-controller-leader-election",
    "kustomize-controller-leader-election",
    "helm-controller-leader-election",
];

async fn holders(bed: &Bed) -> Vec<Option<String>> {
    let leases: Api<Lease> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let mut holders = Vec::new();
    for name in LEASES {
        let lease = leases.get_opt(name).await.unwrap();
        holders.push(lease.and_then(|lease| lease.spec?.holder_identity));
    }
    holders
}

/// A Git server with one ConfigMap, and the objects that bring it into the cluster.
pub(super) async fn deployed(bed: &Bed) -> testkit::git::Server {
    serve_kustomizations(bed).await;
    let server = testkit::git::Server::start();
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: b\n";
    server
        .repository("app")
        .commit("main", "Start", [("one.yaml", text)]);
    let spec = json!({"url": server.clone_url("app"), "interval": "1h", "ref": {"branch": "main"}});
    bed.create("GitRepository", "app", json!({}), spec).await;
    create_kustomization(bed, "app").await;
    server
}

/// D1, E1, E4, D6: from a commit to the cluster in one process, which is each of Flux's controllers to others: by its events, its
/// fields, its metrics and its lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_process_is_all_controllers_of_flux() {
    let bed = Bed::start().await;
    let _server = deployed(&bed).await;
    let _charts = super::release::chart(&bed).await;
    super::release::create(&bed, "web", json!({})).await;
    let (metrics, health) = (free_port(), free_port());
    let program = bed
        .program()
        .with_all()
        .with(&[
            "--enable-leader-election",
            // Nobody answers there: it reads what it has itself.
            "--storage-adv-addr=127.0.0.1:1",
            "--http-retry=0",
            &format!("--metrics-addr=127.0.0.1:{metrics}"),
            &format!("--health-addr=127.0.0.1:{health}"),
        ])
        .start();
    program.serves().await;
    let map = applied(&bed, "one").await;
    let managers = map.managed_fields().iter().map(|one| one.manager.as_deref());
    assert_eq!(managers.collect::<Vec<_>>(), [Some("kustomize-controller")]);
    kustomization_ready(&bed, "app").await;
    super::release::ready(&bed, "web").await;
    let released = applied(&bed, "web").await;
    let managers = released.managed_fields().iter().map(|one| one.manager.as_deref());
    assert_eq!(managers.collect::<Vec<_>>(), [Some("helm-controller")]);
    for path in ["healthz", "readyz"] {
        let answer = fetch(&format!("http://127.0.0.1:{health}/{path}")).await;
        assert_eq!(answer.as_deref(), Some(&b"ok"[..]), "{path}");
    }
    let held = holders(&bed).await;
    assert!(held[0].as_deref().is_some_and(|holder| !holder.is_empty()));
    assert!(held.iter().all(|holder| *holder == held[0]), "{held:?}");
    let url = format!("http://127.0.0.1:{metrics}/metrics");
    let parts = [
        r#"controller_runtime_max_concurrent_reconciles{controller="gitrepository"} 2"#.to_owned(),
        r#"controller_runtime_max_concurrent_reconciles{controller="kustomization"} 4"#.to_owned(),
        r#"controller_runtime_max_concurrent_reconciles{controller="helmrelease"} 4"#.to_owned(),
        format!(r#"leader_election_master_status{{name="{}"}} 1"#, LEASES[0]),
        format!(r#"leader_election_master_status{{name="{}"}} 1"#, LEASES[1]),
        format!(r#"leader_election_master_status{{name="{}"}} 1"#, LEASES[2]),
        format!(
            r#"gotk_reconcile_duration_seconds_count{{kind="Kustomization",name="app",namespace="{}"}}"#,
            bed.namespace
        ),
    ];
    eventually("metrics of all", &program, async || {
        let text = String::from_utf8(fetch(&url).await.unwrap_or_default()).unwrap();
        parts.iter().all(|part| text.contains(part))
    })
    .await;
    let events: Api<Event> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let wanted = [
        ("GitRepository", "source-controller"),
        ("HelmRelease", "helm-controller"),
        ("Kustomization", "kustomize-controller"),
    ];
    eventually("events of all", &program, async || {
        let told = events.list(&Default::default()).await.unwrap();
        let told = told.iter().filter_map(|event| {
            let kind = event.involved_object.kind.as_deref()?;
            let component = event.source.as_ref()?.component.as_deref()?;
            Some((kind, component))
        });
        let told: BTreeSet<(&str, &str)> = told.collect();
        // A real cluster tells of its own objects, too.
        let of_ours = told
            .iter()
            .filter(|(kind, _)| wanted.iter().any(|(ours, _)| ours == kind));
        of_ours.copied().eq(wanted)
    })
    .await;
    program.stop().await;
    assert_eq!(holders(&bed).await, [const { Some(String::new()) }; 3]);
}

/// Whoever asks for the plan gets that of the artifact which the process serves: nothing to do once it is applied, and what is
/// to be done of what is suspended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_made_of_the_artifact_that_is_served() {
    let bed = Bed::start().await;
    let _server = deployed(&bed).await;
    let program = bed.program().with_all().start();
    kustomization_ready(&bed, "app").await;
    let suspended = json!({"suspend": true, "namePrefix": "another-"});
    create_kustomization_of(&bed, "waiting", "app", suspended).await;
    let plan = async |name: &str| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sluice"));
        command
            .args(["plan", "kustomization", name, "--namespace", &bed.namespace])
            .arg(format!("--kubeconfig={}", bed.kubeconfig.display()))
            .kill_on_drop(true);
        let output = command.output().await.unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = plan("app").await;
    assert_eq!(code, Some(0), "{said}");
    assert!(said.ends_with("\n1 unchanged\n"), "{said}");
    let (code, said) = plan("waiting").await;
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains(&format!("+ ConfigMap/{}/another-one", bed.namespace)),
        "{said}"
    );
    program.stop().await;
}

/// D6: while one of Flux's controllers works, the process that stands for it does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_waits_for_each_controller_of_flux_that_it_stands_for() {
    let bed = Bed::start().await;
    let leases: Api<Lease> = Api::namespaced(bed.cluster.client(), &bed.namespace);
    let now = k8s_openapi::jiff::Timestamp::now().to_string();
    let lease = json!({
        "metadata": {"name": LEASES[1]},
        "spec": {
            "holderIdentity": "kustomize-controller-of-flux", "leaseDurationSeconds": 600,
            "acquireTime": now, "renewTime": now,
        },
    });
    let lease: Lease = serde_json::from_value(lease).unwrap();
    leases.create(&Default::default(), &lease).await.unwrap();
    let program = bed
        .program()
        .with_all()
        .with(&["--enable-leader-election", "--leader-election-retry-period=100ms"])
        .start();
    let text = format!("attempting to acquire leader lease {}", LEASES[1]);
    program.says(&text).await;
    assert!(holders(&bed).await[0].is_some(), "it has one of them");
    assert_eq!(
        fetch(&format!("{}/", program.url)).await,
        None,
        "it does not serve"
    );
    leases.delete(LEASES[1], &Default::default()).await.unwrap();
    program.serves().await;
    program.stop().await;
}

/// D5: what is wrong with the flags of any part is told, all of it.
#[test]
fn all_that_is_wrong_with_any_part_is_told() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["controller", "--feature-gates=Nothing=true", "--concurrent=none"])
        .args(["--concurrent-ssa=0", "--storage-path=/dev/null/data"])
        .args([
            "--snapshot-digest-algo=md5",
            "--http-retry=some",
            "--graceful-shutdown-timeout=soon",
        ])
        .args(["--kubeconfig=/nowhere", "--health-addr=0", "--metrics-addr=0"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    for part in [
        "feature-gate 'Nothing' not supported",
        "\\\"none\\\" is no whole number",
        "invalid --concurrent-ssa",
        "invalid --snapshot-digest-algo",
        "invalid --http-retry",
        "invalid --graceful-shutdown-timeout",
        "choose another with --storage-path",
        "/nowhere cannot be used",
    ] {
        assert!(said.contains(part), "{part}\n{said}");
    }
    assert_eq!(said.lines().count(), 8, "{said}");
}
