//! How the health of objects is told that Sluice does not know.

record! {
    /// When an object of some kind is healthy, as CEL expressions over its fields.
    HealthCheckExpr {
        /// The group and version of the objects.
        required api_version: String {}
        /// The kind of the objects.
        optional kind: Option<String> {}
        /// True when the object is as it should be.
        required current: String {}
        /// True while it is becoming so. It goes before the others.
        optional in_progress: Option<String> {}
        /// True when it failed. It goes before `current`.
        optional failed: Option<String> {}
    }
}
