# Client-side apply: what is created, left alone, changed and pruned.

body() {
    shows "a file of two objects is created"
    k apply -f configmaps.yaml
    shows "again changes nothing"
    k apply -f configmaps.yaml
    shows "what apply remembers"
    k apply view-last-applied configmap/settings
    shows "one of them changed, with a field removed and one added"
    k apply -f configmaps-changed.yaml
    k get configmap settings -o 'jsonpath={.data}'
    shows "a dry run on either side changes nothing"
    k apply -f configmaps.yaml --dry-run=client
    k apply -f configmaps.yaml --dry-run=server
    k get configmap settings -o 'jsonpath={.data}'
    shows "what is no longer in the file is pruned by label"
    k apply -f configmaps-one.yaml --prune -l part=settings --prune-allowlist=core/v1/ConfigMap
    k get configmap -l part=settings -o name
}
