//! The words that other programs look for.

use api::{ConditionType, Reason};

/// C8, S6: every reason that Flux's source-controller says exists here, to the letter
#[test]
fn every_reason_of_the_contract_is_one_of_ours() {
    let generic = "Succeeded Failed Progressing ProgressingWithRetry Suspended DependencyNotReady InvalidPath InvalidURL \
                   InsecureConnectionsDisallowed UnsupportedConnectionType PruneFailed ArtifactFailed BuildFailed \
                   HealthCheckFailed HealthCheckCanceled ReconciliationSucceeded ReconciliationFailed \
                   InvalidCELExpression FeatureGateDisabled AccessDenied";
    let sources = "URLInvalid AuthenticationFailed VerificationError DirectoryCreationFailed StatOperationFailed \
                   ReadOperationFailed AcquireLockFailed InvalidPath ArchiveOperationFailed SymlinkUpdateFailed \
                   ArtifactUpToDate CacheOperationFailed PatchOperationFailed InvalidSTSConfiguration \
                   InvalidProviderConfiguration GitOperationSucceeded GitOperationFailed EmptyGitRepository \
                   OCIArtifactPullFailed OCIArtifactLayerOperationFailed IndexationFailed BucketOperationSucceeded \
                   BucketOperationFailed ChartPullSucceeded ChartPackageSucceeded NewRevision NewChart IncludeChange \
                   NotFound NoArtifact NoSourceArtifact SourceUnavailable UnsupportedSourceKind SourceIgnoreError \
                   GarbageCollectionSucceeded GarbageCollectionFailed IllegalPath InvalidVerificationMode \
                   InvalidGitObject InvalidTagSignature InvalidCommitSignature";
    let ours: Vec<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    let words = generic.split_whitespace().chain(sources.split_whitespace());
    let missing: Vec<&str> = words.filter(|word| !ours.contains(word)).collect();
    assert_eq!(missing, [""; 0]);
}

/// S5
#[test]
fn conditions_of_sources_are_called_as_in_flux() {
    let ours = [
        ConditionType::ARTIFACT_IN_STORAGE,
        ConditionType::ARTIFACT_OUTDATED,
        ConditionType::SOURCE_VERIFIED,
        ConditionType::FETCH_FAILED,
        ConditionType::BUILD_FAILED,
        ConditionType::STORAGE_OPERATION_FAILED,
        ConditionType::INCLUDE_UNAVAILABLE,
    ];
    let flux = "ArtifactInStorage ArtifactOutdated SourceVerified FetchFailed BuildFailed StorageOperationFailed \
                IncludeUnavailable";
    let ours: Vec<&str> = ours.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(ours.join(" "), flux);
}
