//! Why the pods of a workload do not come up.

use std::collections::BTreeMap;

use model::{ObjectKey, Value};

/// The pods that are in trouble.
#[derive(Default)]
pub(super) struct Pods {
    troubled: BTreeMap<ObjectKey, Pod>,
}

struct Pod {
    labels: Value,
    trouble: String,
}

impl Pods {
    /// Takes note of a pod; `None` where it is gone.
    pub(super) fn saw(&mut self, key: &ObjectKey, live: Option<&Value>) {
        match live.and_then(|live| Some((live, trouble(live)?))) {
            Some((live, trouble)) => {
                let labels = live.at(&["metadata", "labels"]).cloned().unwrap_or_default();
                self.troubled.insert(key.clone(), Pod { labels, trouble });
            }
            None => drop(self.troubled.remove(key)),
        }
    }

    /// What troubles the first of the pods that a workload selects.
    pub(super) fn trouble_of(&self, workload: &Value) -> Option<String> {
        let wanted = workload.at(&["spec", "selector", "matchLabels"])?.as_object()?;
        let namespace = workload.str_at(&["metadata", "namespace"]);
        let (key, pod) = self.troubled.iter().find(|(key, pod)| {
            key.namespace == namespace
                && wanted
                    .iter()
                    .all(|(name, value)| pod.labels.get(name) == Some(value))
        })?;
        Some(format!("pod {}: {}", key.name, pod.trouble))
    }
}

/// What keeps a pod from being ready, where it is more than that it needs a moment.
fn trouble(pod: &Value) -> Option<String> {
    let statuses = ["initContainerStatuses", "containerStatuses"]
        .into_iter()
        .flat_map(|field| pod.list_at(&["status", field]));
    for container in statuses {
        let waiting = container.at(&["state", "waiting"]);
        let reason = waiting.map_or("", |waiting| waiting.str_at(&["reason"]));
        if !matches!(reason, "" | "ContainerCreating" | "PodInitializing") {
            let message = waiting.map_or("", |waiting| waiting.str_at(&["message"]));
            return Some(joined(reason, message));
        }
        let ended = container.at(&["state", "terminated"]);
        let code = ended
            .and_then(|ended| ended.get("exitCode"))
            .and_then(Value::as_i64);
        if let Some(code) = code.filter(|code| *code != 0) {
            let name = container.str_at(&["name"]);
            return Some(format!("container {name} ended with exit code {code}"));
        }
    }
    if pod.str_at(&["status", "phase"]) == "Failed" {
        return Some(joined("Failed", pod.str_at(&["status", "message"])));
    }
    let conditions = pod.list_at(&["status", "conditions"]).iter();
    let unscheduled = conditions
        .filter(|condition| condition.str_at(&["type"]) == "PodScheduled")
        .find(|condition| condition.str_at(&["status"]) == "False")?;
    Some(joined(
        unscheduled.str_at(&["reason"]),
        unscheduled.str_at(&["message"]),
    ))
}

fn joined(reason: &str, message: &str) -> String {
    match message {
        "" => reason.to_owned(),
        message => format!("{reason}: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn pod(name: &str, state: Value) -> Value {
        value!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "n", "labels": {"app": "web", "hash": "1"}},
            "status": {"containerStatuses": [{"name": "c", "state": state}]},
        })
    }

    #[test]
    fn a_workload_tells_what_troubles_its_pods() {
        let mut pods = Pods::default();
        let workload = value!({
            "metadata": {"namespace": "n"}, "spec": {"selector": {"matchLabels": {"app": "web"}}},
        });
        let calm = pod("a", value!({"waiting": {"reason": "ContainerCreating"}}));
        pods.saw(&ObjectKey::of(&calm), Some(&calm));
        assert_eq!(pods.trouble_of(&workload), None);
        let ill = pod(
            "b",
            value!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}),
        );
        pods.saw(&ObjectKey::of(&ill), Some(&ill));
        assert_eq!(
            pods.trouble_of(&workload).unwrap(),
            "pod b: ImagePullBackOff: no such image"
        );
        let other = value!({
            "metadata": {"namespace": "n"}, "spec": {"selector": {"matchLabels": {"app": "db"}}},
        });
        assert_eq!(pods.trouble_of(&other), None);
        pods.saw(&ObjectKey::of(&ill), None);
        assert_eq!(pods.trouble_of(&workload), None);
    }
}
