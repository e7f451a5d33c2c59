//! What is printed with `--export` is what the real `flux` prints, where it is installed.

use super::{SLUICE, run, said};

const OBJECTS: &[&str] = &[
    "source git app --url=https://git.test/app --branch=main",
    "source git app --url=https://git.test/app --tag=1.0 --branch=main --interval=90s --label=a=b,c.d/e=f --label=g=h",
    "source git app --url=ssh://git@git.test/app --tag-semver=>=1.0.0 --secret-ref=login --proxy-secret-ref=proxy --fetch-timeout=2m",
    "source git app --url=http://git.test/app --commit=0123 --branch=main --recurse-submodules --provider=github",
    "source git app --url=https://git.test/app --ref-name=refs/heads/a --ignore-paths=a/,b/ --sparse-checkout-paths=x,y -n apps",
    "source git app --url=https://git.test/app",
    "source git app --url=ftp://git.test/app --branch=main",
    "source git app --branch=main",
    "source git app --url=ssh://git.test/app --branch=main --ca-file=x",
    "source git A --url=https://git.test/app --branch=main",
    "source git app --url=https://git.test/app --branch=main --label=a",
    "source git app --url=https://git.test/app --branch=main --label=a=-b",
    "source oci app --url=oci://registry.test/app --tag=1.0.0",
    "source oci app --url=oci://registry.test/app --tag-semver=1.x --provider=aws --insecure --service-account=sa --cert-ref=c",
    "source oci app --url=oci://registry.test/app --digest=sha256:0 --verify-provider=cosign --verify-secret-ref=keys",
    "source oci app --url=oci://registry.test/app --tag=1 --verify-provider=cosign --verify-issuer=^i$ --verify-subject=s",
    "source oci app --url=oci://registry.test/app --tag=1 --layer-selector=application/x:copy --secret-ref=s --ignore-paths=a",
    "source oci app --url=oci://registry.test/app --tag=1 --layer-selector=application/x",
    "source oci app --url=oci://registry.test/app --tag=1 --verify-secret-ref=keys",
    "source oci app --url=oci://registry.test/app",
    "source helm app --url=https://charts.test --interval=10m",
    "source helm app --url=https://charts.test --secret-ref=login --pass-credentials --fetch-timeout=1m30s",
    "source helm app --url=oci://registry.test/charts --oci-provider=aws",
    "source helm app --url=https://charts.test --oci-provider=aws --username=u --password=p",
    "source helm app --url=git://charts.test",
    "source chart app --source=HelmRepository/charts --chart=app --chart-version=6.x",
    "source chart app --source=gitrepository/app.apps --chart=./app --reconcile-strategy=Revision --verify-provider=cosign",
    "source chart app --source=OCIRepository/app --chart=app",
    "source chart app --chart=app",
    "source bucket app --bucket-name=app --endpoint=s3.test",
    "source bucket app --bucket-name=app --endpoint=s3.test --provider=aws --region=r --insecure --secret-ref=s --ignore-paths=a,b",
    "source bucket app --bucket-name=app",
    "kustomization app --source=app",
    "ks app --source=OCIRepository/app.other --path=../deploy//app --prune --wait --health-check-timeout=3m --interval=60m",
    "ks app --source=bucket/app --target-namespace=t --depends-on=one,other/two --service-account=sa --retry-interval=30s",
    "ks app --source=GitRepository/app --health-check=Deployment/web.apps,HelmRelease/db.apps --kubeconfig-secret-ref=remote",
    "ks app --source=app --decryption-provider=sops --decryption-secret=keys --label=a=b",
    "ks app --source=app --health-check=Pod/a.b",
    "ks app --source=HelmRepository/app",
    "ks app",
    "hr app --source=HelmRepository/charts --chart=app",
    "helmrelease app --source=GitRepository/app.other --chart=./app --chart-version=>1.0.0 --chart-interval=1h --release-name=r",
    "hr app --source=Bucket/app --chart=app --target-namespace=t --create-target-namespace --crds=CreateReplace --interval=10m",
    "hr app --chart-ref=OCIRepository/app.other --storage-namespace=s --target-namespace=t --service-account=sa --depends-on=a,b/c",
    "hr app --chart-ref=HelmChart/app --values-from=secret/a,ConfigMap/b --kubeconfig-secret-ref=remote --reconcile-strategy=Revision",
    "hr app --chart-ref=GitRepository/app",
    "hr app --chart-ref=HelmChart/app --chart=app",
    "hr app",
    "alert app --provider-ref=slack --event-source=Kustomization/app,HelmRelease/*.apps --event-severity=error --label=a=b",
    "alert app --provider-ref=slack --event-source=app",
    "alert app --provider-ref=slack",
    "alert app --event-source=Kustomization/app",
    "alert-provider slack --type=slack --channel=general --address=https://slack.test --secret-ref=url --username=bot",
    "alert-provider slack",
    "receiver hub --type=github --event=ping,push --secret-ref=token --resource=GitRepository/app,HelmRepository/b",
    "receiver hub --type=generic --secret-ref=token --resource=GitRepository/app --interval=5m",
    "receiver hub --type=phone --secret-ref=token --resource=GitRepository/app",
    "receiver hub --type=generic --resource=GitRepository/app",
    "receiver hub --type=generic --secret-ref=token",
    "image repository app --image=registry.test/app --interval=5m --scan-timeout=10s --secret-ref=s --cert-ref=c",
    "image repository app --image=app",
    "image repository app",
    "image policy app --image-ref=app --select-semver=1.x",
    "image policy app --image-ref=app --select-numeric=asc --filter-regex=^main-(?P<ts>[0-9]+) --filter-extract=$ts",
    "image policy app --image-ref=app --select-alpha=desc --reflect-digest=Always --interval=10m",
    "image policy app --image-ref=app --select-alpha=desc --interval=10m",
    "image policy app --image-ref=app --select-alpha=up",
    "image policy app --image-ref=app --select-alpha=asc --filter-regex=( --filter-extract=$ts",
    "image policy app --image-ref=app --select-alpha=asc --filter-regex=a --filter-extract=$ts",
    "image policy app --image-ref=app --select-alpha=asc --filter-extract=$ts",
    "image policy app --image-ref=app --select-alpha=asc --select-numeric=asc",
    "image policy app --image-ref=app",
    "image update app --git-repo-ref=app --checkout-branch=main --author-name=bot --author-email=bot@git.test",
    "image update app --git-repo-ref=app --git-repo-namespace=apps --git-repo-path=./a --checkout-branch=main --push-branch=next \
     --commit-template={{range}} --author-name=bot --author-email=bot@git.test --signing-key-secret=key --signing-key-type=ssh --interval=30m",
    "image update app --git-repo-ref=app --checkout-branch=main --author-name=bot --author-email=a --signing-key-type=ssh",
    "image update app --checkout-branch=main --author-name=bot --author-email=a",
    "image update app --git-repo-ref=app --author-name=bot --author-email=a",
    "secret git app --url=https://git.test/app --username=ada --password=a:b#c",
    "secret git app --url=https://git.test/app --bearer-token=t --label=a=b -n apps",
    "secret git app --url=https://git.test/app --username=ada",
    "secret git app --url=https://git.test/app --username=ada --password=p --bearer-token=t",
    "secret git app --url=ftp://git.test/app",
    "secret helm app --username=ada --password=p",
    "secret helm app",
    "secret helm app --username=ada",
    "secret oci app --url=ghcr.io --username=ada --password=p&q<>",
    "secret oci app --url=ghcr.io/team/app --username=ada",
    "secret oci app --url=https://ghcr.io --username=ada --password=p",
    "secret proxy app --address=https://proxy.test:3128 --username=ada --password=p",
    "secret proxy app --address=http://proxy.test",
    "secret proxy app",
    "secret tls app",
    "secret githubapp app --app-id=1 --app-installation-id=2",
    "secret notation app --trust-policy-file=gone.json",
    "secret notation app --ca-cert-file=gone.crt",
    "tenant dev-team --with-namespace=apps",
    "tenant dev-team --with-namespace=apps,web --with-namespace=db --cluster-role=edit --label=a=b,toolkit.fluxcd.io/tenant=x",
    "tenant dev-team --with-namespace=apps --with-service-account=sa --skip-namespace",
    "tenant dev-team --with-namespace=apps --with-service-account=-sa",
    "tenant dev-team --with-namespace=-apps",
    "tenant dev-team --with-namespace=apps --cluster-role=",
    "tenant dev-team --with-namespace=apps --label=a",
    "tenant dev-team",
    "tenant Dev --with-namespace=apps",
];

