//! Receiver: a webhook that makes objects reconcile at once.

use std::collections::BTreeMap;

use super::event_source::EventSourceKind;
use super::{CATEGORIES, GROUP};
use crate::{
    Column, Condition, Definition, Duration, Fields, LocalObjectReference, Names, Object, ReadError, Spec,
};

/// A webhook that makes objects reconcile.
pub type Receiver = Object<ReceiverSpec>;

record! {
    /// Who may call, and what is reconciled then.
    ReceiverSpec {
        /// Who calls; it tells how calls are checked.
        required r#type as "type": ReceiverType {}
        /// How often the Secret is looked at again.
        optional interval: Option<Duration> { .default_to("10m") }
        /// The events of the caller that count: `push`. If not set, all.
        optional events: Vec<String> {}
        /// The objects to reconcile.
        required resources: Vec<ReceiverResource> {}
        /// A CEL expression over `res` and `req` that says which of the objects are reconciled.
        optional resource_filter: Option<String> {}
        /// A Secret with the `token` that calls are checked with.
        optional secret_ref: Option<LocalObjectReference> {}
        /// Who issues the tokens that callers bring, for the type `generic-oidc`.
        optional oidc_providers: Vec<OidcProvider> {
            .with("x-kubernetes-list-type", "map")
            .with("x-kubernetes-list-map-keys", ["issuerURL"].into_iter().collect::<model::Value>())
        }
        /// Refuses calls until it is false again.
        optional suspend: bool {}
    }
    rules {
        "self.type != 'generic-oidc' || (has(self.oidcProviders) && size(self.oidcProviders) > 0)"
            => "generic-oidc receivers must define at least one oidcProvider",
        "self.type == 'generic-oidc' || !has(self.oidcProviders) || size(self.oidcProviders) == 0"
            => "oidcProviders can only be set when type is generic-oidc",
        "self.type != 'generic-oidc' || !has(self.secretRef)"
            => "secretRef cannot be set when type is generic-oidc",
        "self.type == 'generic-oidc' || has(self.secretRef)"
            => "secretRef is required when type is not generic-oidc",
    }
}

choice! {
    /// Who calls a webhook.
    ReceiverType {
        Generic = "generic",
        GenericHmac = "generic-hmac",
        GenericOidc = "generic-oidc",
        GitHub = "github",
        GitLab = "gitlab",
        Bitbucket = "bitbucket",
        Harbor = "harbor",
        DockerHub = "dockerhub",
        Quay = "quay",
        Gcr = "gcr",
        Nexus = "nexus",
        Acr = "acr",
        CdEvents = "cdevents",
    }
}

record! {
    /// Objects of one kind to reconcile, by name or labels.
    ReceiverResource {
        /// The group and version of the objects.
        optional api_version: Option<String> {}
        /// The kind of the objects.
        required kind: EventSourceKind {}
        /// The name of the object, or `*` for all.
        required name: String { .length(1, 253) }
        /// The namespace of the objects. If not set, the same one.
        optional namespace: Option<String> { .length(1, 253) }
        /// Labels that the objects must have, if the name is `*`.
        optional match_labels: BTreeMap<String, String> {}
        /// A CEL expression over `res` and `req` that says which of these objects are reconciled.
        optional filter: Option<String> {}
    }
}

record! {
    /// Who issues the tokens that callers bring.
    OidcProvider {
        /// The address of the issuer.
        required issuer_url as "issuerURL": String { .pattern("^https?://") }
        /// Whom the tokens must be for.
        optional audience: Option<String> {}
        /// What must hold of the claims of a token.
        required validations: Vec<OidcValidation> { .at_least(1) }
        /// Names for parts of the claims, for the expressions.
        optional variables: Vec<OidcVariable> {}
    }
}

record! {
    /// What must hold of the claims of a token.
    OidcValidation {
        /// A CEL expression over `claims` and `vars`.
        required expression: String {}
        /// What is said when it does not hold.
        required message: String {}
    }
}

record! {
    /// A name for a part of the claims.
    OidcVariable {
        /// The name.
        required name: String {}
        /// A CEL expression over `claims` and the variables before it.
        required expression: String {}
    }
}

record! {
    /// Where the webhook is.
    ReceiverStatus {
        /// The generation of the object that was last dealt with.
        optional observed_generation: Option<i64> {}
        /// What is true of the object.
        optional conditions: Vec<Condition> {}
        /// The path of the webhook on the server that takes calls.
        optional webhook_path: Option<String> {}
        /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last dealt with.
        optional last_handled_reconcile_at: Option<String> {}
    }
}

reconcile_status!(ReceiverStatus);

impl Spec for ReceiverSpec {
    type Status = ReceiverStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1",
        kind: "Receiver",
        plural: "receivers",
        short: &[],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("A webhook that makes objects reconcile at once.", CATEGORIES)
            .unobserved_at_first()
            .older(&["v1beta1", "v1beta2"])
            .columns([Column::AGE, Column::READY, Column::STATUS])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
