//! What is true of an object, as its status says it, and the types that Sluice reports.

use model::Time;
use serde::{Deserialize, Serialize};

use crate::schema::{Described, Field, Presence, Schema};

/// One statement about an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What it is about: `Ready`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// The generation of the object that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When it last changed.
    pub last_transition_time: Time,
    /// Why, as a word for programs.
    #[serde(default)]
    pub reason: String,
    /// Why, as a sentence for people.
    #[serde(default)]
    pub message: String,
}

choice! {
    /// Whether a condition holds.
    ConditionStatus { True = "True", False = "False", Unknown = "Unknown" }
}

/// The type of a condition. There are no others than those of [`ConditionType`]'s constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConditionType(&'static str);

impl ConditionType {
    /// The object is as it should be.
    pub const READY: Self = Self("Ready");
    /// Work is going on. Only there while true.
    pub const RECONCILING: Self = Self("Reconciling");
    /// It will not become ready by itself. Only there while true.
    pub const STALLED: Self = Self("Stalled");
    /// What was applied is healthy.
    pub const HEALTHY: Self = Self("Healthy");

    /// The artifact of the wanted revision is in the store.
    pub const ARTIFACT_IN_STORAGE: Self = Self("ArtifactInStorage");
    /// The artifact is older than what is wanted.
    pub const ARTIFACT_OUTDATED: Self = Self("ArtifactOutdated");
    /// The signature of the source is good.
    pub const SOURCE_VERIFIED: Self = Self("SourceVerified");
    /// The source could not be fetched.
    pub const FETCH_FAILED: Self = Self("FetchFailed");
    /// The chart could not be built.
    pub const BUILD_FAILED: Self = Self("BuildFailed");
    /// The artifact store failed.
    pub const STORAGE_OPERATION_FAILED: Self = Self("StorageOperationFailed");
    /// A repository that is to be included has no artifact.
    pub const INCLUDE_UNAVAILABLE: Self = Self("IncludeUnavailable");

    /// The release is installed in the wanted version.
    pub const RELEASED: Self = Self("Released");
    /// The tests of the release passed.
    pub const TEST_SUCCESS: Self = Self("TestSuccess");
    /// A failed release was rolled back or uninstalled.
    pub const REMEDIATED: Self = Self("Remediated");
    /// The cluster differs from the release.
    pub const DRIFTED: Self = Self("Drifted");

    /// The type as objects have it.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl std::fmt::Display for ConditionType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

const TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
const REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

/// The longest message of a condition.
pub const MAX_MESSAGE: i64 = 32768;

impl Described for Condition {
    fn schema() -> Schema {
        use Presence::{Needed, Optional, Required};
        let field = |name, presence, schema: Schema, about: &str| {
            Field::new(name, &[], presence, schema.described(&[about]))
        };
        let text = String::schema;
        let (reason, kind) = (
            text().length(1, 1024).pattern(REASON),
            text().length(0, 316).pattern(TYPE),
        );
        let generation = i64::schema().minimum(0);
        Schema::object(vec![
            field(
                "last_transition_time",
                Required,
                Time::schema(),
                "When the condition last changed.",
            ),
            field(
                "message",
                Needed,
                text().length(0, MAX_MESSAGE),
                "Why, as a sentence for people.",
            ),
            field(
                "observed_generation",
                Optional,
                generation,
                "The generation of the object that it is about.",
            ),
            field("reason", Needed, reason, "Why, as a word for programs."),
            field(
                "status",
                Required,
                ConditionStatus::schema(),
                "Whether it holds: True, False or Unknown.",
            ),
            field("type", Required, kind, "What it is about, in camel case: Ready."),
        ])
        .described(&["One statement about the object."])
    }
}
