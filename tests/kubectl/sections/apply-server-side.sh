# Server-side apply: owners of fields, conflicts, and the way from client-side apply.

body() {
    shows "a new object"
    k apply --server-side -f configmaps.yaml
    k apply --server-side -f configmaps.yaml
    k get configmap settings -o yaml --show-managed-fields
    shows "another manager's value is a conflict"
    k apply --server-side --field-manager=other -f configmaps-changed.yaml
    shows "a value that is the same is shared"
    k_with "$(configmap '{"size":"3"}')" apply --server-side --field-manager=third -f -
    shows "force takes the field over"
    k apply --server-side --field-manager=other --force-conflicts -f configmaps-changed.yaml
    k get configmap settings -o yaml --show-managed-fields
    shows "the first owner now meets the conflict"
    k apply --server-side -f configmaps.yaml
    shows "a field that nobody applies any more goes away"
    k_with "$(configmap '{"colour":"green"}')" apply --server-side --field-manager=other -f -
    k get configmap settings -o 'jsonpath={.data}'
    shows "a dry run tells the outcome and keeps nothing"
    k_with "$(configmap '{"colour":"red"}')" apply --server-side --force-conflicts --dry-run=server -o yaml -f -
    k get configmap settings -o 'jsonpath={.data}'
    k apply --server-side --dry-run=client -f configmaps.yaml

    shows "from client-side apply to server-side apply"
    k apply -f web.yaml
    k apply --server-side -f web.yaml
    k get deployment web -o 'jsonpath={range .metadata.managedFields[?(@.manager!="kube-controller-manager")]}{.manager} {.operation}{"\n"}{end}'
    k get deployment web -o 'jsonpath={.metadata.annotations}'
    shows "and back"
    k apply -f web.yaml
    shows "several owners of one list"
    k_with "$(container sidecar 2.2)" apply --server-side --field-manager=updater -f -
    k_with "$(container sidecar 2.2)" apply --server-side --field-manager=updater --force-conflicts -f -
    k_with "$(container extra 1)" apply --server-side --field-manager=updater -f -
    k get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}'
    shows "a manager of an update is asked for the same way"
    quiet scale deployment web --replicas=1
    k apply --server-side -f web.yaml
    shows "two faults at once"
    k_with "$(configmap '{"colour":1}')" apply --server-side -f -
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"date":{}}' apply --server-side -f -
    k_with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"date":{}}' apply --server-side --validate=false -f -
}

configmap() {
    printf '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":%s}' "$1"
}

container() {
    printf '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"template":{"spec":{"containers":[{"name":"%s","image":"registry.example/%s:%s"}]}}}}' "$1" "$1" "$2"
}
