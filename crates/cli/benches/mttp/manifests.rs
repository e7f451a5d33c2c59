//! The four objects of a Kustomization, in the size and shape of those of Flux's benchmark, with the variables that it sets.

/// A service account, a service, a deployment without pods and an ingress. The version is what an upgrade changes.
pub(crate) fn files(version: usize) -> Vec<(&'static str, String)> {
    vec![
        ("service-account.yaml", SERVICE_ACCOUNT.to_owned()),
        ("service.yaml", SERVICE.to_owned()),
        (
            "deployment.yaml",
            DEPLOYMENT.replace("@VERSION@", &version.to_string()),
        ),
        ("ingress.yaml", INGRESS.to_owned()),
    ]
}

const SERVICE_ACCOUNT: &str = "\
apiVersion: v1
kind: ServiceAccount
metadata:
  name: podinfo-${INDEX}
  labels:
    app.kubernetes.io/name: podinfo-${INDEX}
";

const SERVICE: &str = "\
apiVersion: v1
kind: Service
metadata:
  name: podinfo-${INDEX}
  labels:
    app.kubernetes.io/name: podinfo-${INDEX}
spec:
  type: ClusterIP
  selector:
    app.kubernetes.io/name: podinfo-${INDEX}
  ports:
  - name: http
    port: 9898
    protocol: TCP
    targetPort: http
  - name: grpc
    port: 9999
    protocol: TCP
    targetPort: grpc
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: podinfo-${INDEX}
  labels:
    app.kubernetes.io/name: podinfo-${INDEX}
spec:
  replicas: ${PODS:=0}
  minReadySeconds: 3
  revisionHistoryLimit: 5
  progressDeadlineSeconds: 60
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxUnavailable: 0
  selector:
    matchLabels:
      app.kubernetes.io/name: podinfo-${INDEX}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: podinfo-${INDEX}
      annotations:
        prometheus.io/scrape: \"true\"
        prometheus.io/port: \"9797\"
        version: \"@VERSION@\"
    spec:
      serviceAccountName: podinfo-${INDEX}
      containers:
      - name: podinfod
        image: registry.example.com/podinfo:6.9.0
        imagePullPolicy: IfNotPresent
        ports:
        - name: http
          containerPort: 9898
          protocol: TCP
        - name: http-metrics
          containerPort: 9797
          protocol: TCP
        - name: grpc
          containerPort: 9999
          protocol: TCP
        command:
        - ./podinfo
        - --port=9898
        - --port-metrics=9797
        - --grpc-port=9999
        - --grpc-service-name=podinfo-${INDEX}
        - --level=info
        - --random-delay=false
        - --random-error=false
        - --ui-color=blue
        env:
        - name: COLOUR
          value: blue
        livenessProbe:
          exec:
            command: [podcli, check, http, localhost:9898/healthz]
          initialDelaySeconds: 5
          timeoutSeconds: 5
        readinessProbe:
          exec:
            command: [podcli, check, http, localhost:9898/readyz]
          initialDelaySeconds: 5
          timeoutSeconds: 5
        resources:
          limits:
            cpu: 2000m
            memory: 512Mi
          requests:
            cpu: ${MCPU:=1m}
            memory: 64Mi
        volumeMounts:
        - name: data
          mountPath: /data
      volumes:
      - name: data
        emptyDir: {}
";

const INGRESS: &str = "\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: podinfo-${INDEX}
  labels:
    app.kubernetes.io/name: podinfo-${INDEX}
spec:
  ingressClassName: nginx
  rules:
  - host: podinfo-${INDEX}.example.com
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: podinfo-${INDEX}
            port:
              number: 9898
";
