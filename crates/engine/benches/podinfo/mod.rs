//! The four objects that Flux's own benchmark applies for each unit, in their size and shape.

use model::{Value, value};

/// A service account, a service, a deployment without replicas and an ingress.
pub(crate) fn objects(unit: &str, namespace: &str) -> Vec<Value> {
    vec![
        service_account(unit, namespace),
        service(unit, namespace),
        deployment(unit, namespace),
        ingress(unit, namespace),
    ]
}

fn metadata(unit: &str, namespace: &str) -> Value {
    value!({
        "name": unit, "namespace": namespace,
        "labels": {
            "app.kubernetes.io/name": unit,
            // What the engine puts on objects, so that the baseline sends the same.
            "kustomize.toolkit.fluxcd.io/name": unit,
            "kustomize.toolkit.fluxcd.io/namespace": namespace,
        },
    })
}

fn service_account(unit: &str, namespace: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": (metadata(unit, namespace)),
    })
}

fn service(unit: &str, namespace: &str) -> Value {
    value!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": (metadata(unit, namespace)),
        "spec": {
            "type": "ClusterIP",
            "selector": { "app.kubernetes.io/name": unit },
            "ports": [
                { "name": "http", "port": 9898, "protocol": "TCP", "targetPort": "http" },
                { "name": "grpc", "port": 9999, "protocol": "TCP", "targetPort": "grpc" },
            ],
        },
    })
}

fn deployment(unit: &str, namespace: &str) -> Value {
    let probe = |path: &str| {
        value!({
            "exec": { "command": ["podcli", "check", "http", (format!("localhost:9898/{path}"))] },
            "initialDelaySeconds": 5, "timeoutSeconds": 5,
        })
    };
    value!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": (metadata(unit, namespace)),
        "spec": {
            "replicas": 0,
            "minReadySeconds": 3, "revisionHistoryLimit": 5, "progressDeadlineSeconds": 60,
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxUnavailable": 0 } },
            "selector": { "matchLabels": { "app.kubernetes.io/name": unit } },
            "template": {
                "metadata": {
                    "labels": { "app.kubernetes.io/name": unit },
                    "annotations": { "prometheus.io/scrape": "true", "prometheus.io/port": "9797" },
                },
                "spec": {
                    "serviceAccountName": unit,
                    "containers": [{
                        "name": "podinfod",
                        "image": "ghcr.io/stefanprodan/podinfo:6.9.0",
                        "imagePullPolicy": "IfNotPresent",
                        "ports": [
                            { "name": "http", "containerPort": 9898, "protocol": "TCP" },
                            { "name": "http-metrics", "containerPort": 9797, "protocol": "TCP" },
                            { "name": "grpc", "containerPort": 9999, "protocol": "TCP" },
                        ],
                        "command": [
                            "./podinfo", "--port=9898", "--port-metrics=9797", "--grpc-port=9999",
                            (format!("--grpc-service-name={unit}")), "--level=info", "--random-delay=false",
                            "--random-error=false", "--ui-color=#34577c",
                        ],
                        "env": [{ "name": "PODINFO_UI_COLOR", "value": "#34577c" }],
                        "livenessProbe": (probe("healthz")),
                        "readinessProbe": (probe("readyz")),
                        "resources": {
                            "limits": { "cpu": "2000m", "memory": "512Mi" },
                            "requests": { "cpu": "1m", "memory": "64Mi" },
                        },
                        "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
                    }],
                    "volumes": [{ "name": "data", "emptyDir": {} }],
                },
            },
        },
    })
}

fn ingress(unit: &str, namespace: &str) -> Value {
    value!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
        "metadata": (metadata(unit, namespace)),
        "spec": {
            "ingressClassName": "nginx",
            "rules": [{
                "host": (format!("{unit}.example.com")),
                "http": { "paths": [{
                    "path": "/", "pathType": "Prefix",
                    "backend": { "service": { "name": unit, "port": { "number": 9898 } } },
                }] },
            }],
        },
    })
}
