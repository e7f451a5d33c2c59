//! Whether an object is ready by the rules of Helm 3, which waits for fewer kinds than kstatus and asks less of them.
//!
//! Helm looks at other objects too, which these rules do without: how many pods of the newest ReplicaSet of a Deployment are ready is told by what
//! the Deployment says of all of them, so that it never counts as ready too early, and how the pods of a ReplicaSet are by its status.

use model::Value;

/// Whether an object is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is, or nothing is expected of its kind.
    Ready,
    /// Not yet, and why.
    Waiting(String),
    /// It will not be, and why.
    Failed(String),
}

/// Whether an object is ready.
pub fn of(object: &Value) -> Readiness {
    let (group, _) = model::object_key::split_api_version(object.str_at(&["apiVersion"]));
    match (group, object.str_at(&["kind"])) {
        ("", "Pod") => waits(has_condition(object, "Ready", "True"), "it is not ready"),
        ("batch", "Job") => job(object),
        ("apps", "Deployment") => deployment(object),
        ("", "PersistentVolumeClaim") => {
            let is_bound = object.str_at(&["status", "phase"]) == "Bound";
            waits(is_bound, "it is not bound")
        }
        ("", "Service") => service(object),
        ("apps", "DaemonSet") => daemon_set(object),
        ("apps", "StatefulSet") => stateful_set(object),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            let is_settled = has_condition(object, "Established", "True")
                // Names that are taken will not be free by waiting.
                || has_condition(object, "NamesAccepted", "False");
            waits(is_settled, "it is not established")
        }
        ("", "ReplicationController") | ("apps", "ReplicaSet") => {
            let (ready, all) = (
                number(object, &["status", "readyReplicas"]),
                number(object, &["status", "replicas"]),
            );
            waits(is_observed(object) && ready >= all, "its pods are not ready")
        }
        _ => Readiness::Ready,
    }
}

fn waits(is_ready: bool, why: &str) -> Readiness {
    match is_ready {
        true => Readiness::Ready,
        false => Readiness::Waiting(why.to_owned()),
    }
}

fn found(object: &Value, path: &[&str]) -> Option<i64> {
    object.at(path).and_then(Value::as_i64)
}

fn number(object: &Value, path: &[&str]) -> i64 {
    found(object, path).unwrap_or_default()
}

/// Whether the status is of the newest spec.
fn is_observed(object: &Value) -> bool {
    number(object, &["status", "observedGeneration"]) == number(object, &["metadata", "generation"])
}

fn has_condition(object: &Value, kind: &str, status: &str) -> bool {
    let conditions = object.at(&["status", "conditions"]).and_then(Value::as_array);
    let is_it = |one: &Value| one.str_at(&["type"]) == kind && one.str_at(&["status"]) == status;
    conditions.is_some_and(|conditions| conditions.iter().any(is_it))
}

fn job(job: &Value) -> Readiness {
    /// How often the pods of a Job may fail where it does not say.
    const BACKOFF_LIMIT: i64 = 6;
    let limit = found(job, &["spec", "backoffLimit"]).unwrap_or(BACKOFF_LIMIT);
    if number(job, &["status", "failed"]) > limit {
        return Readiness::Failed("job is failed".to_owned());
    }
    let wanted = number(job, &["spec", "completions"]);
    waits(
        number(job, &["status", "succeeded"]) >= wanted,
        "it is not completed",
    )
}

fn service(service: &Value) -> Readiness {
    let kind = service.str_at(&["spec", "type"]);
    if kind == "ExternalName" {
        return Readiness::Ready;
    }
    if service.str_at(&["spec", "clusterIP"]).is_empty() {
        return Readiness::Waiting("it has no cluster IP".to_owned());
    }
    let has_some = |path: &[&str]| {
        let list = service.at(path).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    };
    let is_reached = kind != "LoadBalancer"
        || has_some(&["spec", "externalIPs"])
        || has_some(&["status", "loadBalancer", "ingress"]);
    waits(is_reached, "its load balancer has no address")
}

