//! Finalizers: what keeps an object until what it has made is cleared up.

use api::{Object, ReconcileStatus, Spec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use kube::api::Patch;
use serde_json::json;

use super::super::runner::FINALIZER;
use super::{ATTEMPTS, WAIT, Writer};

/// Whether an object stays until its finalizer is taken away.
pub(super) fn is_held(metadata: &ObjectMeta) -> bool {
    let mut finalizers = metadata.finalizers.iter().flatten();
    finalizers.any(|one| one == FINALIZER)
}

impl<S: Spec<Status: ReconcileStatus + PartialEq>> Writer<S> {
    /// Makes of the finalizers of the object what `change` makes of them. What is sent depends on the finalizers alone: others
    /// may write whatever else, and as often as they like.
    pub(in super::super) async fn set_finalizers(
        &self,
        object: &Object<S>,
        change: impl Fn(&[String]) -> Vec<String>,
    ) -> kube::Result<()> {
        let (api, name) = (self.api(object), object.name_any());
        let mut newest = object.clone();
        for attempt in 1.. {
            let old = &newest.metadata.finalizers;
            let patch = json!([
                {"op": "test", "path": "/metadata/uid", "value": newest.metadata.uid},
                {"op": "test", "path": "/metadata/finalizers", "value": old},
                {"op": "add", "path": "/metadata/finalizers", "value": change(newest.finalizers())},
            ]);
            let patch = serde_json::from_value(patch).map_err(kube::Error::SerdeError)?;
            let patch = Patch::<()>::Json(patch);
            let refused = match api.patch(&name, &self.parameters(), &patch).await {
                Ok(object) => {
                    self.see(object);
                    return Ok(());
                }
                // A test in a JSON patch that fails is answered with 422.
                Err(kube::Error::Api(answer)) if matches!(answer.code, 409 | 422) => answer,
                Err(error) => return Err(error),
            };
            tokio::time::sleep(WAIT.mul_f64(1.0 + fastrand::f64())).await;
            let Some(found) = api.get_opt(&name).await? else {
                return Err(kube::Error::Api(refused));
            };
            self.see(found.clone());
            // An object that is another one now, or is to go now, is another matter.
            let metadata = &found.metadata;
            let same = metadata.uid == object.metadata.uid
                && metadata.deletion_timestamp == object.metadata.deletion_timestamp;
            if !same || attempt >= ATTEMPTS {
                return Err(kube::Error::Api(refused));
            }
            newest = found;
        }
        Ok(())
    }
}
