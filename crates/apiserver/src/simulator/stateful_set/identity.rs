//! What makes each pod of a StatefulSet one of its own: number, name, host name and volumes.

use model::{Value, value};

use super::{POD_REVISION, View, claims};
use crate::simulator::revision::Revision;
use crate::simulator::template;

/// The number in a pod's name, where it is one of the set's.
pub(super) fn ordinal(set: &str, pod: &str) -> Option<i64> {
    let number = pod.strip_prefix(set)?.strip_prefix('-')?;
    let plain = number == "0" || !number.starts_with('0');
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: i32 = number.parse().ok().filter(|_| plain && digits)?;
    Some(number.into())
}

impl View<'_> {
    pub(super) fn pod_name(&self, ordinal: i64) -> String {
        format!("{}-{ordinal}", self.name)
    }

    /// The revision that a new pod of this number gets.
    pub(super) fn revision_for(&self, ordinal: i64) -> &Revision {
        let kept = match self.set.at(&["spec", "updateStrategy", "rollingUpdate"]) {
            _ if !self.is_rolling() => 0,
            Some(_) => self.partition(),
            None => crate::simulator::step::number(self.set, &["status", "currentReplicas"]),
        };
        if ordinal < self.start + kept {
            &self.current
        } else {
            &self.update
        }
    }

    /// The pod of this number, made by `revision`.
    pub(super) fn pod(&self, ordinal: i64, revision: &Revision) -> Value {
        let name = self.pod_name(ordinal);
        let mut pod = template::pod(&revision.template, self.set);
        pod.set_at(&["metadata", "name"], name.as_str());
        let labels = [
            ("statefulset.kubernetes.io/pod-name", name.as_str()),
            ("apps.kubernetes.io/pod-index", &ordinal.to_string()),
            (POD_REVISION, &revision.name),
        ];
        for (label, text) in labels {
            pod.set_at(&["metadata", "labels", label], text);
        }
        pod.set_at(&["spec", "hostname"], name.as_str());
        let service = self.set.str_at(&["spec", "serviceName"]);
        if !service.is_empty() {
            pod.set_at(&["spec", "subdomain"], service);
        }
        self.mount_claims(&mut pod, ordinal);
        pod
    }

    /// Lets the pod use its claims, in place of volumes of the same names.
    fn mount_claims(&self, pod: &mut Value, ordinal: i64) {
        let claims = claims::names(self.set, self.name, ordinal);
        if claims.is_empty() {
            return;
        }
        let others = pod.list_at(&["spec", "volumes"]).iter();
        let others = others.filter(|volume| {
            let name = volume.str_at(&["name"]);
            claims.iter().all(|(template, _)| template != name)
        });
        let own = claims.iter().map(|(template, claim)| {
            value!({"name": (template.as_str()), "persistentVolumeClaim": {"claimName": (claim.as_str())}})
        });
        let volumes: Vec<Value> = own.chain(others.cloned()).collect();
        pod.set_at(&["spec", "volumes"], volumes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_belongs_to_the_set_that_its_name_begins_with() {
        assert_eq!(ordinal("web", "web-0"), Some(0));
        assert_eq!(ordinal("web", "web-12"), Some(12));
        for other in [
            "web-",
            "web",
            "web-a",
            "web-01",
            "web-x-0",
            "db-0",
            "web-+1",
            "web-99999999999",
        ] {
            assert_eq!(ordinal("web", other), None, "{other}");
        }
    }
}
