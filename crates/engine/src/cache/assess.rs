//! Assesses objects by the settings of a cache, and by the standards of those who follow them.
//!
//! Rules of a tenant wait for the turn of the tenant, and of the tenant's rules about one object all pay from one budget: more units with
//! more expressions take no longer.

use std::sync::Arc;

use jiff::Timestamp;
use model::{Health, Value};

use super::entry::Id;
use super::settings::{KindSettings, Settings, assessed};
use super::standard::Standard;
use crate::cluster::Detail;
use crate::health::cel::Work;

/// An object with its health.
pub(super) struct Assessed {
    pub(super) object: Value,
    /// By the settings.
    pub(super) health: Option<Health>,
    /// By each standard.
    pub(super) healths: Vec<(Standard, Option<Health>)>,
}

/// The rules that objects of a kind are assessed by.
pub(super) struct Rules<'a> {
    pub(super) settings: &'a Settings,
    pub(super) kind: &'a KindSettings,
    pub(super) standards: &'a [Standard],
    pub(super) detail: Detail,
}

impl Rules<'_> {
    /// Assesses an object. Its kind is that of the watch: the items of a list and bare metadata do not name theirs.
    pub(super) async fn assess(&self, id: &Arc<Id>, mut object: Value, now: Timestamp) -> Assessed {
        object.set_at(&["apiVersion"], id.kind.api_version.clone());
        object.set_at(&["kind"], id.kind.kind.clone());
        if self.detail == Detail::Metadata {
            let healths = self.standards.iter().map(|standard| (standard.clone(), None));
            return Assessed {
                object,
                health: None,
                healths: healths.collect(),
            };
        }
        let (evaluations, realm) = (&self.settings.evaluations, &self.settings.realm);
        let plain = || assessed(&*self.kind.health, &object, now, &mut Work::default());
        let health = match self.kind.special {
            false => plain(),
            // Nobody knows how long rules of others take. Those of the settings belong to no tenant.
            true => evaluations.run_in("", realm, plain).await,
        };
        let by = |standard: &Standard, work: &mut Work| {
            standard.assess(&object, now, self.kind, health.as_ref(), work)
        };
        let mut healths: Vec<_> = self
            .standards
            .iter()
            .map(|standard| match standard.tenant() {
                Some(_) => (standard.clone(), None),
                None => (standard.clone(), by(standard, &mut Work::default())),
            })
            .collect();
        for tenant in self.tenants() {
            let of_tenant = || {
                let mut work = Work::default();
                let theirs = healths
                    .iter_mut()
                    .filter(|(standard, _)| standard.tenant() == Some(tenant));
                for (standard, health) in theirs {
                    *health = by(standard, &mut work);
                }
            };
            evaluations.run_in(tenant, realm, of_tenant).await;
        }
        Assessed {
            object,
            health,
            healths,
        }
    }

    fn tenants(&self) -> Vec<&str> {
        let mut tenants: Vec<_> = self.standards.iter().filter_map(Standard::tenant).collect();
        tenants.sort_unstable();
        tenants.dedup();
        tenants
    }
}
