//! Alert: which events are passed on to which provider.

use std::collections::BTreeMap;

use super::event_source::EventSource;
use super::{CATEGORIES, GROUP};
use crate::status::NoStatus;
use crate::{Column, Definition, Fields, LocalObjectReference, Names, Object, ReadError, Spec};

/// Events that are passed on.
pub type Alert = Object<AlertSpec>;

record! {
    /// Which events are passed on, and to whom.
    AlertSpec {
        /// The Provider that gets the events.
        required provider_ref: LocalObjectReference {}
        /// The least severity of the events.
        optional event_severity: Option<Severity> { .default_to("info") }
        /// The objects that the events are about.
        required event_sources: Vec<EventSource> {}
        /// Regular expressions; only events whose message matches one of them are passed on.
        optional inclusion_list: Vec<String> {}
        /// Further facts that are added to the events.
        optional event_metadata: BTreeMap<String, String> {}
        /// Regular expressions; events whose message matches one of them are not passed on.
        optional exclusion_list: Vec<String> {}
        /// What it is about, in a sentence. The key `summary` of `eventMetadata` replaces it.
        optional summary: Option<String> { .length(0, 255) }
        /// Stops passing on events until it is false again.
        optional suspend: bool {}
    }
}

choice! {
    /// How grave events are.
    Severity { Info = "info", Error = "error" }
}

impl Spec for AlertSpec {
    type Status = NoStatus;

    const NAMES: Names = Names {
        group: GROUP,
        version: "v1beta3",
        kind: "Alert",
        plural: "alerts",
        short: &[],
    };

    fn definition() -> Definition {
        Definition::of::<Self>("Events that are passed on to a provider.", CATEGORIES)
            .stateless()
            .older(&["v1beta1", "v1beta2"])
            .columns([Column::AGE])
    }

    fn read(object: &Fields) -> Result<Object<Self>, ReadError> {
        crate::object::read(object)
    }
}
