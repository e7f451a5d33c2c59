//! Bucket: files of an object storage.

use model::Artifact;

use super::{CATEGORIES, GROUP};
use crate::{
    AccessFrom, Column, Condition, Definition, Duration, Fields, LocalObjectReference, Names, Object,
    ReadError, Spec,
};

/// Files of a bucket.
pub type Bucket = Object<BucketSpec>;

record! {
    /// Which bucket to download, and what of it.
    BucketSpec {
        /// The kind of storage: `generic` is anything that speaks S3.
        optional provider: Option<BucketProvider> { .default_to("generic") }
        /// The name of the bucket.
        required bucket_name: String {}
        /// The host, and the port if it is not the usual one, of the storage.
        required endpoint: String {}
        /// Where to get temporary credentials from.
        optional sts: Option<Sts> {}
        /// Lets the storage be reached over plain HTTP.
        optional insecure: bool {}
        /// The region of the bucket.
        optional region: Option<String> {}
        /// Only objects whose names begin with this are downloaded.
        optional prefix: Option<String> {}
        /// A Secret with the keys of the storage.
        optional secret_ref: Option<LocalObjectReference> {}
        /// The ServiceAccount whose identity is used. Not for the provider `generic`.
        optional service_account_name: Option<String> {}
        /// A Secret with `ca.crt`, or `tls.crt` and `tls.key`, for the connection. Only for the provider `generic`.
        optional cert_secret_ref: Option<LocalObjectReference> {}
        /// A Secret with the address of a proxy, and `username` and `password` for it.
        optional proxy_secret_ref: Option<LocalObjectReference> {}
        /// How often the bucket is looked at for changes.
        required interval: Duration {}
        /// How long listing and downloading may take.
        optional timeout: Option<Duration> { .without_hours().default_to("60s") }
        /// What to leave out of the artifact, as the lines of a `.sourceignore` file.
        optional ignore: Option<String> {}
        /// Stops downloading until it is false again. The last artifact stays served.
        optional suspend: bool {}
        /// From which namespaces this may be referred to. It had no effect.
        older access_from: Option<AccessFrom> {}
    }
    rules {
        "self.provider == 'aws' || self.provider == 'generic' || !has(self.sts)"
            => "STS configuration is only supported for the 'aws' and 'generic' Bucket providers",
        "self.provider != 'aws' || !has(self.sts) || self.sts.provider == 'aws'"
            => "'aws' is the only supported STS provider for the 'aws' Bucket provider",
        "self.provider != 'generic' || !has(self.sts) || self.sts.provider == 'ldap'"
            => "'ldap' is the only supported STS provider for the 'generic' Bucket provider",
        "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.secretRef)"
            => "spec.sts.secretRef is not required for the 'aws' STS provider",
        "!has(self.sts) || self.sts.provider != 'aws' || !has(self.sts.certSecretRef)"
            => "spec.sts.certSecretRef is not required for the 'aws' STS provider",
        "self.provider != 'generic' || !has(self.serviceAccountName)"
            => "ServiceAccountName is not supported for the 'generic' Bucket provider",
        "!has(self.secretRef) || !has(self.serviceAccountName)"
            => "cannot set both .spec.secretRef and .spec.serviceAccountName",
    }
}

choice! {
    /// A kind of object storage.
    BucketProvider { Generic = "generic", Aws = "aws", Gcp = "gcp", Azure = "azure" }
}

record! {
    /// A service that gives temporary credentials (STS).
    Sts {
        /// The kind of service.
        required provider: StsProvider {}
        /// The address of the service.
        required endpoint: String { .pattern("^(http|https)://.*$") }
        /// A Secret with the user and password for the service. Only for `ldap`.
        optional secret_ref: Option<LocalObjectReference> {}
        /// A Secret with `ca.crt`, or `tls.crt` and `tls.key`, for the connection. Only for `ldap`.
        optional cert_secret_ref: Option<LocalObjectReference> {}
    }
}

choice! {
    /// A kind of service that gives temporary credentials.
    StsProvider { Aws = "aws", Ldap = "ldap" }
}

record! {
    /// What was downloaded last.
    BucketStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// Where the last artifact is served.
        optional url: Option<String> {}
        /// The packed files of the last revision that was downloaded.
        #[serde(deserialize_with = "crate::artifact::lenient")]
        optional artifact: Option<Artifact> {}
        /// The ignore rules that the artifact was made with.
        optional observed_ignore: Option<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

reconcile_status!(BucketStatus);

impl Spec for BucketSpec {
    type Status = BucketStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "Bucket",
        plural: "buckets",
        short: &[],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("The files of an object storage.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta1", "v1beta2"])
            .columns([
                Column::new("Endpoint", ".spec.endpoint"),
                Column::AGE,
                Column::READY,
                Column::STATUS,
            ])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