pub(super) async fn compare(flux: &str, lines: &[String]) {
    let mut differ = Vec::new();
    for line in lines {
        let mut arguments: Vec<&str> = vec!["create"];
        arguments.extend(line.split(' '));
        arguments.push("--export");
        let (theirs, ours) = tokio::join!(run(flux, &arguments), run(SLUICE, &arguments));
        if theirs.status.success() != ours.status.success() || theirs.stdout != ours.stdout {
            differ.push(format!(
                "== {line}\n-- flux\n{}\n-- ours\n{}",
                said(&theirs),
                said(&ours)
            ));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[tokio::test]
async fn objects_are_printed_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let lines: Vec<String> = OBJECTS.iter().map(|line| (*line).to_owned()).collect();
    compare(flux.to_str().unwrap(), &lines).await;
}

/// Files are read: values and certificates.
#[tokio::test]
async fn files_are_taken_as_by_flux() {
    let Some(flux) = testkit::program::find("flux") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let one = write("one.yaml", "a:\n  b: 1\n  c: [1, 2]\ntext: 'yes'\nnumber: 1.50\n");
    let two = write("two.yaml", "a:\n  b: {d: null}\n  c: [3]\nlast: |\n  x\n  y\n");
    let authority = testkit::tls::Authority::new("authority");
    let identity = authority.client("ada");
    let ca = write("ca.crt", &authority.pem());
    let (crt, key) = (
        write("tls.crt", &identity.certificate),
        write("tls.key", &identity.key),
    );
    let lines = [
        format!("hr app --chart-ref=HelmChart/app --values={one} --values={two}"),
        format!("hr app --chart-ref=HelmChart/app --values={two},{one}"),
        "hr app --chart-ref=HelmChart/app --values=gone.yaml".to_owned(),
        format!("secret tls app --tls-crt-file={crt} --tls-key-file={key} --ca-crt-file={ca}"),
        format!("secret tls app --ca-crt-file={ca} --label=a=b"),
        format!("secret tls app --tls-crt-file={crt}"),
        format!("secret helm app --tls-crt-file={crt} --tls-key-file={key} --username=u --password=p"),
        format!("secret helm app --ca-crt-file={ca} --username=u --password=p"),
        format!("secret helm app --ca-crt-file={ca}"),
        format!("secret git app --url=https://git.test --ca-crt-file={ca} --username=u --password=p"),
        "secret tls app --ca-crt-file=gone.crt".to_owned(),
        format!("secret githubapp app --app-id=1 --app-installation-id=2 --app-private-key={key}"),
        format!(
            "secret githubapp app --app-id=1 --app-installation-owner=org --app-base-url=https://git.test/api/v3 --app-private-key={key} -n apps"
        ),
        format!("secret githubapp app --app-id=1 --app-private-key={key}"),
        format!(
            "secret githubapp app --app-id=1 --app-installation-owner=org --app-installation-id=2 --app-private-key={key}"
        ),
        format!("secret githubapp app --app-installation-id=2 --app-private-key={key}"),
    ];
    compare(flux.to_str().unwrap(), &lines).await;
}

#[tokio::test]
async fn a_tenant_is_printed_with_its_namespaces() {
    let arguments = "create tenant dev-team --with-namespace=apps --cluster-role=edit --with-service-account=sa --label=a=b --export";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let output = run(SLUICE, &arguments).await;
    assert!(output.status.success(), "{}", said(&output));
    let labels = "  labels:\n    a: b\n    toolkit.fluxcd.io/tenant: dev-team\n";
    let wanted = format!(
        "---\napiVersion: v1\nkind: Namespace\nmetadata:\n{labels}  name: apps\n\
         ---\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n{labels}  name: sa\n  namespace: apps\n\
         ---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n{labels}  name: dev-team-reconciler\n  \
         namespace: apps\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: edit\nsubjects:\n\
         - apiGroup: rbac.authorization.k8s.io\n  kind: User\n  name: gotk:apps:reconciler\n\
         - kind: ServiceAccount\n  name: sa\n  namespace: apps\n"
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), wanted);
}

#[tokio::test]
async fn the_secret_of_a_github_app_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key.pem");
    std::fs::write(
        &key,
        "-----BEGIN RSA PRIVATE KEY-----\nYQ==\n-----END RSA PRIVATE KEY-----\n",
    )
    .unwrap();
    let key = format!("--app-private-key={}", key.display());
    let base = [
        "create",
        "secret",
        "githubapp",
        "app",
        "--export",
        "--app-id=1",
        &key,
    ];
    let output = run(SLUICE, &[&base[..], &["--app-installation-id=2"]].concat()).await;
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: app\n  namespace: flux-system\nstringData:\n  githubAppID: \"1\"\n  \
         githubAppInstallationID: \"2\"\n  githubAppPrivateKey: |\n    -----BEGIN RSA PRIVATE KEY-----\n    YQ==\n    \
         -----END RSA PRIVATE KEY-----\ntype: Opaque\n\n"
    );
    let output = run(SLUICE, &base).await;
    assert!(!output.status.success());
    assert!(
        said(&output).contains(
            "exactly one of githubAppInstallationOwner or githubAppInstallationID must be provided"
        )
    );
}
