//! The words that other programs look for: each is said, and shown on a cluster, or there is a reason why not.

use std::path::Path;

use api::Reason;

/// All that the contract lists: rows C8 and S6.
const CONTRACT: [&str; 2] = [
    "Succeeded Failed Progressing ProgressingWithRetry Suspended DependencyNotReady InvalidPath InvalidURL \
     InsecureConnectionsDisallowed UnsupportedConnectionType PruneFailed ArtifactFailed BuildFailed HealthCheckFailed \
     HealthCheckCanceled ReconciliationSucceeded ReconciliationFailed InvalidCELExpression FeatureGateDisabled AccessDenied",
    "URLInvalid AuthenticationFailed VerificationError DirectoryCreationFailed StatOperationFailed ReadOperationFailed \
     AcquireLockFailed InvalidPath ArchiveOperationFailed SymlinkUpdateFailed ArtifactUpToDate CacheOperationFailed \
     PatchOperationFailed InvalidSTSConfiguration InvalidProviderConfiguration GitOperationSucceeded GitOperationFailed \
     EmptyGitRepository OCIArtifactPullFailed OCIArtifactLayerOperationFailed IndexationFailed BucketOperationSucceeded \
     BucketOperationFailed ChartPullSucceeded ChartPackageSucceeded NewRevision NewChart IncludeChange NotFound NoArtifact \
     NoSourceArtifact SourceUnavailable UnsupportedSourceKind SourceIgnoreError GarbageCollectionSucceeded \
     GarbageCollectionFailed IllegalPath InvalidVerificationMode InvalidGitObject InvalidTagSignature InvalidCommitSignature",
];

/// Those of row C8 that only controllers say that apply, or nobody any more.
const OF_APPLIERS: &str = "Suspended DependencyNotReady InvalidPath InvalidURL InsecureConnectionsDisallowed \
                           UnsupportedConnectionType PruneFailed ArtifactFailed BuildFailed HealthCheckFailed \
                           HealthCheckCanceled ReconciliationSucceeded ReconciliationFailed InvalidCELExpression AccessDenied";

/// Those of row S6 that nobody ever reads of our sources, and why.
const NEVER_SAID: &[(&str, &str)] = &[
    (
        "ArtifactUpToDate",
        "a poll that finds nothing new leaves no trace, as the README says",
    ),
    ("GitOperationSucceeded", "the same"),
    (
        "BucketOperationSucceeded",
        "Flux knows the word and never says it",
    ),
    (
        "CacheOperationFailed",
        "there is no cache of indexes that could fail",
    ),
    (
        "PatchOperationFailed",
        "progress that cannot be written ends no run",
    ),
    (
        "StatOperationFailed",
        "files are packed from where they were fetched to, without another look for the folder",
    ),
    ("InvalidPath", "the same"),
    (
        "IllegalPath",
        "no path in an include leads out of the tree: what would is cut to it",
    ),
    (
        "UnsupportedSourceKind",
        "the definition takes no other kind, which a test of HelmCharts shows",
    ),
];

/// The text of all tests of sources, each of which has a cluster.
fn tests(folder: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        text.push_str(&match path.is_dir() {
            true => tests(&path),
            false => std::fs::read_to_string(&path).unwrap(),
        });
    }
    text
}

/// C8, S6: every reason of the contract is one of ours to the letter, and each that we may say is asked for by a test on a cluster
#[test]
fn every_reason_of_the_contract_is_shown_or_there_is_a_reason_why_not() {
    let known: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    let tests = tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/sources"));
    let appliers: Vec<&str> = OF_APPLIERS.split_whitespace().collect();
    let never: Vec<&str> = NEVER_SAID.iter().map(|(word, _)| *word).collect();
    for (words, unsaid) in CONTRACT.iter().zip([&appliers, &never]) {
        for word in words.split_whitespace() {
            assert!(known.contains(&word), "{word} is none of ours");
            let is_asked_for =
                tests.contains(&format!("\"{word}\"")) || tests.contains(&format!("/{word}\""));
            assert!(is_asked_for || unsaid.contains(&word), "no test asks for {word}");
        }
        for word in unsaid {
            assert!(words.contains(word), "{word} is not in the contract");
        }
    }
}
