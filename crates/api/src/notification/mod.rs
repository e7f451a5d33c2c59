//! `notification.toolkit.fluxcd.io`: who is told what happens, and who may tell us.

mod alert;
mod event_source;
mod provider;
mod receiver;

pub use alert::{Alert, AlertSpec, Severity};
pub use event_source::{EventSource, EventSourceKind};
pub use provider::{Provider, ProviderSpec, ProviderType};
pub use receiver::{
    OidcProvider, OidcValidation, OidcVariable, Receiver, ReceiverResource, ReceiverSpec, ReceiverStatus,
    ReceiverType,
};

/// The API group of notifications.
pub const GROUP: &str = "notification.toolkit.fluxcd.io";

/// What `kubectl get` finds them under.
const CATEGORIES: &[&str] = &["all", "fluxcd", "fluxcd-notifications"];
