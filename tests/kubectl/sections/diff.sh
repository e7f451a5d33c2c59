# What would change, with exit codes that scripts rely on: 0 nothing, 1 something, above an error.

body() {
    shows "everything is new"
    k diff -f configmaps.yaml
    k diff --server-side -f configmaps.yaml
    quiet apply -f configmaps.yaml
    shows "nothing differs"
    k diff -f configmaps.yaml
    k diff --server-side --force-conflicts -f configmaps.yaml
    shows "something differs"
    k diff -f configmaps-changed.yaml
    k diff --server-side --force-conflicts -f configmaps-changed.yaml
    k diff --server-side --field-manager=other -f configmaps-changed.yaml
    shows "nothing was changed by looking"
    k get configmap settings -o 'jsonpath={.data}'
    quiet apply -f web.yaml -f credentials.yaml
    shows "values of secrets are masked"
    k_with '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"credentials"},"stringData":{"user":"root"}}' diff -f -
    shows "a default is not a difference"
    k diff -f web.yaml
    k_edited 's/web:1.0/web:1.1/; s/replicas: 2/replicas: 3/' web.yaml diff
    shows "errors"
    k diff -f missing.yaml
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"Bad Name"}}' diff -f -
    k_with '{"apiVersion":"example.org/v1","kind":"Nothing","metadata":{"name":"a"}}' diff -f -
    shows "what would be pruned"
    k diff -f configmaps-one.yaml --prune -l part=settings --prune-allowlist=core/v1/ConfigMap
}
