//! What the admission plugins that are on by default add to objects.
//!
//! Each function does what one plugin does. Those that look at other objects are given them; the caller finds them.

use model::{Map, Value, value};

use super::fields::Fields;

/// Marks the class that objects without one get.
const DEFAULT_STORAGE_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
const DEFAULT_INGRESS_CLASS: &str = "ingressclass.kubernetes.io/is-default-class";

/// `DefaultTolerationSeconds`: a pod stays five minutes on a node that fails, unless it says otherwise. For new pods.
pub fn default_tolerations(pod: &mut Value) {
    let tolerates = |pod: &Value, key: &str| {
        pod.list_at(&["spec", "tolerations"]).iter().any(|toleration| {
            matches!(toleration.str_at(&["key"]), own if own == key || own.is_empty())
                && matches!(toleration.str_at(&["effect"]), "NoExecute" | "")
        })
    };
    let keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    let missing: Vec<Value> = keys
        .iter()
        .filter(|key| !tolerates(pod, key))
        .map(|key| value!({ "key": (*key), "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300 }))
        .collect();
    if !missing.is_empty() {
        let mut tolerations = pod.list_at(&["spec", "tolerations"]).to_vec();
        tolerations.extend(missing);
        pod.set_at(&["spec", "tolerations"], tolerations);
    }
}

/// `Priority`: a new pod's priority is that of its class. `class` is the `PriorityClass` that it names or, where it names
/// none, the one that is the global default.
///
/// # Errors
/// The reason for which the pod is forbidden, where it names a class that is not there.
pub fn priority(pod: &mut Value, class: Option<&Value>) -> Result<(), String> {
    let named = pod.str_at(&["spec", "priorityClassName"]).to_owned();
    let spec = pod.make_object().make("spec");
    let (value, policy) = match class {
        Some(class) => {
            if named.is_empty() {
                spec.insert("priorityClassName", class.str_at(&["metadata", "name"]));
            }
            let value = class.get("value").and_then(Value::as_i64).unwrap_or_default();
            (value, class.str_at(&["preemptionPolicy"]))
        }
        None if !named.is_empty() => return Err(format!("no PriorityClass with name {named} was found")),
        None => (0, ""),
    };
    spec.insert("priority", value);
    spec.default(
        "preemptionPolicy",
        if policy.is_empty() {
            "PreemptLowerPriority"
        } else {
            policy
        },
    );
    Ok(())
}

/// `ServiceAccount`: a new pod runs as `default` unless it says otherwise, and pulls images with the account's secrets.
///
/// **Deviation**: no token is mounted, as nothing runs.
pub fn service_account(pod: &mut Value, account: Option<&Value>) {
    let spec = pod.make_object().make("spec");
    if spec.text("serviceAccountName").is_empty() {
        spec.insert("serviceAccountName", "default");
        spec.insert("serviceAccount", "default");
    }
    if let Some(secrets) = account.and_then(|account| account.get("imagePullSecrets")) {
        spec.default("imagePullSecrets", secrets.clone());
    }
}

/// `TaintNodesByCondition`: nothing is placed on a new node before it is ready.
pub fn not_ready_taint(node: &mut Value) {
    let taint = value!({ "key": "node.kubernetes.io/not-ready", "effect": "NoSchedule" });
    let mut taints = node.list_at(&["spec", "taints"]).to_vec();
    if !taints.contains(&taint) {
        taints.push(taint);
        node.set_at(&["spec", "taints"], taints);
    }
}

/// `StorageObjectInUseProtection`: new volumes and claims are not gone while they are used.
pub fn storage_protection(kind: &str, object: &mut Value) {
    let finalizer = match kind {
        "PersistentVolumeClaim" => "kubernetes.io/pvc-protection",
        "PersistentVolume" => "kubernetes.io/pv-protection",
        "VolumeAttributesClass" => "kubernetes.io/vac-protection",
        _ => return,
    };
    let mut finalizers = object.list_at(&["metadata", "finalizers"]).to_vec();
    if !finalizers.iter().any(|name| name.as_str() == Some(finalizer)) {
        finalizers.push(Value::str(finalizer));
        object.set_at(&["metadata", "finalizers"], finalizers);
    }
}

/// `DefaultStorageClass`: a claim without a class gets the default one of `classes`, of several the newest.
pub fn default_storage_class<'a>(claim: &mut Value, classes: impl Iterator<Item = &'a Value>) {
    let old = claim.at(&[
        "metadata",
        "annotations",
        "volume.beta.kubernetes.io/storage-class",
    ]);
    if claim.at(&["spec", "storageClassName"]).is_none() && old.is_none() {
        let default = default_of(
            classes,
            &[
                DEFAULT_STORAGE_CLASS,
                "storageclass.beta.kubernetes.io/is-default-class",
            ],
        );
        set_class(claim, "storageClassName", default);
    }
}

/// `DefaultIngressClass`: a new ingress without a class gets the default one of `classes`, of several the newest.
pub fn default_ingress_class<'a>(ingress: &mut Value, classes: impl Iterator<Item = &'a Value>) {
    let old = ingress.at(&["metadata", "annotations", "kubernetes.io/ingress.class"]);
    if ingress.at(&["spec", "ingressClassName"]).is_none() && old.is_none() {
        set_class(
            ingress,
            "ingressClassName",
            default_of(classes, &[DEFAULT_INGRESS_CLASS]),
        );
    }
}

fn set_class(object: &mut Value, field: &str, class: Option<&Value>) {
    if let Some(class) = class {
        object.set_at(&["spec", field], class.str_at(&["metadata", "name"]));
    }
}

/// The newest class that one of `marks` makes the default; of equally old ones the first by name.
fn default_of<'a>(classes: impl Iterator<Item = &'a Value>, marks: &[&str]) -> Option<&'a Value> {
    let is_default = |class: &&Value| {
        let annotations = class.at(&["metadata", "annotations"]).and_then(Value::as_object);
        annotations.is_some_and(|all: &Map| marks.iter().any(|mark| all.text(mark) == "true"))
    };
    let age = |class: &&Value| class.str_at(&["metadata", "creationTimestamp"]).to_owned();
    let name = |class: &&Value| std::cmp::Reverse(class.str_at(&["metadata", "name"]).to_owned());
    classes
        .filter(is_default)
        .max_by_key(|class| (age(class), name(class)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_default_class_is_taken_and_an_empty_name_is_kept() {
        let class = |name: &str, time: &str, default: &str| {
            value!({ "metadata": {
                "name": name, "creationTimestamp": time,
                "annotations": { "storageclass.kubernetes.io/is-default-class": default },
            } })
        };
        let classes = [
            class("a", "2020", "true"),
            class("c", "2021", "true"),
            class("b", "2021", "true"),
            class("d", "2022", "false"),
        ];
        let mut claim = value!({ "spec": {} });
        default_storage_class(&mut claim, classes.iter());
        assert_eq!(claim.str_at(&["spec", "storageClassName"]), "b");
        let mut claim = value!({ "spec": { "storageClassName": "" } });
        default_storage_class(&mut claim, classes.iter());
        assert_eq!(claim.str_at(&["spec", "storageClassName"]), "");
    }

    #[test]
    fn tolerations_of_the_pod_itself_are_kept() {
        let mut pod = value!({ "spec": { "tolerations": [{ "key": "node.kubernetes.io/not-ready", "operator": "Exists" }] } });
        default_tolerations(&mut pod);
        let keys: Vec<_> = pod
            .list_at(&["spec", "tolerations"])
            .iter()
            .map(|t| t.str_at(&["key"]))
            .collect();
        assert_eq!(
            keys,
            ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]
        );
    }

    #[test]
    fn a_priority_class_that_is_not_there_is_told() {
        let mut pod = value!({ "spec": { "priorityClassName": "gold" } });
        assert_eq!(
            priority(&mut pod, None),
            Err("no PriorityClass with name gold was found".into())
        );
        let class = value!({ "metadata": { "name": "gold" }, "value": 7, "preemptionPolicy": "Never" });
        priority(&mut pod, Some(&class)).unwrap();
        assert_eq!(
            pod,
            value!({ "spec": { "priorityClassName": "gold", "priority": 7, "preemptionPolicy": "Never" } })
        );
    }
}
