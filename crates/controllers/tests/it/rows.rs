//! The table in `tests/rows.md`: each row of the contract with the tests that show it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TABLE: &str = include_str!("../rows.md");

/// The rows of the contract that must be shown: all that are not rare, of what concerns sources, Kustomizations and HelmReleases.
const ROWS: &[&str] = &[
    "X1 X2 X3 X4 X5 X6 X7 X8",
    "C1 C2 C3 C5 C6 C7 C8 C9 C10",
    "requestedAt event.toolkit",
    "E1 E2 E3 E4 E5",
    "D1 D2 D3 D4 D5 D6 D7 D8 D9 D10",
    "S1 S2 S3 S4 S5 S6",
    "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11",
    "T1 T2 T3 T4 T5 T6 T7 T8",
    "GitRepository.url GitRepository.interval GitRepository.timeout GitRepository.ref GitRepository.secretRef",
    "GitRepository.provider GitRepository.verify GitRepository.proxySecretRef GitRepository.ignore",
    "GitRepository.suspend GitRepository.recurseSubmodules GitRepository.include GitRepository.sparseCheckout",
    "G1 G2 G3 G4 G6 G7",
    "OCIRepository.url OCIRepository.ref OCIRepository.layerSelector OCIRepository.provider OCIRepository.secretRef",
    "OCIRepository.serviceAccountName OCIRepository.certSecretRef OCIRepository.proxySecretRef",
    "OCIRepository.insecure OCIRepository.verify OCIRepository.interval OCIRepository.timeout OCIRepository.ignore",
    "OCIRepository.suspend O1 O2 O3 O4 O5 O6 O7",
    "HelmRepository.url HelmRepository.type HelmRepository.interval HelmRepository.timeout HelmRepository.secretRef",
    "HelmRepository.certSecretRef HelmRepository.passCredentials HelmRepository.provider HelmRepository.suspend",
    "H1 H2 H5",
    "HelmChart.chart HelmChart.version HelmChart.sourceRef HelmChart.interval HelmChart.reconcileStrategy",
    "HelmChart.valuesFiles HelmChart.verify HelmChart.suspend",
    "HC1 HC2 HC3 HC4 HC5 HC6 HC7 HC8 HC9 HC10 HC11 HC12",
    "Bucket.provider Bucket.bucketName Bucket.endpoint Bucket.region Bucket.prefix Bucket.insecure Bucket.secretRef",
    "Bucket.interval Bucket.timeout Bucket.ignore Bucket.suspend B1 B2 B3 B7",
    "V1 V3 V4 V5 V8 V9",
    "AU1 AU2 AU3 AU4 AU5 AU6 AU7 AU8",
    "flags",
    "trap1 trap5 trap6 trap7 trap8 trap9 trap10 trap16 trap25 trap27 trap28 trap30",
    "bad:credentials bad:host-key bad:tls bad:reference bad:empty bad:pack bad:layer bad:digest bad:signature",
    "bad:index bad:dependency bad:escape",
    "Kustomization.sourceRef Kustomization.path Kustomization.interval Kustomization.retryInterval Kustomization.timeout",
    "Kustomization.prune Kustomization.deletionPolicy Kustomization.dependsOn Kustomization.wait",
    "Kustomization.healthChecks Kustomization.healthCheckExprs Kustomization.patches Kustomization.images",
    "Kustomization.components Kustomization.namePrefix Kustomization.nameSuffix Kustomization.targetNamespace",
    "Kustomization.commonMetadata Kustomization.postBuild Kustomization.decryption Kustomization.force",
    "Kustomization.serviceAccountName Kustomization.kubeConfig Kustomization.suspend Kustomization.status",
    "K1 K3 K4 K5 K6 K8 VS1 VS2 VS3 VS4 VS5 VS6 VS7 VS8 VS9 SO1 SO2 SO4 SO5 SO6 SO7 SO8",
    "AP1 AP2 AP3 AP4 AP5 AP6 AP7 AP10 AP11 AP12 I1 I2 I3 I4 I5 I6",
    "HL1 HL2 HL3 HL4 HL5 HL6 HL7 HL8 HL9 HL10 HL11 triggers remote tenancy",
    "bad:kustomization bad:kind bad:namespace bad:immutable bad:forbidden bad:secret bad:cluster bad:circle",
    "HelmRelease.chart HelmRelease.chartRef HelmRelease.interval HelmRelease.releaseName HelmRelease.targetNamespace",
    "HelmRelease.storageNamespace HelmRelease.dependsOn HelmRelease.timeout HelmRelease.maxHistory",
    "HelmRelease.serviceAccountName HelmRelease.kubeConfig HelmRelease.suspend HelmRelease.values HelmRelease.valuesFrom",
    "HelmRelease.postRenderers HelmRelease.commonMetadata HelmRelease.postRenderStrategy HelmRelease.waitStrategy",
    "HelmRelease.healthCheckExprs HelmRelease.driftDetection HelmRelease.status install.timeout install.disableWait",
    "install.disableWaitForJobs upgrade.timeout upgrade.disableWait upgrade.disableWaitForJobs rollback.timeout",
    "rollback.disableWait rollback.disableWaitForJobs rollback.cleanupOnFail rollback.recreate uninstall.timeout",
    "uninstall.disableWait install.disableHooks upgrade.disableHooks rollback.disableHooks uninstall.disableHooks",
    "uninstall.keepHistory uninstall.deletionPropagation install.disableSchemaValidation upgrade.disableSchemaValidation",
    "install.disableOpenAPIValidation upgrade.disableOpenAPIValidation install.disableTakeOwnership",
    "upgrade.disableTakeOwnership install.serverSideApply upgrade.serverSideApply rollback.serverSideApply upgrade.force",
    "rollback.force upgrade.cleanupOnFail install.crds install.skipCRDs upgrade.crds install.remediation",
    "upgrade.remediation install.strategy upgrade.strategy install.replace install.createNamespace upgrade.preserveValues",
    "upgrade.chartNameChangeStrategy test.enable test.timeout test.filters test.ignoreFailures Absent Locked Unmanaged",
    "OutOfSync Untested Failed Drifted InSync HR1 HR2 HR3 HR4 HR5 HR6 HR7 HR8 HR9 HR10 HR11 HR12 VA1 VA2 VA3 VA4 VA5 VA6",
    "post-render drift RS1 RS2 RS3 RS4 RS5 RS6 RS7 chart-versions HS1 HS2 HS3 HS4 HS5 HS6 helm-flags trap2 trap18 trap19",
    "trap20 trap21 trap22 bad:chart bad:schema bad:large bad:values bad:version bad:hook bad:owner",
];

