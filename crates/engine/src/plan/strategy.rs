//! How a unit is looked after: what differs between Flux, Helm, Flux v1 and Argo CD, as values.

use model::{ObjectKey, Value};
use serde::{Deserialize, Serialize};

use super::hooks::{self, Role};
use super::input::{Desired, Live};
use super::markers::{self, Markers};
use super::options::Options;
use super::order::{self, Order};
use super::ownership::Ownership;
use super::steps::OnFailure;
use super::sync_options::SyncOptions;
use crate::health::Rules;

/// How a unit is looked after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strategy {
    /// In which order objects are applied and deleted.
    pub order: Order,
    /// How the unit knows its objects.
    pub ownership: Ownership,
    /// How objects ask to be treated differently.
    pub markers: Markers,
    /// Whether hooks, waves and sync options of Argo CD count. If not, such annotations are annotations like any other.
    pub hooks: bool,
    /// What an object that cannot be applied stops.
    pub on_failure: OnFailure,
    /// Whether objects are brought into the form that Go's types give them before they are applied, as Flux does.
    pub normalise: bool,
    /// Whether fields whose differences are ignored stay as they are when something else of their object is applied. Argo
    /// CD's units ask for it by `RespectIgnoreDifferences=true`.
    pub keep_ignored: bool,
    /// The rules that tell how objects are doing where neither the unit nor the settings have others.
    pub health: Rules,
}

const FLUX_GROUP: &str = "kustomize.toolkit.fluxcd.io";

impl Strategy {
    /// Why a live object that is no longer desired stays all the same: it is not the unit's any more, it asks to be kept, or it is a
    /// hook. Nothing if it may be deleted.
    ///
    /// A plan has asked this already. An executor asks again if the object has changed since.
    pub fn keeps(&self, live: &Live) -> Option<String> {
        if let Some(reason) = self.ownership.not_ours(live) {
            return Some(reason);
        }
        if let Some(marker) = markers::find(&self.markers.keep, live) {
            return Some(format!("{}: {} is set", marker.key, marker.value));
        }
        let is_hook = self.hooks && hooks::role(live) != Role::Plain;
        is_hook.then(|| "it is a hook".to_owned())
    }

    /// Whether an object that cannot be changed into what is desired is deleted and made anew: the unit asks for it, or the object does, as it is
    /// desired or as it is there. Definitions and namespaces never are: all that is of the kind, or in the namespace, would go along.
    pub(crate) fn forces(&self, options: &Options, desired: &Value, live: Option<&Live>) -> bool {
        let is_marked = || {
            let recreate = &self.markers.recreate;
            let on_live = live.and_then(|live| markers::find(recreate, live));
            on_live.or_else(|| markers::find(recreate, desired)).is_some()
        };
        let is_asked = || {
            let on_live = live.is_some_and(|live| SyncOptions::of(live).force);
            self.hooks && (on_live || SyncOptions::of(desired).force)
        };
        (options.force || is_asked() || is_marked()) && !order::is_definition(&ObjectKey::of(desired))
    }

    /// Whether anything can come of an object in this run, so that it has to be looked at: hooks that do not run need not be.
    pub fn looks_at(&self, object: &Value, options: &Options) -> bool {
        if !self.hooks {
            return true;
        }
        match hooks::role(object) {
            Role::Plain => true,
            Role::Skipped | Role::Ignored => false,
            Role::Hook(_) => !options.argo.skip_hooks && options.only.is_none(),
        }
    }

    /// Whether an object is one that the unit has from then on, and no hook or namespace that others need.
    pub(crate) fn lasts(&self, desired: &Desired) -> bool {
        let is_hook = self.hooks && hooks::role(&*desired.object) != Role::Plain;
        !desired.implied && !is_hook
    }

    /// Whether an object is a hook that runs when its unit is deleted.
    pub fn runs_at_deletion(&self, object: &Value) -> bool {
        self.hooks && !hooks::deletion_phases(object).is_empty()
    }

    /// Whether ignored fields stay as they are when something else of their object is applied.
    pub fn keeps_ignored(&self, options: &Options) -> bool {
        self.keep_ignored || (self.hooks && options.argo.respect_ignored)
    }

    /// As Flux looks after a Kustomization.
    pub fn flux(name: &str, namespace: &str) -> Self {
        Strategy {
            order: Order::Flux { custom: Vec::new() },
            ownership: Ownership::flux(FLUX_GROUP, name, namespace),
            markers: Markers::flux(FLUX_GROUP),
            hooks: false,
            on_failure: OnFailure::Stop,
            normalise: true,
            keep_ignored: true,
            health: Rules::Kstatus,
        }
    }

    /// As Helm looks after what is in a release, without its hooks.
    pub fn helm() -> Self {
        Strategy {
            order: Order::Helm,
            ownership: Ownership::Inventory,
            markers: Markers::helm(),
            hooks: false,
            on_failure: OnFailure::Stop,
            normalise: false,
            keep_ignored: true,
            health: Rules::Kstatus,
        }
    }

    /// As Flux v1 looks after the set of that name.
    pub fn flux_v1(set: &str) -> Self {
        Strategy {
            order: Order::FluxV1,
            ownership: Ownership::Mark { set: set.to_owned() },
            markers: Markers::flux_v1(),
            hooks: false,
            on_failure: OnFailure::GoOn,
            normalise: false,
            keep_ignored: true,
            health: Rules::Kstatus,
        }
    }

    /// As Argo CD looks after the application of that name.
    pub fn argo(application: &str) -> Self {
        Strategy {
            order: Order::Argo,
            ownership: Ownership::Tracking {
                application: application.to_owned(),
            },
            markers: Markers::default(),
            hooks: true,
            on_failure: OnFailure::FinishStage,
            normalise: false,
            keep_ignored: false,
            health: Rules::Argo,
        }
    }

    /// As Flux does, but with hooks, waves and sync options of Argo CD, and so in its order.
    pub fn flux_with_waves(name: &str, namespace: &str) -> Self {
        Strategy {
            order: Order::Argo,
            hooks: true,
            on_failure: OnFailure::FinishStage,
            ..Strategy::flux(name, namespace)
        }
    }
}
