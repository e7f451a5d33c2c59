//! Whether there is something newer than what a run works on. Then nobody waits for the health of what it has applied any more.

use std::sync::Arc;

use api::helm::{HelmRelease, HelmReleaseSpec};
use futures::FutureExt as _;
use kube::ResourceExt;

use super::configs::Configs;
use super::settled::Inputs;
use super::source::Sources;
use super::versions::Read;
use super::{Settings, target};
use crate::kit::{Desk, requested_at};

/// Tells what is newer than what a run works on, as Flux names it: `HelmChart/shop/shop-web`.
pub(super) type Newer = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// What a run works on.
pub(super) struct WorkedOn {
    pub(super) object: HelmRelease,
    pub(super) helm_chart: Option<String>,
    pub(super) inputs: Inputs,
    /// The versions of what its values were read from.
    pub(super) read: Read,
}

/// Looks whether there is something newer: another spec, another chart, other values; with the gate for it, another request.
pub(super) fn newer(
    desk: Desk<HelmReleaseSpec>,
    sources: Sources,
    configs: Arc<Configs>,
    settings: Settings,
    worked_on: WorkedOn,
) -> Newer {
    Arc::new(move || {
        let WorkedOn {
            object, helm_chart, ..
        } = &worked_on;
        let key = (target::own_namespace(object), object.name_any());
        let now = desk.get(&key)?;
        // What is suspended is let come to its end.
        if now.spec.suspend {
            return None;
        }
        let own = || Some(format!("HelmRelease/{}/{}", key.0, key.1));
        let is_leaving = now.metadata.deletion_timestamp.is_some();
        if is_leaving || now.metadata.generation != object.metadata.generation {
            return own();
        }
        if settings.cancel_health_checks && requested_at(&now) != requested_at(object) {
            return own();
        }
        if let Some(config) = configs.changed(&worked_on.read) {
            return Some(format!("{}/{}/{}", config.kind, config.namespace, config.name));
        }
        let found = sources.chart(&now, helm_chart.as_deref(), &settings);
        let found = found.now_or_never()?.ok()?;
        let is_same = worked_on.inputs.is_of(&found.artifact);
        (!is_same).then_some(found.name)
    })
}
