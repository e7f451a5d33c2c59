//! In which order objects are applied and deleted.

mod argo;
mod flux;
mod flux_v1;
mod helm;

use std::cmp::Ordering;

use model::{ObjectKey, Str};
use serde::{Deserialize, Serialize};

pub(super) use argo::{defined_kind, pull_dependencies_forward};
pub(super) use flux::{Stage, is_definition};

/// In which order objects are applied and deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Flux: definitions, classes, the kinds in `custom` and then all others, each a stage.
    Flux {
        /// Kinds that have a stage of their own before all others.
        custom: Vec<GroupKind>,
    },
    /// Helm: by kind, and as they come within one.
    Helm,
    /// Flux v1: by rank of the kind, then by name.
    FluxV1,
    /// Argo CD: by phase, wave, kind and name.
    Argo,
}

/// A kind in its group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupKind {
    /// The group; empty for the core group.
    pub group: Str,
    /// The kind.
    pub kind: Str,
}

impl GroupKind {
    /// Reads a list as `--custom-apply-stage-kinds` takes it: `group/Kind,Kind`. A kind without a group is one of the core
    /// group.
    pub fn list(text: &str) -> Vec<Self> {
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        items
            .map(|item| {
                let (group, kind) = item.split_once('/').unwrap_or(("", item));
                GroupKind {
                    group: group.into(),
                    kind: kind.into(),
                }
            })
            .collect()
    }
}

impl Order {
    /// Which object is applied first. Helm leaves objects of one kind as they come, which is [`Ordering::Equal`]; all others
    /// tell any two objects apart.
    pub fn compare(&self, a: &ObjectKey, b: &ObjectKey) -> Ordering {
        match self {
            Order::Flux { .. } => flux::compare(a, b),
            Order::Helm => helm::compare(&helm::INSTALL, a, b),
            Order::FluxV1 => flux_v1::compare(a, b),
            Order::Argo => argo::compare(a, b),
        }
    }

    /// Which object is deleted first.
    pub fn compare_deletion(&self, a: &ObjectKey, b: &ObjectKey) -> Ordering {
        match self {
            Order::Helm => helm::compare(&helm::UNINSTALL, a, b),
            _ => self.compare(b, a),
        }
    }

    /// Whether the order says nothing about two objects that follow each other, so that they may be written at once.
    pub(super) fn same_batch(&self, a: &ObjectKey, b: &ObjectKey) -> bool {
        match self {
            Order::Flux { .. } => flux::rank(a) == flux::rank(b),
            Order::FluxV1 => flux_v1::rank(a) == flux_v1::rank(b),
            Order::Helm | Order::Argo => a.kind == b.kind,
        }
    }
}

/// The position in a list of kinds.
fn position(kinds: &[&str], kind: &str) -> Option<usize> {
    kinds.iter().position(|known| *known == kind)
}
