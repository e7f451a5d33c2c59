//! Objects that the server refuses.

use model::ObjectKey;

use super::{Observer, verdict};
use crate::cluster::{Error, Resource, Write};
use crate::diff::dry_run_failure;
use crate::plan::{Desired, Live, Observed};

impl Observer<'_> {
    /// Why the server refuses an object, whether it is there, and whether it could be made anew.
    pub(super) async fn refused(
        &self,
        desired: &mut Desired,
        key: &ObjectKey,
        resource: &Resource,
        error: Error,
    ) -> Observed {
        let told = dry_run_failure(&key.namespace, &error);
        desired.verdict = verdict(&error);
        match &error {
            Error::NoSuchKind { .. } => return Observed::KindMissing { error: told },
            // An apply creates what is missing: what was not found can only be the namespace.
            Error::NotFound(_) => return Observed::NamespaceMissing { error: told },
            _ => {}
        }
        let live = match error.is_immutable() {
            true => self.cluster.get(resource, &key.namespace, &key.name).await,
            false => Ok(None),
        };
        let Ok(Some(live)) = live else {
            return Observed::Failed {
                live: None,
                error: told,
            };
        };
        let seen = Live::of(&live);
        if !(self.forced)(&desired.object, &seen) {
            // Whether it could be made is of interest to nobody.
            return match error {
                Error::Immutable(_) => Observed::Immutable {
                    live: seen,
                    error: told,
                },
                _ => Observed::Failed {
                    live: Some(seen),
                    error: told,
                },
            };
        }
        let by = Write::by(self.manager);
        let made = match error.asks_for_another() {
            true => {
                self.cluster
                    .could_make(resource, &desired.object, &live, &by)
                    .await
            }
            false => Err(error.clone()),
        };
        match made {
            Ok(()) => Observed::Immutable {
                live: seen,
                error: told,
            },
            Err(why) => Observed::Failed {
                live: Some(seen),
                error: match error {
                    Error::Immutable(_) => format!("{told}; it could not be made anew: {why}"),
                    _ => told,
                },
            },
        }
    }
}