fn deployment(deployment: &Value) -> Readiness {
    // One that is paused is as its user wants it.
    if deployment.at(&["spec", "paused"]) == Some(&Value::Bool(true)) {
        return Readiness::Ready;
    }
    if !is_observed(deployment) {
        return Readiness::Waiting("its newest spec has not been observed".to_owned());
    }
    let replicas = found(deployment, &["spec", "replicas"]).unwrap_or(1);
    let status = |name: &str| number(deployment, &["status", name]);
    // Those of older ReplicaSets may all be among the ready ones.
    let old = status("replicas") - status("updatedReplicas");
    let ready = status("readyReplicas") - old;
    let expected = replicas - max_unavailable(deployment, replicas);
    let is_begun = replicas == 0 || status("updatedReplicas") > 0;
    waits(is_begun && ready >= expected, "not enough of its pods are ready")
}

/// How many pods of a Deployment may be missing while it is rolled out.
fn max_unavailable(deployment: &Value, replicas: i64) -> i64 {
    if deployment.str_at(&["spec", "strategy", "type"]) == "Recreate" || replicas == 0 {
        return 0;
    }
    let rolling = |name: &str| deployment.at(&["spec", "strategy", "rollingUpdate", name]);
    let surge = scaled(rolling("maxSurge"), replicas, true);
    let unavailable = scaled(rolling("maxUnavailable"), replicas, false);
    // Neither may be nothing, or nothing would go on.
    let unavailable = if surge == 0 && unavailable == 0 {
        1
    } else {
        unavailable
    };
    unavailable.min(replicas)
}

fn daemon_set(set: &Value) -> Readiness {
    if !is_observed(set) {
        return Readiness::Waiting("its newest spec has not been observed".to_owned());
    }
    if set.str_at(&["spec", "updateStrategy", "type"]) != "RollingUpdate" {
        return Readiness::Ready;
    }
    let status = |name: &str| number(set, &["status", name]);
    let wanted = status("desiredNumberScheduled");
    if status("updatedNumberScheduled") != wanted {
        return Readiness::Waiting("not enough of its pods are scheduled".to_owned());
    }
    let may_miss = set.at(&["spec", "updateStrategy", "rollingUpdate", "maxUnavailable"]);
    let expected = wanted - scaled(may_miss, wanted, true);
    waits(
        status("numberReady") >= expected,
        "not enough of its pods are ready",
    )
}

fn stateful_set(set: &Value) -> Readiness {
    if !is_observed(set) {
        return Readiness::Waiting("its newest spec has not been observed".to_owned());
    }
    let strategy = ["spec", "updateStrategy"];
    if set.at(&strategy).map(|strategy| strategy.str_at(&["type"])) != Some("RollingUpdate") {
        return Readiness::Ready;
    }
    let partition = number(set, &["spec", "updateStrategy", "rollingUpdate", "partition"]);
    let replicas = found(set, &["spec", "replicas"]).unwrap_or(1);
    if number(set, &["status", "updatedReplicas"]) < replicas - partition {
        return Readiness::Waiting("not enough of its pods are scheduled".to_owned());
    }
    if number(set, &["status", "readyReplicas"]) != replicas {
        return Readiness::Waiting("not enough of its pods are ready".to_owned());
    }
    let revision = |name: &str| set.str_at(&["status", name]);
    let is_rolled_out = partition != 0 || revision("currentRevision") == revision("updateRevision");
    waits(is_rolled_out, "it is being rolled out")
}