/// Where the tests are that run on a cluster, embedded or real. What others show beside them is welcome, but not enough.
const ON_CLUSTERS: [&str; 3] = ["controllers/tests", "cli/tests", "api/tests"];

/// What a test has in hand that has a cluster: one of its own, or a helper of these folders that starts one.
const CLUSTERS: [&str; 11] = [
    "bed", "Bed", "cluster", "Cluster", "served", "Served", "check(", "started", "Telling", "Side", "Setting",
];

/// Rows of which a cluster sees nothing, and why.
const WITHOUT_CLUSTER: &[(&str, &str)] = &[("D5", "the program ends before it looks for a cluster")];

/// The tests of each row in the table.
fn table() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut rows = BTreeMap::new();
    for line in TABLE.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [row, tests] = cells[..] else {
            panic!("{line:?} has not two cells");
        };
        if row == "row" {
            continue;
        }
        let tests = tests.split_whitespace().collect();
        assert!(rows.insert(row, tests).is_none(), "{row} is there twice");
    }
    rows
}

/// A test, as its text tells of it.
struct Test {
    /// What is written above it.
    doc: String,
    /// Whether it has a cluster.
    has_cluster: bool,
}

/// All tests in a folder, by their names.
fn tests_in(folder: &Path, found: &mut BTreeMap<String, Vec<Test>>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            tests_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            tests_of(&std::fs::read_to_string(&path).unwrap(), found);
        }
    }
}

fn tests_of(text: &str, found: &mut BTreeMap<String, Vec<Test>>) {
    let (mut doc, mut is_test) = (String::new(), false);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let plain = line.trim();
        let name = plain.trim_start_matches("async ").strip_prefix("fn ");
        if let Some(words) = plain.strip_prefix("///") {
            doc.push_str(words);
        } else if plain.starts_with("#[test]") || plain.starts_with("#[tokio::test") {
            is_test = true;
        } else if let Some((name, _)) = name.and_then(|line| line.split_once('(')) {
            if std::mem::take(&mut is_test) {
                let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
                let body: String = lines.by_ref().take_while(|line| *line != end).collect();
                let test = Test {
                    doc: std::mem::take(&mut doc),
                    has_cluster: plain.starts_with("async ")
                        && CLUSTERS.iter().any(|word| body.contains(word)),
                };
                found.entry(name.to_owned()).or_default().push(test);
            }
            doc.clear();
        } else if !plain.starts_with("#[") {
            doc.clear();
        }
    }
}

/// Whether a text names a row, as a word of its own.
fn names(text: &str, row: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| word == row)
}

/// Whether a row is one of those with a letter and a number, which tests name above them.
fn has_number(row: &str) -> bool {
    let number = row.trim_start_matches(|letter: char| letter.is_ascii_uppercase());
    number.len() < row.len() && number.parse::<u8>().is_ok()
}

#[test]
fn every_row_of_the_contract_is_named_by_a_test_on_a_cluster_that_shows_it() {
    let table = table();
    let wanted: BTreeSet<&str> = ROWS.iter().flat_map(|rows| rows.split(' ')).collect();
    let listed: BTreeSet<&str> = table.keys().copied().collect();
    assert_eq!(listed, wanted, "the rows of the table and those of the contract");
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates");
    let (mut tests, mut on_clusters) = (BTreeMap::new(), BTreeMap::new());
    tests_in(&crates, &mut tests);
    for folder in ON_CLUSTERS {
        tests_in(&crates.join(folder), &mut on_clusters);
    }
    let mut weak = Vec::new();
    for (row, named) in table {
        for name in &named {
            assert!(tests.contains_key(*name), "{row}: there is no test {name}");
        }
        let shows = |test: &Test| test.has_cluster && (!has_number(row) || names(&test.doc, row));
        let mut candidates = named.iter().filter_map(|name| on_clusters.get(*name)).flatten();
        let is_without = WITHOUT_CLUSTER.iter().any(|(without, _)| *without == row);
        if !is_without && !candidates.any(shows) {
            weak.push(row);
        }
    }
    assert_eq!(weak, [""; 0], "rows that no test on a cluster shows and names");
}
