//! Whose signatures on OCI artifacts are accepted.

use crate::LocalObjectReference;

choice! {
    /// Who gives the credentials for a registry or a Helm repository.
    OciProvider { Generic = "generic", Aws = "aws", Azure = "azure", Gcp = "gcp" }
}

record! {
    /// Which signature an OCI artifact must have.
    OciVerification {
        /// The tool that it was signed with.
        required provider: VerificationProvider { .default_to("cosign") }
        /// A Secret with the public keys or certificates of those whose signatures are accepted.
        optional secret_ref: Option<LocalObjectReference> {}
        /// Who may have signed without a key: an identity that matches any of these is accepted.
        optional match_oidc_identity as "matchOIDCIdentity": Vec<OidcIdentity> {}
        /// A Secret with a sigstore `trusted_root.json` to use in place of the public one.
        optional trusted_root_secret_ref: Option<LocalObjectReference> {}
    }
}

record! {
    /// Which signature a chart in an OCI registry must have.
    ChartVerification {
        /// The tool that it was signed with.
        required provider: VerificationProvider { .default_to("cosign") }
        /// A Secret with the public keys or certificates of those whose signatures are accepted.
        optional secret_ref: Option<LocalObjectReference> {}
        /// Who may have signed without a key: an identity that matches any of these is accepted.
        optional match_oidc_identity as "matchOIDCIdentity": Vec<OidcIdentity> {}
    }
}

choice! {
    /// A tool that signs OCI artifacts.
    VerificationProvider { Cosign = "cosign", Notation = "notation" }
}

record! {
    /// Who signed without a key, as the certificate says.
    OidcIdentity {
        /// A regular expression for the issuer of the identity.
        required issuer: String {}
        /// A regular expression for the subject of the identity.
        required subject: String {}
    }
}