/// A number, or a share of all that is rounded up or down.
fn scaled(value: Option<&Value>, all: i64, rounds_up: bool) -> i64 {
    match value {
        Some(Value::Int(number)) => *number,
        Some(Value::Str(text)) => {
            let percent: i64 = text.trim_end_matches('%').parse().unwrap_or_default();
            let product = percent.saturating_mul(all);
            if rounds_up {
                (product + 99) / 100
            } else {
                product / 100
            }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use model::value;

    use super::*;

    fn is_ready(object: &Value) -> bool {
        of(object) == Readiness::Ready
    }

    #[test]
    fn a_deployment_is_ready_with_as_many_pods_as_it_needs_while_it_is_rolled_out() {
        let deployment = |updated: i64, all: i64, ready: i64| {
            value!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "generation": 2 },
                "spec": { "replicas": 4, "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": "25%", "maxSurge": "25%" } } },
                "status": { "observedGeneration": 2, "updatedReplicas": (updated), "replicas": (all), "readyReplicas": (ready) },
            })
        };
        assert!(is_ready(&deployment(4, 4, 3)));
        assert!(is_ready(&deployment(4, 5, 5)));
        assert!(!is_ready(&deployment(4, 5, 3)), "one of them may be an old one");
        assert!(!is_ready(&deployment(0, 4, 4)));
        let mut behind = deployment(4, 4, 4);
        behind.set_at(&["metadata", "generation"], 3);
        assert!(!is_ready(&behind));
        behind.set_at(&["spec", "paused"], true);
        assert!(is_ready(&behind));
    }

    #[test]
    fn jobs_services_claims_and_pods_are_told_by_what_they_say() {
        let mut job = value!({ "apiVersion": "batch/v1", "kind": "Job", "spec": { "completions": 2, "backoffLimit": 1 }, "status": { "succeeded": 1 } });
        assert!(matches!(of(&job), Readiness::Waiting(_)));
        job.set_at(&["status", "succeeded"], 2);
        assert!(is_ready(&job));
        job.set_at(&["status", "failed"], 2);
        assert!(matches!(of(&job), Readiness::Failed(_)));
        let mut service = value!({ "apiVersion": "v1", "kind": "Service", "spec": { "type": "LoadBalancer", "clusterIP": "10.0.0.1" } });
        assert!(!is_ready(&service));
        service.set_at(
            &["status", "loadBalancer", "ingress"],
            value!([{ "ip": "1.2.3.4" }]),
        );
        assert!(is_ready(&service));
        service.set_at(&["spec", "clusterIP"], "");
        assert!(!is_ready(&service));
        service.set_at(&["spec", "type"], "ExternalName");
        assert!(is_ready(&service));
        let mut claim =
            value!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": { "phase": "Pending" } });
        assert!(!is_ready(&claim));
        claim.set_at(&["status", "phase"], "Bound");
        assert!(is_ready(&claim));
        let mut pod = value!({ "apiVersion": "v1", "kind": "Pod", "status": { "phase": "Succeeded" } });
        assert!(!is_ready(&pod), "only one that serves is ready to Helm 3");
        pod.set_at(
            &["status", "conditions"],
            value!([{ "type": "Ready", "status": "True" }]),
        );
        assert!(is_ready(&pod));
        assert!(is_ready(
            &value!({ "apiVersion": "example.com/v1", "kind": "Widget", "status": { "phase": "Broken" } })
        ));
    }

    #[test]
    fn sets_are_ready_when_their_rollout_has_come_far_enough() {
        let set = |kind: &str| {
            value!({
                "apiVersion": "apps/v1", "kind": (kind), "metadata": { "generation": 1 },
                "spec": { "replicas": 3, "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 1 } } },
                "status": { "observedGeneration": 1 },
            })
        };
        let mut daemons = set("DaemonSet");
        daemons.set_at(&["status", "desiredNumberScheduled"], 3);
        assert!(!is_ready(&daemons));
        daemons.set_at(&["status", "updatedNumberScheduled"], 3);
        daemons.set_at(&["status", "numberReady"], 2);
        assert!(is_ready(&daemons));
        let mut stateful = set("StatefulSet");
        stateful.set_at(&["status", "updatedReplicas"], 3);
        assert!(!is_ready(&stateful));
        stateful.set_at(&["status", "readyReplicas"], 3);
        assert!(is_ready(&stateful));
        stateful.set_at(&["status", "updateRevision"], "b");
        assert!(!is_ready(&stateful));
        stateful.set_at(&["spec", "updateStrategy", "rollingUpdate", "partition"], 1);
        assert!(is_ready(&stateful));
        stateful.set_at(&["spec", "updateStrategy", "type"], "OnDelete");
        stateful.set_at(&["status", "readyReplicas"], 0);
        assert!(is_ready(&stateful));
    }
}
