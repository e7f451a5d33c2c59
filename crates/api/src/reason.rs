//! Why a condition is as it is, in one word for programs: every word that Sluice says, in one place.

/// A reason of a condition or an event. There are no others than the constants here, so that none is made up in a
/// controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reason(&'static str);

macro_rules! reasons {
    ($($name:ident = $text:literal;)+) => {
        impl Reason {
            $(
                #[doc = concat!("`", $text, "`")]
                pub const $name: Self = Self($text);
            )+

            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

impl Reason {
    /// The reason as objects have it.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

reasons! {
    // Any controller.
    SUCCEEDED = "Succeeded";
    FAILED = "Failed";
    PROGRESSING = "Progressing";
    PROGRESSING_WITH_RETRY = "ProgressingWithRetry";
    SUSPENDED = "Suspended";
    DEPENDENCY_NOT_READY = "DependencyNotReady";
    INVALID_PATH = "InvalidPath";
    INVALID_URL = "InvalidURL";
    INSECURE_CONNECTIONS_DISALLOWED = "InsecureConnectionsDisallowed";
    UNSUPPORTED_CONNECTION_TYPE = "UnsupportedConnectionType";
    PRUNE_FAILED = "PruneFailed";
    ARTIFACT_FAILED = "ArtifactFailed";
    BUILD_FAILED = "BuildFailed";
    HEALTH_CHECK_FAILED = "HealthCheckFailed";
    HEALTH_CHECK_CANCELED = "HealthCheckCanceled";
    RECONCILIATION_SUCCEEDED = "ReconciliationSucceeded";
    RECONCILIATION_FAILED = "ReconciliationFailed";
    INVALID_CEL_EXPRESSION = "InvalidCELExpression";
    FEATURE_GATE_DISABLED = "FeatureGateDisabled";
    ACCESS_DENIED = "AccessDenied";

    // What only objects have that ask for more than Flux.
    INVALID_ANNOTATION = "InvalidAnnotation";
    INVALID_SPEC = "InvalidSpec";
    PRUNE_BUDGET_EXCEEDED = "PruneBudgetExceeded";

    // The sources.
    URL_INVALID = "URLInvalid";
    AUTHENTICATION_FAILED = "AuthenticationFailed";
    VERIFICATION_ERROR = "VerificationError";
    DIRECTORY_CREATION_FAILED = "DirectoryCreationFailed";
    STAT_OPERATION_FAILED = "StatOperationFailed";
    READ_OPERATION_FAILED = "ReadOperationFailed";
    ACQUIRE_LOCK_FAILED = "AcquireLockFailed";
    ARCHIVE_OPERATION_FAILED = "ArchiveOperationFailed";
    SYMLINK_UPDATE_FAILED = "SymlinkUpdateFailed";
    ARTIFACT_UP_TO_DATE = "ArtifactUpToDate";
    CACHE_OPERATION_FAILED = "CacheOperationFailed";
    PATCH_OPERATION_FAILED = "PatchOperationFailed";
    INVALID_STS_CONFIGURATION = "InvalidSTSConfiguration";
    INVALID_PROVIDER_CONFIGURATION = "InvalidProviderConfiguration";
    GIT_OPERATION_SUCCEEDED = "GitOperationSucceeded";
    GIT_OPERATION_FAILED = "GitOperationFailed";
    EMPTY_GIT_REPOSITORY = "EmptyGitRepository";
    OCI_ARTIFACT_PULL_FAILED = "OCIArtifactPullFailed";
    OCI_ARTIFACT_LAYER_OPERATION_FAILED = "OCIArtifactLayerOperationFailed";
    INDEXATION_FAILED = "IndexationFailed";
    BUCKET_OPERATION_SUCCEEDED = "BucketOperationSucceeded";
    BUCKET_OPERATION_FAILED = "BucketOperationFailed";
    CHART_PULL_SUCCEEDED = "ChartPullSucceeded";
    CHART_PACKAGE_SUCCEEDED = "ChartPackageSucceeded";
    NEW_ARTIFACT = "NewArtifact";
    NEW_REVISION = "NewRevision";
    NEW_CHART = "NewChart";
    INCLUDE_CHANGE = "IncludeChange";
    NOT_FOUND = "NotFound";
    NO_ARTIFACT = "NoArtifact";
    NO_SOURCE_ARTIFACT = "NoSourceArtifact";
    SOURCE_UNAVAILABLE = "SourceUnavailable";
    UNSUPPORTED_SOURCE_KIND = "UnsupportedSourceKind";
    SOURCE_IGNORE_ERROR = "SourceIgnoreError";
    GARBAGE_COLLECTION_SUCCEEDED = "GarbageCollectionSucceeded";
    GARBAGE_COLLECTION_FAILED = "GarbageCollectionFailed";
    ILLEGAL_PATH = "IllegalPath";
    INVALID_VERIFICATION_MODE = "InvalidVerificationMode";
    INVALID_GIT_OBJECT = "InvalidGitObject";
    INVALID_TAG_SIGNATURE = "InvalidTagSignature";
    INVALID_COMMIT_SIGNATURE = "InvalidCommitSignature";
    ARTIFACT_VERIFICATION_FAILED = "ArtifactVerificationFailed";
    INVALID_CHART_REFERENCE = "InvalidChartReference";
    CHART_PULL_ERROR = "ChartPullError";
    METADATA_PATCH_ERROR = "MetadataPatchError";
    VALUES_FILES_ERROR = "ValuesFilesError";
    DEPENDENCY_BUILD_ERROR = "DependencyBuildError";
    CHART_PACKAGE_ERROR = "ChartPackageError";
    CHART_VERIFICATION_ERROR = "ChartVerificationError";
    RESOLVED_DEPENDENCIES = "ResolvedDependencies";
    UNKNOWN = "Unknown";
    COPY_FAILURE = "CopyFailure";

    // HelmReleases.
    INSTALL_SUCCEEDED = "InstallSucceeded";
    INSTALL_FAILED = "InstallFailed";
    UPGRADE_SUCCEEDED = "UpgradeSucceeded";
    UPGRADE_FAILED = "UpgradeFailed";
    TEST_SUCCEEDED = "TestSucceeded";
    TEST_FAILED = "TestFailed";
    ROLLBACK_SUCCEEDED = "RollbackSucceeded";
    ROLLBACK_FAILED = "RollbackFailed";
    UNINSTALL_SUCCEEDED = "UninstallSucceeded";
    UNINSTALL_FAILED = "UninstallFailed";
    DRIFT_DETECTED = "DriftDetected";
    NO_DRIFT_DETECTED = "NoDriftDetected";
    DRIFT_CORRECTED = "DriftCorrected";
    DRIFT_CORRECTION_FAILED = "DriftCorrectionFailed";
    INVENTORY_BUILD_FAILED = "InventoryBuildFailed";
    NAMESPACE_CHECK_SKIPPED = "NamespaceCheckSkipped";
    SOURCE_NOT_READY = "SourceNotReady";
    VALUES_ERROR = "ValuesError";
    CHART_MUTATE_ERROR = "ChartMutateError";
    REST_CLIENT_ERROR = "RESTClientError";
    RESOURCE_MANAGER_ERROR = "ResourceManagerError";
    FACTORY_ERROR = "FactoryError";
    STATE_ERROR = "StateError";
    RECONCILE_ERROR = "ReconcileError";
    AWAITING_TESTS = "AwaitingTests";
    PENDING_RELEASE = "PendingRelease";
    RETRIES_EXCEEDED = "RetriesExceeded";
    MISSING_ROLLBACK_TARGET = "MissingRollbackTarget";
    HELM_CHART_CREATED = "HelmChartCreated";
    HELM_CHART_CONFIGURED = "HelmChartConfigured";
    HELM_CHART_DELETED = "HelmChartDeleted";
    HELM_CHART_SYNC_ERR = "HelmChartSyncErr";

    // Notifications.
    INITIALIZED = "Initialized";
    TOKEN_NOT_FOUND = "TokenNotFound";
    VALIDATION_FAILED = "ValidationFailed";
    NOTIFICATION_DISPATCH_FAILED = "NotificationDispatchFailed";
    METADATA_APPEND_FAILED = "MetadataAppendFailed";
    INVALID_CONFIG = "InvalidConfig";

    // Images.
    IMAGE_URL_INVALID = "ImageURLInvalid";
    INTERVAL_NOT_CONFIGURED = "IntervalNotConfigured";
    INVALID_POLICY = "InvalidPolicy";
    INVALID_POLICY_SELECTOR = "InvalidPolicySelector";
    INVALID_SOURCE_CONFIGURATION = "InvalidSourceConfiguration";
    INVALID_UPDATE_STRATEGY = "InvalidUpdateStrategy";
    REMOVED_TEMPLATE_FIELD = "RemovedTemplateField";
    SOURCE_MANAGER_FAILED = "SourceManagerFailed";
    UPDATE_FAILED = "UpdateFailed";

    // ArtifactGenerators.
    RECONCILIATION_DISABLED = "ReconciliationDisabled";
    SOURCE_FETCH_FAILED = "SourceFetchFailed";
}
